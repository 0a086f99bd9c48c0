#include "pipeline/internal/step_reader.h"

#include <algorithm>

#include "base/nearest.h"
#include "base/printable.h"
#include "inventory/digest.h"
#include "kube/config/timeout_text.h"

namespace fairlead::pipeline {
namespace {

using config::child;
using config::Fields;
using config::Path;
using config::text_of;

using Keys = std::vector<std::string>;

const Keys kKinds = {"manifests", "kustomize", "chart", "command", "wait"};
const Keys kApply = {"name", "prune", "timeoutFor"};
const Keys kChart = {"release", "values", "set", "flags"};
const Keys kCommand = {"env", "directory"};
const Keys kWait = {"for", "selector", "all", "any", "existenceTimeout"};
const Keys kAny = {"timeout", "retries", "retryDelay", "events"};
// A change of these does not change what the step does.
const Keys kNotHashed = {"timeout", "timeoutFor", "existenceTimeout", "retries", "retryDelay", "events"};

constexpr int64_t kMostRetries = 1000;

Keys keys_of(const std::string& kind) {
  Keys keys = {kind};
  auto add = [&](const Keys& more) { keys.insert(keys.end(), more.begin(), more.end()); };
  if (kind == "command") add(kCommand);
  else if (kind == "wait") add(kWait);
  else add(kApply);
  if (kind == "chart") add(kChart);
  if (kind == "manifests") keys.emplace_back("recursive");
  add(kAny);
  return keys;
}

class StepReader {
 public:
  StepReader(Fields& fields, const Json& value, const Path& path) : fields_(fields), value_(value), path_(path) {}

  Step read(const std::string& kind) {
    fields_.check_keys(value_, keys_of(kind), path_);
    step_.text = kind;
    if (kind == "command") step_.work = read_command();
    else if (kind == "wait") step_.work = read_wait();
    else step_.work = read_apply(kind);
    read_retries();
    step_.events =
        read_event_names(fields_, value_["events"], at("events"),
                         {Action::started, Action::completed, Action::failed, Action::timed_out, Action::retry});
    step_.at = fields_.position(path_);
    step_.hash = hash();
    return std::move(step_);
  }

 private:
  Path at(const std::string& key) const { return child(path_, key); }

  // A string, or a number or boolean as it is written.
  void read_text(const Json& value, const Path& path, std::string& target) {
    bool is_plain = value.is_number() || value.is_bool();
    if (is_plain) target = value.dump();
    else if (const std::string* text = value.if_string(); text && !text->contains('\0')) target = *text;
    else fields_.add(path, fmt::format("{} must be a string", text_of(path)));
  }

  // One string, or a list of them.
  std::vector<std::string> read_one_or_more(const std::string& key) {
    const Json& value = value_[key];
    std::vector<std::string> found;
    if (value.is_array()) {
      fields_.read_strings(value, at(key), found);
    } else if (value.is_null()) {
      fields_.add(at(key), fmt::format("{} is empty", text_of(at(key))));
      return found;
    } else {
      std::string one;
      fields_.read_string(value, at(key), one);
      if (!one.empty()) found.push_back(std::move(one));
    }
    if (value.is_array() && value.items().empty()) fields_.add(at(key), fmt::format("{} is empty", text_of(at(key))));
    return found;
  }

  std::optional<Duration> read_duration(const std::string& key) { return read_duration(value_[key], at(key)); }
  std::optional<Duration> read_duration(const Json& value, const Path& path) {
    if (value.is_null()) return std::nullopt;
    std::string text;
    if (value.is_integer()) text = value.dump();
    else if (const std::string* written = value.if_string()) text = *written;
    Result<Duration> duration = kube::parse_timeout(text);
    if (duration) return *duration;
    fields_.add(path, fmt::format("{} is not a duration", text_of(path)),
                "write it like 30s, 5m or 1h30m, or as a number of seconds");
    return std::nullopt;
  }

  bool read_switch(const std::string& key) {
    std::optional<bool> value;
    fields_.read_switch(value_[key], at(key), value);
    return value.value_or(false);
  }

  void describe(const std::vector<std::string>& what) {
    if (what.empty()) return;
    step_.text += " " + printable_line(what.front());
    if (what.size() > 1) step_.text += fmt::format(" and {} more", what.size() - 1);
  }

  Apply read_apply(const std::string& kind) {
    Apply apply;
    std::vector<std::string> sources = read_one_or_more(kind);
    describe(sources);
    if (kind == "chart") {
      read_chart(apply);
    } else {
      for (std::string& source : sources) source = fields_.from_here(source);
      (kind == "manifests" ? apply.files : apply.kustomizations) = std::move(sources);
    }
    apply.recursive = read_switch("recursive");
    fields_.read_string(value_["name"], at("name"), apply.name);
    apply.prune = read_switch("prune");
    apply.timeout = read_duration("timeout");
    read_timeouts(apply);
    if (apply.prune && apply.name.empty() && apply.release.empty())
      fields_.add(at("prune"), "prune needs the name of the bundle", "add the key name to the step");
    return apply;
  }

  void read_chart(Apply& apply) {
    fields_.read_string(value_["chart"], at("chart"), apply.chart);
    apply.chart = fields_.chart_from_here(apply.chart);
    fields_.read_string(value_["release"], at("release"), apply.release);
    if (!value_.contains("release") && !value_.contains("name"))
      fields_.add(path_, fmt::format("{} needs the name of its release", text_of(path_)), "add the key release");
    std::vector<std::string> files;
    fields_.read_strings(value_["values"], at("values"), files);
    for (const std::string& file : files) apply.helm_flags.push_back("--values=" + fields_.from_here(file));
    const Json& set = value_["set"];
    if (!set.is_null() && !set.is_object())
      fields_.add(at("set"), fmt::format("{} must be a mapping from the chart's values", text_of(at("set"))));
    // As JSON, so that no comma or brace in a value means anything to helm.
    for (const Json::Member& member : set.members())
      apply.helm_flags.push_back(fmt::format("--set-json={}={}", member.key, member.value.dump()));
    fields_.read_strings(value_["flags"], at("flags"), apply.helm_flags);
  }

  void read_timeouts(Apply& apply) {
    const Json& value = value_["timeoutFor"];
    if (!value.is_null() && !value.is_object())
      fields_.add(at("timeoutFor"),
                  fmt::format("{} must be a mapping from kinds to durations", text_of(at("timeoutFor"))));
    for (const Json::Member& member : value.members())
      if (std::optional<Duration> duration = read_duration(member.value, child(at("timeoutFor"), member.key)))
        apply.timeout_for[member.key] = *duration;
  }

  Command read_command() {
    Command command{.directory = fields_.from_here(".")};
    const Json& value = value_["command"];
    if (!value.is_array() || value.items().empty())
      fields_.add(at("command"),
                  fmt::format("{} must be a list: the program and its arguments", text_of(at("command"))),
                  "command: [kubectl, get, pods]");
    for (size_t i = 0; i < value.items().size(); ++i)
      read_text(value.items()[i], child(at("command"), i), command.argv.emplace_back());
    if (!command.argv.empty() && command.argv.front().empty() && !value.items().front().is_null())
      fields_.add(child(at("command"), size_t{0}),
                  fmt::format("{} is empty: it names no program", text_of(at("command"))),
                  "command: [kubectl, get, pods]");
    // The arguments may be secret.
    if (!command.argv.empty()) step_.text += " " + printable_line(command.argv.front());
    read_environment(command);
    std::string directory;
    fields_.read_string(value_["directory"], at("directory"), directory);
    if (!directory.empty()) command.directory = fields_.from_here(directory);
    command.timeout = read_duration("timeout");
    return command;
  }

  void read_environment(Command& command) {
    const Json& value = value_["env"];
    if (!value.is_null() && !value.is_object())
      fields_.add(at("env"), fmt::format("{} must be a mapping from variables to values", text_of(at("env"))));
    for (const Json::Member& member : value.members()) {
      Path path = child(at("env"), member.key);
      if (member.key.empty() || member.key.contains('=') || member.key.contains('\0'))
        fields_.add(path, fmt::format("{} is not the name of a variable", text_of(path)));
      std::string text;
      if (!member.value.is_null()) read_text(member.value, path, text);
      command.environment.emplace_back(member.key, std::move(text));
    }
  }

  Wait read_wait() {
    Wait wait{.objects = read_one_or_more("wait")};
    describe(wait.objects);
    fields_.read_string(value_["for"], at("for"), wait.form);
    fields_.read_string(value_["selector"], at("selector"), wait.selector);
    wait.all = read_switch("all");
    wait.any = read_switch("any");
    wait.timeout = read_duration("timeout");
    wait.existence_timeout = read_duration("existenceTimeout");
    return wait;
  }

  void read_retries() {
    const Json& value = value_["retries"];
    step_.retries = value.int_or(0);
    bool is_count = value.is_null() || (value.is_integer() && step_.retries >= 0 && step_.retries <= kMostRetries);
    if (!is_count)
      fields_.add(at("retries"), fmt::format("{} must be a number from 0 to {}", text_of(at("retries")), kMostRetries));
    if (std::optional<Duration> delay = read_duration("retryDelay")) step_.retry_delay = *delay;
  }

  std::string hash() const {
    Json::Object hashed;
    for (const Json::Member& member : value_.members())
      if (std::ranges::find(kNotHashed, member.key) == kNotHashed.end()) hashed.append(member.key, member.value);
    return hash_of(hashed);
  }

  Fields& fields_;
  const Json& value_;
  const Path& path_;
  Step step_;
};

}  // namespace

std::string hash_of(const Json& value) {
  std::string hex;
  for (unsigned char byte : inventory::sha256(value.dump()).substr(0, 8)) hex += fmt::format("{:02x}", byte);
  return hex;
}

EventNames read_event_names(Fields& fields, const Json& value, const Path& path, const std::vector<Action>& known) {
  EventNames names;
  if (value.is_null()) return names;
  if (!value.is_object()) {
    fields.add(path, fmt::format("{} must be a mapping from what happens to names", text_of(path)));
    return names;
  }
  Keys keys;
  for (Action action : known) keys.emplace_back(name_of(action));
  fields.check_keys(value, keys, path);
  for (Action action : known) {
    std::string key(name_of(action)), name;
    fields.read_string(value[key], child(path, key), name);
    if (name.size() > 128)
      fields.add(child(path, key), fmt::format("{} is longer than 128 bytes", text_of(child(path, key))));
    if (!name.empty()) names[action] = std::move(name);
  }
  return names;
}

namespace {

// Names the key that is meant to say what the step does. Returns false if no key looks like one.
bool report_misspelt(Fields& fields, const Json& value, const Path& path) {
  for (const Json::Member& member : value.members()) {
    auto has_key = [&](const std::string& kind) {
      Keys keys = keys_of(kind);
      return std::ranges::find(keys, member.key) != keys.end();
    };
    std::optional<std::string> meant = nearest(member.key, kKinds);
    if (!meant || std::ranges::any_of(kKinds, has_key)) continue;
    fields.add(child(path, member.key),
               fmt::format("unknown key {}; did you mean {}?", printable_line(member.key.substr(0, 100)), *meant),
               fmt::format("a step has exactly one of {}", fmt::join(kKinds, ", ")));
    return true;
  }
  return false;
}

}  // namespace

Step read_step(Fields& fields, const Json& value, const Path& path) {
  std::vector<std::string> kinds;
  for (const std::string& kind : kKinds)
    if (value.contains(kind)) kinds.push_back(kind);
  if (kinds.size() == 1) return StepReader(fields, value, path).read(kinds.front());
  if (kinds.empty() && report_misspelt(fields, value, path)) return {};
  fields.add(path, fmt::format("{} must have exactly one of {}", text_of(path), fmt::join(kKinds, ", ")));
  return {};
}

}  // namespace fairlead::pipeline
