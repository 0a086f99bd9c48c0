#include "kube/config/kubeconfig.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "kube/config/timeout_text.h"
#include "x509/x509.h"

namespace fairlead::kube {
namespace {

constexpr WallTime kNow{std::chrono::sys_days(std::chrono::January / 1 / 2030)};

// A machine with these files and variables, and no others.
struct Machine {
  std::map<std::string, std::string> files;
  std::map<std::string, std::string> variables = {{"HOME", "/home/u"}};

  Surroundings surroundings() const {
    Surroundings result;
    result.environment = [this](const std::string& name) -> std::optional<std::string> {
      auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
    result.read_file = [this](const std::string& path) -> Result<std::string> {
      auto found = files.find(path);
      if (found == files.end()) return fail(ErrorKind::not_found, "No such file or directory");
      return found->second;
    };
    result.now = [] { return kNow; };
    return result;
  }
  Result<ClusterConfig> resolve(const KubeFlags& flags = {}) const {
    TRY_ASSIGN(Kubeconfig config, Kubeconfig::load(flags, surroundings()));
    return config.resolve(flags);
  }
  std::string report(const KubeFlags& flags = {}) const {
    Result<ClusterConfig> config = resolve(flags);
    return config ? "no error" : config.error().report();
  }
};

struct Certificates {
  x509::KeyPair ca = *x509::make_ca("test", std::chrono::hours(24 * 3650), kNow);
  x509::KeyPair client = *x509::make_leaf(ca, {.common_name = "alice", .usages = {x509::Usage::client}}, kNow);
};
const Certificates& certificates() {
  static const Certificates made;
  return made;
}

std::string config_with(std::string_view cluster, std::string_view user,
                        std::string_view context = "{cluster: c, user: u}") {
  return fmt::format(
      "apiVersion: v1\nkind: Config\ncurrent-context: x\n"
      "clusters: [{{name: c, cluster: {}}}]\nusers: [{{name: u, user: {}}}]\ncontexts: [{{name: x, context: {}}}]\n",
      cluster, user, context);
}

Machine machine_with(std::string_view cluster, std::string_view user,
                     std::string_view context = "{cluster: c, user: u}") {
  return {.files = {{"/home/u/.kube/config", config_with(cluster, user, context)}}};
}

constexpr std::string_view kCluster = "{server: 'https://10.0.0.1:6443'}";

TEST(Kubeconfig, the_usual_one) {
  Machine machine = machine_with(
      fmt::format(
          "{{server: 'https://10.0.0.1:6443/base', certificate-authority-data: {}, tls-server-name: api.example, "
          "proxy-url: 'http://proxy:3128', disable-compression: true}}",
          to_base64(certificates().ca.certificate.to_pem())),
      fmt::format("{{client-certificate-data: {}, client-key-data: {}}}",
                  to_base64(certificates().client.certificate.to_pem()), to_base64(certificates().client.key.to_pem())),
      "{cluster: c, user: u, namespace: team-a}");
  Result<ClusterConfig> config = machine.resolve();
  ASSERT_TRUE(config) << config.error().report();
  EXPECT_EQ(config->context, "x");
  EXPECT_EQ(config->cluster, "c");
  EXPECT_EQ(config->user, "u");
  EXPECT_EQ(config->server.text(), "https://10.0.0.1:6443/base");
  EXPECT_EQ(config->tls.ca_pem, certificates().ca.certificate.to_pem());
  EXPECT_EQ(config->tls.certificate_pem, certificates().client.certificate.to_pem());
  EXPECT_EQ(config->tls.key_pem, certificates().client.key.to_pem());
  EXPECT_EQ(config->tls.server_name, "api.example");
  ASSERT_TRUE(config->proxy);
  EXPECT_EQ(config->proxy->address(), "proxy:3128");
  EXPECT_FALSE(config->compression);
  EXPECT_EQ(config->ns, "team-a");
  EXPECT_TRUE(config->ns_is_chosen);
  EXPECT_EQ(config->credentials.owner, "user \"u\"");
}

TEST(Kubeconfig, files_are_relative_to_the_file_that_names_them) {
  Machine machine = machine_with("{server: 'https://a', certificate-authority: pki/ca.crt}",
                                 "{client-certificate: /abs/c.crt, client-key: ../k, tokenFile: tok}");
  machine.files["/home/u/.kube/pki/ca.crt"] = certificates().ca.certificate.to_pem();
  machine.files["/abs/c.crt"] = certificates().client.certificate.to_pem();
  machine.files["/home/u/.kube/../k"] = certificates().client.key.to_pem();
  Result<ClusterConfig> config = machine.resolve();
  ASSERT_TRUE(config) << config.error().report();
  EXPECT_EQ(config->credentials.token_file, "/home/u/.kube/tok");
  EXPECT_EQ(config->tls.key_pem, certificates().client.key.to_pem());
}

TEST(Kubeconfig, of_several_files_the_first_entry_counts_as_a_whole) {
  Machine machine;
  machine.variables["KUBECONFIG"] = "/a:/missing::/b:/a";
  machine.files["/a"] =
      "clusters: [{name: c, cluster: {server: 'https://first'}}]\nusers: [{name: u, user: {token: t1}}]\n"
      "contexts: [{name: only-a, context: {cluster: c, user: u}}]\n";
  machine.files["/b"] =
      "current-context: only-b\nclusters: [{name: c, cluster: {server: 'https://second', tls-server-name: lost}}, "
      "{name: d, cluster: {server: 'https://third'}}]\ncontexts: [{name: only-b, context: {cluster: c, user: u}}]\n";
  Result<ClusterConfig> config = machine.resolve();
  ASSERT_TRUE(config) << config.error().report();
  EXPECT_EQ(config->context, "only-b");
  EXPECT_EQ(config->server.host, "first");
  EXPECT_EQ(config->tls.server_name, "");
  EXPECT_EQ(config->credentials.token, "t1");
  Result<Kubeconfig> files = Kubeconfig::load({}, machine.surroundings());
  ASSERT_TRUE(files);
  EXPECT_EQ(files->contexts(), (std::vector<std::string>{"only-a", "only-b"}));
}

TEST(Kubeconfig, flags_win) {
  Machine machine = machine_with("{server: 'https://a', tls-server-name: of-a, insecure-skip-tls-verify: true}",
                                 "{token: t, as: someone, as-groups: [g]}", "{cluster: c, user: u, namespace: ns}");
  machine.files["/ca"] = certificates().ca.certificate.to_pem();
  Result<ClusterConfig> config = machine.resolve({.ns = "m",
                                                  .server = "https://b:1",
                                                  .token = "mine",
                                                  .as = "me",
                                                  .as_groups = {"h", "i"},
                                                  .as_uid = "7",
                                                  .request_timeout = "1m30s",
                                                  .certificate_authority = "/ca"});
  ASSERT_TRUE(config) << config.error().report();
  EXPECT_EQ(config->server.host, "b");
  EXPECT_EQ(config->tls.server_name, "") << "the name of another server";
  EXPECT_FALSE(config->tls.insecure_skip_verify);
  EXPECT_EQ(config->ns, "m");
  EXPECT_EQ(config->credentials.token, "mine");
  EXPECT_EQ(config->credentials.impersonate.user, "me");
  EXPECT_EQ(config->credentials.impersonate.uid, "7");
  EXPECT_EQ(config->credentials.impersonate.groups, (std::vector<std::string>{"h", "i"}));
  EXPECT_EQ(config->request_timeout, std::chrono::seconds(90));

  config = machine.resolve({.insecure_skip_tls_verify = true});
  ASSERT_TRUE(config);
  EXPECT_TRUE(config->tls.insecure_skip_verify);
  EXPECT_EQ(config->request_timeout, std::nullopt);
}

TEST(Kubeconfig, a_server_is_enough) {
  Machine machine;
  Result<ClusterConfig> config = machine.resolve({.server = "https://h:6443", .token = "t"});
  ASSERT_TRUE(config) << config.error().report();
  EXPECT_EQ(config->credentials.token, "t");
  EXPECT_EQ(config->ns, "default");
  EXPECT_FALSE(config->ns_is_chosen);
}

TEST(Kubeconfig, a_server_without_a_scheme) {
  EXPECT_EQ(machine_with("{server: 'h:6443', insecure-skip-tls-verify: true}", "{}").resolve()->server.text(),
            "https://h:6443");
  EXPECT_EQ(machine_with("{server: 'h:8080'}", "{}").resolve()->server.text(), "http://h:8080");
}

TEST(Kubeconfig, no_credentials_in_the_clear) {
  Result<ClusterConfig> config = machine_with("{server: 'http://h'}", "{token: t, as: me}").resolve();
  ASSERT_TRUE(config);
  EXPECT_EQ(config->credentials.token, "");
  EXPECT_EQ(config->credentials.impersonate.user, "me");
}

TEST(Kubeconfig, what_wins_among_credentials) {
  Result<ClusterConfig> config = machine_with(kCluster, "{token: t, tokenFile: /f}").resolve();
  ASSERT_TRUE(config);
  EXPECT_EQ(config->credentials.token_file, "/f");
  EXPECT_EQ(config->credentials.token, "");
  config = machine_with(kCluster, "{username: a, password: b}").resolve();
  EXPECT_EQ(config->credentials.username, "a");
  EXPECT_EQ(config->credentials.password, "b");
  constexpr std::string_view kExec =
      "exec: {apiVersion: client.authentication.k8s.io/v1, command: p, interactiveMode: Never}";
  config = machine_with(kCluster, fmt::format("{{{}}}", kExec)).resolve();
  EXPECT_TRUE(config->credentials.exec);
  config = machine_with(kCluster, fmt::format("{{token: t, {}}}", kExec)).resolve();
  EXPECT_FALSE(config->credentials.exec);
}

TEST(Kubeconfig, an_exec_plugin) {
  Machine machine = machine_with(
      "{server: 'https://a:6443', proxy-url: 'http://p', extensions: [{name: client.authentication.k8s.io/exec, "
      "extension: {k: 1}}]}",
      "{exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: ./bin/plugin, args: [get, token], "
      "env: [{name: A, value: b}], installHint: install me, provideClusterInfo: true}}");
  Result<ClusterConfig> config = machine.resolve();
  ASSERT_TRUE(config) << config.error().report();
  ASSERT_TRUE(config->credentials.exec);
  const ExecPlugin& plugin = *config->credentials.exec;
  EXPECT_EQ(plugin.command, "/home/u/.kube/./bin/plugin");
  EXPECT_EQ(plugin.arguments, (std::vector<std::string>{"get", "token"}));
  EXPECT_EQ(plugin.environment, (std::vector<std::pair<std::string, std::string>>{{"A", "b"}}));
  EXPECT_EQ(plugin.install_hint, "install me");
  EXPECT_EQ(plugin.interactive, ExecPlugin::Interactive::if_available);
  EXPECT_EQ(plugin.cluster.dump(), R"({"server":"https://a:6443","proxy-url":"http://p","config":{"k":1}})");
}

TEST(Kubeconfig, impersonation) {
  Result<ClusterConfig> config =
      machine_with(kCluster, "{as: a, as-uid: '1', as-groups: [g], as-user-extra: {scopes: [x, z]}}").resolve();
  ASSERT_TRUE(config);
  EXPECT_EQ(config->credentials.impersonate.extra,
            (std::map<std::string, std::vector<std::string>>{{"scopes", {"x", "z"}}}));
  EXPECT_EQ(machine_with(kCluster, "{as-groups: [g]}").report(),
            "error: context \"x\" cannot be used\n"
            "  because   a group, a uid or extra information is impersonated, but no user\n"
            "  next      add --as USER\n");
}

TEST(Kubeconfig, in_a_pod) {
  Machine machine;
  machine.variables = {{"KUBERNETES_SERVICE_HOST", "fd00::1"}, {"KUBERNETES_SERVICE_PORT", "443"}, {"HOME", "/root"}};
  std::string folder = "/var/run/secrets/kubernetes.io/serviceaccount";
  machine.files = {{folder + "/token", "t"},
                   {folder + "/ca.crt", certificates().ca.certificate.to_pem()},
                   {folder + "/namespace", "ns\n"}};
  Result<ClusterConfig> config = machine.resolve();
  ASSERT_TRUE(config) << config.error().report();
  EXPECT_EQ(config->server.text(), "https://[fd00::1]");
  EXPECT_EQ(config->credentials.token_file, folder + "/token");
  EXPECT_EQ(config->tls.ca_pem, certificates().ca.certificate.to_pem());
  EXPECT_EQ(config->ns, "ns");
  EXPECT_FALSE(config->ns_is_chosen);

  machine.variables["POD_NAMESPACE"] = "pod-ns";
  config = machine.resolve({.token = "mine"});
  ASSERT_TRUE(config);
  EXPECT_EQ(config->ns, "pod-ns");
  EXPECT_EQ(config->credentials.token, "mine");
  EXPECT_EQ(config->credentials.token_file, "");

  // A kubeconfig comes first.
  machine.files["/root/.kube/config"] = config_with(kCluster, "{}");
  EXPECT_EQ(machine.resolve()->server.host, "10.0.0.1");
}

TEST(Kubeconfig, nothing_there) {
  EXPECT_EQ(Machine().report(),
            "error: no cluster is configured\n"
            "  because   /home/u/.kube/config is not there\n"
            "  next      set KUBECONFIG, or pass --kubeconfig or --server\n");
  EXPECT_EQ((Machine{.variables = {}}.report()),
            "error: no cluster is configured\n"
            "  because   neither KUBECONFIG nor HOME is set\n"
            "  next      set KUBECONFIG, or pass --kubeconfig or --server\n");
  EXPECT_EQ(Machine().report({.kubeconfig = "/k"}),
            "error: kubeconfig /k cannot be read\n"
            "  because   No such file or directory\n");
  EXPECT_EQ((Machine{.files = {{"/home/u/.kube/config", " \n"}}}.report()),
            "error: no cluster is configured\n"
            "  because   /home/u/.kube/config has no current-context\n"
            "  next      set KUBECONFIG, or pass --kubeconfig or --server\n");
  EXPECT_EQ((Machine{.files = {{"/home/u/.kube/config", "contexts: [{name: a}, {name: b}]"}}}.report()),
            "error: no cluster is configured\n"
            "  because   /home/u/.kube/config has no current-context\n"
            "  next      --context, one of: a, b\n");
}

TEST(Kubeconfig, names_that_lead_nowhere) {
  Machine machine = machine_with(kCluster, "{}");
  EXPECT_EQ(machine.report({.context = "y"}),
            "error: context \"y\" not found in /home/u/.kube/config (available: x)\n"
            "  next      kubectl config get-contexts\n");
  EXPECT_EQ((Machine{.files = {{"/home/u/.kube/config", "current-context: gone\ncontexts: [{name: a}]"}}}.report()),
            "error: the current-context of /home/u/.kube/config cannot be used\n"
            "  because   context \"gone\" not found in /home/u/.kube/config (available: a)\n"
            "  next      kubectl config get-contexts\n");
  EXPECT_EQ(machine_with(kCluster, "{}", "{cluster: other, user: u}").report(),
            "error: context \"x\" cannot be used\n"
            "  because   cluster \"other\" not found in /home/u/.kube/config (available: c)\n");
  EXPECT_EQ(machine_with(kCluster, "{}", "{cluster: c, user: other}").report(),
            "error: context \"x\" cannot be used\n"
            "  because   user \"other\" not found in /home/u/.kube/config (available: u)\n");
  EXPECT_EQ(machine_with(kCluster, "{}", "{user: u}").report(),
            "error: context \"x\" cannot be used\n"
            "  because   context \"x\": names no cluster\n"
            "  from      /home/u/.kube/config\n");
  EXPECT_EQ(machine.report({.user = "nobody"}),
            "error: context \"x\" cannot be used\n"
            "  because   user \"nobody\" not found in /home/u/.kube/config (available: u)\n");
}

TEST(Kubeconfig, values_that_cannot_be_used) {
  auto because = [](std::string_view cluster, std::string_view user) {
    std::string text = machine_with(cluster, user).report();
    std::string_view start = "error: context \"x\" cannot be used\n";
    EXPECT_TRUE(text.starts_with(start)) << text;
    return text.substr(start.size());
  };
  EXPECT_EQ(because("{server: ''}", "{}"),
            "  because   cluster \"c\": has no server\n  from      /home/u/.kube/config\n");
  EXPECT_EQ(because("{server: 5}", "{}"),
            "  because   cluster \"c\": \"server\" must be a string, not integer\n  from      /home/u/.kube/config\n");
  EXPECT_TRUE(because("{server: 'https://'}", "{}")
                  .starts_with("  because   cluster \"c\": \"server\" is not a valid address\n"));
  EXPECT_EQ(
      because("{server: 'socks5://h:1'}", "{}"),
      "  because   cluster \"c\": \"server\" is socks5://h:1, not http or https\n  from      /home/u/.kube/config\n");
  EXPECT_TRUE(because("{server: 'https://h', proxy-url: '::'}", "{}")
                  .starts_with("  because   cluster \"c\": \"proxy-url\" is not a valid address\n"));
  EXPECT_EQ(because("{server: 'https://h', certificate-authority: ca.crt}", "{}"),
            "  because   cluster \"c\": \"certificate-authority\" cannot be read: /home/u/.kube/ca.crt\n"
            "  because   No such file or directory\n"
            "  from      /home/u/.kube/config\n");
  EXPECT_EQ(
      because("{server: 'https://h', certificate-authority-data: '!'}", "{}"),
      "  because   cluster \"c\": \"certificate-authority-data\" is not base64\n  from      /home/u/.kube/config\n");
  EXPECT_TRUE(because("{server: 'https://h', certificate-authority-data: aGVsbG8=}", "{}")
                  .starts_with("  because   cluster \"c\": the certificate authority cannot be read\n"));
  EXPECT_EQ(because("{server: 'https://h', certificate-authority-data: aA==, certificate-authority: f}", "{}"),
            "  because   cluster \"c\": has both \"certificate-authority\" and \"certificate-authority-data\"\n"
            "  from      /home/u/.kube/config\n");
  EXPECT_EQ(because(kCluster, "{token: 12345}"),
            "  because   user \"u\": \"token\" must be a string, not integer\n  from      /home/u/.kube/config\n");
  EXPECT_EQ(because(kCluster, "{token: secret, password: hunter2}"),
            "  because   user \"u\": has both a token and a password: use only one of them\n  from      "
            "/home/u/.kube/config\n");
  EXPECT_EQ(because(kCluster, fmt::format("{{client-certificate-data: {}}}",
                                          to_base64(certificates().client.certificate.to_pem()))),
            "  because   user \"u\": has a client certificate but no client key\n  from      /home/u/.kube/config\n");
  EXPECT_EQ(because(kCluster, "{exec: {apiVersion: client.authentication.k8s.io/v1, command: p}}"),
            "  because   user \"u\": exec: \"interactiveMode\" is missing: Never, IfAvailable or Always\n"
            "  from      /home/u/.kube/config\n");
  EXPECT_EQ(because(kCluster, "{exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: p}}"),
            "  because   user \"u\": exec: \"apiVersion\" is client.authentication.k8s.io/v1alpha1, which Kubernetes "
            "no longer has\n"
            "  from      /home/u/.kube/config\n"
            "  next      update the plugin, and have it write a new kubeconfig\n");
  EXPECT_EQ(because(kCluster, "{exec: {apiVersion: client.authentication.k8s.io/v1}}"),
            "  because   user \"u\": exec: \"command\" is missing\n  from      /home/u/.kube/config\n");
  EXPECT_EQ(because(kCluster, "{auth-provider: {name: gcp}}"),
            "  because   user \"u\": uses the old auth-provider \"gcp\", which is not supported\n"
            "  from      /home/u/.kube/config\n"
            "  next      gcloud components install gke-gcloud-auth-plugin, then gcloud container clusters "
            "get-credentials CLUSTER\n");
  EXPECT_TRUE(
      because(kCluster, "{auth-provider: {name: azure}}").contains("  next      kubelogin convert-kubeconfig\n"));
  EXPECT_TRUE(because(kCluster, "{auth-provider: {name: oidc}}").contains("  next      kubectl oidc-login setup"));
}

TEST(Kubeconfig, client_certificates_are_checked_before_use) {
  auto report = [](const x509::Certificate& certificate, const x509::Key& key) {
    return machine_with(kCluster, fmt::format("{{client-certificate-data: {}, client-key-data: {}}}",
                                              to_base64(certificate.to_pem()), to_base64(key.to_pem())))
        .report();
  };
  const Certificates& made = certificates();
  x509::KeyPair old = *x509::make_leaf(made.ca, {.common_name = "alice", .validity = std::chrono::hours(1)},
                                       kNow - std::chrono::hours(3));
  EXPECT_EQ(report(old.certificate, old.key),
            "error: context \"x\" cannot be used\n"
            "  because   the client certificate of user \"u\" has expired\n"
            "  because   it was valid until 2029-12-31 22:00:00 UTC, and it is 2030-01-01 00:00:00 UTC now\n"
            "  next      get a new kubeconfig for this cluster\n");
  x509::KeyPair early = *x509::make_leaf(made.ca, {.common_name = "alice"}, kNow + std::chrono::minutes(65));
  EXPECT_EQ(report(early.certificate, early.key),
            "error: context \"x\" cannot be used\n"
            "  because   the client certificate of user \"u\" is not valid yet\n"
            "  because   it is valid from 2030-01-01 01:00:00 UTC, and it is 2030-01-01 00:00:00 UTC now\n"
            "  next      check the clock of this machine\n");
  EXPECT_EQ(report(made.client.certificate, old.key),
            "error: context \"x\" cannot be used\n"
            "  because   the client key of user \"u\" does not belong to its client certificate\n");
}

TEST(Kubeconfig, files_that_are_none) {
  auto report = [](std::string text) { return Machine{.files = {{"/home/u/.kube/config", std::move(text)}}}.report(); };
  EXPECT_EQ(report("kind: Pod"),
            "error: /home/u/.kube/config is not a valid kubeconfig\n"
            "  because   it is of kind Pod, not Config\n"
            "  from      /home/u/.kube/config\n");
  EXPECT_EQ(report("clusters: {}"),
            "error: /home/u/.kube/config is not a valid kubeconfig\n"
            "  because   \"clusters\" is not a list\n"
            "  from      /home/u/.kube/config\n");
  EXPECT_EQ(report("users: [{name: u}, {name: u}]"),
            "error: /home/u/.kube/config is not a valid kubeconfig\n"
            "  because   user \"u\" is there twice\n"
            "  from      /home/u/.kube/config\n");
  EXPECT_EQ(report("users: [{user: {}}]"),
            "error: /home/u/.kube/config is not a valid kubeconfig\n"
            "  because   users[0] has no name\n"
            "  from      /home/u/.kube/config\n");
  std::string broken = report("users:\n- name: u\n  user: {token: hunter2\n");
  EXPECT_TRUE(broken.starts_with("error: /home/u/.kube/config is not a valid kubeconfig\n")) << broken;
  EXPECT_FALSE(broken.contains("hunter2")) << broken;
}

TEST(Timeout, as_people_write_it) {
  EXPECT_EQ(parse_timeout("30"), Duration(std::chrono::seconds(30)));
  EXPECT_EQ(parse_timeout("0"), Duration(0));
  EXPECT_EQ(parse_timeout("300ms"), Duration(std::chrono::milliseconds(300)));
  EXPECT_EQ(parse_timeout("1m30s"), Duration(std::chrono::seconds(90)));
  EXPECT_EQ(parse_timeout("1.5h"), Duration(std::chrono::minutes(90)));
  for (std::string_view bad : {"", "-1s", "x", "s", "1s1", "1.5", "1e9s", "99999999h", "nan", "inf", "1 s"})
    EXPECT_FALSE(parse_timeout(bad)) << bad;
  EXPECT_EQ(parse_timeout("soon").error().report(),
            "error: \"soon\" is not a duration\n  next      write it like 30s, 1m30s or 0\n");
}

}  // namespace
}  // namespace fairlead::kube
