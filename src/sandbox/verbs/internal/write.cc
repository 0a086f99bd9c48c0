#include "sandbox/verbs/internal/write.h"

#include <fmt/format.h>

#include <algorithm>

#include "sandbox/kinds/strategy.h"
#include "sandbox/kinds/types.h"
#include "sandbox/verbs/internal/admission_chain.h"
#include "sandbox/verbs/internal/conversion.h"
#include "sandbox/verbs/internal/read.h"
#include "schema/apply.h"

namespace fairlead::sandbox {
namespace {

constexpr std::string_view kModified =
    "the object has been modified; please apply your changes to the latest version and try again";

std::string version_of(const Json& object) { return std::string(object["metadata"]["resourceVersion"].string_or("")); }

// Generated names are cut so that base and suffix fit into what a name may be.
std::string generated_name(Core& core, std::string_view base) {
  return std::string(base.substr(0, 58)) + core.random.name_suffix();
}

// Nothing holds it any more. A namespace is held by the finalizers in its spec as well.
bool is_gone_by_finalizers(const Kind& kind, const Json& object) {
  const Json& metadata = object["metadata"];
  if (kind.id() == ResourceId{"", "namespaces"} && !object["spec"]["finalizers"].items().empty()) return false;
  return metadata.contains("deletionTimestamp") && metadata["finalizers"].items().empty() &&
         metadata["deletionGracePeriodSeconds"].int_or(0) == 0;
}

// A rule that cannot be evaluated is not taken for one that is kept.
Outcome<void> check_decided(const Kind& kind, const Json* live, const Json& object) {
  if (!kind.custom) return {};
  std::string rule = undecided_rule(kind, live, object);
  if (rule.empty()) return {};
  return refuse(not_implemented(
      fmt::format("the rule \"{}\" of the schema, in the part of CEL that it does not evaluate", rule)));
}

Task<Outcome<Json>> to_storage(ApiServer& server, const Kind& kind, Json object) {
  if (kind.version == kind.storage_version) co_return std::move(object);
  std::string storage = kind.group.empty() ? kind.storage_version : kind.group + "/" + kind.storage_version;
  Json::Array objects{std::move(object)};
  Outcome<Json::Array> converted = co_await convert(server, kind, storage, std::move(objects));
  if (!converted) co_return refuse(converted.error());
  // What the stored version does not know is not stored.
  const Kind* stored_as = server.core().kinds.find(kind.group, kind.storage_version, kind.resource);
  if (stored_as && stored_as->custom) co_return structural_form(*stored_as, std::move((*converted)[0]));
  co_return std::move((*converted)[0]);
}

// The stored object again, in the version of the request.
Task<Outcome<Json>> answered(ApiServer& server, const Kind& kind, const Json& stored) {
  return in_version(server, kind, stored);
}

}  // namespace

Task<Outcome<Json>> store_new(ApiServer& server, Call& call, const Target& target, Json object) {
  Core& core = server.core();
  const Kind& kind = target.kind;
  if (kind.namespaced) object.make("metadata").make("namespace") = target.place.ns;
  Attributes attributes{kind,
                        target.place,
                        target.subresource,
                        Operation::create,
                        &object,
                        nullptr,
                        options_json(call, "CreateOptions"),
                        call.dry_run()};
  CO_TRY(co_await admit_mutating(server, call, attributes));

  Json& metadata = object.make("metadata");
  std::string object_base(metadata["generateName"].string_or(""));
  if (metadata["name"].string_or("").empty() && !object_base.empty())
    metadata.make("name") = generated_name(core, object_base);
  std::string name(metadata["name"].string_or(""));
  Json::Object* members = metadata.if_object();
  for (std::string_view cleared : {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "generation"})
    members->erase(cleared);
  metadata.make("uid") = core.random.uid();
  metadata.make("creationTimestamp") = core.now_text();
  prepare_for_create(core, kind, object);
  std::vector<Cause> causes = validate(core, kind, "", nullptr, object);
  if (!causes.empty()) co_return refuse(invalid(kind.group, object["kind"].string_or(kind.kind), name, causes));
  for (std::string& warning : warnings_of(kind, object)) call.warn(std::move(warning));
  CO_TRY(check_decided(kind, nullptr, object));

  Place place{target.place.ns, name};
  attributes.place = place;
  CO_TRY(co_await admit_validating(server, call, attributes));
  if (!version_of(object).empty())
    co_return refuse(bare_error("resourceVersion should not be set on objects to be created"));
  Outcome<Json> stored = co_await to_storage(server, kind, std::move(object));
  if (!stored) co_return refuse(stored.error());

  if (ObjectPtr existing = core.store.find(kind.stored_as, place)) {
    Status status = already_exists(kind.id(), name);
    if (!object_base.empty()) {
      status.details.make("retryAfterSeconds") = 1;
      status.message =
          fmt::format("{} \"{}\" already exists, the server was not able to generate a unique name for the object",
                      qualified(kind.id()), name);
    } else if ((*existing)["metadata"].contains("deletionTimestamp")) {
      status.message = "object is being deleted: " + status.message;
    }
    co_return refuse(std::move(status));
  }
  if (call.dry_run()) co_return co_await answered(server, kind, *stored);
  co_return co_await answered(server, kind, *core.store.put(kind.stored_as, place, *std::move(stored)));
}

Task<Outcome<Written>> store_change(ApiServer& server, Call& call, const Target& target, Change change) {
  Core& core = server.core();
  const Kind& kind = target.kind;
  for (int attempt = 0;; ++attempt) {
    ObjectPtr found = core.store.find(kind.stored_as, target.place);
    if (!found) {
      if (!change.create) co_return refuse(not_found(kind.id(), target.place.name));
      CO_TRY_ASSIGN(Json wanted, change.create());
      Outcome<Json> made = co_await store_new(server, call, target, std::move(wanted));
      if (made) co_return Written{*std::move(made), true};
      // Somebody else made it while webhooks were asked: then it is that one that is changed.
      if (made.error().reason != "AlreadyExists" || attempt >= 5) co_return refuse(made.error());
      continue;
    }
    Outcome<Json> read = co_await in_version(server, kind, *found);
    if (!read) co_return refuse(undecodable(*found, read.error()));
    Json live = *std::move(read);
    if (!change.uid.empty() && change.uid != live["metadata"]["uid"].string_or(""))
      co_return refuse(conflict(
          kind.id(), target.place.name,
          fmt::format("StorageError: invalid object, Code: 4, Key: /registry/{}/{}{}, ResourceVersion: 0, "
                      "AdditionalErrorMsg: Precondition failed: UID in precondition: {}, UID in object meta: {}",
                      kind.resource, target.place.ns.empty() ? "" : target.place.ns + "/", target.place.name,
                      change.uid, live["metadata"]["uid"].string_or(""))));
    CO_TRY_ASSIGN(Json object, change.make(live));
    std::string based_on = version_of(object);
    if (based_on.empty() && !updates_unconditionally(kind))
      co_return refuse(invalid(kind.group, kind.resource, target.place.name,
                               {invalid_value("metadata.resourceVersion", 0, "must be specified for an update")}));
    if (based_on.find_first_not_of("0123456789") != std::string::npos)
      co_return refuse(bare_error(fmt::format("strconv.ParseUint: parsing \"{}\": invalid syntax", based_on)));
    if (!based_on.empty() && based_on != version_of(live))
      co_return refuse(conflict(kind.id(), target.place.name, kModified));

    if (based_on.empty()) object.make("metadata").make("resourceVersion") = version_of(live);
    // Admission may see another form of it: the scale.
    Json shown = change.show ? change.show(object) : Json(), shown_live = change.show ? change.show(live) : Json();
    Attributes attributes{kind,
                          target.place,
                          target.subresource,
                          Operation::update,
                          change.show ? &shown : &object,
                          change.show ? &shown_live : &live,
                          options_json(call, "UpdateOptions"),
                          call.dry_run()};
    CO_TRY(co_await admit_mutating(server, call, attributes));
    if (change.take_back) change.take_back(shown, object);
    // What an update cannot change, whatever it says.
    Json& metadata = object.make("metadata");
    if (metadata["uid"].string_or("").empty()) metadata.make("uid") = live["metadata"]["uid"];
    for (std::string_view kept :
         {"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "selfLink"}) {
      const Json& value = live["metadata"][kept];
      if (value.is_null()) metadata.if_object()->erase(kept);
      else metadata.make(kept) = value;
    }
    prepare_for_update(core, kind, target.subresource, live, object);
    std::vector<Cause> causes = validate(core, kind, target.subresource, &live, object);
    if (!causes.empty()) co_return refuse(invalid(kind.group, kind.kind, target.place.name, causes));
    if (target.subresource.empty())
      for (std::string& warning : warnings_of(kind, object)) call.warn(std::move(warning));
    CO_TRY(check_decided(kind, &live, object));
    CO_TRY(co_await admit_validating(server, call, attributes));
    CO_TRY_ASSIGN(Json stored, co_await to_storage(server, kind, object));

    ObjectPtr now = core.store.find(kind.stored_as, target.place);
    if (now != found) {
      // Somebody else was faster while webhooks were asked.
      bool may_retry = change.is_patch || based_on.empty();
      if (!may_retry || attempt >= 5) co_return refuse(conflict(kind.id(), target.place.name, kModified));
      continue;
    }
    schema::keep_times(*found, stored);
    stored.make("metadata").make("resourceVersion") = version_of(*found);
    if (stored.same_as(*found)) co_return Written{std::move(live), false};
    if (is_gone_by_finalizers(kind, stored)) {
      object.make("metadata").make("resourceVersion") = version_of(*found);
      if (!call.dry_run()) core.store.remove(kind.stored_as, target.place);
      co_return Written{std::move(object), false};
    }
    if (call.dry_run()) {
      CO_TRY_ASSIGN(Json unstored, co_await answered(server, kind, stored));
      co_return Written{std::move(unstored), false};
    }
    ObjectPtr put = core.store.put(kind.stored_as, target.place, std::move(stored));
    CO_TRY_ASSIGN(Json updated, co_await answered(server, kind, *put));
    co_return Written{std::move(updated), false};
  }
}

Outcome<void> check_write_options(const Call& call, std::string_view options, bool apply) {
  const Query& query = call.route.query;
  std::vector<Cause> causes;
  Json::Array dry;
  for (const std::string& one : query.all("dryRun")) dry.emplace_back(one);
  if (std::any_of(dry.begin(), dry.end(), [](const Json& one) { return one.string_or("") != "All"; }))
    causes.push_back(unsupported_value("dryRun", Json(dry), {"All"}));
  std::string_view manager = query.get("fieldManager");
  if (apply && manager.empty()) causes.push_back(required("fieldManager", "is required for apply patch"));
  if (manager.size() > 128)
    causes.push_back({"FieldValueTooLong", "fieldManager", "Too long: may not be more than 128 bytes"});
  if (options == "PatchOptions" && !apply && query.has("force"))
    causes.push_back(forbidden_field("force", "may not be specified for non-apply patch"));
  std::string_view validation = query.get("fieldValidation");
  if (!validation.empty() && validation != "Ignore" && validation != "Warn" && validation != "Strict")
    causes.push_back(unsupported_value("fieldValidation", Json(validation), {"", "Ignore", "Strict", "Warn"}));
  if (causes.empty()) return {};
  return refuse(invalid("meta.k8s.io", options, "", causes));
}

Json options_json(const Call& call, std::string_view options) {
  const Query& query = call.route.query;
  Json::Object json{{"kind", options}, {"apiVersion", "meta.k8s.io/v1"}};
  if (call.dry_run()) json.append("dryRun", Json::Array{"All"});
  if (options == "PatchOptions" && query.has("force")) json.append("force", query.flag("force"));
  if (std::string_view manager = query.get("fieldManager"); !manager.empty()) json.append("fieldManager", manager);
  if (std::string_view mode = query.get("fieldValidation"); !mode.empty()) json.append("fieldValidation", mode);
  return json;
}

Task<Outcome<Reply>> create_object(ApiServer& server, Call& call, const Kind& kind) {
  CO_TRY(check_write_options(call, "CreateOptions", false));
  CO_TRY_ASSIGN(Json object, decode_object(call, kind));
  const Json& metadata = object["metadata"];
  std::string_view ns = metadata["namespace"].string_or("");
  if (!ns.empty() && ns != call.route.ns)
    co_return refuse(
        bad_request("the namespace of the provided object does not match the namespace sent on the request"));
  reset_fields(kind, "", nullptr, object);
  object = with_managers(server.core(), kind, "", nullptr, std::move(object), call.manager());
  Target target{kind, {call.route.ns, std::string(object["metadata"]["name"].string_or(""))}, ""};
  CO_TRY_ASSIGN(Json stored, co_await store_new(server, call, target, std::move(object)));
  co_return Reply::of(std::move(stored), 201);
}

Task<Outcome<Reply>> update_object(ApiServer& server, Call& call, const Kind& kind) {
  CO_TRY(check_write_options(call, "UpdateOptions", false));
  CO_TRY_ASSIGN(Json decoded, decode_object(call, kind));
  std::string_view name = decoded["metadata"]["name"].string_or("");
  if (name.empty())
    co_return refuse(bad_request(fmt::format(
        "the name of the object ({} based on URL) was undeterminable: name must be provided", call.route.name)));
  if (name != call.route.name)
    co_return refuse(bad_request(
        fmt::format("the name of the object ({}) does not match the name on the URL ({})", name, call.route.name)));
  std::string_view ns = decoded["metadata"]["namespace"].string_or("");
  if (!ns.empty() && ns != call.route.ns)
    co_return refuse(
        bad_request("the namespace of the provided object does not match the namespace sent on the request"));
  if (kind.namespaced) decoded.make("metadata").make("namespace") = call.route.ns;

  const Core& core = server.core();
  std::string subresource = call.route.subresource;
  Change change;
  change.uid = decoded["metadata"]["uid"].string_or("");
  change.make = [&](const Json& live) -> Outcome<Json> {
    Json object = decoded;
    reset_fields(kind, subresource, &live, object);
    return with_managers(core, kind, subresource, &live, std::move(object), call.manager());
  };
  if (creates_on_update(kind) && subresource.empty()) {
    change.create = [&]() -> Outcome<Json> {
      Json object = decoded;
      object.make("metadata").if_object()->erase("resourceVersion");
      reset_fields(kind, "", nullptr, object);
      return with_managers(core, kind, "", nullptr, std::move(object), call.manager());
    };
  }
  Target target{kind, {call.route.ns, call.route.name}, subresource};
  CO_TRY_ASSIGN(Written written, co_await store_change(server, call, target, std::move(change)));
  co_return Reply::of(std::move(written.object), written.created ? 201 : 200);
}

}  // namespace fairlead::sandbox
