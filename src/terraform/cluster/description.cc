#include "terraform/cluster/description.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/base64.h"
#include "kube/config/kubeconfig.h"

namespace fairlead::terraform {
namespace {

constexpr std::string_view kOnlyWithKubeconfig[] = {"context"};
constexpr std::string_view kOnlyWithHost[] = {"cluster_ca_certificate", "insecure",   "token",
                                              "client_certificate",     "client_key", "exec"};

constexpr std::string_view kConflict = "The cluster is described in two ways";
constexpr std::string_view kIncomplete = "The cluster is not described completely";

bool is_set(const Value& cluster, std::string_view name) {
  const Value& value = cluster[name];
  return value.is_known() && (!value.if_bool() || value.bool_or(false));
}

bool is_absent(const Value& cluster, std::string_view name) { return cluster[name].is_null(); }

// Those of the names that are set, as "a, b and c".
std::vector<std::string> set_of(const Value& cluster, std::initializer_list<std::string_view> names) {
  std::vector<std::string> set;
  for (std::string_view name : names)
    if (is_set(cluster, name)) set.push_back(fmt::format("\"{}\"", name));
  return set;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

// Of an empty text nobody can tell whether it is meant, or what a variable has that nobody set.
void refuse_empty(const Value& value, const Path& at, Diagnostics& found) {
  for (const auto& [name, member] : value.members()) {
    if (const std::string* text = member.if_string(); text && text->empty())
      found.error(std::string(kIncomplete), fmt::format("\"{}\" is empty. Set it to null to leave it out.", name),
                  at[name]);
    if (name == "exec") refuse_empty(member, at[name], found);
  }
}

void check_host(const Value& cluster, const Path& at, Diagnostics& found) {
  if (auto trust = set_of(cluster, {"cluster_ca_certificate", "insecure"}); trust.size() > 1)
    found.error(std::string(kConflict), listed(trust) + " exclude each other.", at["insecure"]);
  std::vector<std::string> ways = set_of(cluster, {"token", "client_certificate", "exec"});
  if (ways.size() > 1) found.error(std::string(kConflict), listed(ways) + " exclude each other: set one of them.", at);
  bool has_certificate = is_set(cluster, "client_certificate");
  if (has_certificate && is_absent(cluster, "client_key"))
    found.error(std::string(kIncomplete), "\"client_certificate\" needs \"client_key\".", at["client_certificate"]);
  if (is_set(cluster, "client_key") && is_absent(cluster, "client_certificate"))
    found.error(std::string(kIncomplete), "\"client_key\" needs \"client_certificate\".", at["client_key"]);
  bool is_anonymous = is_absent(cluster, "token") && is_absent(cluster, "client_certificate") &&
                      is_absent(cluster, "client_key") && is_absent(cluster, "exec");
  bool is_plain = cluster["host"].string_or("").starts_with("http://");
  if (is_anonymous && !is_plain && cluster["host"].is_known())
    found.error(std::string(kIncomplete),
                "\"host\" needs credentials: \"token\", \"client_certificate\" with \"client_key\", or \"exec\".",
                at["host"]);
}

void refuse(const Value& cluster, const Path& at, std::span<const std::string_view> names, std::string_view without,
            Diagnostics& found) {
  for (std::string_view name : names)
    if (is_set(cluster, name))
      found.error(std::string(kConflict), fmt::format("\"{}\" can only be set with \"{}\".", name, without), at[name]);
}

// Certificates and keys come as PEM, and from other providers as base64 of it. The result is base64.
Result<std::string> base64_of(const Value& cluster, std::string_view name) {
  constexpr std::string_view kMark = "-----BEGIN";
  std::string_view text = cluster[name].string_or("");
  if (text.contains(kMark)) return to_base64(text);
  std::optional<std::string> decoded = from_base64(text);
  if (!decoded || !decoded->contains(kMark))
    return fail(ErrorKind::invalid, "\"{}\" is neither PEM nor base64 of PEM", name);
  return to_base64(*decoded);
}

Json::Object exec_of(const Value& exec) {
  Json::Object plugin;
  plugin.append("apiVersion", exec["api_version"].string_or(""));
  plugin.append("command", exec["command"].string_or(""));
  Json::Array arguments;
  for (const Value& argument : exec["args"].items()) arguments.emplace_back(argument.string_or(""));
  plugin.append("args", std::move(arguments));
  Json::Array environment;
  for (const auto& [name, value] : exec["env"].members())
    environment.emplace_back(Json::Object{{"name", name}, {"value", value.string_or("")}});
  plugin.append("env", std::move(environment));
  // Terraform's terminal is not ours.
  plugin.append("interactiveMode", "Never");
  return plugin;
}

// What `host` and its companions say, as the kubeconfig that says the same.
Result<std::string> kubeconfig_of_host(const Value& cluster) {
  Json::Object server;
  server.append("server", cluster["host"].string_or(""));
  if (is_set(cluster, "cluster_ca_certificate")) {
    TRY_ASSIGN(std::string authority, base64_of(cluster, "cluster_ca_certificate"));
    server.append("certificate-authority-data", std::move(authority));
  }
  if (is_set(cluster, "insecure")) server.append("insecure-skip-tls-verify", true);
  Json::Object user;
  if (is_set(cluster, "token")) user.append("token", cluster["token"].string_or(""));
  if (is_set(cluster, "client_certificate")) {
    TRY_ASSIGN(std::string certificate, base64_of(cluster, "client_certificate"));
    TRY_ASSIGN(std::string key, base64_of(cluster, "client_key"));
    user.append("client-certificate-data", std::move(certificate));
    user.append("client-key-data", std::move(key));
  }
  if (is_set(cluster, "exec")) user.append("exec", exec_of(cluster["exec"]));
  std::string host(cluster["host"].string_or(""));
  auto named = [](std::string_view what, Json value) {
    return Json::Array{Json::Object{{"name", "cluster"}, {std::string(what), std::move(value)}}};
  };
  return Json(Json::Object{{"clusters", named("cluster", std::move(server))},
                           {"users", named("user", std::move(user))},
                           {"contexts", named("context", Json::Object{{"cluster", "cluster"}, {"user", "cluster"}})},
                           {"current-context", "cluster"}})
      .dump();
}

bool is_content(std::string_view kubeconfig) {
  return kubeconfig.contains('\n') || kubeconfig.contains(": ") || kubeconfig.starts_with('{');
}

Result<kube::Kubeconfig> read_kubeconfig(std::string_view text, const kube::Surroundings& surroundings) {
  if (text.empty()) return kube::Kubeconfig::load({}, surroundings);
  if (is_content(text)) return kube::Kubeconfig::parse(text, "cluster.kubeconfig", surroundings);
  std::string path(text);
  if (path.starts_with("~/")) path.replace(0, 1, surroundings.environment("HOME").value_or(""));
  return kube::Kubeconfig::load({.kubeconfig = path}, surroundings);
}

Result<kube::ClusterConfig> config_of_kubeconfig(const Value& cluster, const kube::Surroundings& surroundings,
                                                 Omitted omitted) {
  TRY_ASSIGN(kube::Kubeconfig files, read_kubeconfig(cluster["kubeconfig"].string_or(""), surroundings));
  std::vector<std::string> contexts = files.contexts();
  std::string context(cluster["context"].string_or(""));
  std::string tls_server_name(cluster["tls_server_name"].string_or(""));
  if (omitted == Omitted::as_kubectl)
    return files.resolve({.context = context, .tls_server_name = std::move(tls_server_name)});
  if (context.empty() && contexts.size() > 1)
    return fail(
        Error(ErrorKind::invalid,
              fmt::format("the kubeconfig has {} contexts, and \"context\" names none of them", contexts.size()))
            .next(fmt::format("set \"context\" to one of: {}", fmt::join(contexts, ", "))));
  if (contexts.empty()) return fail(ErrorKind::invalid, "the kubeconfig has no contexts");
  if (context.empty()) context = contexts.front();
  return files.resolve({.context = context, .tls_server_name = std::move(tls_server_name)});
}

Result<kube::ClusterConfig> config_of_host(const Value& cluster, const kube::Surroundings& surroundings) {
  TRY_ASSIGN(std::string text, kubeconfig_of_host(cluster));
  TRY_ASSIGN(kube::Kubeconfig made, kube::Kubeconfig::parse(text, "cluster", surroundings));
  TRY_ASSIGN(kube::ClusterConfig config,
             made.resolve({.tls_server_name = std::string(cluster["tls_server_name"].string_or(""))}));
  // The name is ours, and says nothing to people.
  config.context.clear();
  config.credentials.owner = "the credentials of \"cluster\"";
  return config;
}

}  // namespace

Diagnostics check_description(const Value& cluster, const Path& at, Omitted omitted) {
  Diagnostics found;
  if (!cluster.is_known()) return found;
  refuse_empty(cluster, at, found);
  std::vector<std::string> modes = set_of(cluster, {"name", "kubeconfig", "host"});
  bool can_have_one =
      cluster["name"].is_unknown() || cluster["kubeconfig"].is_unknown() || cluster["host"].is_unknown();
  if (modes.size() > 1) {
    found.error(std::string(kConflict), listed(modes) + " exclude each other: set one of them.", at);
    return found;
  }
  if (modes.empty() && omitted == Omitted::as_kubectl) {
    refuse(cluster, at, kOnlyWithHost, "host", found);
    return found;
  }
  if (modes.empty()) {
    if (!can_have_one)
      found.error("The cluster is not described", "Exactly one of \"name\", \"kubeconfig\" and \"host\" must be set.",
                  at);
    return found;
  }
  if (is_set(cluster, "name")) {
    refuse(cluster, at, kOnlyWithKubeconfig, "kubeconfig", found);
    refuse(cluster, at, kOnlyWithHost, "host", found);
    for (std::string_view other : {"tls_server_name", "proxy_url"})
      if (is_set(cluster, other))
        found.error(std::string(kConflict),
                    fmt::format("\"{}\" belongs into the provider block, beside the name.", other), at[other]);
  } else if (is_set(cluster, "kubeconfig")) {
    refuse(cluster, at, kOnlyWithHost, "host", found);
  } else {
    refuse(cluster, at, kOnlyWithKubeconfig, "kubeconfig", found);
    check_host(cluster, at, found);
  }
  return found;
}

Result<kube::ClusterConfig> read_description(const Value& cluster, const kube::Surroundings& surroundings,
                                             Omitted omitted) {
  Diagnostics problems = check_description(cluster, Path("cluster"), omitted);
  if (problems.has_errors()) {
    const Diagnostic& first = problems.all().front();
    return fail(Error(ErrorKind::invalid, first.summary).because(first.detail));
  }
  Result<kube::ClusterConfig> config = is_set(cluster, "host") ? config_of_host(cluster, surroundings)
                                                               : config_of_kubeconfig(cluster, surroundings, omitted);
  if (!config) return fail(std::move(config).error().in("the cluster cannot be used"));
  if (is_set(cluster, "proxy_url")) {
    Result<http::Url> proxy = http::parse_url(cluster["proxy_url"].string_or(""));
    if (!proxy) return fail(std::move(proxy).error().in("\"proxy_url\" is not a valid address"));
    config->proxy = *std::move(proxy);
  }
  return config;
}

}  // namespace fairlead::terraform
