#include <algorithm>

#include "base/base64.h"
#include "kube/config/internal/client_certificate.h"
#include "kube/config/internal/exec_spec.h"
#include "kube/config/internal/kubeconfig_section.h"
#include "kube/config/kubeconfig.h"
#include "kube/config/timeout_text.h"
#include "x509/x509.h"

namespace fairlead::kube {
namespace {

std::string joined(const std::vector<std::string>& names, std::string_view separator) {
  return fmt::format("{}", fmt::join(names, separator));
}

const Kubeconfig::Entry* find_entry(const std::vector<Kubeconfig::Entry>& entries, std::string_view name) {
  auto found = std::ranges::find(entries, name, &Kubeconfig::Entry::name);
  return found == entries.end() ? nullptr : &*found;
}

std::vector<std::string> names_of(const std::vector<Kubeconfig::Entry>& entries) {
  std::vector<std::string> names;
  for (const Kubeconfig::Entry& entry : entries) names.push_back(entry.name);
  // Enough to see one's mistake.
  if (names.size() > 20) {
    size_t more = names.size() - 20;
    names.resize(20);
    names.push_back(fmt::format("and {} more", more));
  }
  return names;
}

Error unknown(std::string_view what, std::string_view name, const std::vector<Kubeconfig::Entry>& entries,
              const std::vector<std::string>& files) {
  std::string available =
      entries.empty() ? std::string() : fmt::format(" (available: {})", joined(names_of(entries), ", "));
  return {ErrorKind::not_found, fmt::format("{} \"{}\" not found in {}{}", what, name, joined(files, ":"), available)};
}

// As client-go: without a scheme it is https where anything about TLS is given.
Result<http::Url> read_server(const Section& cluster, std::string text, bool has_tls) {
  if (text.empty()) return fail(cluster.error("has no server"));
  if (!text.contains("://")) text = (has_tls ? "https://" : "http://") + text;
  Result<http::Url> url = http::parse_url(text);
  if (!url) return fail(cluster.error("\"server\" is not a valid address").because(std::move(url).error()));
  if (url->scheme != "https" && url->scheme != "http")
    return fail(cluster.error(fmt::format("\"server\" is {}, not http or https", url->text())));
  return url;
}

Result<std::string> read_flag_file(const std::string& flag, const std::string& file, const Surroundings& surroundings) {
  Result<std::string> bytes = surroundings.read_file(file);
  if (!bytes)
    return fail(
        Error(ErrorKind::invalid, fmt::format("{} cannot be read: {}", flag, file)).because(std::move(bytes).error()));
  return bytes;
}

Result<void> read_cluster(const Section& cluster, const KubeFlags& flags, const Surroundings& surroundings,
                          ClusterConfig& config) {
  http::TlsOptions& tls = config.tls;
  // A flag about trust replaces everything that the file says about it.
  if (!flags.certificate_authority.empty() || flags.insecure_skip_tls_verify) {
    tls.insecure_skip_verify = flags.insecure_skip_tls_verify;
    if (!flags.certificate_authority.empty()) {
      TRY_ASSIGN(tls.ca_pem, read_flag_file("--certificate-authority", flags.certificate_authority, surroundings));
    }
  } else {
    TRY_ASSIGN(tls.insecure_skip_verify, cluster.flag("insecure-skip-tls-verify"));
    TRY_ASSIGN(std::optional<std::string> authority, cluster.data_or_file("certificate-authority", surroundings));
    tls.ca_pem = std::move(authority).value_or("");
  }
  if (tls.insecure_skip_verify && !tls.ca_pem.empty())
    return fail(cluster.error("has a certificate authority and skips verification: use only one of them"));
  if (!tls.ca_pem.empty())
    if (auto authorities = x509::Certificate::parse_pem(tls.ca_pem); !authorities)
      return fail(cluster.error("the certificate authority cannot be read").because(std::move(authorities).error()));

  TRY_ASSIGN(tls.server_name, cluster.text("tls-server-name"));
  // Another server hardly has the name of the one in the file.
  if (!flags.tls_server_name.empty() || !flags.server.empty()) tls.server_name = flags.tls_server_name;

  TRY_ASSIGN(std::string proxy, cluster.text("proxy-url"));
  if (!proxy.empty()) {
    Result<http::Url> url = http::parse_url(proxy);
    if (!url) return fail(cluster.error("\"proxy-url\" is not a valid address").because(std::move(url).error()));
    config.proxy = *std::move(url);
  }
  TRY_ASSIGN(bool uncompressed, cluster.flag("disable-compression"));
  config.compression = !uncompressed;
  return {};
}

// What a plugin with provideClusterInfo learns.
Json cluster_info(const ClusterConfig& config, const std::string& server, const Section& cluster) {
  Json::Object info;
  info.append("server", server);
  if (!config.tls.server_name.empty()) info.append("tls-server-name", config.tls.server_name);
  if (config.tls.insecure_skip_verify) info.append("insecure-skip-tls-verify", true);
  if (!config.tls.ca_pem.empty()) info.append("certificate-authority-data", to_base64(config.tls.ca_pem));
  if (std::string_view proxy = cluster["proxy-url"].string_or(""); !proxy.empty()) info.append("proxy-url", proxy);
  if (!config.compression) info.append("disable-compression", true);
  for (const Json& extension : cluster["extensions"].items())
    if (extension["name"].string_or("") == "client.authentication.k8s.io/exec")
      info.append("config", extension["extension"]);
  return info;
}

Result<void> read_certificate(const Section& user, const KubeFlags& flags, const Surroundings& surroundings,
                              ClusterConfig& config) {
  std::optional<std::string> certificate;
  std::optional<std::string> key;
  if (!flags.client_certificate.empty()) {
    TRY_ASSIGN(certificate, read_flag_file("--client-certificate", flags.client_certificate, surroundings));
  } else {
    TRY_ASSIGN(certificate, user.data_or_file("client-certificate", surroundings));
  }
  if (!certificate) return {};
  if (!flags.client_key.empty()) {
    TRY_ASSIGN(key, read_flag_file("--client-key", flags.client_key, surroundings));
  } else {
    TRY_ASSIGN(key, user.data_or_file("client-key", surroundings));
  }
  if (!key) return fail(user.error("has a client certificate but no client key"));
  TRY(check_client_certificate(user.who(), *certificate, *key, surroundings.now()));
  config.tls.certificate_pem = *std::move(certificate);
  config.tls.key_pem = *std::move(key);
  return {};
}

Result<void> read_impersonation(const Section& user, const KubeFlags& flags, Impersonation& impersonate) {
  TRY_ASSIGN(impersonate.user, user.text("as"));
  TRY_ASSIGN(impersonate.uid, user.text("as-uid"));
  TRY_ASSIGN(impersonate.groups, user.texts("as-groups"));
  const Json& extra = user["as-user-extra"];
  if (!extra.is_null() && !extra.is_object()) return fail(user.error("\"as-user-extra\" is not a map"));
  if (extra.is_object()) {
    Section values(user.who() + ": as-user-extra", user.file(), extra);
    for (const Json::Member& member : extra.members()) {
      TRY_ASSIGN(impersonate.extra[member.key], values.texts(member.key));
    }
  }
  if (!flags.as.empty()) impersonate.user = flags.as;
  if (!flags.as_uid.empty()) impersonate.uid = flags.as_uid;
  if (!flags.as_groups.empty()) impersonate.groups = flags.as_groups;
  bool has_more = !impersonate.uid.empty() || !impersonate.groups.empty() || !impersonate.extra.empty();
  if (impersonate.user.empty() && has_more)
    return fail(Error(ErrorKind::invalid, "a group, a uid or extra information is impersonated, but no user")
                    .next("add --as USER"));
  return {};
}

Result<void> read_user(const Section& user, const KubeFlags& flags, const Surroundings& surroundings, const Json& info,
                       ClusterConfig& config) {
  CredentialSpec& spec = config.credentials;
  spec.owner = user.who();
  TRY(read_impersonation(user, flags, spec.impersonate));
  // As client-go: credentials never travel in the clear.
  if (!config.server.is_tls()) return {};
  TRY(read_certificate(user, flags, surroundings, config));

  if (!flags.token.empty()) {
    spec.token = flags.token;
    return {};
  }
  if (!flags.username.empty() || !flags.password.empty()) {
    spec.username = flags.username;
    spec.password = flags.password;
    return {};
  }
  TRY_ASSIGN(spec.token, user.text("token"));
  TRY_ASSIGN(spec.token_file, user.path("tokenFile"));
  TRY_ASSIGN(spec.username, user.text("username"));
  TRY_ASSIGN(spec.password, user.text("password"));
  bool has_basic = !spec.username.empty() || !spec.password.empty();
  bool has_token = !spec.token.empty() || !spec.token_file.empty();
  if (has_basic && has_token) return fail(user.error("has both a token and a password: use only one of them"));
  if (!spec.token_file.empty()) spec.token.clear();
  if (!user["auth-provider"].is_null()) return fail(auth_provider_error(user));
  // A plugin is asked only where nothing else is given.
  if (!user["exec"].is_null()) {
    TRY_ASSIGN(ExecPlugin plugin, read_exec(user, info));
    if (!has_basic && !has_token && config.tls.certificate_pem.empty()) spec.exec = std::move(plugin);
  }
  return {};
}

Result<void> read_request_timeout(const KubeFlags& flags, ClusterConfig& config) {
  if (flags.request_timeout.empty()) return {};
  Result<Duration> timeout = parse_timeout(flags.request_timeout);
  if (!timeout) return fail(std::move(timeout).error().in("--request-timeout cannot be used"));
  if (timeout->count() > 0) config.request_timeout = *timeout;
  return {};
}

std::string quoted(std::string_view what, std::string_view name) {
  return name.empty() ? std::string(what) : fmt::format("{} \"{}\"", what, name);
}

}  // namespace

Error Kubeconfig::no_cluster() const {
  Error error(ErrorKind::not_found, "no cluster is configured");
  std::string why;
  if (!files_.empty()) {
    why = fmt::format("{} {} no current-context", joined(files_, ":"), files_.size() == 1 ? "has" : "have");
  } else if (!missing_.empty()) {
    why = fmt::format("{} {} not there", joined(missing_, ", "), missing_.size() == 1 ? "is" : "are");
  } else {
    why = "neither KUBECONFIG nor HOME is set";
  }
  error = std::move(error).because(Error(ErrorKind::not_found, std::move(why)));
  if (!contexts_.empty())
    return std::move(error).next(fmt::format("--context, one of: {}", joined(names_of(contexts_), ", ")));
  return std::move(error).next("set KUBECONFIG, or pass --kubeconfig or --server");
}

Result<ClusterConfig> Kubeconfig::resolve(const KubeFlags& flags) const {
  bool nothing_chosen = flags.context.empty() && flags.cluster.empty() && current_context_.empty();
  if (nothing_chosen && clusters_.empty() && contexts_.empty()) {
    auto variable = [&](const char* name) { return surroundings_.environment(name).value_or(""); };
    bool in_pod = !variable("KUBERNETES_SERVICE_HOST").empty() && !variable("KUBERNETES_SERVICE_PORT").empty() &&
                  surroundings_.read_file(surroundings_.service_account + "/token").has_value();
    if (in_pod && flags.kubeconfig.empty()) return resolve_in_cluster(flags);
  }
  if (nothing_chosen && flags.server.empty()) return fail(no_cluster());

  static const Json kNothing;
  ClusterConfig config;
  config.context = flags.context.empty() ? current_context_ : flags.context;
  const Entry* context = nullptr;
  if (!config.context.empty()) {
    context = find_entry(contexts_, config.context);
    if (!context) {
      Error error = unknown("context", config.context, contexts_, files_.empty() ? missing_ : files_);
      if (flags.context.empty())
        error = std::move(error).in(fmt::format("the current-context of {} cannot be used", current_context_file_));
      return fail(std::move(error).next("kubectl config get-contexts"));
    }
  }

  auto resolve_all = [&]() -> Result<void> {
    Section in_context(quoted("context", config.context), context ? context->file : "",
                       context ? context->value : kNothing);
    TRY_ASSIGN(config.cluster, in_context.text("cluster"));
    TRY_ASSIGN(config.user, in_context.text("user"));
    TRY_ASSIGN(std::string ns, in_context.text("namespace"));
    if (!flags.cluster.empty()) config.cluster = flags.cluster;
    if (!flags.user.empty()) config.user = flags.user;
    if (!flags.ns.empty()) ns = flags.ns;
    config.ns_is_chosen = !ns.empty();
    if (config.ns_is_chosen) config.ns = std::move(ns);

    const Entry* cluster = find_entry(clusters_, config.cluster);
    const Entry* user = find_entry(users_, config.user);
    if (!cluster && config.cluster.empty() && flags.server.empty()) return fail(in_context.error("names no cluster"));
    if (!cluster && !config.cluster.empty()) return fail(unknown("cluster", config.cluster, clusters_, files_));
    if (!user && !config.user.empty()) return fail(unknown("user", config.user, users_, files_));

    Section in_cluster(quoted("cluster", config.cluster), cluster ? cluster->file : "",
                       cluster ? cluster->value : kNothing);
    Section in_user(quoted("user", config.user), user ? user->file : "", user ? user->value : kNothing);
    TRY(read_cluster(in_cluster, flags, surroundings_, config));
    TRY_ASSIGN(std::string server, in_cluster.text("server"));
    if (!flags.server.empty()) server = flags.server;
    bool has_certificate = !flags.client_certificate.empty() || !in_user["client-certificate"].is_null() ||
                           !in_user["client-certificate-data"].is_null();
    bool has_tls = has_certificate || !config.tls.ca_pem.empty() || config.tls.insecure_skip_verify;
    TRY_ASSIGN(config.server, read_server(in_cluster, server, has_tls));
    TRY(read_user(in_user, flags, surroundings_, cluster_info(config, server, in_cluster), config));
    return read_request_timeout(flags, config);
  };
  if (Result<void> result = resolve_all(); !result) {
    if (config.context.empty()) return fail(std::move(result).error());
    return fail(std::move(result).error().in(fmt::format("context \"{}\" cannot be used", config.context)));
  }
  return config;
}

Result<ClusterConfig> Kubeconfig::resolve_in_cluster(const KubeFlags& flags) const {
  auto variable = [&](const char* name) { return surroundings_.environment(name).value_or(""); };
  std::string host = variable("KUBERNETES_SERVICE_HOST");
  if (host.contains(':')) host = "[" + host + "]";
  std::string server = fmt::format("https://{}:{}", host, variable("KUBERNETES_SERVICE_PORT"));
  if (!flags.server.empty()) server = flags.server;

  ClusterConfig config;
  static const Json kNothing;
  Section in_cluster("the cluster of this pod", "", kNothing);
  Section in_user("the service account of this pod", "", kNothing);
  TRY(read_cluster(in_cluster, flags, surroundings_, config));
  TRY_ASSIGN(config.server, read_server(in_cluster, server, true));
  if (config.tls.ca_pem.empty() && !config.tls.insecure_skip_verify) {
    TRY_ASSIGN(config.tls.ca_pem, read_flag_file("the cluster's certificate authority",
                                                 surroundings_.service_account + "/ca.crt", surroundings_));
  }
  TRY(read_user(in_user, flags, surroundings_, cluster_info(config, server, in_cluster), config));
  bool has_own =
      !config.credentials.token.empty() || !config.credentials.username.empty() || !config.tls.certificate_pem.empty();
  if (!has_own && config.server.is_tls()) config.credentials.token_file = surroundings_.service_account + "/token";

  std::string ns = flags.ns.empty() ? variable("POD_NAMESPACE") : flags.ns;
  config.ns_is_chosen = !flags.ns.empty();
  if (ns.empty()) {
    ns = surroundings_.read_file(surroundings_.service_account + "/namespace").value_or("");
    size_t end = ns.find_last_not_of(" \t\r\n");
    ns.resize(end == std::string::npos ? 0 : end + 1);
  }
  if (!ns.empty()) config.ns = std::move(ns);
  TRY(read_request_timeout(flags, config));
  return config;
}

}  // namespace fairlead::kube
