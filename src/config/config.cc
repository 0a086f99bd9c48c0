#include "config/config.h"

#include "config/fields.h"

namespace fairlead::config {
namespace {

std::vector<std::string> top_keys() {
  return {"name", "namespace", "contexts", "sources", "recursive", "prune", "createNamespace", "timeout", "timeoutFor"};
}
std::vector<std::string> source_keys() { return {"file", "kustomize", "chart", "release", "values", "flags"}; }

class Reader {
 public:
  explicit Reader(Fields& fields) : fields_(fields) { config_.file = fields.file(); }

  std::expected<Config, std::vector<Error>> read(const Json& value) && {
    if (!value.is_object()) {
      fields_.add({},
                  fmt::format("the file must be a mapping of keys such as name and sources, not {}", type_text(value)));
      return std::unexpected(fields_.take_errors());
    }
    fields_.check_keys(value, top_keys(), {});
    fields_.read_string(value["name"], {"name"}, config_.name);
    fields_.read_string(value["namespace"], {"namespace"}, config_.ns);
    fields_.read_strings(value["contexts"], {"contexts"}, config_.contexts);
    if (value.contains("contexts")) config_.contexts_at = fields_.position({"contexts"});
    fields_.read_switch(value["recursive"], {"recursive"}, config_.recursive);
    fields_.read_switch(value["prune"], {"prune"}, config_.prune);
    fields_.read_switch(value["createNamespace"], {"createNamespace"}, config_.create_namespace);
    fields_.read_string(value["timeout"], {"timeout"}, config_.timeout);
    read_timeouts(value["timeoutFor"]);
    read_sources(value["sources"]);
    check_whole(value);
    if (fields_.failed()) return std::unexpected(fields_.take_errors());
    return std::move(config_);
  }

 private:
  void read_timeouts(const Json& value) {
    Path path = {"timeoutFor"};
    if (value.is_null()) return;
    if (!value.is_object()) return fields_.add(path, "timeoutFor must be a mapping from kinds to durations");
    for (const Json::Member& member : value.members())
      fields_.read_string(member.value, child(path, member.key), config_.timeout_for[member.key]);
  }

  void read_sources(const Json& value) {
    Path path = {"sources"};
    if (value.is_null()) return;
    if (!value.is_array()) return fields_.add(path, "sources must be a list", "sources: [{file: k8s/}]");
    for (size_t i = 0; i < value.items().size(); ++i) read_source(value.items()[i], child(path, i));
  }

  void read_source(const Json& value, const Path& path) {
    if (!value.is_object())
      return fields_.add(path, fmt::format("{} must be a mapping with file, kustomize or chart", text_of(path)),
                         "sources: [{file: k8s/}]");
    fields_.check_keys(value, source_keys(), path);
    auto is_there = [&](std::string_view key) { return value.contains(key); };
    auto kinds = int(is_there("file")) + int(is_there("kustomize")) + int(is_there("chart"));
    if (kinds != 1)
      return fields_.add(path, fmt::format("{} must have exactly one of file, kustomize and chart", text_of(path)));
    for (const char* key : {"release", "values", "flags"})
      if (is_there(key) && !is_there("chart"))
        fields_.add(child(path, key), fmt::format("{} is only for a chart", text_of(child(path, key))));
    if (is_there("file")) read_path(value["file"], child(path, "file"), config_.files);
    else if (is_there("kustomize")) read_path(value["kustomize"], child(path, "kustomize"), config_.kustomizations);
    else read_chart(value, path);
  }

  void read_path(const Json& value, const Path& path, std::vector<std::string>& target) {
    if (value.is_null()) return fields_.add(path, fmt::format("{} is empty", text_of(path)));
    std::string text;
    fields_.read_string(value, path, text);
    if (!text.empty()) target.push_back(fields_.from_here(text));
  }

  void read_chart(const Json& value, const Path& path) {
    if (value["chart"].is_null())
      return fields_.add(child(path, "chart"), fmt::format("{}.chart is empty", text_of(path)));
    Chart chart;
    std::vector<std::string> files, flags;
    fields_.read_string(value["chart"], child(path, "chart"), chart.chart);
    fields_.read_string(value["release"], child(path, "release"), chart.release);
    fields_.read_strings(value["values"], child(path, "values"), files);
    fields_.read_strings(value["flags"], child(path, "flags"), flags);
    chart.chart = fields_.chart_from_here(chart.chart);
    for (const std::string& file : files) chart.flags.push_back("--values=" + fields_.from_here(file));
    chart.flags.insert(chart.flags.end(), flags.begin(), flags.end());
    config_.charts.push_back(std::move(chart));
  }

  void check_whole(const Json& value) {
    if (config_.prune.value_or(false) && config_.name.empty() && !value.contains("name"))
      fields_.add({"prune"}, "prune needs the name of the bundle", "add the key name");
    if (value.contains("contexts") && config_.contexts.empty() && !fields_.failed())
      fields_.add({"contexts"}, "contexts is empty: the bundle could not be used with any context",
                  "name a context, or remove the key");
  }

  Fields& fields_;
  Config config_;
};

}  // namespace

std::expected<Config, std::vector<Error>> parse(std::string_view text, const std::string& file) {
  Fields fields(text, file);
  Result<Json> value = fields.parse();
  if (!value) return std::unexpected(std::vector{value.error()});
  return Reader(fields).read(*value);
}

}  // namespace fairlead::config
