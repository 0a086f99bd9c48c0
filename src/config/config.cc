#include "config/config.h"

#include <algorithm>
#include <filesystem>

#include "base/json.h"
#include "base/nearest.h"
#include "base/printable.h"
#include "yaml/yaml.h"

namespace fairlead::config {
namespace {

namespace fs = std::filesystem;

// Errors that are reported. More of them help nobody.
constexpr size_t kErrors = 20;
constexpr size_t kLargest = size_t{1} << 20;

std::vector<std::string> top_keys() {
  return {"name", "namespace", "contexts", "sources", "recursive", "prune", "createNamespace", "timeout", "timeoutFor"};
}
std::vector<std::string> source_keys() { return {"file", "kustomize", "chart", "release", "values", "flags"}; }

using Path = std::vector<yaml::Step>;

Path child(Path path, yaml::Step step) {
  path.push_back(std::move(step));
  return path;
}

// "sources[0].values"
std::string text_of(const Path& path) {
  std::string text;
  for (const yaml::Step& step : path) {
    if (const size_t* index = std::get_if<size_t>(&step)) text += fmt::format("[{}]", *index);
    else text += (text.empty() ? "" : ".") + printable_line(std::get<std::string>(step));
  }
  return text;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& file, size_t start) : text_(text), start_(start) {
    config_.file = file;
  }

  std::expected<Config, std::vector<Error>> read(const Json& value) && {
    if (!value.is_object()) {
      add({}, fmt::format("the file must be a mapping of keys such as name and sources, not {}", value.type_name()));
      return std::unexpected(std::move(errors_));
    }
    check_keys(value, top_keys(), {});
    read_string(value["name"], {"name"}, config_.name);
    read_string(value["namespace"], {"namespace"}, config_.ns);
    read_strings(value["contexts"], {"contexts"}, config_.contexts);
    if (value.contains("contexts")) config_.contexts_at = position({"contexts"});
    read_switch(value["recursive"], {"recursive"}, config_.recursive);
    read_switch(value["prune"], {"prune"}, config_.prune);
    read_switch(value["createNamespace"], {"createNamespace"}, config_.create_namespace);
    read_string(value["timeout"], {"timeout"}, config_.timeout);
    read_timeouts(value["timeoutFor"]);
    read_sources(value["sources"]);
    check_whole(value);
    if (!errors_.empty()) return std::unexpected(std::move(errors_));
    return std::move(config_);
  }

 private:
  std::string position(const Path& path) const {
    return fmt::format("{}:{}", config_.file, yaml::locate(text_, start_, path).value_or(start_));
  }

  void add(const Path& path, std::string what, std::string next = {}) {
    if (errors_.size() >= kErrors) return;
    Error error = Error(ErrorKind::invalid, std::move(what)).at(position(path));
    errors_.push_back(next.empty() ? std::move(error) : std::move(error).next(std::move(next)));
  }

  void check_keys(const Json& object, const std::vector<std::string>& known, const Path& path) {
    for (const Json::Member& member : object.members()) {
      if (std::ranges::find(known, member.key) != known.end()) continue;
      std::optional<std::string> meant = nearest(member.key, known);
      add(child(path, member.key),
          fmt::format("unknown key {}{}", printable_line(member.key.substr(0, 100)),
                      meant ? fmt::format("; did you mean {}?", *meant) : ""),
          fmt::format("the keys here are {}", fmt::join(known, ", ")));
    }
  }

  void read_string(const Json& value, const Path& path, std::string& target) {
    if (value.is_null()) return;
    const std::string* text = value.if_string();
    if (!text) return add(path, fmt::format("{} must be a string: put it in quotes", text_of(path)));
    if (text->empty()) return add(path, fmt::format("{} is empty", text_of(path)));
    if (text->contains('\0')) return add(path, fmt::format("{} has a zero byte in it", text_of(path)));
    target = *text;
  }

  void read_strings(const Json& value, const Path& path, std::vector<std::string>& target) {
    if (value.is_null()) return;
    if (!value.is_array()) return add(path, fmt::format("{} must be a list of strings", text_of(path)));
    for (size_t i = 0; i < value.items().size(); ++i) {
      std::string text;
      Path at = child(path, i);
      if (value.items()[i].is_null()) add(at, fmt::format("{} is empty", text_of(at)));
      read_string(value.items()[i], at, text);
      if (!text.empty()) target.push_back(std::move(text));
    }
  }

  void read_switch(const Json& value, const Path& path, std::optional<bool>& target) {
    if (value.is_null()) return;
    if (!value.is_bool()) return add(path, fmt::format("{} must be true or false", text_of(path)));
    target = value.bool_or(false);
  }

  void read_timeouts(const Json& value) {
    Path path = {"timeoutFor"};
    if (value.is_null()) return;
    if (!value.is_object()) return add(path, "timeoutFor must be a mapping from kinds to durations");
    for (const Json::Member& member : value.members())
      read_string(member.value, child(path, member.key), config_.timeout_for[member.key]);
  }

  void read_sources(const Json& value) {
    Path path = {"sources"};
    if (value.is_null()) return;
    if (!value.is_array()) return add(path, "sources must be a list", "sources: [{file: k8s/}]");
    for (size_t i = 0; i < value.items().size(); ++i) read_source(value.items()[i], child(path, i));
  }

  void read_source(const Json& value, const Path& path) {
    if (!value.is_object())
      return add(path, fmt::format("{} must be a mapping with file, kustomize or chart", text_of(path)),
                 "sources: [{file: k8s/}]");
    check_keys(value, source_keys(), path);
    auto is_there = [&](std::string_view key) { return value.contains(key); };
    auto kinds = int(is_there("file")) + int(is_there("kustomize")) + int(is_there("chart"));
    if (kinds != 1)
      return add(path, fmt::format("{} must have exactly one of file, kustomize and chart", text_of(path)));
    for (const char* key : {"release", "values", "flags"})
      if (is_there(key) && !is_there("chart"))
        add(child(path, key), fmt::format("{} is only for a chart", text_of(child(path, key))));
    if (is_there("file")) read_path(value["file"], child(path, "file"), config_.files);
    else if (is_there("kustomize")) read_path(value["kustomize"], child(path, "kustomize"), config_.kustomizations);
    else read_chart(value, path);
  }

  void read_path(const Json& value, const Path& path, std::vector<std::string>& target) {
    if (value.is_null()) return add(path, fmt::format("{} is empty", text_of(path)));
    std::string text;
    read_string(value, path, text);
    if (!text.empty()) target.push_back(from_here(text));
  }

  void read_chart(const Json& value, const Path& path) {
    if (value["chart"].is_null()) return add(child(path, "chart"), fmt::format("{}.chart is empty", text_of(path)));
    Chart chart;
    std::vector<std::string> files, flags;
    read_string(value["chart"], child(path, "chart"), chart.chart);
    read_string(value["release"], child(path, "release"), chart.release);
    read_strings(value["values"], child(path, "values"), files);
    read_strings(value["flags"], child(path, "flags"), flags);
    chart.chart = chart_from_here(chart.chart);
    for (const std::string& file : files) chart.flags.push_back("--values=" + from_here(file));
    chart.flags.insert(chart.flags.end(), flags.begin(), flags.end());
    config_.charts.push_back(std::move(chart));
  }

  void check_whole(const Json& value) {
    if (config_.prune.value_or(false) && config_.name.empty() && !value.contains("name"))
      add({"prune"}, "prune needs the name of the bundle", "add the key name");
    if (value.contains("contexts") && config_.contexts.empty() && errors_.empty())
      add({"contexts"}, "contexts is empty: the bundle could not be used with any context",
          "name a context, or remove the key");
  }

  // A path as it is from the current directory. Addresses and standard input stay as they are.
  std::string from_here(const std::string& path) const {
    if (path == "-" || path.contains("://") || fs::path(path).is_absolute()) return path;
    fs::path folder = fs::path(config_.file).parent_path();
    std::string joined = (folder / path).lexically_normal();
    // What begins with a dash would be taken for a flag.
    return joined.starts_with('-') ? "./" + joined : joined;
  }

  // A chart is a path if it is written like one, or if there is such a folder or archive.
  std::string chart_from_here(const std::string& chart) const {
    if (chart.empty()) return chart;
    std::string path = from_here(chart);
    std::error_code error;
    bool is_path = chart.starts_with("./") || chart.starts_with("../") || fs::exists(path, error);
    if (!is_path) return chart;
    // "charts/x" would be the chart x of a repository called charts, if the folder were not there.
    return path.starts_with('/') || path.starts_with("../") || path.contains("://") ? path : "./" + path;
  }

  std::string_view text_;
  size_t start_;
  Config config_;
  std::vector<Error> errors_;
};

}  // namespace

std::expected<Config, std::vector<Error>> parse(std::string_view text, const std::string& file) {
  if (text.size() > kLargest)
    return std::unexpected(std::vector{Error(ErrorKind::limit, fmt::format("{} is larger than 1 MiB", file))});
  Result<Json> value = yaml::parse_one(text, file);
  if (!value) return std::unexpected(std::vector{value.error()});
  size_t start = 1;
  if (auto document = yaml::Stream(text, file).next(); document && *document) start = (*document)->line;
  return Reader(text, file, start).read(*value);
}

}  // namespace fairlead::config
