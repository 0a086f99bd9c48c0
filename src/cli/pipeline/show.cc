#include "cli/pipeline/show.h"

#include <algorithm>

#include "base/duration_text.h"
#include "base/printable.h"
#include "base/timestamp.h"
#include "report/output.h"
#include "status/table.h"

namespace fairlead::cli {
namespace {

using pipeline::Action;
using pipeline::Phase;
using pipeline::PhaseState;
using pipeline::Status;

constexpr std::pair<Status, std::string_view> kCounted[] = {{Status::completed, "completed"},
                                                            {Status::skipped, "skipped"},
                                                            {Status::failed, "failed"},
                                                            {Status::in_progress, "inProgress"},
                                                            {Status::pending, "pending"}};

size_t count(const pipeline::State& state, Status status) {
  return size_t(std::ranges::count(state.phases(), status, &PhaseState::status));
}

report::Tone tone_of(Action action) {
  switch (action) {
    case Action::completed: return report::Tone::good;
    case Action::failed:
    case Action::timed_out: return report::Tone::bad;
    case Action::retry:
    case Action::interrupted: return report::Tone::trouble;
    case Action::skipped: return report::Tone::quiet;
    default: return report::Tone::plain;
  }
}

std::string phase_text(const pipeline::Event& event) {
  switch (event.action) {
    case Action::started: return "started: " + event.message;
    case Action::skipped: return "skipped: " + event.message;
    case Action::resumed: return event.message;
    // The step has said why.
    default: return std::string(name_of(event.action));
  }
}

std::string step_text(const pipeline::Event& event) {
  if (event.action == Action::started) return event.step + " started";
  std::string_view what = event.action == Action::completed   ? "completed"
                          : event.action == Action::timed_out ? "timed out"
                                                              : "failed";
  return fmt::format("{} {}: {}", event.step, what, event.message);
}

std::string took_text(const PhaseState& phase) {
  std::optional<WallTime> started = parse_timestamp(phase.started), ended = parse_timestamp(phase.ended);
  return started && ended && *ended >= *started ? short_text(*ended - *started) : "";
}

std::string note_of(const PipelineView& view, size_t index) {
  const PhaseState& phase = view.state.phase(index);
  if (view.state.has_changed(view.pipeline, index)) return "the phase has changed since";
  if (phase.status == Status::in_progress && !view.holder && phase.message.empty()) return "the run was killed";
  return phase.message;
}

// The phase may have fewer steps now than it had.
size_t done_steps(const PipelineView& view, size_t index) {
  return std::min(view.state.phase(index).steps.size(), view.pipeline.phases[index].steps.size());
}

// One sentence about what is left to do.
std::string next_text(const PipelineView& view) {
  if (view.holder) return fmt::format("a run is active: {}\n", *view.holder);
  if (view.outcome == "done") return "";
  return fmt::format("next: fairlead run {} goes on with what is left\n", view.words);
}

Json phase_json(const PipelineView& view, size_t index) {
  const Phase& phase = view.pipeline.phases[index];
  const PhaseState& state = view.state.phase(index);
  Json json(Json::Object{{"name", phase.name},
                         {"status", name_of(state.status)},
                         {"stepsDone", uint64_t{done_steps(view, index)}},
                         {"steps", uint64_t{phase.steps.size()}},
                         {"changed", view.state.has_changed(view.pipeline, index)}});
  auto add = [&](std::string_view key, const std::string& text) {
    if (!text.empty()) json.make(key) = text;
  };
  add("context", phase.context);
  add("namespace", phase.ns);
  add("started", state.started);
  add("ended", state.ended);
  add("message", state.message);
  Json::Array needs;
  for (size_t need : phase.needs) needs.emplace_back(view.pipeline.phases[need].name);
  json.make("needs") = std::move(needs);
  return json;
}

}  // namespace

report::Line event_line(const pipeline::Event& event) {
  std::string text = event.step.empty() ? phase_text(event) : step_text(event);
  return {.text = fmt::format("[{}] {}", event.phase, printable_line(text)), .tone = tone_of(event.action)};
}

std::string totals_text(const pipeline::Pipeline& pipeline, const pipeline::State& state) {
  std::string text;
  for (const auto& [status, key] : kCounted)
    if (size_t number = count(state, status); number > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", number, name_of(status));
  return fmt::format("{}: {}", pipeline.name, text);
}

std::string status_text(const PipelineView& view) {
  std::vector<status::Row> rows = {{"PHASE", "STATUS", "STEPS", "STARTED", "TOOK", "NOTE"}};
  for (size_t i = 0; i < view.state.phases().size(); ++i) {
    const PhaseState& phase = view.state.phase(i);
    rows.push_back({phase.name, std::string(name_of(phase.status)),
                    fmt::format("{}/{}", done_steps(view, i), view.pipeline.phases[i].steps.size()), phase.started,
                    took_text(phase), note_of(view, i)});
  }
  return status::table(rows) + next_text(view);
}

std::string plan_text(const pipeline::Pipeline& pipeline, const pipeline::State& state) {
  std::string text;
  for (size_t i = 0; i < pipeline.phases.size(); ++i) {
    const Phase& phase = pipeline.phases[i];
    size_t first = state.next_step(pipeline, i);
    size_t count = phase.steps.size() - first;
    std::string what = fmt::format("would run: {} step{}", count, count == 1 ? "" : "s");
    if (first > 0) what = fmt::format("would go on with step {} of {}", first + 1, phase.steps.size());
    if (state.phase(i).status == Status::completed) what = "is completed";
    else if (!phase.is_wanted) what = "would be skipped: when is false";
    text += fmt::format("[{}] {}\n", phase.name, what);
  }
  return text;
}

Json summary_json(const PipelineView& view) {
  Json json(Json::Object{{"type", "summary"}, {"outcome", view.outcome}, {"schemaVersion", journal::kSchemaVersion}});
  for (const auto& [status, key] : kCounted) json.make(key) = uint64_t{count(view.state, status)};
  if (view.took) json.make("seconds") = report::seconds(*view.took);
  if (view.holder) json.make("holder") = *view.holder;
  Json::Array errors;
  for (const journal::Cause& cause : view.causes) errors.push_back(journal::to_json(cause));
  if (!errors.empty()) json.make("errors") = std::move(errors);
  return json;
}

Json document_json(const PipelineView& view) {
  Json::Array phases;
  for (size_t i = 0; i < view.state.phases().size(); ++i) phases.push_back(phase_json(view, i));
  return Json::Object{{"schemaVersion", journal::kSchemaVersion},
                      {"pipeline", view.pipeline.name},
                      {"file", view.pipeline.file},
                      {"state", view.state_path},
                      {"phases", std::move(phases)},
                      {"summary", summary_json(view)}};
}

}  // namespace fairlead::cli
