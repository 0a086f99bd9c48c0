#include "kube/config/kubeconfig.h"

#include <algorithm>
#include <set>

#include "yaml/yaml.h"

namespace fairlead::kube {
namespace {

constexpr size_t kMaxFiles = 100;
constexpr size_t kMaxEntries = 10'000;

std::vector<std::string> split_list(std::string_view list) {
  std::vector<std::string> files;
  while (!list.empty()) {
    size_t colon = list.find(':');
    std::string file(list.substr(0, colon));
    if (!file.empty() && std::ranges::find(files, file) == files.end()) files.push_back(std::move(file));
    list = colon == std::string_view::npos ? std::string_view() : list.substr(colon + 1);
  }
  return files;
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

// `clusters: [{name: NAME, cluster: {…}}]`. Entries that an earlier file had stay as they are.
Result<void> add_entries(const Json& list, std::string_view plural, std::string_view singular, const std::string& file,
                         std::vector<Kubeconfig::Entry>& entries) {
  if (list.is_null()) return {};
  auto bad = [&](std::string what) {
    return fail(
        Error(ErrorKind::invalid, fmt::format("{} is not a valid kubeconfig", file)).because(std::move(what)).at(file));
  };
  if (!list.is_array()) return bad(fmt::format("\"{}\" is not a list", plural));
  std::set<std::string, std::less<>> earlier;
  for (const Kubeconfig::Entry& entry : entries) earlier.insert(entry.name);
  std::set<std::string, std::less<>> here;
  for (size_t i = 0; i < list.items().size(); ++i) {
    const Json& item = list.items()[i];
    if (!item["name"].is_string()) return bad(fmt::format("{}[{}] has no name", plural, i));
    std::string name(item["name"].string_or(""));
    const Json& value = item[singular];
    if (!value.is_object() && !value.is_null()) return bad(fmt::format("{} \"{}\" is not a map", singular, name));
    if (!here.insert(name).second) return bad(fmt::format("{} \"{}\" is there twice", singular, name));
    if (earlier.contains(name)) continue;
    if (entries.size() == kMaxEntries) return bad(fmt::format("it has more than {} {}", kMaxEntries, plural));
    entries.push_back({.name = std::move(name), .value = value, .file = file});
  }
  return {};
}

}  // namespace

Result<void> Kubeconfig::add_file(const std::string& file, std::string_view text) {
  files_.push_back(file);
  if (is_blank(text)) return {};
  Result<Json> parsed = yaml::parse_one(text, file);
  if (!parsed) return fail(std::move(parsed).error().in(fmt::format("{} is not a valid kubeconfig", file)));
  const Json& config = *parsed;
  auto bad = [&](std::string what) {
    return fail(
        Error(ErrorKind::invalid, fmt::format("{} is not a valid kubeconfig", file)).because(std::move(what)).at(file));
  };
  if (config.is_null()) return {};
  if (!config.is_object()) return bad(fmt::format("it must be a map, not {}", config.type_name()));
  if (std::string_view kind = config["kind"].string_or("Config"); kind != "Config")
    return bad(fmt::format("it is of kind {}, not Config", kind));
  TRY(add_entries(config["clusters"], "clusters", "cluster", file, clusters_));
  TRY(add_entries(config["users"], "users", "user", file, users_));
  TRY(add_entries(config["contexts"], "contexts", "context", file, contexts_));
  const Json& current = config["current-context"];
  if (!current.is_string() && !current.is_null()) return bad("\"current-context\" is not text");
  if (current_context_.empty() && !current.string_or("").empty()) {
    current_context_ = current.string_or("");
    current_context_file_ = file;
  }
  return {};
}

Result<Kubeconfig> Kubeconfig::load(const KubeFlags& flags, Surroundings surroundings) {
  Kubeconfig config(std::move(surroundings));
  auto variable = [&](const char* name) { return config.surroundings_.environment(name).value_or(""); };

  bool must_exist = !flags.kubeconfig.empty();
  std::vector<std::string> files;
  if (must_exist) {
    files = {flags.kubeconfig};
  } else if (std::string list = variable("KUBECONFIG"); !list.empty()) {
    files = split_list(list);
  } else if (std::string home = variable("HOME"); !home.empty()) {
    files = {home + "/.kube/config"};
  }
  if (files.size() > kMaxFiles) return fail(ErrorKind::limit, "KUBECONFIG lists more than {} files", kMaxFiles);

  for (const std::string& file : files) {
    Result<std::string> text = config.surroundings_.read_file(file);
    if (text) {
      TRY(config.add_file(file, *text));
      continue;
    }
    bool missing = text.error().kind() == ErrorKind::not_found;
    if (missing && !must_exist) {
      config.missing_.push_back(file);
      continue;
    }
    return fail(
        Error(missing ? ErrorKind::not_found : ErrorKind::invalid, fmt::format("kubeconfig {} cannot be read", file))
            .because(std::move(text).error()));
  }
  return config;
}

Result<Kubeconfig> Kubeconfig::parse(std::string_view text, const std::string& name, Surroundings surroundings) {
  Kubeconfig config(std::move(surroundings));
  TRY(config.add_file(name, text));
  return config;
}

std::vector<std::string> Kubeconfig::contexts() const {
  std::vector<std::string> names;
  for (const Entry& entry : contexts_) names.push_back(entry.name);
  return names;
}

}  // namespace fairlead::kube
