#include "terraform/object/internal/planning.h"

#include <fmt/format.h>

#include <algorithm>

#include "object/placement.h"
#include "terraform/object/internal/existing.h"
#include "terraform/object/internal/state.h"
#include "terraform/object/settings.h"
#include "terraform/objects/acceptance.h"
#include "terraform/objects/attributes.h"
#include "terraform/objects/body.h"
#include "terraform/objects/refused_defaults.h"
#include "terraform/objects/takeover.h"
#include "terraform/objects/words.h"
#include "terraform/projection/owner.h"

namespace fairlead::terraform {
namespace {

using kube::FaultKind;

constexpr std::string_view kNotPlanned = "The cluster does not accept the object";

// One plan of one object.
class Planning {
 public:
  Planning(Context& context, LiveObjects& live_objects, const StoredStates& stored_states, PlanRequest request)
      : context_(context), live_objects_(live_objects), stored_states_(stored_states), request_(std::move(request)) {
    response_.planned = request_.proposed;
    response_.planned_private = request_.prior_private;
  }

  Task<PlanResponse> run() {
    if (request_.config.is_null()) plan_destroy();
    else co_await plan_change();
    co_return std::move(response_);
  }

 private:
  bool exists() const { return !request_.prior.is_null(); }
  bool is_replacement() const { return !exists() && !request_.prior_private["replaces"].is_null(); }
  // The user asks for it, as with `-replace`: the first plan had nothing to replace.
  bool is_requested_replacement() const {
    return !exists() && !request_.prior_private.is_null() && request_.prior_private["replaces"].is_null();
  }
  Value& planned() { return response_.planned; }

  void plan_destroy() {
    response_.planned = {};
    if (is_protected()) refuse_as_protected("destroyed", request_.prior["object_ref"]);
  }

  // The state has the value that a deletion will see, and the configuration what the user wants by now.
  bool is_protected() const {
    return request_.prior["delete_protection"].bool_or(false) || request_.config["delete_protection"].bool_or(false);
  }

  void refuse_as_protected(std::string_view what, const Value& reference) {
    std::optional<Reference> object = reference_of(reference);
    std::string summary = fmt::format("The object is protected and cannot be {}", what);
    response_.diagnostics.error(Error(ErrorKind::denied, headline(summary, object ? object->key : object::Key{}))
                                    .because("delete_protection = true")
                                    .next("set delete_protection = false and apply; then plan again"),
                                "delete_protection");
  }

  Task<void> plan_change() {
    begin();
    if (is_requested_replacement() && request_.prior_private.contains("protected"))
      co_return refuse_as_protected("replaced", Value::from_json(request_.prior_private["protected"]));
    if (!is_settled(request_.config)) {
      set_unknown(planned());
      planned().make("object_ref") = Value::unknown();
      co_return;
    }
    settings_ = ObjectSettings::read(request_.config);
    Result<object::Object> object = body_of(request_.config);
    if (!object) {
      response_.diagnostics.error(object.error(), body_path(request_.config));
      co_return;
    }
    object_.emplace(*std::move(object));
    secrets_ = secrets_of(*object_, settings_.rules);
    co_await plan_object_in_cluster();
    if (!response_.diagnostics.has_errors()) finish();
  }

  void begin() {
    // A replacement's second plan gets the private state of the first one, and nothing else of the object.
    Json& kept = response_.planned_private;
    if (exists() && is_protected()) kept.make("protected") = request_.prior["object_ref"].to_json().value_or(Json());
    else if (Json::Object* members = kept.if_object(); exists() && members) members->erase("protected");
    if (exists()) return;
    planned().make("id") = Value::unknown();
    if (is_requested_replacement()) response_.planned_private = Json::Object{{"replaces", request_.prior_private}};
  }

  Task<void> plan_object_in_cluster() {
    set_reference(std::nullopt);
    if (is_forgotten()) co_return keep_projection();
    Result<Connection*> cluster = co_await context_.clusters().connect(request_.proposed["cluster"]);
    if (!cluster) {
      response_.diagnostics.error(Error(cluster.error()).in(headline("`cluster` cannot be used", object_->key())),
                                  "cluster");
      co_return;
    }
    if (!*cluster) co_return keep_prior_or_unknown();
    cluster_ = *cluster;
    if (co_await refuse_as_tainted()) co_return;
    auto kind = co_await cluster_->discovery().find(object_->group(), object_->version(), object_->kind());
    if (!kind) co_return unknown_because(kind.error());
    if (!*kind) co_return unknown_kind();
    resource_ = **kind;
    set_reference(resource_.namespaced);
    if (is_another_object()) co_return replace();
    if (is_replacement()) co_return co_await rehearse_replacement();
    co_await compare();
  }

  // A tainted resource has one plan, of a create.
  Task<bool> refuse_as_tainted() {
    if (exists() || !request_.prior_private.is_null()) co_return false;
    object::Key key = object_->key();
    if (key.ns.empty()) key.ns = cluster_->default_namespace();
    bool is_protected = co_await stored_states_.protect(context_.clusters(), cluster_, key.text_with_group());
    if (!is_protected) {
      // Without discovery it is not known whether the kind has namespaces.
      key.ns.clear();
      is_protected = co_await stored_states_.protect(context_.clusters(), cluster_, key.text_with_group());
    }
    if (is_protected) refuse_protected_state(key);
    co_return is_protected;
  }

  void refuse_protected_state(const object::Key& key) {
    response_.diagnostics.error(protected_in_state(headline("The object is protected and cannot be replaced", key)),
                                "delete_protection");
  }

  void unknown_kind() {
    // The group of a CRD has a dot, and those of Kubernetes itself that have none do not come by any resource.
    if (!object_->group().contains('.')) {
      Error missing = cluster_->discovery().known().missing(object_->group(), object_->version(), object_->kind());
      std::string next = missing.next().empty() ? "kubectl api-resources" : std::string(missing.next());
      response_.diagnostics.error(
          Error(ErrorKind::not_found, headline(kNotPlanned, reference_.key)).because(missing).next(next),
          body_path(request_.config));
      return;
    }
    // A CRD of the same run may bring the kind.
    set_unknown(planned());
  }

  // Without discovery it is not known whether the kind has namespaces.
  void set_reference(std::optional<bool> namespaced) {
    object::Key key = object_->key();
    bool is_open = !namespaced && key.ns.empty();
    if (namespaced) {
      std::string otherwise = cluster_->default_namespace();
      (void)object::place(key, *namespaced, {.name = otherwise});
    }
    reference_ = {.api_version = std::string(object_->value()["apiVersion"].string_or("")), .key = std::move(key)};
    Value value = value_of(reference_);
    std::optional<Reference> prior = reference_of(request_.prior["object_ref"]);
    bool is_same = prior && prior->key.name == reference_.key.name && prior->key.kind == reference_.key.kind &&
                   prior->api_version == reference_.api_version;
    if (is_open) {
      if (is_same) value = request_.prior["object_ref"];
      else value.make("namespace") = Value::unknown();
    }
    planned().make("object_ref") = std::move(value);
  }

  // The version does not count: every version of a kind shows the same objects.
  bool is_another_object() const {
    std::optional<Reference> prior = reference_of(request_.prior["object_ref"]);
    if (!exists() || !prior) return false;
    // The state of another provider may not say in which namespace the object is.
    bool is_moved = request_.prior_private["moved"].bool_or(false);
    if (is_moved && prior->key.ns.empty()) prior->key.ns = reference_.key.ns;
    return prior->key != reference_.key;
  }

  // The paths that make Terraform delete the object and create it again.
  void replace() {
    if (is_protected()) return refuse_as_protected("replaced", request_.prior["object_ref"]);
    set_unknown(planned());
    response_.planned_private =
        Json::Object{{"replaces", request_.prior_private.is_null() ? Json(Json::Object()) : request_.prior_private}};
    for (const char* name :
         {"yaml_body", "yaml_body_wo_version", "override_namespace", "object_ref", "managed_state_projection"})
      if (planned()[name] != request_.prior[name]) response_.requires_replace.push_back(Path(name));
  }

  // The object that is replaced still exists, so another name has to do.
  Task<void> rehearse_replacement() {
    auto rehearsed = co_await apply_under_another_name();
    if (rehearsed) co_return take_projection(rehearsed->value);
    if (may_come(rehearsed.error())) co_return set_unknown(planned());
    refuse(rehearsed.error());
  }

  Task<kube::Outcome<kube::Reply>> apply_under_another_name() {
    Json value = as_applied(*object_, "planned", settings_.rules, false);
    std::string name = object_->name().substr(0, 40) + "-fairlead-dry-run";
    value.make("metadata").make("name") = name;
    kube::ApplyOptions options;
    options.field_manager = settings_.field_manager;
    options.dry_run = true;
    options.force = true;
    co_return co_await cluster_->client().apply(resource_, reference_.key.ns, name, value, options);
  }

  Task<void> compare() {
    if (exists() && is_write_only() && !is_new_version() && !has_drifted() && !is_unread()) co_return keep_projection();
    if (co_await is_unchanged()) co_return;
    std::string id(request_.prior["id"].string_or("planned"));
    Json value = as_applied(*object_, id, settings_.rules, exists());
    kube::ApplyOptions options;
    options.field_manager = settings_.field_manager;
    options.dry_run = true;
    options.force = !settings_.fails_on_conflict;
    auto applied = co_await cluster_->client().apply(resource_, reference_.key.ns, reference_.key.name, value, options);
    if (applied) co_return co_await take_answer(*std::move(applied));
    const kube::Failure& failure = applied.error();
    // The apply takes two steps for these, so that it cannot be rehearsed.
    if (exists() && !refused_defaults(failure, value, flat_of(request_.prior["managed_fields"])).empty())
      co_return set_unknown(planned());
    if (exists() && failure.is(FaultKind::immutable_field)) co_return co_await replace_if_possible(failure);
    if (failure.is(FaultKind::forbidden) && exists()) co_return co_await compare_with_live(failure);
    if (!exists() && failure.is(FaultKind::field_conflict) && !settings_.adopt) {
      if (co_await is_of_others()) co_return;
      co_return set_unknown(planned());
    }
    if (failure.is(FaultKind::unauthorized) || !may_come(failure)) co_return refuse(failure);
    unknown_because(failure);
  }

  // Looks at what the refresh has read, so that a plan without changes needs no further request.
  Task<bool> is_unchanged() {
    if (!exists()) co_return false;
    std::optional<Json> live = live_objects_.take(*cluster_, reference_);
    if (!live && is_unread()) {
      auto read = co_await cluster_->client().get(resource_, reference_.key.ns, reference_.key.name);
      if (read) live = std::move(read->value);
      needs_write_ = !live.has_value();
    }
    if (!live) co_return false;
    Flat now = projection_of(*live, settings_.field_manager, settings_.rules);
    if (is_unread()) needs_write_ = needs_write_ || now != flat_of(request_.prior["managed_state_projection"]);
    if (request_.prior_private["migrate"].bool_or(false) &&
        !inventory::former_managers(*live, successor_of(settings_.field_manager, {})).empty())
      needs_write_ = true;
    Json value = as_applied(*object_, request_.prior["id"].string_or(""), settings_.rules, true);
    if (!resource_.namespaced) value.make("metadata").if_object()->erase("namespace");
    else value.make("metadata").make("namespace") = reference_.key.ns;
    if (!inventory::unchanged(value, *live, settings_.field_manager, live_objects_.types())) co_return false;
    take_projection(*live);
    co_return true;
  }

  Task<void> take_answer(kube::Reply reply) {
    add_warnings(response_.diagnostics, reference_.key, reply.warnings, body_path(request_.config));
    if (!exists() && !reply.created() && !may_exist(reply.value) && co_await is_of_others()) co_return;
    if (!exists() && reply.created()) response_.planned_private.make("absent") = true;
    if (exists() && reply.created()) needs_write_ = true;
    warn_of_taken_fields(reply.value);
    take_projection(reply.value);
  }

  bool may_exist(const Json& object) const {
    return settings_.adopt || is_replacement() || object["metadata"].contains("deletionTimestamp");
  }

  void take_projection(const Json& object) {
    projection_ = projection_of(object, settings_.field_manager, settings_.rules);
    // An ephemeral value may be another one during the apply.
    planned().make("managed_state_projection") = is_write_only() ? Value::unknown() : value_of(*projection_);
  }

  void keep_projection() { projection_ = flat_of(request_.prior["managed_state_projection"]); }

  Task<void> replace_if_possible(const kube::Failure& failure) {
    auto rehearsed = co_await apply_under_another_name();
    if (!rehearsed && !may_come(rehearsed.error())) co_return refuse(failure);
    replace();
    if (response_.requires_replace.empty()) co_return;
    response_.diagnostics.warning(Error(ErrorKind::invalid, headline("The object has to be replaced", reference_.key))
                                      .because(failure.error().what()),
                                  body_path(request_.config));
  }

  // Whoever may only read can still learn whether something would change.
  Task<void> compare_with_live(const kube::Failure& failure) {
    auto live = co_await cluster_->client().get(resource_, reference_.key.ns, reference_.key.name);
    if (!live) co_return refuse(failure);
    Flat now = projection_of(live->value, settings_.field_manager, settings_.rules);
    bool is_same = same_body() && now == flat_of(request_.prior["managed_state_projection"]);
    response_.diagnostics.warning(
        Error(ErrorKind::denied, headline("The plan is not exact", reference_.key))
            .because("these credentials may not rehearse the change: " + failure.error().what())
            .next(failure.error().next()),
        body_path(request_.config));
    if (is_same) keep_projection();
    else set_unknown(planned());
  }

  // The manifest is the same, so nothing changes; otherwise it is not known what will.
  void keep_prior_or_unknown() {
    if (exists() && same_body() && !is_unread()) keep_projection();
    else set_unknown(planned());
  }

  void unknown_because(const kube::Failure& failure) {
    bool is_credential = failure.is(FaultKind::unauthorized);
    if (is_credential) return refuse(failure);
    // What the apply waits for: a namespace, a CRD, a webhook.
    bool is_waited_for = failure.fault() && !failure.is(FaultKind::webhook_no_dry_run);
    if (is_waited_for) {
      context_.log().info(fmt::format("{} is not rehearsed: {}", reference_.key.text(), failure.error().message()));
      return keep_prior_or_unknown();
    }
    response_.diagnostics.warning(
        Error(ErrorKind::unavailable, headline("The change could not be rehearsed", reference_.key))
            .because(failure.error())
            .next("nothing, if the same run creates what is missing; otherwise check it before you apply"),
        failure.fault() ? body_path(request_.config) : Path("cluster"));
    keep_prior_or_unknown();
  }

  void refuse(const kube::Failure& failure) {
    bool is_connection = !failure.fault() || failure.is(FaultKind::unauthorized);
    Error error = refused(kNotPlanned, reference_.key, failure);
    response_.diagnostics.error(secrets_.without(error), is_connection ? Path("cluster") : body_path(request_.config));
  }

  // Adds the error about an object that exists already, or that is protected.
  Task<bool> is_of_others() {
    auto live = co_await cluster_->client().get(resource_, reference_.key.ns, reference_.key.name);
    if (!live && live.error().is(FaultKind::not_found)) co_return false;
    Json object = live ? std::move(live->value) : Json();
    // A tainted object is deleted before it is created again.
    if (stored_states_.has(object["metadata"]["annotations"][tool().owner_annotation].string_or(""))) {
      if (is_protected()) refuse_protected_state(reference_.key);
      co_return is_protected();
    }
    response_.diagnostics.add(exists_already(object, request_.proposed["cluster"], cluster_->text(), reference_));
    co_return true;
  }

  void warn_of_taken_fields(const Json& applied) {
    if (!exists()) return;
    Flat before = flat_of(request_.prior["managed_state_projection"]);
    Flat after = projection_of(applied, settings_.field_manager, settings_.rules);
    for (const auto& [path, value] : after) {
      auto old = before.find(path);
      std::string_view owners = request_.prior["managed_fields"][path].string_or("");
      if (old == before.end() || old->second == value || owners.empty() || owners.contains(settings_.field_manager))
        continue;
      response_.diagnostics.warning(headline(fmt::format("{} is taken back from {}", path, owners), reference_.key),
                                    fmt::format("  because   {} has set it to {}, and the manifest says {}\n"
                                                "  next      if {} should manage it: ignore_fields = [{}]",
                                                owners, old->second, value, owners, Json(path).dump()),
                                    body_path(request_.config));
    }
  }

  // Nothing is written any more, whatever the configuration says.
  bool is_forgotten() const { return exists() && settings_.cluster_gone; }
  bool is_unread() const {
    return request_.prior_private["unread"].bool_or(false) || request_.prior_private["moved"].bool_or(false);
  }
  bool is_write_only() const { return request_.config["yaml_body"].is_null(); }
  bool is_new_version() const {
    return request_.config["yaml_body_wo_version"] != request_.prior["yaml_body_wo_version"];
  }
  // Of a manifest that is not stored: compares with what was applied.
  bool has_drifted() const {
    return request_.prior_private["applied"].string_or("") !=
           revision_of({}, flat_of(request_.prior["managed_state_projection"]));
  }

  bool same_body() const {
    if (is_write_only() || request_.prior["yaml_body"].is_null())
      return is_write_only() && request_.prior["yaml_body"].is_null() && !is_new_version();
    Result<object::Object> before = body_of(request_.prior);
    return before && before->value().same_as(object_->value());
  }

  bool same(const char* name) const { return request_.config[name] == request_.prior[name]; }

  // Decides whether the apply has to send anything, and what is unknown until then.
  void finish() {
    if (!response_.requires_replace.empty() || !exists()) return finish_create();
    bool is_same = projection_ && *projection_ == flat_of(request_.prior["managed_state_projection"]) &&
                   !needs_write_ && same_body() && same("ignore_fields") && same("field_manager") &&
                   same("sensitive_fields") && planned()["object_ref"] == request_.prior["object_ref"];
    if (is_forgotten()) planned().make("object_ref") = request_.prior["object_ref"];
    if (!is_same && !is_forgotten()) {
      planned().make("revision") = Value::unknown();
      planned().make("managed_fields") = Value::unknown();
      planned().make("output_values") = Value::unknown();
      return;
    }
    for (const char* name : {"revision", "managed_fields", "managed_state_projection", "output_values"})
      planned().make(name) = request_.prior[name];
    if (!same("outputs") && !is_forgotten()) planned().make("output_values") = Value::unknown();
    // Only its format differs.
    if (is_same) planned().make("yaml_body") = request_.prior["yaml_body"];
  }

  void finish_create() {
    planned().make("revision") = Value::unknown();
    planned().make("managed_fields") = Value::unknown();
    planned().make("output_values") = Value::unknown();
    if (!projection_) planned().make("managed_state_projection") = Value::unknown();
  }

  Context& context_;
  LiveObjects& live_objects_;
  const StoredStates& stored_states_;
  PlanRequest request_;
  PlanResponse response_;
  ObjectSettings settings_;
  Secrets secrets_;
  std::optional<object::Object> object_;
  Connection* cluster_ = nullptr;
  object::Resource resource_;
  Reference reference_;
  std::optional<Flat> projection_;
  // The plan shows no difference, and the object has to be applied all the same.
  bool needs_write_ = false;
};

}  // namespace

Task<PlanResponse> plan_object(Context& context, LiveObjects& live_objects, const StoredStates& stored_states,
                               PlanRequest request) {
  Planning planning(context, live_objects, stored_states, std::move(request));
  co_return co_await planning.run();
}

}  // namespace fairlead::terraform
