#include "terraform/cluster/description.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "terraform/cluster/cluster_attribute.h"
#include "x509/x509.h"

namespace fairlead::terraform {
namespace {

constexpr WallTime kNow{std::chrono::sys_days(std::chrono::January / 1 / 2030)};

struct DescribedMachine {
  std::map<std::string, std::string> files;

  kube::Surroundings surroundings() const {
    kube::Surroundings result;
    result.environment = [](const std::string& name) -> std::optional<std::string> {
      // A pod, and a kubeconfig: neither may be used unless the description says so.
      if (name == "HOME") return "/home/u";
      if (name == "KUBECONFIG") return "/elsewhere";
      if (name == "KUBERNETES_SERVICE_HOST" || name == "KUBERNETES_SERVICE_PORT") return "1";
      return std::nullopt;
    };
    result.read_file = [this](const std::string& path) -> Result<std::string> {
      auto found = files.find(path);
      if (found == files.end()) return fail(ErrorKind::not_found, "No such file or directory");
      return found->second;
    };
    result.now = [] { return kNow; };
    return result;
  }
};

const x509::KeyPair& test_authority() {
  static const x509::KeyPair made = *x509::make_ca("test", std::chrono::hours(24 * 365), kNow);
  return made;
}
const x509::KeyPair& test_client() {
  static const x509::KeyPair made =
      *x509::make_leaf(test_authority(), {.common_name = "alice", .usages = {x509::Usage::client}}, kNow);
  return made;
}

Value described(Value::Members members) { return Value::object(std::move(members)); }

Result<kube::ClusterConfig> read(Value::Members members, std::map<std::string, std::string> files = {}) {
  DescribedMachine machine{std::move(files)};
  return read_description(described(std::move(members)), machine.surroundings());
}

std::string report_of(Value::Members members, std::map<std::string, std::string> files = {}) {
  Result<kube::ClusterConfig> config = read(std::move(members), std::move(files));
  return config ? "no error" : config.error().report();
}

std::vector<std::string> problems(Value::Members members) {
  std::vector<std::string> texts;
  for (const Diagnostic& one : check_description(described(std::move(members)), Path("cluster")).all())
    texts.push_back(one.detail + " @" + one.path.text());
  return texts;
}

std::string kubeconfig(std::vector<std::string> contexts) {
  std::string text =
      "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'https://c:6443'}}]\n"
      "users: [{name: u, user: {token: t}}]\ncontexts:\n";
  for (const std::string& name : contexts)
    text += fmt::format("- {{name: '{}', context: {{cluster: c, user: u, namespace: 'ns-{}'}}}}\n", name, name);
  return text;
}

TEST(Description, AHostWithAuthorityAndToken) {
  std::string pem = test_authority().certificate.to_pem();
  for (const std::string& authority : {pem, to_base64(pem)}) {
    auto config = read({{"host", "https://10.0.0.1:6443"},
                        {"cluster_ca_certificate", authority},
                        {"token", "secret"},
                        {"tls_server_name", "kubernetes"},
                        {"proxy_url", "socks5://proxy:1081"}});
    ASSERT_TRUE(config) << config.error().report();
    EXPECT_EQ(config->server.text(), "https://10.0.0.1:6443");
    EXPECT_EQ(config->tls.ca_pem, pem);
    EXPECT_EQ(config->tls.server_name, "kubernetes");
    EXPECT_EQ(config->credentials.token, "secret");
    EXPECT_EQ(config->proxy->text(), "socks5://proxy:1081");
    EXPECT_EQ(config->context, "");
    EXPECT_EQ(config->ns, "default");
  }
}

TEST(Description, AHostWithACertificate) {
  auto config = read({{"host", "https://10.0.0.1"},
                      {"insecure", true},
                      {"client_certificate", to_base64(test_client().certificate.to_pem())},
                      {"client_key", test_client().key.to_pem()}});
  ASSERT_TRUE(config) << config.error().report();
  EXPECT_TRUE(config->tls.insecure_skip_verify);
  EXPECT_EQ(config->tls.certificate_pem, test_client().certificate.to_pem());
  EXPECT_EQ(config->tls.key_pem, test_client().key.to_pem());
}

TEST(Description, AHostWithAProgram) {
  auto config = read({{"host", "https://10.0.0.1"},
                      {"exec", described({{"api_version", "client.authentication.k8s.io/v1"},
                                          {"command", "aws"},
                                          {"args", Value::list({"eks", "get-token"})},
                                          {"env", described({{"AWS_PROFILE", "prod"}})}})}});
  ASSERT_TRUE(config) << config.error().report();
  ASSERT_TRUE(config->credentials.exec);
  EXPECT_EQ(config->credentials.exec->command, "aws");
  EXPECT_EQ(config->credentials.exec->arguments, (std::vector<std::string>{"eks", "get-token"}));
  EXPECT_EQ(config->credentials.exec->environment,
            (std::vector<std::pair<std::string, std::string>>{{"AWS_PROFILE", "prod"}}));
  EXPECT_EQ(config->credentials.exec->interactive, kube::ExecPlugin::Interactive::never);
}

TEST(Description, AKubeconfigByPathOrContent) {
  std::string text = kubeconfig({"one"});
  EXPECT_EQ(read({{"kubeconfig", text}})->ns, "ns-one");
  EXPECT_EQ(read({{"kubeconfig", "/k"}}, {{"/k", text}})->ns, "ns-one");
  EXPECT_EQ(read({{"kubeconfig", "~/k"}}, {{"/home/u/k", text}})->ns, "ns-one");
  EXPECT_EQ(read({{"kubeconfig", Json(Json::Object{{"contexts", Json::Array{}}}).dump()}}).error().root().what(),
            "the kubeconfig has no contexts");
  EXPECT_EQ(report_of({{"kubeconfig", "/k"}}),
            "error: the cluster cannot be used\n  because   kubeconfig /k cannot be read\n  because   No such file or "
            "directory\n");
}

TEST(Description, SeveralContextsNeedAChoice) {
  std::string text = kubeconfig({"one", "two:b"});
  EXPECT_EQ(read({{"kubeconfig", text}, {"context", "two:b"}})->ns, "ns-two:b");
  EXPECT_EQ(
      report_of({{"kubeconfig", text}}),
      "error: the cluster cannot be used\n  because   the kubeconfig has 2 contexts, and \"context\" names none of "
      "them\n  next      set \"context\" to one of: one, two:b\n");
  EXPECT_EQ(report_of({{"kubeconfig", text}, {"context", "three"}}),
            "error: the cluster cannot be used\n  because   context \"three\" not found in cluster.kubeconfig "
            "(available: one, "
            "two:b)\n  next      kubectl config get-contexts\n");
}

TEST(Description, ErrorsShowNoSecret) {
  std::string secret = "c2VjcmV0LXNlY3JldA==";
  EXPECT_EQ(report_of({{"host", "https://a"}, {"client_certificate", secret}, {"client_key", secret}}),
            "error: the cluster cannot be used\n  because   \"client_certificate\" is neither PEM nor base64 of PEM\n");
  EXPECT_FALSE(report_of({{"kubeconfig", "users: [{token: " + secret + "}]\nx"}}).contains(secret));
}

TEST(CheckDescription, ExactlyOneModeMustBeThere) {
  EXPECT_EQ(problems({}),
            std::vector<std::string>{"Exactly one of \"name\", \"kubeconfig\" and \"host\" must be set. @cluster"});
  EXPECT_EQ(
      problems({{"name", "a"}, {"kubeconfig", "b"}, {"host", "c"}}),
      std::vector<std::string>{"\"name\", \"kubeconfig\" and \"host\" exclude each other: set one of them. @cluster"});
  EXPECT_EQ(problems({{"name", "a"}}), std::vector<std::string>());
  EXPECT_EQ(problems({{"kubeconfig", "a"}, {"context", "b"}}), std::vector<std::string>());
}

TEST(CheckDescription, WhatBelongsToAnotherModeIsRefused) {
  EXPECT_EQ(problems({{"kubeconfig", "a"}, {"token", "t"}}),
            std::vector<std::string>{"\"token\" can only be set with \"host\". @cluster.token"});
  EXPECT_EQ(problems({{"host", "https://a"}, {"token", "t"}, {"context", "c"}}),
            std::vector<std::string>{"\"context\" can only be set with \"kubeconfig\". @cluster.context"});
  EXPECT_EQ(
      problems({{"name", "a"}, {"proxy_url", "http://p"}}),
      std::vector<std::string>{"\"proxy_url\" belongs into the provider block, beside the name. @cluster.proxy_url"});
}

TEST(CheckDescription, AHostNeedsOneKindOfTrustAndOfCredentials) {
  EXPECT_EQ(
      problems({{"host", "https://a"}}),
      std::vector<std::string>{"\"host\" needs credentials: \"token\", \"client_certificate\" with \"client_key\", or "
                               "\"exec\". @cluster.host"});
  EXPECT_EQ(problems({{"host", "http://localhost:8001"}}), std::vector<std::string>());
  EXPECT_EQ(
      problems({{"host", "https://a"}, {"token", "t"}, {"insecure", true}, {"cluster_ca_certificate", "c"}}),
      std::vector<std::string>{"\"cluster_ca_certificate\" and \"insecure\" exclude each other. @cluster.insecure"});
  EXPECT_EQ(problems({{"host", "https://a"}, {"token", "t"}, {"insecure", false}, {"cluster_ca_certificate", "c"}}),
            std::vector<std::string>());
  EXPECT_EQ(problems({{"host", "https://a"}, {"token", "t"}, {"exec", described({{"command", "x"}})}}),
            std::vector<std::string>{"\"token\" and \"exec\" exclude each other: set one of them. @cluster"});
  EXPECT_EQ(problems({{"host", "https://a"}, {"client_certificate", "c"}}),
            std::vector<std::string>{"\"client_certificate\" needs \"client_key\". @cluster.client_certificate"});
}

TEST(CheckDescription, EmptyTextsAreErrors) {
  EXPECT_EQ(problems({{"kubeconfig", ""}}),
            std::vector<std::string>{"\"kubeconfig\" is empty. Set it to null to leave it out. @cluster.kubeconfig"});
  EXPECT_FALSE(read({{"kubeconfig", ""}})) << "the kubeconfig of the machine must not be used";
}

TEST(CheckDescription, WhatIsUnknownMayStillBeRight) {
  EXPECT_EQ(problems({{"host", Value::unknown()}}), std::vector<std::string>());
  EXPECT_EQ(problems({{"host", "https://a"}, {"token", Value::unknown()}}), std::vector<std::string>());
  EXPECT_EQ(problems({{"host", "https://a"}, {"client_certificate", "c"}, {"client_key", Value::unknown()}}),
            std::vector<std::string>());
  EXPECT_EQ(problems({{"host", Value::unknown()}, {"name", "x"}}), std::vector<std::string>());
  EXPECT_TRUE(check_description(Value::unknown(), Path("cluster")).empty());
  EXPECT_TRUE(check_description(Value(), Path("cluster")).empty());
}

TEST(ClusterAttribute, HasTheModesAndHidesSecrets) {
  std::vector<std::string> sensitive;
  for (const Attribute& attribute : cluster_attribute().nested)
    if (attribute.sensitive) sensitive.push_back(attribute.name);
  EXPECT_EQ(sensitive, (std::vector<std::string>{"kubeconfig", "token", "client_key"}));
  EXPECT_EQ(cluster_attribute().nested.size(), clusters_attribute().nested.size() + 1);
}

}  // namespace
}  // namespace fairlead::terraform
