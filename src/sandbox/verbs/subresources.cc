#include "sandbox/verbs/subresources.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_patch.h"
#include "object/selector.h"
#include "sandbox/core/custom_kind.h"
#include "sandbox/kinds/strategy.h"
#include "sandbox/kinds/types.h"
#include "sandbox/verbs/internal/admission_chain.h"
#include "sandbox/verbs/internal/delete.h"
#include "sandbox/verbs/internal/pod_log.h"
#include "sandbox/verbs/internal/read.h"
#include "sandbox/verbs/internal/write.h"
#include "sandbox/verbs/tokens.h"

namespace fairlead::sandbox {
namespace {

std::string replicas_path(const Kind& kind) { return kind.custom ? kind.custom->replicas_path : ".spec.replicas"; }

std::string selector_text(const Kind& kind, const Json& object) {
  if (kind.custom) {
    if (kind.custom->selector_path.empty()) return "";
    return std::string(value_at(object, kind.custom->selector_path).string_or(""));
  }
  const Json& selector = object["spec"]["selector"];
  Result<object::Selector> parsed =
      kind.group.empty() ? object::Selector::from_service(selector) : object::Selector::from_json(selector);
  return parsed ? parsed->text() : "";
}

}  // namespace

Json scale_of(const Kind& kind, const Json& object) {
  Json::Object metadata;
  for (std::string_view kept : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"})
    if (object["metadata"].contains(kept)) metadata.append(std::string(kept), object["metadata"][kept]);
  int64_t replicas = value_at(object, replicas_path(kind)).int_or(0);
  std::string status_path = kind.custom ? kind.custom->status_replicas_path : ".status.replicas";
  Json::Object spec;
  if (replicas != 0) spec.append("replicas", replicas);
  Json::Object status{{"replicas", value_at(object, status_path).int_or(0)}};
  std::string selector = selector_text(kind, object);
  if (!selector.empty()) status.append("selector", selector);
  return Json::Object{{"kind", "Scale"},
                      {"apiVersion", "autoscaling/v1"},
                      {"metadata", std::move(metadata)},
                      {"spec", std::move(spec)},
                      {"status", std::move(status)}};
}

namespace {

// The real server writes no time for who scaled.
void drop_scale_times(Json& object) {
  Json& entries = object.make("metadata").make("managedFields");
  if (!entries.is_array()) return;
  for (Json& entry : *entries.if_array())
    if (entry["subresource"].string_or("") == "scale") entry.if_object()->erase("time");
}

Outcome<void> check_scale(const Json& body, const Route& route) {
  std::string_view kind = body["kind"].string_or("Scale"), version = body["apiVersion"].string_or("autoscaling/v1");
  if (kind != "Scale" || version != "autoscaling/v1") {
    std::string_view own = version.substr(version.find('/') == std::string_view::npos ? 0 : version.find('/') + 1);
    return refuse(
        bad_request(fmt::format("{0} in version \"{1}\" cannot be handled as a Scale: converting ({1}.{0}) to "
                                "(autoscaling.Scale): unknown conversion",
                                kind, own)));
  }
  std::string_view name = body["metadata"]["name"].string_or("");
  if (name != route.name)
    return refuse(bad_request(
        fmt::format("the name of the object ({}) does not match the name on the URL ({})", name, route.name)));
  return {};
}

Task<Outcome<Reply>> serve_scale(ApiServer& server, Call& call, const Kind& kind) {
  const Core& core = server.core();
  Place place{call.route.ns, call.route.name};
  if (call.method == "GET") {
    ObjectPtr found = core.store.find(kind.stored_as, place);
    if (!found) co_return refuse(not_found(kind.id(), place.name));
    CO_TRY_ASSIGN(Json object, co_await read_stored(server, kind, *found));
    co_return Reply::of(scale_of(kind, object));
  }
  bool put = call.method == "PUT";
  if (!put && !call.content_type.starts_with("application/merge-patch+json") &&
      !call.content_type.starts_with("application/json-patch+json"))
    co_return refuse(not_implemented("patches of the scale subresource other than merge and JSON patches"));
  CO_TRY(check_write_options(call, put ? "UpdateOptions" : "PatchOptions", false));
  CO_TRY_ASSIGN(Json body, parse_body(call));
  bool json_patch = call.content_type.starts_with("application/json-patch+json");
  if (put) CO_TRY(check_scale(body, call.route));
  Change change;
  change.is_patch = !put;
  change.make = [&](const Json& live) -> Outcome<Json> {
    Json scale = scale_of(kind, live);
    if (put) {
      scale = body;
    } else {
      Result<Json> patched = json_patch ? apply_json_patch(scale, body) : apply_merge_patch(scale, body);
      if (!patched) return refuse(bad_request(patched.error().message()));
      scale = *std::move(patched);
    }
    int64_t replicas = scale["spec"]["replicas"].int_or(0);
    if (replicas < 0 && kind.custom)
      return refuse(invalid(kind.group, kind.kind, call.route.name,
                            {invalid_value(replicas_path(kind), Json(replicas), "should be a non-negative integer")}));
    if (replicas < 0)
      return refuse(invalid("autoscaling", "Scale", call.route.name,
                            {invalid_value("spec.replicas", Json(replicas), "must be greater than or equal to 0")}));
    Json object = live;
    set_at(object, replicas_path(kind), replicas);
    object = with_managers(core, kind, "scale", &live, std::move(object), call.manager());
    drop_scale_times(object);
    Json version = scale["metadata"]["resourceVersion"];
    if (put)
      object.make("metadata").make("resourceVersion") =
          version.is_string() ? version : live["metadata"]["resourceVersion"];
    return object;
  };
  change.show = [&](const Json& object) { return scale_of(kind, object); };
  change.take_back = [&](const Json& shown, Json& object) {
    set_at(object, replicas_path(kind), shown["spec"]["replicas"].int_or(0));
  };
  Target target{kind, place, "scale"};
  CO_TRY_ASSIGN(Written written, co_await store_change(server, call, target, std::move(change)));
  co_return Reply::of(scale_of(kind, written.object));
}

std::optional<Status> disruption_refused(const Core& core, const Place& place, const Json& pod) {
  for (const auto& [at, budget] : core.store.all({"policy", "poddisruptionbudgets"})) {
    if (at.ns != place.ns) continue;
    Result<object::Selector> selector = object::Selector::from_json((*budget)["spec"]["selector"]);
    if (!selector || !selector->matches(pod["metadata"]["labels"])) continue;
    const Json& status = (*budget)["status"];
    if (status["disruptionsAllowed"].int_or(0) > 0) continue;
    std::string text = fmt::format("The disruption budget {} needs {} healthy pods and has {} currently", at.name,
                                   status["desiredHealthy"].int_or(0), status["currentHealthy"].int_or(0));
    Json::Array causes{Json::Object{{"reason", "DisruptionBudget"}, {"message", std::move(text)}}};
    return Status{429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.",
                  Json::Object{{"causes", std::move(causes)}}};
  }
  return std::nullopt;
}

Task<Outcome<Reply>> evict(ApiServer& server, Call& call, const Kind& kind) {
  Core& core = server.core();
  Place place{call.route.ns, call.route.name};
  ObjectPtr pod = core.store.find(kind.stored_as, place);
  if (!pod) co_return refuse(not_found(kind.id(), place.name));
  if (std::optional<Status> refused = disruption_refused(core, place, *pod)) co_return refuse(*std::move(refused));
  CO_TRY_ASSIGN(Json body, parse_body(call));
  if (body["kind"].is_null()) body.make("kind") = "Eviction";
  if (body["apiVersion"].is_null()) body.make("apiVersion") = "policy/v1";
  body.make("metadata").make("namespace") = place.ns;
  Attributes attributes{
      kind, place, "eviction", Operation::create, &body, nullptr, options_json(call, "CreateOptions"), call.dry_run()};
  CO_TRY(co_await admit_mutating(server, call, attributes));
  CO_TRY(co_await admit_validating(server, call, attributes));
  DeleteOptions options;
  options.json = Json::Object{{"kind", "DeleteOptions"}, {"apiVersion", "meta.k8s.io/v1"}};
  options.dry_run = call.dry_run();
  if (body["deleteOptions"].contains("gracePeriodSeconds"))
    options.grace_seconds = body["deleteOptions"]["gracePeriodSeconds"].int_or(0);
  CO_TRY(co_await delete_one(server, call, kind, place, std::move(options)));
  co_return Reply::of(
      Json::Object{
          {"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", Json::Object{}}, {"status", "Success"}, {"code", 201}},
      201);
}

}  // namespace

Task<Outcome<Reply>> serve_subresource(ApiServer& server, Call& call, const Kind& kind, const Subresource& sub) {
  std::string_view verb = call.method == "GET"     ? "get"
                          : call.method == "PUT"   ? "update"
                          : call.method == "PATCH" ? "patch"
                          : call.method == "POST"  ? "create"
                                                   : "delete";
  if (std::find(sub.verbs.begin(), sub.verbs.end(), verb) == sub.verbs.end()) co_return refuse(method_not_allowed());
  if (sub.name == "scale") co_return co_await serve_scale(server, call, kind);
  if (sub.name == "eviction" && call.method == "POST") co_return co_await evict(server, call, kind);
  if (sub.name == "log") co_return co_await get_log(server, call, kind);
  if (sub.name == "token") co_return co_await create_token(server, call, kind, sub);
  if (sub.name == "status" || sub.name == "finalize") {
    if (call.method == "GET") co_return co_await get_object(server, call, kind);
    if (call.method == "PUT") co_return co_await update_object(server, call, kind);
    if (call.method == "PATCH") co_return co_await patch_object(server, call, kind);
  }
  co_return refuse(not_implemented(fmt::format("{} {}/{}", call.method, kind.resource, sub.name)));
}

}  // namespace fairlead::sandbox
