#include "terraform/object/internal/reading.h"

#include <fmt/format.h>

#include <cstdlib>

#include "diff/yaml_text.h"
#include "object/placement.h"
#include "terraform/object/internal/state.h"
#include "terraform/object/settings.h"
#include "terraform/objects/attributes.h"
#include "terraform/objects/body.h"
#include "terraform/objects/words.h"
#include "terraform/projection/import_id.h"
#include "terraform/projection/moved.h"
#include "terraform/projection/owner.h"

namespace fairlead::terraform {
namespace {

using kube::FaultKind;

// One refresh of one object.
class Refresh {
 public:
  Refresh(Context& context, LiveObjects& live_objects, ReadRequest request)
      : context_(context), live_objects_(live_objects) {
    response_.state = std::move(request.state);
    response_.private_state = std::move(request.private_state);
    response_.identity = std::move(request.identity);
  }

  Task<ReadResponse> run() {
    co_await read();
    response_.identity = identity_of(response_.state, response_.identity);
    co_return std::move(response_);
  }

 private:
  Value& state() { return response_.state; }

  Task<void> read() {
    std::optional<Reference> reference = reference_of(state()["object_ref"]);
    // The connection of a state that was moved is not known: the plan has it.
    bool is_moved = response_.private_state["moved"].bool_or(false);
    if (!reference || is_moved || state()["cluster_gone"].bool_or(false)) co_return;
    reference_ = *std::move(reference);
    Result<Connection*> cluster = co_await context_.clusters().connect(state()["cluster"]);
    if (!cluster || !*cluster) {
      // A cluster whose values are not known yet may be described by the configuration.
      if (!cluster) keep_because(cluster.error());
      else response_.private_state.make("unread") = true;
      co_return;
    }
    auto kind = co_await (*cluster)->discovery().find(reference_.key.group, reference_.version(), reference_.kind());
    if (!kind) co_return refuse(kind.error());
    if (!*kind) co_return co_await read_without_kind(**cluster);
    auto live = co_await (*cluster)->client().get(**kind, reference_.key.ns, reference_.key.name);
    if (live) co_return take(**cluster, std::move(live->value));
    if (live.error().is(FaultKind::not_found)) co_return forget();
    refuse(live.error());
  }

  // The CRD may be deleted, and its objects with it; or the server of the API does not answer.
  Task<void> read_without_kind(Connection& cluster) {
    auto preferred = cluster.discovery().known().find(reference_.key.group, reference_.kind());
    if (preferred) {
      auto live = co_await cluster.client().get(*preferred, reference_.key.ns, reference_.key.name);
      if (live) co_return take(cluster, std::move(live->value));
      if (live.error().is(FaultKind::not_found)) co_return forget();
      co_return refuse(live.error());
    }
    for (const kube::GroupProblem& problem : cluster.discovery().known().problems())
      if (problem.group == reference_.key.group)
        co_return keep_because(Error(ErrorKind::unavailable, fmt::format("{}/{} cannot be discovered: {}",
                                                                         problem.group, problem.version, problem.why)));
    forget();
  }

  void take(Connection& cluster, Json object) {
    ObjectSettings settings = ObjectSettings::read(state());
    set_read(state(), object, settings);
    if (state()["revision"].is_null())
      state().make("revision") = revision_of(object, flat_of(state()["managed_state_projection"]));
    Json& kept = response_.private_state;
    kept.make("uid") = object["metadata"]["uid"];
    if (Json::Object* members = kept.if_object()) members->erase("unread");
    live_objects_.put(cluster, reference_, std::move(object));
  }

  void forget() {
    response_.state = {};
    response_.private_state = {};
    response_.identity = {};
  }

  // Terraform would stop at an error. The plan has the configuration, where the credentials may be newer.
  void keep_because(const Error& why) {
    response_.private_state.make("unread") = true;
    response_.diagnostics.warning(
        Error(why.kind(), headline("The object could not be read; the state stays as it was", reference_.key))
            .because(why)
            .next("check `cluster`; new credentials in the configuration are used for the plan and the apply"),
        "cluster");
  }

  void refuse(const kube::Failure& failure) {
    ErrorKind kind = failure.error().kind();
    bool is_access = failure.is(FaultKind::unauthorized) || failure.is(FaultKind::forbidden);
    bool is_unreachable = !failure.fault() && kind != ErrorKind::cancelled;
    if (is_access || is_unreachable) return keep_because(failure.error());
    response_.diagnostics.error(refused("The object could not be read", reference_.key, failure), "object_ref");
  }

  Context& context_;
  LiveObjects& live_objects_;
  ReadResponse response_;
  Reference reference_;
};

std::string default_kubeconfig() {
  if (const char* set = std::getenv("KUBECONFIG"); set && *set) return set;
  const char* home = std::getenv("HOME");
  return std::string(home ? home : "") + "/.kube/config";
}

Value cluster_value(const ImportId& id) {
  if (!id.cluster.empty()) return Value::object({{"name", id.cluster}});
  if (id.context.empty() && id.kubeconfig.empty()) return {};
  Value cluster = Value::object({{"kubeconfig", id.kubeconfig.empty() ? default_kubeconfig() : id.kubeconfig}});
  if (!id.context.empty()) cluster.make("context") = id.context;
  return cluster;
}

// One import.
class Import {
 public:
  Import(Context& context, ImportRequest request) : context_(context), request_(std::move(request)) {}

  Task<ImportResponse> run() {
    Result<void> imported = co_await import();
    if (!imported)
      response_.diagnostics.error(Error(imported.error()).in(fmt::format("The object was not imported ({})", what())));
    co_return std::move(response_);
  }

 private:
  std::string what() const {
    if (!request_.identity.is_known()) return request_.id;
    return fmt::format("{} {}", request_.identity["kind"].string_or(""), request_.identity["name"].string_or(""));
  }

  Task<Result<void>> import() {
    CO_TRY_ASSIGN(ImportId parsed, parse());
    bool is_namespaced = parsed.prefix.contains(':') || parsed.prefix.empty();
    Result<void> found = co_await find(parsed, is_namespaced);
    // A context may have colons, too.
    if (!found && parsed.prefix.contains(':')) {
      Result<void> second = co_await find(parsed, false);
      if (!second) co_return found;
    } else {
      CO_TRY(found);
    }
    co_return co_await read();
  }

  Result<ImportId> parse() const {
    if (!request_.identity.is_known()) return ImportId::parse(request_.id);
    ImportId id;
    id.kind = request_.identity["kind"].string_or("");
    id.name = request_.identity["name"].string_or("");
    id.ns = request_.identity["namespace"].string_or("");
    id.context = request_.identity["context"].string_or("");
    id.cluster = request_.identity["cluster"].string_or("");
    return id;
  }

  // Takes the prefix as that of a kind with or without namespaces, and looks whether the kind is one.
  Task<Result<void>> find(const ImportId& parsed, bool is_namespaced) {
    CO_TRY_ASSIGN(ImportId id, parsed.resolved(is_namespaced));
    CO_TRY(co_await connect(id));
    CO_TRY(co_await find_kind(id));
    if (resource_.namespaced != is_namespaced && !parsed.prefix.empty()) {
      CO_TRY_ASSIGN(id, parsed.resolved(resource_.namespaced));
      CO_TRY(co_await connect(id));
    }
    reference_ = {.api_version = resource_.api_version(),
                  .key = {.group = resource_.group, .kind = id.kind, .ns = id.ns, .name = id.name}};
    (void)object::place(reference_.key, resource_.namespaced, {.name = cluster_->default_namespace()});
    co_return Result<void>();
  }

  Task<Result<void>> find_kind(const ImportId& id) {
    kube::Discovery& discovery = cluster_->discovery();
    if (id.api_version.empty()) {
      // An identity has no version: every version shows the same objects.
      std::string group(request_.identity["group"].string_or(""));
      if (auto known = co_await discovery.all(); !known) co_return fail(known.error().error());
      const object::Resource* preferred = discovery.known().find(group, id.kind);
      if (!preferred) co_return fail(discovery.known().missing(group, "", id.kind));
      resource_ = *preferred;
      co_return Result<void>();
    }
    CO_TRY_ASSIGN(object::ApiVersion version, object::ApiVersion::parse(id.api_version));
    auto kind = co_await discovery.find(version.group, version.version, id.kind);
    if (!kind) co_return fail(kind.error().error());
    if (!*kind) co_return fail(discovery.known().missing(version.group, version.version, id.kind));
    resource_ = **kind;
    co_return Result<void>();
  }

  // A context may also be the name of a cluster of the provider block.
  Task<Result<void>> connect(const ImportId& id) {
    if (id.cluster.empty() && id.kubeconfig.empty() && !id.context.empty()) {
      Value named = Value::object({{"name", id.context}});
      Result<Connection*> cluster = co_await context_.clusters().connect(named);
      if (cluster && *cluster) {
        cluster_ = *cluster;
        description_ = std::move(named);
        co_return Result<void>();
      }
    }
    description_ = cluster_value(id);
    CO_TRY_ASSIGN(cluster_, co_await context_.clusters().connect(description_));
    if (!cluster_) co_return fail(ErrorKind::invalid, "the cluster is not known before apply");
    co_return Result<void>();
  }

  Task<Result<void>> read() {
    auto live = co_await cluster_->client().get(resource_, reference_.key.ns, reference_.key.name);
    if (!live) co_return fail(refused("The object could not be read", reference_.key, live.error()));
    const Json& object = live->value;
    Json manifest = as_manifest(with_hashed_secrets(object, {}));
    std::string_view id = object["metadata"]["annotations"][tool().owner_annotation].string_or("");
    Value state = object_schema().null_value();
    state.make("cluster") = description_;
    state.make("yaml_body") = diff::yaml_text(manifest);
    state.make("object_ref") = value_of(reference_);
    state.make("id") = id.empty() ? new_id() : std::string(id);
    CO_TRY_ASSIGN(response_.state, conformed(std::move(state), object_schema().type()));
    response_.private_state = Json::Object{{"uid", object["metadata"]["uid"]}, {"migrate", true}};
    response_.identity = identity_of(response_.state, request_.identity);
    co_return Result<void>();
  }

  Context& context_;
  ImportRequest request_;
  ImportResponse response_;
  Connection* cluster_ = nullptr;
  Value description_;
  object::Resource resource_;
  Reference reference_;
};

Result<void> take_moved(const MoveRequest& request, MoveResponse& response) {
  TRY_ASSIGN(MovedObject moved, read_moved(request.source_type, request.source_state));
  Result<object::Object> object = read_body(moved.yaml_body, "yaml_body");
  if (!object) {
    // A manifest that is refused today may have been applied by another provider.
    return fail(std::move(object).error().in(fmt::format("the manifest of {} cannot be used", request.source_type)));
  }
  Reference reference{.api_version = std::string(object->value()["apiVersion"].string_or("")), .key = object->key()};
  Value state = object_schema().null_value();
  state.make("yaml_body") = moved.yaml_body;
  state.make("object_ref") = value_of(reference);
  state.make("id") = new_id();
  if (moved.force_destroy) state.make("force_destroy") = true;
  if (moved.delete_protection) state.make("delete_protection") = true;
  Result<Value> cluster =
      moved.cluster.is_null() ? Value() : Value::from_state_json(moved.cluster, cluster_attribute().whole_type());
  bool has_cluster = cluster && cluster->is_known();
  if (has_cluster) state.make("cluster") = *std::move(cluster);
  TRY_ASSIGN(response.state, conformed(std::move(state), object_schema().type()));
  Json::Object kept{{"migrate", true}, {"former", Json::Array{Json(moved.field_manager)}}, {"unread", true}};
  if (!has_cluster || reference.key.ns.empty()) kept.append("moved", true);
  response.private_state = std::move(kept);
  return {};
}

}  // namespace

void note_object(StoredStates& stored_states, const Value& state) {
  std::optional<Reference> reference = reference_of(state["object_ref"]);
  if (reference)
    stored_states.note(state["id"].string_or(""), reference->key.text_with_group(), state["cluster"],
                       state["delete_protection"].bool_or(false));
}

Task<ReadResponse> read_object(Context& context, LiveObjects& live_objects, ReadRequest request) {
  Refresh refresh(context, live_objects, std::move(request));
  co_return co_await refresh.run();
}

Task<ImportResponse> import_object(Context& context, ImportRequest request) {
  Import import(context, std::move(request));
  co_return co_await import.run();
}

MoveResponse move_object(const MoveRequest& request) {
  MoveResponse response;
  if (Result<void> moved = take_moved(request, response); !moved)
    response.diagnostics.error(Error(moved.error()).in(fmt::format("The {} was not moved", request.source_type)));
  return response;
}

}  // namespace fairlead::terraform
