#include "pipeline/state.h"

#include <algorithm>

#include "config/fields.h"

namespace fairlead::pipeline {
namespace {

using config::child;
using config::Fields;
using config::Path;
using config::text_of;

constexpr int64_t kVersion = 1;
constexpr Status kStatuses[] = {Status::pending, Status::in_progress, Status::completed, Status::skipped,
                                Status::failed};

class StateReader {
 public:
  explicit StateReader(Fields& fields) : fields_(fields) {}

  std::vector<PhaseState> read(const Json& value, std::string& pipeline) {
    if (!value.is_object()) {
      fields_.add({}, fmt::format("the state must be a mapping, not {}", config::type_text(value)));
      return {};
    }
    fields_.check_keys(value, {"schemaVersion", "pipeline", "phases"}, {});
    if (value["schemaVersion"].int_or(0) != kVersion)
      fields_.add({"schemaVersion"}, fmt::format("schemaVersion must be {}", kVersion),
                  "another version of Fairlead has written it: use that one");
    fields_.read_string(value["pipeline"], {"pipeline"}, pipeline);
    if (!value["phases"].is_array()) fields_.add({"phases"}, "phases must be a list");
    for (size_t i = 0; i < value["phases"].items().size(); ++i) read_phase(value["phases"].items()[i], {"phases", i});
    return std::move(phases_);
  }

 private:
  void read_phase(const Json& value, const Path& path) {
    if (!value.is_object()) return fields_.add(path, fmt::format("{} must be a mapping", text_of(path)));
    fields_.check_keys(value, {"name", "status", "hash", "place", "steps", "started", "ended", "message"}, path);
    PhaseState phase;
    std::string status;
    fields_.read_string(value["name"], child(path, "name"), phase.name);
    fields_.read_string(value["status"], child(path, "status"), status);
    fields_.read_string(value["hash"], child(path, "hash"), phase.hash);
    fields_.read_string(value["place"], child(path, "place"), phase.place);
    fields_.read_strings(value["steps"], child(path, "steps"), phase.steps);
    fields_.read_string(value["started"], child(path, "started"), phase.started);
    fields_.read_string(value["ended"], child(path, "ended"), phase.ended);
    fields_.read_string(value["message"], child(path, "message"), phase.message);
    auto found = std::ranges::find(kStatuses, status, [](Status one) { return name_of(one); });
    if (found == std::end(kStatuses))
      fields_.add(child(path, "status"), fmt::format("{} must be pending, in progress, completed, skipped or failed",
                                                     text_of(child(path, "status"))));
    else phase.status = *found;
    if (phase.name.empty()) fields_.add(path, fmt::format("{} has no name", text_of(path)));
    else if (std::ranges::find(phases_, phase.name, &PhaseState::name) != phases_.end())
      fields_.add(child(path, "name"), fmt::format("the phase {} is there twice", phase.name));
    phases_.push_back(std::move(phase));
  }

  Fields& fields_;
  std::vector<PhaseState> phases_;
};

Json json_of(const PhaseState& phase) {
  Json json(Json::Object{{"name", phase.name}, {"status", name_of(phase.status)}});
  auto add = [&](std::string_view key, const std::string& text) {
    if (!text.empty()) json.make(key) = text;
  };
  add("hash", phase.hash);
  add("place", phase.place);
  if (!phase.steps.empty()) json.make("steps") = Json::Array(phase.steps.begin(), phase.steps.end());
  add("started", phase.started);
  add("ended", phase.ended);
  add("message", phase.message);
  return json;
}

}  // namespace

std::string_view name_of(Status status) {
  switch (status) {
    case Status::pending: return "pending";
    case Status::in_progress: return "in progress";
    case Status::completed: return "completed";
    case Status::skipped: return "skipped";
    case Status::failed: return "failed";
  }
  return "";
}

State::State(const Pipeline& pipeline) : pipeline_(pipeline.name) {
  for (const Phase& phase : pipeline.phases) phases_.push_back({.name = phase.name});
}

std::expected<State, std::vector<Error>> State::parse(std::string_view text, const std::string& file) {
  Fields fields(text, file, Fields::Positions::columns);
  Result<Json> value = fields.parse();
  if (!value) return std::unexpected(std::vector{value.error()});
  State state;
  state.phases_ = StateReader(fields).read(*value, state.pipeline_);
  if (fields.failed()) return std::unexpected(fields.take_errors());
  return state;
}

std::string State::text() const {
  Json::Array phases;
  for (const PhaseState& phase : phases_) phases.push_back(json_of(phase));
  return Json(Json::Object{{"schemaVersion", kVersion}, {"pipeline", pipeline_}, {"phases", std::move(phases)}})
      .pretty();
}

std::vector<Note> State::adapt(const Pipeline& pipeline) {
  std::vector<Note> notes;
  std::vector<PhaseState> before = std::exchange(phases_, {});
  pipeline_ = pipeline.name;
  for (const PhaseState& phase : before)
    if (!pipeline.find(phase.name) && phase.status != Status::pending)
      notes.push_back(
          {.phase = "",
           .text = fmt::format("phase {} is no longer in the pipeline; it was {}", phase.name, name_of(phase.status))});
  for (size_t i = 0; i < pipeline.phases.size(); ++i) {
    const std::string& name = pipeline.phases[i].name;
    auto found = std::ranges::find(before, name, &PhaseState::name);
    phases_.push_back(found == before.end() ? PhaseState{.name = name} : *found);
    if (has_changed(pipeline, i))
      notes.push_back({.phase = name,
                       .text = fmt::format("phase {} has changed since it was completed, and is not run again", name)});
  }
  return notes;
}

bool State::has_changed(const Pipeline& pipeline, size_t index) const {
  const PhaseState& phase = phases_[index];
  return phase.status == Status::completed && phase.hash != pipeline.phases[index].hash;
}

bool State::is_elsewhere(const Pipeline& pipeline, size_t index) const {
  const std::string &then = phases_[index].place, &now = pipeline.phases[index].place;
  return !then.empty() && !now.empty() && then != now;
}

std::vector<size_t> State::moved(const Pipeline& pipeline) const {
  std::vector<size_t> found;
  for (size_t i = 0; i < phases_.size(); ++i)
    if (phases_[i].status == Status::completed && is_elsewhere(pipeline, i)) found.push_back(i);
  return found;
}

bool State::is_settled(size_t index) const {
  return phases_[index].status == Status::completed || phases_[index].status == Status::skipped;
}

std::vector<size_t> State::startable(const Pipeline& pipeline) const {
  std::vector<size_t> found;
  for (size_t i = 0; i < phases_.size(); ++i) {
    // A phase that was skipped may be wanted now.
    bool is_open = !is_settled(i) || (phases_[i].status == Status::skipped && pipeline.phases[i].is_wanted);
    auto is_met = [&](size_t need) {
      return phases_[need].status == Status::completed ||
             (phases_[need].status == Status::skipped && !pipeline.phases[need].is_wanted);
    };
    if (is_open && std::ranges::all_of(pipeline.phases[i].needs, is_met)) found.push_back(i);
  }
  return found;
}

size_t State::next_step(const Pipeline& pipeline, size_t index) const {
  const std::vector<Step>& steps = pipeline.phases[index].steps;
  const std::vector<std::string>& done = phases_[index].steps;
  size_t next = 0;
  if (is_elsewhere(pipeline, index)) return 0;
  while (next < steps.size() && next < done.size() && steps[next].hash == done[next]) ++next;
  return next;
}

void State::begin(const Pipeline& pipeline, size_t index, std::string now) {
  PhaseState& phase = phases_[index];
  phase.steps.resize(next_step(pipeline, index));
  phase.status = Status::in_progress;
  phase.hash = pipeline.phases[index].hash;
  phase.place = pipeline.phases[index].place;
  if (phase.steps.empty() || phase.started.empty()) phase.started = std::move(now);
  phase.ended.clear();
  phase.message.clear();
}

void State::step_done(const Pipeline& pipeline, size_t index, size_t step) {
  phases_[index].steps.resize(step);
  phases_[index].steps.push_back(pipeline.phases[index].steps[step].hash);
}

void State::complete(size_t index, std::string now) {
  phases_[index].status = Status::completed;
  phases_[index].ended = std::move(now);
}

void State::skip(size_t index, std::string now, std::string why) {
  phases_[index] = {
      .name = phases_[index].name, .status = Status::skipped, .ended = std::move(now), .message = std::move(why)};
}

void State::fail(size_t index, std::string now, std::string why) {
  phases_[index].status = Status::failed;
  phases_[index].ended = std::move(now);
  phases_[index].message = std::move(why);
}

void State::interrupt(size_t index, std::string why) { phases_[index].message = std::move(why); }

std::vector<size_t> State::reset(const Pipeline& pipeline, size_t index) {
  std::vector<size_t> changed;
  for (size_t i : pipeline.with_dependents(index)) {
    if (phases_[i].status != Status::pending) changed.push_back(i);
    phases_[i] = {.name = phases_[i].name};
  }
  return changed;
}

}  // namespace fairlead::pipeline
