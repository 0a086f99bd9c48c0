#include "terraform/projection/import_id.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace fairlead::terraform {
namespace {

constexpr std::string_view kImportForms =
    "terraform import ADDRESS 'CONTEXT:NAMESPACE:apps/v1/Deployment:web', without NAMESPACE for kinds that have none, "
    "or "
    "'context=CONTEXT,namespace=shop,api_version=apps/v1,kind=Deployment,name=web'";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "v1", "v2beta1"
bool is_version(std::string_view text) {
  if (!text.starts_with('v') || text.size() < 2 || !is_digit(text[1])) return false;
  return std::ranges::all_of(text.substr(1), [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z'); });
}

// "v1/ConfigMap", "apps/v1/Deployment"
bool is_type(std::string_view text) {
  size_t last = text.rfind('/');
  if (last == std::string_view::npos || last + 1 == text.size()) return false;
  std::string_view kind = text.substr(last + 1), api_version = text.substr(0, last);
  if (kind[0] < 'A' || kind[0] > 'Z') return false;
  size_t slash = api_version.find('/');
  if (slash == std::string_view::npos) return is_version(api_version);
  return slash > 0 && api_version.find('/', slash + 1) == std::string_view::npos &&
         is_version(api_version.substr(slash + 1));
}

std::unexpected<Error> wrong_id(std::string_view text, std::string_view why) {
  return fail(Error(ErrorKind::invalid, fmt::format("\"{}\" is not the id of an object: {}", text, why))
                  .next(std::string(kImportForms)));
}

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Result<ImportId> parse_pairs(std::string_view text) {
  ImportId id;
  const std::pair<std::string_view, std::string*> keys[] = {
      {"context", &id.context}, {"namespace", &id.ns},    {"api_version", &id.api_version}, {"kind", &id.kind},
      {"name", &id.name},       {"cluster", &id.cluster}, {"kubeconfig", &id.kubeconfig}};
  for (std::string_view pair : split_at(text, ',')) {
    size_t equals = pair.find('=');
    std::string_view key = pair.substr(0, equals);
    auto found = std::ranges::find_if(keys, [&](const auto& known) { return known.first == key; });
    if (equals == std::string_view::npos || found == std::end(keys))
      return wrong_id(text, fmt::format("\"{}\" is none of context, cluster, kubeconfig, namespace, api_version, kind "
                                        "and name",
                                        key));
    if (!found->second->empty()) return wrong_id(text, fmt::format("{} comes twice", key));
    *found->second = pair.substr(equals + 1);
  }
  for (const auto& [key, value] : keys)
    if (value->empty() && (key == "api_version" || key == "kind" || key == "name"))
      return wrong_id(text, fmt::format("{} is missing", key));
  return id;
}

bool has_pairs(std::string_view text) {
  return text.contains("kind=") && text.contains("name=") && text.find('=') < text.find(':');
}

}  // namespace

Result<ImportId> ImportId::parse(std::string_view text) {
  constexpr size_t kMaxId = 4096;
  if (text.size() > kMaxId) return fail(ErrorKind::limit, "the id has more than {} bytes", kMaxId);
  if (has_pairs(text)) return parse_pairs(text);
  std::vector<std::string_view> parts = split_at(text, ':');
  // Names have no slash, so the last part of this form is the type.
  auto last = std::find_if(parts.rbegin(), parts.rend(), is_type);
  if (last == parts.rend()) return wrong_id(text, "no part of it is like apps/v1/Deployment");
  size_t at = size_t(parts.rend() - last) - 1;
  ImportId id;
  size_t slash = parts[at].rfind('/');
  id.api_version = parts[at].substr(0, slash);
  id.kind = parts[at].substr(slash + 1);
  size_t begin = size_t(parts[at].data() - text.data());
  size_t end = begin + parts[at].size();
  if (end >= text.size() || text.substr(end + 1).empty()) return wrong_id(text, "the name is missing");
  id.name = text.substr(end + 1);
  if (begin > 0) id.prefix = text.substr(0, begin - 1);
  return id;
}

Result<ImportId> ImportId::resolved(bool namespaced) const {
  ImportId id = *this;
  id.prefix.clear();
  if (prefix.empty()) {
    if (namespaced && id.ns.empty()) id.ns = "default";
    return id;
  }
  if (!namespaced) {
    id.context = prefix;
    return id;
  }
  size_t colon = prefix.rfind(':');
  if (colon == std::string::npos)
    return wrong_id(fmt::format("{}:{}/{}:{}", prefix, api_version, kind, name),
                    fmt::format("{} is namespaced, and the namespace is missing", kind));
  id.context = prefix.substr(0, colon);
  id.ns = prefix.substr(colon + 1);
  return id;
}

std::string import_id_of(std::string_view context, std::string_view ns, std::string_view api_version,
                         std::string_view kind, std::string_view name) {
  return fmt::format("{}:{}{}{}/{}:{}", context, ns, ns.empty() ? "" : ":", api_version, kind, name);
}

}  // namespace fairlead::terraform
