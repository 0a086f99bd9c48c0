#include "sandbox/verbs/internal/delete.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/go_kind.h"
#include "sandbox/kinds/strategy.h"
#include "sandbox/kinds/types.h"
#include "sandbox/verbs/internal/admission_chain.h"
#include "sandbox/verbs/internal/conversion.h"
#include "sandbox/verbs/internal/read.h"
#include "sandbox/verbs/internal/selection.h"

namespace fairlead::sandbox {
namespace {

constexpr std::string_view kOrphan = "orphan";
constexpr std::string_view kForeground = "foregroundDeletion";
constexpr std::string_view kCleanup = "customresourcecleanup.apiextensions.k8s.io";

Outcome<void> check_preconditions(const Kind& kind, const Place& place, const Json& object,
                                  const DeleteOptions& options) {
  std::string_view uid = object["metadata"]["uid"].string_or("");
  if (!options.uid.empty() && options.uid != uid)
    return refuse(conflict({kind.group, kind.kind}, place.name,
                           fmt::format("the UID in the precondition ({}) does not match the UID in record ({}). The "
                                       "object might have been deleted and then recreated",
                                       options.uid, uid)));
  std::string_view version = object["metadata"]["resourceVersion"].string_or("");
  if (!options.resource_version.empty() && options.resource_version != version)
    return refuse(
        conflict({kind.group, kind.kind}, place.name,
                 fmt::format("the ResourceVersion in the precondition ({}) does not match the ResourceVersion "
                             "in record ({}). The object might have been modified",
                             options.resource_version, version)));
  return {};
}

// How long a pod may take; nothing for everything else, which goes at once.
int64_t grace_of(const Kind& kind, const Json& object, const DeleteOptions& options) {
  if (!kind.is("", "pods")) return 0;
  if (object["spec"]["nodeName"].string_or("").empty()) return 0;
  std::string_view phase = object["status"]["phase"].string_or("");
  if (phase == "Failed" || phase == "Succeeded") return 0;
  int64_t grace = options.grace_seconds.value_or(object["spec"]["terminationGracePeriodSeconds"].int_or(30));
  return std::max<int64_t>(grace, 0);
}

std::vector<std::string> finalizers_after(const Kind& kind, const Json& object, const DeleteOptions& options) {
  std::vector<std::string> finalizers;
  bool had_orphan = false, had_foreground = false;
  for (const Json& one : object["metadata"]["finalizers"].items()) {
    if (one.string_or("") == kOrphan) had_orphan = true;
    else if (one.string_or("") == kForeground) had_foreground = true;
    else finalizers.emplace_back(one.string_or(""));
  }
  bool orphan = had_orphan, foreground = had_foreground;
  if (options.orphan_dependents) {
    orphan = *options.orphan_dependents;
    foreground = false;
  } else if (!options.propagation.empty()) {
    orphan = options.propagation == "Orphan";
    foreground = options.propagation == "Foreground";
  } else if (!had_orphan && !had_foreground) {
    orphan = kind.is("batch", "jobs") || kind.is("", "replicationcontrollers");
  }
  if (orphan) finalizers.emplace_back(kOrphan);
  if (foreground) finalizers.emplace_back(kForeground);
  return finalizers;
}

void set_finalizers(Json& object, const std::vector<std::string>& finalizers) {
  Json& metadata = object.make("metadata");
  if (finalizers.empty()) {
    metadata.if_object()->erase("finalizers");
    return;
  }
  Json::Array list;
  for (const std::string& one : finalizers) list.emplace_back(one);
  metadata.make("finalizers") = std::move(list);
}

void begin_deletion(const Core& core, Json& object, int64_t grace) {
  Json& metadata = object.make("metadata");
  bool began = metadata.contains("deletionTimestamp");
  auto at = std::chrono::floor<std::chrono::seconds>(core.loop.clock().wall_now()) + std::chrono::seconds(grace);
  if (!began) metadata.make("deletionTimestamp") = time_text(at);
  metadata.make("deletionGracePeriodSeconds") = grace;
  if (!began && metadata["generation"].int_or(0) > 0)
    metadata.make("generation") = metadata["generation"].int_or(0) + 1;
}

// A namespace stays until its finalizers in the spec are gone; the namespace controller sees to that.
std::optional<Json> namespace_deletion(const Core& core, const Json& object) {
  if (object["metadata"].contains("deletionTimestamp")) {
    if (object["spec"]["finalizers"].items().empty() && object["metadata"]["finalizers"].items().empty())
      return std::nullopt;
    Json held = object;
    // Only what holds any object holds it now.
    if (object["spec"]["finalizers"].items().empty()) held.make("metadata").make("deletionGracePeriodSeconds") = 0;
    return held;
  }
  Json changed = object;
  changed.make("metadata").make("deletionTimestamp") = core.now_text();
  changed.make("status").make("phase") = "Terminating";
  return changed;
}

// A definition stays until its objects are gone.
std::optional<Json> definition_deletion(const Core& core, const Json& object) {
  if (object["metadata"].contains("deletionTimestamp")) {
    if (object["metadata"]["finalizers"].items().empty()) return std::nullopt;
    return object;
  }
  Json changed = object;
  changed.make("metadata").make("deletionTimestamp") = core.now_text();
  Json& finalizers = changed.make("metadata").make("finalizers");
  if (!finalizers.is_array()) finalizers = Json::Array{};
  auto is_cleanup = [](const Json& one) { return one.string_or("") == kCleanup; };
  Json::Array& list = *finalizers.if_array();
  if (std::none_of(list.begin(), list.end(), is_cleanup)) list.emplace_back(kCleanup);
  Json& conditions = changed.make("status").make("conditions");
  if (!conditions.is_array()) conditions = Json::Array{};
  conditions.if_array()->push_back(Json::Object{
      {"type", "Terminating"},
      {"status", "True"},
      {"lastTransitionTime", core.now_text()},
      {"reason", "InstanceDeletionPending"},
      {"message", "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"}});
  return changed;
}

}  // namespace

Outcome<DeleteOptions> delete_options(const Call& call) {
  DeleteOptions options;
  const Query& query = call.route.query;
  Json body;
  const std::string* text = std::get_if<std::string>(&call.body);
  if (!text || !text->empty()) {
    Outcome<Json> parsed = parse_body(call);
    if (!parsed) return refuse(parsed.error());
    body = *std::move(parsed);
  }
  options.json = Json::Object{{"kind", "DeleteOptions"}, {"apiVersion", "meta.k8s.io/v1"}};
  if (body.is_object()) {
    std::string_view kind = body["kind"].string_or("");
    if (!kind.empty() && kind != "DeleteOptions")
      return refuse(bad_request(
          fmt::format("no kind \"{}\" is registered for version \"{}\" in scheme \"pkg/runtime/scheme.go:111\"", kind,
                      body["apiVersion"].string_or(""))));
    const Json& grace = body["gracePeriodSeconds"];
    if (!grace.is_null() && !grace.is_integer())
      return refuse(bad_request(
          fmt::format("json: cannot unmarshal {} into Go struct field DeleteOptions.gracePeriodSeconds of type int64",
                      go_kind(grace))));
    if (body.contains("gracePeriodSeconds")) options.grace_seconds = body["gracePeriodSeconds"].int_or(0);
    options.propagation = body["propagationPolicy"].string_or("");
    if (const bool* orphan = body["orphanDependents"].if_bool()) options.orphan_dependents = *orphan;
    options.uid = body["preconditions"]["uid"].string_or("");
    options.resource_version = body["preconditions"]["resourceVersion"].string_or("");
    options.dry_run = !body["dryRun"].items().empty();
    for (const Json::Member& member : body.members())
      if (member.key != "kind" && member.key != "apiVersion") options.json.make(member.key) = member.value;
  } else {
    if (query.has("gracePeriodSeconds")) {
      std::string_view number = query.get("gracePeriodSeconds");
      int64_t grace = 0;
      std::from_chars(number.data(), number.data() + number.size(), grace);
      options.grace_seconds = grace;
      options.json.make("gracePeriodSeconds") = grace;
    }
    options.propagation = query.get("propagationPolicy");
    if (!options.propagation.empty()) options.json.make("propagationPolicy") = options.propagation;
    if (query.has("orphanDependents")) options.orphan_dependents = query.flag("orphanDependents");
  }
  if (call.dry_run()) {
    options.dry_run = true;
    options.json.make("dryRun") = Json::Array{"All"};
  }
  std::vector<Cause> causes;
  Json::Array dry;
  for (const std::string& one : query.all("dryRun")) dry.emplace_back(one);
  if (std::any_of(dry.begin(), dry.end(), [](const Json& one) { return one.string_or("") != "All"; }))
    causes.push_back(unsupported_value("dryRun", Json(dry), {"All"}));
  if (!options.propagation.empty() && options.orphan_dependents)
    causes.push_back(invalid_value("propagationPolicy", Json(options.propagation),
                                   "orphanDependents and deletionPropagation cannot be both set"));
  if (!options.propagation.empty() && options.propagation != "Foreground" && options.propagation != "Background" &&
      options.propagation != "Orphan")
    causes.push_back(unsupported_value("propagationPolicy", Json(options.propagation),
                                       {"Foreground", "Background", "Orphan", "nil"}));
  if (!causes.empty()) return refuse(invalid("meta.k8s.io", "DeleteOptions", "", causes));
  return options;
}

Task<Outcome<Deleted>> delete_one(ApiServer& server, Call& call, const Kind& kind, Place place, DeleteOptions options) {
  Core& core = server.core();
  for (int attempt = 0;; ++attempt) {
    ObjectPtr found = core.store.find(kind.stored_as, place);
    if (!found) co_return refuse(not_found(kind.id(), place.name));
    CO_TRY_ASSIGN(Json live, co_await read_stored(server, kind, *found));
    Place told = options.of_collection ? Place{place.ns, ""} : place;
    Attributes attributes{kind, told, "", Operation::remove, nullptr, &live, options.json, options.dry_run};
    CO_TRY(co_await admit_mutating(server, call, attributes));
    CO_TRY(check_preconditions(kind, place, live, options));
    CO_TRY(co_await admit_validating(server, call, attributes));
    if (core.store.find(kind.stored_as, place) != found) {
      if (attempt >= 5)
        co_return refuse(conflict(kind.id(), place.name,
                                  "the object has been modified; please apply your changes to "
                                  "the latest version and try again"));
      continue;
    }

    std::optional<Json> remains;
    if (kind.is("", "namespaces")) {
      remains = namespace_deletion(core, *found);
    } else if (kind.is("apiextensions.k8s.io", "customresourcedefinitions")) {
      remains = definition_deletion(core, *found);
    } else {
      int64_t grace = grace_of(kind, *found, options);
      std::vector<std::string> finalizers = finalizers_after(kind, *found, options);
      const Json& metadata = (*found)["metadata"];
      bool began = metadata.contains("deletionTimestamp");
      int64_t before = metadata["deletionGracePeriodSeconds"].int_or(0);
      if (began && before > 0 && !options.grace_seconds) grace = before;
      if (!finalizers.empty() || grace > 0) {
        Json changed = *found;
        set_finalizers(changed, finalizers);
        if (!began || grace < before) begin_deletion(core, changed, grace);
        remains = std::move(changed);
      }
    }
    if (!remains) {
      Json last = std::move(live);
      if (kind.is("", "pods")) begin_deletion(core, last, 0);
      if (!options.dry_run) core.store.remove(kind.stored_as, place);
      co_return Deleted{std::move(last), true};
    }
    if (remains->same_as(*found)) co_return Deleted{std::move(live), false};
    ObjectPtr stored = options.dry_run ? std::make_shared<const Json>(*std::move(remains))
                                       : core.store.put(kind.stored_as, place, *std::move(remains));
    CO_TRY_ASSIGN(Json shown, co_await in_version(server, kind, *stored));
    co_return Deleted{std::move(shown), false};
  }
}

Task<Outcome<Reply>> delete_object(ApiServer& server, Call& call, const Kind& kind) {
  CO_TRY_ASSIGN(DeleteOptions options, delete_options(call));
  if (kind.is("batch", "jobs") && options.propagation.empty() && !options.orphan_dependents)
    call.warn(
        "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove "
        "them or set propagationPolicy=Orphan to suppress this warning");
  Place place{call.route.ns, call.route.name};
  CO_TRY_ASSIGN(Deleted deleted, co_await delete_one(server, call, kind, place, std::move(options)));
  if (!deleted.gone || returns_deleted(kind)) co_return Reply::of(std::move(deleted.object));
  Json::Object details{{"name", call.route.name}};
  if (!kind.group.empty()) details.append("group", kind.group);
  details.append("kind", kind.resource);
  details.append("uid", deleted.object["metadata"]["uid"]);
  co_return Reply::of(Json::Object{{"kind", "Status"},
                                   {"apiVersion", "v1"},
                                   {"metadata", Json::Object{}},
                                   {"status", "Success"},
                                   {"details", std::move(details)}});
}

Task<Outcome<Reply>> delete_collection(ApiServer& server, Call& call, const Kind& kind) {
  CO_TRY_ASSIGN(DeleteOptions options, delete_options(call));
  options.of_collection = true;
  CO_TRY_ASSIGN(Selection selection, Selection::parse(kind, call.route));
  Core& core = server.core();
  std::string version = std::to_string(core.store.version());
  Json::Array items;
  std::vector<Place> places;
  for (const auto& [place, object] : core.store.all(kind.stored_as)) {
    if (!selection.matches(place, *object)) continue;
    places.push_back(place);
    items.push_back(*object);
  }
  for (const Place& place : places) {
    Outcome<Deleted> deleted = co_await delete_one(server, call, kind, place, options);
    if (!deleted && deleted.error().code != 404) co_return refuse(deleted.error());
  }
  CO_TRY_ASSIGN(items, co_await convert(server, kind, kind.api_version(), std::move(items)));
  if (!kind.custom)
    for (Json& item : items) {
      item.if_object()->erase("kind");
      item.if_object()->erase("apiVersion");
    }
  co_return Reply::of(Json::Object{{"kind", kind.list_kind},
                                   {"apiVersion", kind.api_version()},
                                   {"metadata", Json::Object{{"resourceVersion", version}}},
                                   {"items", std::move(items)}});
}

}  // namespace fairlead::sandbox
