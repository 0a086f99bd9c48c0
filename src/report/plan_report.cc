#include "report/plan_report.h"

#include <algorithm>
#include <limits>

#include "base/colours.h"
#include "base/printable.h"
#include "diff/lines.h"

namespace fairlead::report {
namespace {

using journal::EventKind;
using rollout::Ending;
using rollout::Forecast;
using rollout::ObjectEnding;
using Action = Forecast::Action;

constexpr int kSchemaVersion = 1;
constexpr size_t kNamedWaits = 4;

std::string_view mark_of(Action action) {
  switch (action) {
    case Action::none: return " ";
    case Action::create: return "+";
    case Action::change: return "~";
    case Action::replace: return "±";
    case Action::remove: return "-";
  }
  return " ";
}

std::string_view colour_of(Action action) {
  switch (action) {
    case Action::none: return "";
    case Action::create: return colours::kGreen;
    case Action::change: return colours::kYellow;
    case Action::replace: return colours::kMagenta;
    case Action::remove: return colours::kRed;
  }
  return "";
}

bool has_failed(const ObjectEnding& object) {
  using State = ObjectEnding::State;
  return object.state == State::refused || object.state == State::blocked || object.state == State::not_sent ||
         object.state == State::not_ready;
}

// Lines below an object: what it waits for, and what else the user should know.
std::string details_of(const Forecast& forecast) {
  constexpr std::string_view kIndent = "                 ";
  std::string text;
  auto add = [&](const std::string& line) { text += fmt::format("{}{}\n", kIndent, printable_line(line)); };
  for (size_t i = 0; i < std::min(forecast.waits.size(), kNamedWaits); ++i) {
    const Forecast::Wait& wait = forecast.waits[i];
    add(fmt::format("after {} is {} ({})", wait.what, wait.until, wait.reason));
  }
  if (forecast.waits.size() > kNamedWaits) add(fmt::format("and {} more", forecast.waits.size() - kNamedWaits));
  for (const Forecast::Conflict& conflict : forecast.conflicts)
    add(fmt::format("conflict: {} is owned by {}", conflict.field, conflict.manager));
  if (!forecast.note.empty()) add(forecast.note);
  if (!forecast.unchecked.empty()) add("unchecked: " + forecast.unchecked);
  return text;
}

std::string concern_text(const rollout::Concern& concern) {
  std::string subject = concern.key.kind.empty() ? "" : concern.key.text() + ": ";
  return fmt::format("warning: {}{}\n", subject, concern.text);
}

Json waits_json(const std::vector<Forecast::Wait>& waits) {
  Json::Array all;
  for (const Forecast::Wait& wait : waits)
    all.emplace_back(Json::Object{{"what", wait.what}, {"until", wait.until}, {"reason", wait.reason}});
  return all;
}

Json fields_json(const std::vector<diff::FieldChange>& fields) {
  Json::Array all;
  for (const diff::FieldChange& field : fields) {
    Json one(Json::Object{{"path", field.path}});
    if (field.before) one.make("before") = *field.before;
    if (field.after) one.make("after") = *field.after;
    all.push_back(std::move(one));
  }
  return all;
}

Json counts_json(const PlanCounts& counts) {
  return Json::Object{{"create", uint64_t{counts.create}},
                      {"change", uint64_t{counts.change}},
                      {"replace", uint64_t{counts.replace}},
                      {"delete", uint64_t{counts.remove}},
                      {"unchanged", uint64_t{counts.unchanged}},
                      {"failed", uint64_t{counts.failed}},
                      {"left", uint64_t{counts.left}}};
}

}  // namespace

std::string PlanPlace::text() const {
  std::string text = bundle.empty() ? "" : fmt::format("bundle {}, ", bundle);
  text += context.empty() ? fmt::format("server {}", server) : fmt::format("context {}", context);
  return fmt::format("{}, namespace {}", text, ns);
}

std::string PlanCounts::text() const {
  std::string text;
  auto add = [&](size_t count, std::string_view words) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, words);
  };
  add(create, "to create");
  add(change, "to change");
  add(replace, "to replace");
  add(remove, "to delete");
  add(failed, "not possible");
  add(unchanged, "unchanged");
  if (left > 0) text += fmt::format("; {} no longer in the manifests", left);
  return text;
}

PlanCounts counts_of(const Ending& ending) {
  PlanCounts counts{.left = ending.left.size()};
  for (const ObjectEnding& object : ending.objects) {
    if (object.state == ObjectEnding::State::left_out) continue;
    if (has_failed(object)) {
      ++counts.failed;
      continue;
    }
    switch (object.forecast ? object.forecast->action : Action::none) {
      case Action::none: ++counts.unchanged; break;
      case Action::create: ++counts.create; break;
      case Action::change: ++counts.change; break;
      case Action::replace: ++counts.replace; break;
      case Action::remove: ++counts.remove; break;
    }
  }
  return counts;
}

std::vector<const ObjectEnding*> planned(const Ending& ending) {
  std::vector<const ObjectEnding*> objects;
  for (const ObjectEnding& object : ending.objects)
    if (object.forecast) objects.push_back(&object);
  auto step = [](const ObjectEnding* object) {
    bool is_last = object->forecast->action == Action::remove;
    uint32_t number = is_last ? std::numeric_limits<uint32_t>::max() : object->forecast->step;
    // Objects of the same step stay in their order.
    return std::pair(number, object);
  };
  std::ranges::sort(objects, {}, step);
  return objects;
}

void PlanReport::read(const journal::Event& event) const {
  // The plan itself says which objects could not be checked, and which permissions are missing.
  bool is_told = event.state == "unchecked" || event.state == "permission";
  if (event.kind != EventKind::warning || is_told || output_.format() == Format::json) return;
  std::string subject = event.key.kind.empty() ? "" : event.key.text() + ": ";
  print(err_, printable_line(fmt::format("warning: {}{}", subject, event.text)) + "\n");
}

std::string PlanReport::list_text(const Ending& ending) const {
  bool colours = can_paint(out_);
  std::string text;
  for (const ObjectEnding* object : planned(ending)) {
    const Forecast& forecast = *object->forecast;
    std::string step = forecast.step == 0 ? "" : std::to_string(forecast.step);
    bool is_refused = !forecast.conflicts.empty();
    std::string line =
        fmt::format("{} {:<7}  {}{}", mark_of(forecast.action), is_refused ? "refused" : name_of(forecast.action),
                    printable_line(object->key.text()), forecast.unchecked.empty() ? "" : " (unchecked)");
    if (colours) line = fmt::format("{}{}{}", colour_of(forecast.action), line, colours::kPlain);
    text += fmt::format("{:>4}  {}\n", step, line) + details_of(forecast);
  }
  return text;
}

std::string PlanReport::diff_text(const ObjectEnding& object, bool colours) const {
  const diff::Change& change = object.forecast->change;
  std::string name = object.key.text();
  std::string source = object.source.empty() ? "planned" : object.source;
  return diff::unified(change.before, change.after,
                       {.context = view_.full ? std::numeric_limits<uint32_t>::max() : view_.context,
                        .colours = colours,
                        .before_name = change.before.empty() ? "/dev/null" : name + " (in the cluster)",
                        .after_name = change.after.empty() ? "/dev/null" : fmt::format("{} ({})", name, source)});
}

std::string PlanReport::closing_text(const Ending& ending, bool by_api_server) const {
  PlanCounts counts = counts_of(ending);
  std::string how = by_api_server ? "" : "; compared without the API server, which checked nothing";
  if (counts.changes() == 0 && counts.failed == 0)
    return fmt::format("Nothing to do: {} object{} unchanged ({:.1f}s{})\n", counts.unchanged,
                       counts.unchanged == 1 ? " is" : "s are", seconds(ending.took), how);
  return fmt::format("{} ({:.1f}s{})\n", counts.text(), seconds(ending.took), how);
}

void PlanReport::show_text(const Ending& ending, bool by_api_server) const {
  auto write = [](std::FILE* stream, std::string_view text) { std::fwrite(text.data(), 1, text.size(), stream); };
  std::string list = view_.diff_only ? "" : list_text(ending);
  if (!list.empty()) write(out_, fmt::format("Plan for {}\n\n{}\n", printable_line(place_.text()), list));
  bool colours = can_paint(out_);
  for (const ObjectEnding* object : planned(ending)) {
    bool is_change = !object->forecast->change.before.empty() && !object->forecast->change.after.empty();
    if (view_.no_diff || !(is_change || view_.full || view_.diff_only)) continue;
    std::string text = diff_text(*object, colours);
    if (!text.empty()) write(out_, text + (view_.diff_only ? "" : "\n"));
  }
  std::fflush(out_);
  for (const rollout::Concern& concern : ending.concerns)
    if (!view_.diff_only || concern.kind == rollout::Concern::Kind::permission) print(err_, concern_text(concern));
  if (!view_.diff_only) print(out_, closing_text(ending, by_api_server));
  if (!view_.diff_only && !ending.left.empty()) print(out_, rollout::left_text(ending.left) + "\n");
  for (const journal::Cause& cause : ending.causes) print(err_, cause.error.report());
}

Json PlanReport::json_of(const ObjectEnding& object) const {
  const Forecast* forecast = object.forecast.get();
  Json json = object_json(object.key, object.source, name_of(object.state));
  json.make("action") = forecast ? name_of(forecast->action) : "none";
  if (!object.warnings.empty()) json.make("warnings") = Json::Array(object.warnings.begin(), object.warnings.end());
  if (object.error) json.make("error") = journal::to_json(*object.error);
  if (!forecast) return json;
  if (forecast->step != 0) json.make("step") = uint64_t{forecast->step};
  if (!forecast->waits.empty()) json.make("waitsFor") = waits_json(forecast->waits);
  json.make("checked") = forecast->unchecked.empty();
  if (!forecast->unchecked.empty()) json.make("unchecked") = forecast->unchecked;
  if (!forecast->note.empty()) json.make("note") = forecast->note;
  Json::Array conflicts;
  for (const Forecast::Conflict& conflict : forecast->conflicts)
    conflicts.emplace_back(Json::Object{{"field", conflict.field}, {"manager", conflict.manager}});
  if (!conflicts.empty()) json.make("conflicts") = std::move(conflicts);
  if (!forecast->change.fields.empty()) json.make("changes") = fields_json(forecast->change.fields);
  if (std::string text = diff_text(object, false); !text.empty()) json.make("diff") = std::move(text);
  return json;
}

Json PlanReport::json_of(const Ending& ending, bool by_api_server) const {
  PlanCounts counts = counts_of(ending);
  bool is_done = ending.how == Ending::How::done;
  std::string_view outcome = !is_done ? name_of(ending.how) : counts.changes() > 0 ? "changes" : "nothing to do";
  Json json(Json::Object{{"schemaVersion", kSchemaVersion},
                         {"outcome", outcome},
                         {"bundle", place_.bundle},
                         {"namespace", place_.ns},
                         {"context", place_.context},
                         {"server", place_.server},
                         {"dryRun", by_api_server ? "server" : "client"},
                         {"counts", counts_json(counts)}});
  Json::Array objects;
  std::ranges::transform(ending.objects, std::back_inserter(objects),
                         [this](const ObjectEnding& object) { return json_of(object); });
  json.make("objects") = std::move(objects);
  json.make("left") = keys_json(ending.left);
  Json::Array concerns;
  for (const rollout::Concern& concern : ending.concerns) {
    Json one(Json::Object{{"kind", name_of(concern.kind)}, {"text", concern.text}});
    if (!concern.key.kind.empty()) one.make("object") = concern.key.text();
    concerns.push_back(std::move(one));
  }
  json.make("concerns") = std::move(concerns);
  Json::Array errors;
  for (const journal::Cause& cause : ending.causes) errors.push_back(journal::to_json(cause));
  json.make("errors") = std::move(errors);
  json.make("seconds") = seconds(ending.took);
  json.make("requests") = ending.requests;
  return json;
}

void PlanReport::finish(const Ending& ending, bool by_api_server) const {
  if (output_.format() != Format::json) return show_text(ending, by_api_server);
  std::string text = json_of(ending, by_api_server).pretty();
  std::fwrite(text.data(), 1, text.size(), out_);
  std::fflush(out_);
}

}  // namespace fairlead::report
