#include "terraform/object/internal/applying.h"

#include <fmt/format.h>

#include <algorithm>

#include "fields/managed_fields.h"
#include "fields/owned.h"
#include "object/placement.h"
#include "terraform/object/internal/existing.h"
#include "terraform/object/internal/state.h"
#include "terraform/object/settings.h"
#include "terraform/objects/acceptance.h"
#include "terraform/objects/attributes.h"
#include "terraform/objects/body.h"
#include "terraform/objects/deletion.h"
#include "terraform/objects/refused_defaults.h"
#include "terraform/objects/takeover.h"
#include "terraform/objects/words.h"
#include "terraform/projection/owner.h"

namespace fairlead::terraform {
namespace {

using kube::FaultKind;

constexpr std::string_view kNotApplied = "The object was not accepted";

std::vector<std::string> differing(const Flat& planned, const Flat& applied) {
  std::vector<std::string> paths;
  for (const auto& [path, value] : planned)
    if (auto found = applied.find(path); found == applied.end() || found->second != value) paths.push_back(path);
  for (const auto& [path, value] : applied)
    if (!planned.contains(path)) paths.push_back(path);
  return paths;
}

// One apply of one object.
class Applying {
 public:
  Applying(Context& context, CreatedObjects& created, ApplyRequest request)
      : context_(context), created_(created), request_(std::move(request)) {
    response_.state = request_.prior;
    response_.private_state = private_of_prior();
    response_.identity = request_.planned_identity;
  }

  Task<ApplyResponse> run() {
    if (request_.planned.is_null()) co_await destroy();
    else if (exists() && !request_.planned["revision"].is_unknown()) co_await change_state_only();
    else co_await write();
    response_.identity = identity_of(response_.state, request_.planned_identity);
    co_return std::move(response_);
  }

 private:
  bool exists() const { return !request_.prior.is_null(); }
  const Json& before() const { return request_.planned_private; }

  // A plan of a replacement has the private state of the object that is deleted first.
  Json private_of_prior() const {
    const Json& replaced = before()["replaces"];
    return exists() && replaced.is_object() ? replaced : before();
  }

  // The deletion has the private state of a plan that did not see the object.
  bool is_tainted() const {
    bool is_of_object = before().contains("uid") || before().contains("replaces") || before().contains("migrate");
    return !is_of_object && !tool().keep_tainted.empty();
  }

  Error failed(std::string_view what, const kube::Failure& failure) const {
    return secrets_.without(refused(what, reference_.key, failure));
  }

  Patience patience(Duration whole) {
    return {.whole = whole, .waits = [this](const std::string& why) {
              context_.log().write(Log::Level::info, fmt::format("{} waits: {}", reference_.key.text(), why), {});
            }};
  }

  // Returns false if the cluster cannot be used; the response has the error then.
  Task<bool> connect(const Value& cluster) {
    cluster_ = co_await connected(context_, cluster, reference_.key, response_.diagnostics);
    co_return cluster_ != nullptr;
  }

  // ---- destroy

  Task<void> destroy() {
    ObjectSettings settings = ObjectSettings::read(request_.prior);
    std::optional<Reference> reference = reference_of(request_.prior["object_ref"]);
    if (reference) reference_ = *reference;
    if (!reference || settings.apply_only || settings.cluster_gone) {
      context_.log().info(fmt::format("{} is forgotten, not deleted", reference_.key.text()));
      co_return forget();
    }
    if (request_.prior["delete_protection"].bool_or(false)) {
      response_.diagnostics.error(
          Error(ErrorKind::denied, headline("The object is protected and cannot be destroyed", reference_.key))
              .because("delete_protection = true")
              .next(is_tainted() ? std::string(tool().keep_tainted)
                                 : "set delete_protection = false and apply; then destroy again"),
          "delete_protection");
      co_return;
    }
    if (!co_await connect(request_.prior["cluster"])) co_return;
    Deleted deleted = co_await delete_object(*cluster_, context_.log(),
                                             {.reference = reference_,
                                              .id = std::string(request_.prior["id"].string_or("")),
                                              .uid = std::string(private_of_prior()["uid"].string_or("")),
                                              .cascade = settings.cascade,
                                              .timeout = settings.delete_timeout,
                                              .force = settings.force_destroy});
    if (deleted.error) {
      Path path = deleted.error->kind() == ErrorKind::unavailable ? Path("cluster") : Path("object_ref");
      response_.diagnostics.error(*deleted.error, path);
      co_return;
    }
    if (deleted.left) response_.diagnostics.warning(*deleted.left, "object_ref");
    created_.erase(name_in_process());
    forget();
  }

  void forget() {
    response_.state = {};
    response_.private_state = {};
  }

  // ---- change of the state alone

  Task<void> change_state_only() {
    Value state = request_.planned;
    for (const char* name : {"managed_fields", "managed_state_projection", "object_ref", "id"})
      if (!state[name].is_wholly_known()) state.make(name) = request_.prior[name];
    if (state["output_values"].is_unknown()) {
      state.make("output_values") = Value::object({});
      if (!co_await read_outputs(state)) co_return;
    }
    response_.state = std::move(state);
    response_.private_state = before();
  }

  Task<bool> read_outputs(Value& state) {
    std::optional<Reference> reference = reference_of(state["object_ref"]);
    if (!reference) co_return true;
    reference_ = *reference;
    if (!co_await connect(state["cluster"])) co_return false;
    auto kind = co_await cluster_->discovery().find(reference_.key.group, reference_.version(), reference_.kind());
    if (!kind || !*kind) co_return true;
    auto live = co_await cluster_->client().get(**kind, reference_.key.ns, reference_.key.name);
    if (live) state.make("output_values") = value_of(outputs_of(live->value, ObjectSettings::read(state)));
    co_return true;
  }

  // ---- create and update

  Task<void> write() {
    settings_ = ObjectSettings::read(request_.config);
    Result<object::Object> object = body_of(request_.config);
    if (!object) {
      response_.diagnostics.error(object.error(), body_path(request_.config));
      co_return;
    }
    object_.emplace(*std::move(object));
    reference_.key = object_->key();
    reference_.api_version = object_->value()["apiVersion"].string_or("");
    secrets_ = secrets_of(*object_, settings_.rules);
    if (!co_await connect(request_.planned["cluster"]) || !co_await find_kind()) co_return;
    id_ = exists() ? std::string(request_.prior["id"].string_or("")) : new_id();
    auto reply = exists() ? co_await send() : co_await create();
    if (reply) co_await complete(*std::move(reply));
  }

  // Another resource with the same object would meet no conflict, because it has the same field manager.
  Task<std::optional<kube::Reply>> create() {
    auto [entry, is_first] = created_.try_emplace(name_in_process(), true);
    was_created_ = !is_first;
    if (was_created_ && entry->second) {
      response_.diagnostics.error(created_twice(reference_), body_path(request_.config));
      co_return std::nullopt;
    }
    std::optional<kube::Reply> reply = co_await send();
    if (reply) created_[name_in_process()] = false;
    else if (!was_created_) created_.erase(name_in_process());
    co_return reply;
  }

  // Of an object that this process creates.
  std::string name_in_process() const {
    return fmt::format("{} {}", static_cast<const void*>(cluster_), reference_.key.text_with_group());
  }

  Task<std::optional<kube::Reply>> send() {
    if (!co_await may_write()) co_return std::nullopt;
    auto applied = co_await apply();
    if (applied) co_return *std::move(applied);
    refuse(applied.error());
    co_return std::nullopt;
  }

  Task<void> complete(kube::Reply reply) {
    // From here on the object is stored, so nothing is an error: an error of a create would have it destroyed.
    warnings_of(reply);
    reply = co_await taken_over(std::move(reply));
    reply = co_await with_ignored_handed_over(std::move(reply));
    finish(reply.value);
  }

  Duration time_limit() const { return exists() ? settings_.update_time : settings_.create_time; }

  Task<bool> find_kind() {
    auto kind = co_await await_kind(context_.loop(), cluster_->discovery(), object_->group(), object_->version(),
                                    object_->kind(), patience(time_limit()));
    if (kind && *kind) {
      resource_ = **kind;
      std::string otherwise = cluster_->default_namespace();
      (void)object::place(reference_.key, resource_.namespaced, {.name = otherwise});
      co_return true;
    }
    if (!kind) response_.diagnostics.error(failed(kNotApplied, kind.error()), "cluster");
    else
      response_.diagnostics.error(
          Error(ErrorKind::not_found, headline(kNotApplied, reference_.key))
              .because(cluster_->discovery().known().missing(object_->group(), object_->version(), object_->kind()))
              .next("have the resource of its CRD in depends_on, or: kubectl api-resources"),
          body_path(request_.config));
    co_return false;
  }

  // Reads the object before it is applied, where that matters: whether there is one already, and who owns the fields
  // that are ignored. Returns false if it must not be written.
  Task<bool> may_write() {
    bool knows_absence = before()["absent"].bool_or(false) && !was_created_;
    if (exists() ? settings_.rules.ignored.empty() : knows_absence) co_return true;
    TimePoint end = context_.loop().now() + time_limit();
    for (;;) {
      auto live = co_await cluster_->client().get(resource_, reference_.key.ns, reference_.key.name);
      if (!live && live.error().is(FaultKind::not_found)) co_return true;
      if (!live) {
        // The apply itself says what is wrong, and waits where that helps.
        co_return true;
      }
      bool is_leaving = live->value["metadata"].contains("deletionTimestamp");
      if (!is_leaving) {
        live_ = std::move(live->value);
        break;
      }
      if (exists()) co_return true;
      if (context_.loop().now() >= end || !co_await sleep_for(context_.loop(), std::chrono::seconds(1))) {
        response_.diagnostics.error(
            Error(ErrorKind::timeout, headline("The former object is still being deleted", reference_.key))
                .because(fmt::format("finalizers: {}", live->value["metadata"]["finalizers"].dump()))
                .next(fmt::format("kubectl get {} {} -o yaml", resource_.name_with_group(), reference_.key.name)),
            body_path(request_.config));
        co_return false;
      }
    }
    if (exists()) co_return co_await hand_over(live_);
    if (was_created_) {
      response_.diagnostics.error(created_twice(reference_), body_path(request_.config));
      co_return false;
    }
    if (settings_.adopt) co_return co_await hand_over(live_);
    response_.diagnostics.add(exists_already(live_, request_.planned["cluster"], cluster_->text(), reference_));
    co_return false;
  }

  kube::ApplyOptions options() const {
    kube::ApplyOptions options;
    options.field_manager = settings_.field_manager;
    // A create must not take anything from an object that somebody else has just created.
    options.force = exists() || settings_.adopt ? !settings_.fails_on_conflict : false;
    return options;
  }

  Json value_to_apply() const {
    bool is_stored = exists() || !live_.is_null();
    return as_applied(*object_, id_, settings_.rules, is_stored);
  }

  Task<kube::Outcome<kube::Reply>> apply() {
    Json value = value_to_apply();
    auto send = [this, &value]() -> Task<kube::Outcome<kube::Reply>> {
      co_return co_await cluster_->client().apply(resource_, reference_.key.ns, reference_.key.name, value, options());
    };
    auto applied = co_await send_until_accepted(context_.loop(), patience(time_limit()), send);
    if (applied || !exists()) co_return applied;
    std::vector<fields::Path> refused =
        refused_defaults(applied.error(), value, flat_of(request_.prior["managed_fields"]));
    if (refused.empty() || !co_await own(std::move(refused))) co_return applied;
    co_return co_await send_until_accepted(context_.loop(), patience(time_limit()), send);
  }

  // Becomes the owner of fields of nobody, which the next apply then removes.
  Task<bool> own(std::vector<fields::Path> places) {
    auto live = co_await cluster_->client().get(resource_, reference_.key.ns, reference_.key.name);
    if (!live) co_return false;
    Json value = with_ownership_of(places, live->value, settings_.field_manager);
    if (value.is_null()) co_return false;
    auto owned = co_await cluster_->client().apply(resource_, reference_.key.ns, reference_.key.name, value, options());
    co_return owned.has_value();
  }

  void refuse(const kube::Failure& failure) {
    bool is_connection = !failure.fault() || failure.is(FaultKind::unauthorized);
    if (!exists() && failure.is(FaultKind::field_conflict) && !settings_.adopt)
      return response_.diagnostics.add(exists_already({}, request_.planned["cluster"], cluster_->text(), reference_));
    response_.diagnostics.error(failed(kNotApplied, failure),
                                is_connection ? Path("cluster") : body_path(request_.config));
  }

  void warnings_of(const kube::Reply& reply) {
    // The plan, which rehearsed the same, has told them.
    bool was_rehearsed = request_.planned["managed_state_projection"].is_wholly_known();
    if (!was_rehearsed) add_warnings(response_.diagnostics, reference_.key, reply.warnings, body_path(request_.config));
    if (reply.value["metadata"].contains("deletionTimestamp"))
      response_.diagnostics.warning(Error(ErrorKind::invalid, headline("The object is being deleted", reference_.key))
                                        .because("somebody deleted it, and its finalizers keep it for now")
                                        .next("apply again when it is deleted"),
                                    "object_ref");
  }

  // ---- fields of others

  Task<kube::Reply> taken_over(kube::Reply reply) {
    bool migrates = before()["migrate"].bool_or(false) || (!exists() && settings_.adopt);
    std::string former(request_.prior["field_manager"].string_or(tool().field_manager));
    bool has_new_manager = exists() && former != settings_.field_manager;
    if (!migrates && !has_new_manager) co_return reply;
    inventory::Successor successor = successor_of(settings_.field_manager, {former});
    for (const Json& name : before()["former"].items()) successor.predecessors.emplace(name.string_or(""));
    successor.predecessors.erase(settings_.field_manager);
    if (!migrates) successor.predecessors = {former};
    auto taken = co_await take_over(cluster_->client(), resource_, value_to_apply(), reply, successor, options());
    if (taken) co_return *std::move(taken);
    response_.diagnostics.warning(failed("Fields of former field managers were not taken over", taken.error()),
                                  body_path(request_.config));
    co_return reply;
  }

  // The ignored fields that our manager owns.
  fields::FieldSet ignored_and_ours(const Json& live) const {
    fields::FieldSet set;
    for (const fields::Path& path : fields_of(live, settings_.field_manager))
      for (const fields::Path& ignored : settings_.rules.ignored)
        if (is_within(live, ignored, path)) set.insert(path);
    return set;
  }

  // Gives the ignored fields that we own to a second field manager. If we simply stopped to apply them, the API server
  // would remove them: replicas would fall to 1. Returns false if that failed.
  Task<bool> hand_over(const Json& live) {
    fields::FieldSet set = ignored_and_ours(live);
    if (set.empty()) co_return true;
    std::optional<fields::ManagedEntry> entry = fields::applied_by(live, tool().ignored_fields_manager);
    if (entry) set = set.united(entry->fields);
    Json value = fields::owned_part(live, set);
    value.make("apiVersion") = live["apiVersion"];
    value.make("kind") = live["kind"];
    value.make("metadata").make("name") = live["metadata"]["name"];
    kube::ApplyOptions options;
    options.field_manager = tool().ignored_fields_manager;
    auto handed = co_await cluster_->client().apply(resource_, reference_.key.ns, reference_.key.name, value, options);
    // A conflict says that somebody else changed a field just now, and owns it.
    if (handed || handed.error().is(FaultKind::field_conflict)) co_return true;
    response_.diagnostics.error(failed("The ignored fields could not be left to others", handed.error()),
                                "ignore_fields");
    co_return false;
  }

  // After a create, which has to send the ignored fields as well.
  Task<kube::Reply> with_ignored_handed_over(kube::Reply reply) {
    if (settings_.rules.ignored.empty() || ignored_and_ours(reply.value).empty()) co_return reply;
    Diagnostics before_it = std::move(response_.diagnostics);
    response_.diagnostics = {};
    bool handed = co_await hand_over(reply.value);
    Diagnostics problems = std::move(response_.diagnostics);
    response_.diagnostics = std::move(before_it);
    for (const Diagnostic& one : problems.all()) response_.diagnostics.warning(one.summary, one.detail, one.path);
    if (!handed) co_return reply;
    Json value = as_applied(*object_, id_, settings_.rules, true);
    auto again = co_await cluster_->client().apply(resource_, reference_.key.ns, reference_.key.name, value, options());
    if (again) co_return *std::move(again);
    response_.diagnostics.warning(failed("The ignored fields could not be left to others", again.error()),
                                  "ignore_fields");
    co_return reply;
  }

  // ---- the result

  void finish(const Json& object) {
    Value state = request_.planned;
    Flat applied = projection_of(object, settings_.field_manager, settings_.rules);
    state.make("id") = id_;
    state.make("object_ref") = value_of(reference_);
    state.make("revision") = revision_of(object, applied);
    if (!state["managed_fields"].is_wholly_known())
      state.make("managed_fields") = value_of(owners_of(object, settings_.rules));
    if (!state["output_values"].is_wholly_known())
      state.make("output_values") = value_of(outputs_of(object, settings_));
    if (state["managed_state_projection"].is_wholly_known() && exists_in_plan())
      warn_of_differences(flat_of(state["managed_state_projection"]), applied);
    else state.make("managed_state_projection") = value_of(applied);
    response_.state = std::move(state);
    Json::Object kept{{"uid", object["metadata"]["uid"]}};
    if (settings_.rules.hides_all) kept.append("applied", revision_of({}, applied));
    response_.private_state = std::move(kept);
  }

  bool exists_in_plan() const { return !request_.planned["managed_state_projection"].is_null(); }

  // Terraform takes another value than the planned one for a mistake of the provider.
  void warn_of_differences(const Flat& planned, const Flat& applied) {
    std::vector<std::string> paths = differing(planned, applied);
    if (paths.empty()) return;
    response_.diagnostics.warning(
        Error(ErrorKind::invalid, headline("The cluster changed what was planned", reference_.key))
            .because(fmt::format("other values than planned: {}", some_of(paths)))
            .next(fmt::format("{}; if others manage the fields, add them to ignore_fields", tool().show_difference)),
        body_path(request_.config));
  }

  Context& context_;
  CreatedObjects& created_;
  ApplyRequest request_;
  ApplyResponse response_;
  ObjectSettings settings_;
  Secrets secrets_;
  std::optional<object::Object> object_;
  Connection* cluster_ = nullptr;
  object::Resource resource_;
  Reference reference_;
  std::string id_;
  // This process has created it for another resource, unless it was deleted since.
  bool was_created_ = false;
  // The object before it was applied, if it was read; null if it does not exist.
  Json live_;
};

}  // namespace

Task<ApplyResponse> apply_object(Context& context, CreatedObjects& created, ApplyRequest request) {
  Applying applying(context, created, std::move(request));
  co_return co_await applying.run();
}

}  // namespace fairlead::terraform
