#include "status/show.h"

#include <algorithm>

#include "base/colours.h"
#include "base/printable.h"
#include "status/table.h"

namespace fairlead::status {
namespace {

using Drift = ObjectStatus::Drift;
using readiness::State;

constexpr int kSchemaVersion = 1;
constexpr size_t kNamedFields = 4;

std::string run_text(const std::optional<history::LastRun>& run, WallTime now) {
  return run ? fmt::format("{} {} ago", run->how, age(run->when, now)) : "-";
}

Json json_of(const std::optional<history::LastRun>& run) {
  if (!run) return nullptr;
  return Json::Object{{"who", run->who}, {"when", run->when}, {"how", run->how}, {"objects", run->objects}};
}

Json json_of(const std::optional<history::Revision>& revision) {
  return revision ? history::to_json(*revision) : Json();
}

Json json_of(const object::Key& key) {
  return Json::Object{{"group", key.group}, {"kind", key.kind}, {"namespace", key.ns}, {"name", key.name}};
}

Json json_of(const std::vector<std::string>& texts) { return Json::Array(texts.begin(), texts.end()); }

std::string joined(const std::vector<std::string>& texts, size_t most) {
  std::string text;
  for (size_t i = 0; i < std::min(texts.size(), most); ++i) text += (i == 0 ? "" : ", ") + texts[i];
  return texts.size() > most ? fmt::format("{} and {} more", text, texts.size() - most) : text;
}

// "ready", "in progress: 0 of 1 replica is ready; drifted: spec.replicas"
std::string state_of(const ObjectStatus& object) {
  std::string text;
  if (object.drift == Drift::gone) text = "gone: it was applied, and is not in the cluster";
  else if (!object.not_applied.empty()) text = fmt::format("not applied: the last run says {}", object.not_applied);
  else if (object.verdict.state == State::ready) text = "ready";
  else text = fmt::format("{}: {}", readiness::name_of(object.verdict.state), object.verdict.reason);
  if (object.drift == Drift::changed) text += "; drifted: " + joined(object.fields, kNamedFields);
  if (object.left) text += "; no longer in the manifests";
  return text;
}

std::string_view colour_of(const ObjectStatus& object) {
  if (object.drift == Drift::gone || object.verdict.state == State::failed) return colours::kBad;
  if (!object.is_ready() || object.drift == Drift::changed || object.left) return colours::kTrouble;
  return colours::kGood;
}

std::vector<std::string> lines_below(const ObjectStatus& object) {
  std::vector<std::string> lines;
  for (const std::string& cause : object.causes) lines.push_back("because " + cause);
  if (!object.blocked_by.empty()) {
    std::vector<std::string> names;
    for (const object::Key& key : object.blocked_by) names.push_back(key.text());
    lines.push_back("waits for " + joined(names, names.size()));
  }
  for (const PodStatus& pod : object.pods)
    lines.push_back(fmt::format("Pod {}  {}: {}", pod.name, readiness::name_of(pod.verdict.state), pod.verdict.reason));
  if (!object.next.empty()) lines.push_back("next " + object.next);
  return lines;
}

std::string head_of(const BundleStatus& status, const Show& show) {
  std::string text = fmt::format("bundle {}, namespace {}", status.name, status.home);
  if (status.revision) text += fmt::format(", revision {}", status.revision->number);
  if (status.last_run)
    text += fmt::format("; last run {} by {}", run_text(status.last_run, show.now), status.last_run->who);
  text += "\n";
  if (!status.held_by.empty()) text += fmt::format("{} is working on it now\n", status.held_by);
  text += fmt::format("{} of {} objects ready", status.ready(), status.objects.size());
  if (size_t drifted = status.drifted()) text += fmt::format(", {} drifted", drifted);
  return printable(text) + "\n";
}

Json json_of(const ObjectStatus& object) {
  Json json = json_of(object.key);
  if (!object.source.empty()) json.make("source") = object.source;
  json.make("ready") = object.is_ready();
  json.make("state") = readiness::name_of(object.verdict.state);
  json.make("reason") = object.verdict.reason;
  json.make("drift") = name_of(object.drift);
  if (!object.fields.empty()) json.make("fields") = json_of(object.fields);
  if (!object.not_applied.empty()) json.make("notApplied") = object.not_applied;
  if (object.left) json.make("left") = true;
  if (!object.causes.empty()) json.make("causes") = json_of(object.causes);
  if (!object.next.empty()) json.make("next") = object.next;
  Json::Array blockers, pods;
  for (const object::Key& key : object.blocked_by) blockers.push_back(json_of(key));
  for (const PodStatus& pod : object.pods)
    pods.emplace_back(Json::Object{
        {"name", pod.name}, {"state", readiness::name_of(pod.verdict.state)}, {"reason", pod.verdict.reason}});
  if (!blockers.empty()) json.make("blockedBy") = std::move(blockers);
  if (!pods.empty()) json.make("pods") = std::move(pods);
  return json;
}

std::string revision_text(const history::Revision& revision, WallTime now) {
  return fmt::format("revision {}, {}, {} ago by {}{}{}", revision.number, revision.how, age(revision.when, now),
                     revision.who, revision.note.empty() ? "" : ": ", revision.note);
}

}  // namespace

std::string text_of(const Bundles& bundles, const Show& show) {
  Row head{"NAMESPACE", "NAME", "OBJECTS", "READY", "REVISION", "LAST RUN", "BY", "AGE"};
  if (show.wide) head.insert(head.end(), {"FAIRLEAD", "HELD BY"});
  std::vector<Row> rows = {head};
  for (const BundleSummary& one : bundles.bundles) {
    std::string more = one.unlisted_kinds > 0 ? "+" : "";
    Row row{one.home,
            one.name,
            std::to_string(one.objects) + more,
            std::to_string(one.ready),
            one.revision ? std::to_string(one.revision->number) : "-",
            run_text(one.last_run, show.now),
            one.last_run ? one.last_run->who : "-",
            age(one.created, show.now)};
    if (show.wide)
      row.insert(row.end(), {one.revision ? one.revision->version : "-", one.held_by.empty() ? "-" : one.held_by});
    rows.push_back(std::move(row));
  }
  return table(rows);
}

Json json_of(const Bundles& bundles) {
  Json::Array all;
  for (const BundleSummary& one : bundles.bundles) {
    Json json(Json::Object{{"name", one.name},
                           {"namespace", one.home},
                           {"objects", uint64_t{one.objects}},
                           {"ready", uint64_t{one.ready}},
                           {"created", one.created},
                           {"lastRun", json_of(one.last_run)},
                           {"revision", json_of(one.revision)}});
    if (one.unlisted_kinds > 0) json.make("unlistedKinds") = uint64_t{one.unlisted_kinds};
    if (!one.held_by.empty()) json.make("heldBy") = one.held_by;
    all.push_back(std::move(json));
  }
  return Json::Object{
      {"schemaVersion", kSchemaVersion}, {"bundles", std::move(all)}, {"notes", json_of(bundles.notes)}};
}

std::string text_of(const BundleStatus& status, const Show& show) {
  size_t widest = 0;
  for (const ObjectStatus& object : status.objects) widest = std::max(widest, object.key.text().size());
  std::string text = head_of(status, show);
  for (size_t i = 0; i < status.objects.size(); ++i) {
    const ObjectStatus& object = status.objects[i];
    bool is_last = i + 1 == status.objects.size();
    std::string name = printable_line(object.key.text());
    name.resize(std::max(name.size(), std::min<size_t>(widest, 60)), ' ');
    std::string state = printable_line(state_of(object));
    if (show.colours) state = fmt::format("{}{}{}", colour_of(object), state, colours::kPlain);
    text += fmt::format("{}{}   {}", is_last ? "└─ " : "├─ ", name, state);
    if (show.wide && !object.source.empty()) text += "   " + printable_line(object.source);
    text += "\n";
    std::vector<std::string> below = lines_below(object);
    for (size_t line = 0; line < below.size(); ++line)
      text += fmt::format("{}{}{}\n", is_last ? "   " : "│  ", line + 1 == below.size() ? "└─ " : "├─ ",
                          printable_line(below[line]));
  }
  return text;
}

Json json_of(const BundleStatus& status) {
  Json::Array objects;
  for (const ObjectStatus& object : status.objects) objects.push_back(json_of(object));
  Json json(Json::Object{{"schemaVersion", kSchemaVersion},
                         {"name", status.name},
                         {"namespace", status.home},
                         {"isReady", status.is_ready()},
                         {"ready", uint64_t{status.ready()}},
                         {"drifted", uint64_t{status.drifted()}},
                         {"lastRun", json_of(status.last_run)},
                         {"revision", json_of(status.revision)},
                         {"objects", std::move(objects)},
                         {"notes", json_of(status.notes)}});
  if (!status.held_by.empty()) json.make("heldBy") = status.held_by;
  return json;
}

std::string text_of(const Trace& trace, const Show& show) {
  std::string text = trace.chain.front().text() + "\n";
  for (size_t i = 1; i < trace.chain.size(); ++i) text += fmt::format("  owner     {}\n", trace.chain[i].text());
  if (trace.bundle) text += fmt::format("  bundle    {}, namespace {}\n", trace.bundle->name, trace.bundle->home);
  else if (!trace.other_owner.empty()) text += fmt::format("  owner     {}\n", trace.other_owner);
  else text += "  bundle    none: it belongs to no bundle\n";
  if (!trace.source.empty()) text += fmt::format("  from      {}\n", trace.source);
  if (trace.applied) text += fmt::format("  applied   {}\n", revision_text(*trace.applied, show.now));
  if (trace.changed) text += fmt::format("  changed   {}\n", revision_text(*trace.changed, show.now));
  if (show.wide && trace.applied) text += fmt::format("  fairlead  {}\n", trace.applied->version);
  return printable(text);
}

Json json_of(const Trace& trace) {
  Json::Array owners;
  for (size_t i = 1; i < trace.chain.size(); ++i) owners.push_back(json_of(trace.chain[i]));
  Json json(Json::Object{{"schemaVersion", kSchemaVersion},
                         {"object", json_of(trace.chain.front())},
                         {"owners", std::move(owners)},
                         {"bundle", nullptr},
                         {"source", trace.source},
                         {"applied", json_of(trace.applied)},
                         {"changed", json_of(trace.changed)},
                         {"notes", json_of(trace.notes)}});
  if (trace.bundle) json.make("bundle") = Json::Object{{"name", trace.bundle->name}, {"namespace", trace.bundle->home}};
  if (!trace.other_owner.empty()) json.make("otherOwner") = trace.other_owner;
  return json;
}

std::string text_of(const std::vector<history::Revision>& revisions, const Show& show) {
  Row head{"REVISION", "AGE", "HOW", "OBJECTS", "BY", "NOTE"};
  if (show.wide) head.insert(head.end(), {"WHEN", "FAIRLEAD", "SECRETS"});
  std::vector<Row> rows = {head};
  for (const history::Revision& one : revisions) {
    std::string note = one.note;
    if (one.chunks == 0) note += note.empty() ? "manifests not kept: too large" : "; manifests not kept: too large";
    Row row{std::to_string(one.number), age(one.when, show.now), one.how, std::to_string(one.objects), one.who,
            note.empty() ? "-" : note};
    if (show.wide) row.insert(row.end(), {one.when, one.version, one.has_secrets ? "kept" : "by hash"});
    rows.push_back(std::move(row));
  }
  return table(rows);
}

Json json_of(const std::string& bundle, const std::string& home, const std::vector<history::Revision>& revisions) {
  Json::Array all;
  for (const history::Revision& one : revisions) all.push_back(history::to_json(one));
  return Json::Object{
      {"schemaVersion", kSchemaVersion}, {"name", bundle}, {"namespace", home}, {"revisions", std::move(all)}};
}

}  // namespace fairlead::status
