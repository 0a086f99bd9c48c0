#include "pipeline/read.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/nearest.h"
#include "base/printable.h"
#include "pipeline/internal/step_reader.h"
#include "pipeline/values.h"

namespace fairlead::pipeline {
namespace {

using config::child;
using config::Fields;
using config::Path;
using config::text_of;

constexpr size_t kLargest = size_t{1} << 20;
constexpr size_t kMostPhases = 1000;
constexpr size_t kLongestName = 63;

bool is_name(std::string_view text) {
  auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
  auto fits = [&](char c) { return is_letter(c) || c == '-' || c == '_' || c == '.'; };
  return !text.empty() && text.size() <= kLongestName && is_letter(text.front()) && std::ranges::all_of(text, fits);
}

class Reader {
 public:
  explicit Reader(Fields& fields) : fields_(fields) { pipeline_.file = fields.file(); }

  using ReadFile = std::function<Result<std::string>(const std::string&)>;

  std::expected<Pipeline, std::vector<Error>> read(Json value, const Overrides& overrides, const ReadFile& read) && {
    if (!value.is_object()) {
      fields_.add({}, fmt::format("a pipeline must be a mapping of keys such as name and phases, not {}",
                                  config::type_text(value)));
      return std::unexpected(fields_.take_errors());
    }
    Json values = read_values(value["values"], overrides, read);
    // Everything that is missing now would be missing for one reason.
    if (fields_.failed()) return std::unexpected(fields_.take_errors());
    fields_.check_keys(value, {"name", "values", "kubernetesEvents", "phases"}, {});
    fill_in(value.make("phases"), {"phases"}, values);
    read_name(value["name"]);
    std::optional<bool> wants_events;
    fields_.read_switch(value["kubernetesEvents"], {"kubernetesEvents"}, wants_events);
    pipeline_.kubernetes_events = wants_events.value_or(true);
    read_phases(value["phases"]);
    if (fields_.failed()) return std::unexpected(fields_.take_errors());
    return std::move(pipeline_);
  }

 private:
  Json read_values(const Json& files, const Overrides& overrides, const ReadFile& read) {
    Json values = Json::Object();
    std::vector<std::string> named;
    fields_.read_strings(files, {"values"}, named);
    for (size_t i = 0; i < named.size(); ++i)
      if (Result<void> added = add_values(values, fields_.from_here(named[i]), read); !added)
        add_error({"values", i}, added.error());
    for (const std::string& file : overrides.files)
      if (Result<void> added = add_values(values, file, read); !added) add_error({}, added.error());
    for (const std::string& set : overrides.sets)
      if (Result<void> added = set_values(values, set); !added) add_error({}, added.error());
    return values;
  }

  static Result<void> add_values(Json& values, const std::string& file, const ReadFile& read) {
    TRY_ASSIGN(std::string text, read(file));
    TRY_ASSIGN(Json more, yaml::parse_one(text, file));
    // As with Helm, a file may have nothing but comments.
    if (more.is_null()) return {};
    if (!more.is_object())
      return fail(ErrorKind::invalid, "{} must be a mapping, not {}", file, config::type_text(more));
    merge(values, more);
    return {};
  }

  // An error that has a position of its own keeps it.
  void add_error(const Path& path, const Error& error) { fields_.add(path, error); }

  // Replaces ${…} in everything below.
  void fill_in(Json& value, const Path& path, const Json& values) {
    if (const std::string* text = value.if_string(); text && text->contains("${")) {
      Result<Json> filled = substitute(*text, values);
      if (filled) value = *std::move(filled);
      else add_error(path, filled.error());
    } else if (Json::Array* items = value.if_array()) {
      for (size_t i = 0; i < items->size(); ++i) fill_in((*items)[i], child(path, i), values);
    } else if (Json::Object* members = value.if_object()) {
      for (Json::Member& member : *members) fill_in(member.value, child(path, member.key), values);
    }
  }

  void read_name(const Json& value) {
    pipeline_.name = std::filesystem::path(fields_.file()).stem();
    fields_.read_string(value, {"name"}, pipeline_.name);
    if (!is_name(pipeline_.name)) report_name({"name"}, pipeline_.name);
  }

  void report_name(const Path& path, std::string_view name) {
    fields_.add(
        path, fmt::format("\"{}\" is not a name", printable_line(name.substr(0, 100))),
        "a name has letters, digits, '-', '_' and '.', begins with a letter or digit, and has at most 63 of them");
  }

  void read_phases(const Json& value) {
    Path path = {"phases"};
    if (!value.is_array() || value.items().empty())
      return fields_.add(path, "phases must be a list of phases",
                         "phases: [{name: operators, steps: [{manifests: k8s/}]}]");
    if (value.items().size() > kMostPhases)
      return fields_.add(path, fmt::format("there are more than {} phases", kMostPhases));
    for (size_t i = 0; i < value.items().size(); ++i) read_phase(value.items()[i], child(path, i));
    if (fields_.failed()) return;
    for (size_t i = 0; i < value.items().size(); ++i) read_needs(i, value.items()[i], child(path, i));
    if (!fields_.failed()) check_loops();
  }

  void read_phase(const Json& value, const Path& path) {
    if (!value.is_object())
      return fields_.add(path, fmt::format("{} must be a mapping with name and steps", text_of(path)));
    fields_.check_keys(value, {"name", "context", "namespace", "createNamespace", "when", "needs", "events", "steps"},
                       path);
    Phase phase{.at = fields_.position(path)};
    read_phase_name(value, path, phase);
    fields_.read_string(value["context"], child(path, "context"), phase.context);
    fields_.read_string(value["namespace"], child(path, "namespace"), phase.ns);
    std::optional<bool> creates;
    fields_.read_switch(value["createNamespace"], child(path, "createNamespace"), creates);
    phase.create_namespace = creates.value_or(false);
    read_when(value["when"], child(path, "when"), phase);
    phase.events = read_event_names(fields_, value["events"], child(path, "events"),
                                    {Action::started, Action::completed, Action::failed, Action::skipped});
    read_steps(value["steps"], child(path, "steps"), phase);
    Json::Array hashes;
    for (Step& step : phase.steps) {
      // In another cluster or namespace it is another step.
      step.hash = hash_of(Json::Array{phase.context, phase.ns, step.hash});
      hashes.emplace_back(step.hash);
    }
    phase.hash = hash_of(hashes);
    pipeline_.phases.push_back(std::move(phase));
  }

  void read_phase_name(const Json& value, const Path& path, Phase& phase) {
    if (value["name"].is_null()) return fields_.add(path, fmt::format("{} has no name", text_of(path)));
    fields_.read_string(value["name"], child(path, "name"), phase.name);
    if (phase.name.empty()) return;
    if (!is_name(phase.name)) return report_name(child(path, "name"), phase.name);
    if (std::optional<size_t> other = pipeline_.find(phase.name))
      fields_.add(child(path, "name"), fmt::format("there are two phases with the name {}", phase.name),
                  fmt::format("the other one is at {}", pipeline_.phases[*other].at));
  }

  // Configuration files have true as a boolean, and sometimes as a string.
  void read_when(const Json& value, const Path& path, Phase& phase) {
    if (value.is_null()) return;
    std::string_view text = value.string_or("");
    if (value.is_bool()) phase.is_wanted = value.bool_or(true);
    else if (text == "true" || text == "false") phase.is_wanted = text == "true";
    else fields_.add(path, fmt::format("{} must be true or false", text_of(path)));
  }

  void read_steps(const Json& value, const Path& path, Phase& phase) {
    if (!value.is_array() || value.items().empty())
      return fields_.add(path, fmt::format("{} must be a list of steps", text_of(path)), "steps: [{manifests: k8s/}]");
    for (size_t i = 0; i < value.items().size(); ++i)
      phase.steps.push_back(read_step(fields_, value.items()[i], child(path, i)));
  }

  // Without the key, a phase needs the one before it.
  void read_needs(size_t index, const Json& value, const Path& path) {
    std::vector<size_t>& needs = pipeline_.phases[index].needs;
    if (!value.contains("needs")) {
      if (index > 0) needs.push_back(index - 1);
      return;
    }
    std::vector<std::string> names;
    fields_.read_strings(value["needs"], child(path, "needs"), names);
    for (size_t i = 0; i < names.size(); ++i) {
      std::optional<size_t> found = pipeline_.find(names[i]);
      if (found) needs.push_back(*found);
      else report_unknown(child(child(path, "needs"), i), names[i]);
    }
  }

  void report_unknown(const Path& path, const std::string& name) {
    std::vector<std::string> known;
    for (const Phase& phase : pipeline_.phases) known.push_back(phase.name);
    std::optional<std::string> meant = nearest(name, known);
    fields_.add(path, fmt::format("there is no phase {}{}", printable_line(name.substr(0, 100)),
                                  meant ? fmt::format("; did you mean {}?", *meant) : ""));
  }

  // Phases that can never start, since each of them waits for another one of them.
  void check_loops() {
    std::vector<bool> can_end(pipeline_.phases.size());
    for (bool has_changed = true; std::exchange(has_changed, false);)
      for (size_t i = 0; i < can_end.size(); ++i) {
        auto ends = [&](size_t need) { return bool(can_end[need]); };
        if (can_end[i] || !std::ranges::all_of(pipeline_.phases[i].needs, ends)) continue;
        can_end[i] = has_changed = true;
      }
    auto stuck = std::ranges::find(can_end, false);
    if (stuck != can_end.end()) report_loop(size_t(stuck - can_end.begin()), can_end);
  }

  void report_loop(size_t at, const std::vector<bool>& can_end) {
    std::vector<size_t> way;
    while (std::ranges::find(way, at) == way.end()) {
      way.push_back(at);
      at = *std::ranges::find_if(pipeline_.phases[at].needs, [&](size_t need) { return !can_end[need]; });
    }
    way.erase(way.begin(), std::ranges::find(way, at));
    std::string text;
    for (size_t phase : way) text += pipeline_.phases[phase].name + " needs ";
    text += pipeline_.phases[at].name;
    fields_.add({"phases", at, "needs"}, "phases need each other in a loop: " + text);
  }

  Fields& fields_;
  Pipeline pipeline_;
};

}  // namespace

Result<std::string> read_file(const std::string& path) {
  auto cannot = [&](std::string why) {
    std::filesystem::path folder = std::filesystem::path(path).parent_path();
    return fail(Error(ErrorKind::not_found, fmt::format("{} cannot be read", path))
                    .because(std::move(why))
                    .next(fmt::format("ls -l {}", folder.empty() ? "." : folder.string())));
  };
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return cannot("it is a folder");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return cannot(std::strerror(errno));
  std::string text(kLargest + 1, '\0');
  stream.read(text.data(), std::streamsize(text.size()));
  if (stream.bad()) return cannot(std::strerror(errno));
  text.resize(size_t(stream.gcount()));
  if (text.size() > kLargest) return fail(ErrorKind::limit, "{} is larger than 1 MiB", path);
  return text;
}

std::expected<Pipeline, std::vector<Error>> parse(std::string_view text, const std::string& file,
                                                  const Overrides& overrides,
                                                  const std::function<Result<std::string>(const std::string&)>& read) {
  Fields fields(text, file, Fields::Positions::columns);
  Result<Json> value = fields.parse();
  if (!value) return std::unexpected(std::vector{value.error()});
  return Reader(fields).read(*std::move(value), overrides, read);
}

std::vector<std::string> phase_names(const std::string& file) {
  std::vector<std::string> names;
  Result<std::string> text = read_file(file);
  Result<Json> value = text ? yaml::parse_one(*text, file) : std::unexpected(text.error());
  if (!value) return names;
  for (const Json& phase : (*value)["phases"].items())
    if (std::string_view name = phase["name"].string_or(""); is_name(name)) names.emplace_back(name);
  return names;
}

std::expected<Pipeline, std::vector<Error>> load(const std::string& file, const Overrides& overrides) {
  Result<std::string> text = read_file(file);
  if (!text) return std::unexpected(std::vector{text.error()});
  return parse(*text, file, overrides, read_file);
}

}  // namespace fairlead::pipeline
