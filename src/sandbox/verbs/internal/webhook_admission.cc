#include "sandbox/verbs/internal/webhook_admission.h"

#include <fmt/format.h>

#include "admission/dispatch.h"
#include "admission/exempt.h"
#include "admission/policy.h"
#include "sandbox/kinds/autoscaling.h"
#include "sandbox/kinds/types.h"
#include "sandbox/verbs/internal/webhook_call.h"
#include "schema/types/typed.h"
#include "schema/validation/decode.h"

namespace fairlead::sandbox {
namespace {

admission::Operation operation_of(Operation operation) {
  switch (operation) {
    case Operation::create: return admission::Operation::create;
    case Operation::update: return admission::Operation::update;
    case Operation::remove: return admission::Operation::remove;
    case Operation::connect: return admission::Operation::connect;
  }
  return admission::Operation::create;
}

admission::GroupVersionKind kind_of(const Kind& kind) { return {kind.group, kind.version, kind.kind}; }
admission::GroupVersionResource resource_of(const Kind& kind) { return {kind.group, kind.version, kind.resource}; }

admission::Attributes attributes_of(const Core& core, const Call& call, const Attributes& from) {
  admission::Attributes to;
  to.operation = operation_of(from.operation);
  to.resource = resource_of(from.kind);
  to.kind = kind_of(from.kind);
  // Some are of another kind than what they are part of: Scale, Eviction.
  if (const Subresource* sub = from.kind.find_subresource(from.subresource);
      sub && !sub->group.empty() && sub->kind != from.kind.kind)
    to.kind = {sub->group, sub->version, sub->kind};
  to.subresource = from.subresource;
  bool is_namespace = from.kind.id() == ResourceId{"", "namespaces"};
  to.ns = is_namespace ? from.place.name : from.place.ns;
  to.name = from.place.name;
  if (from.object) to.object = *from.object;
  if (from.old) to.old_object = *from.old;
  if (ObjectPtr ns = core.find("", "namespaces", "", to.ns)) to.ns_object = *ns;
  to.dry_run = from.dry_run;
  to.user.name = call.user.name;
  to.user.groups = call.user.groups;
  to.options = from.options;
  for (const Kind* other : core.kinds.in_order())
    if (other->stored_as == from.kind.stored_as && other->version != from.kind.version &&
        other->group == from.kind.group)
      to.equivalents.push_back({resource_of(*other), kind_of(*other)});
  if (is_autoscaler(from.kind) && from.subresource.empty())
    to.convert = [](const Json& object, const admission::GroupVersionKind& as) -> Result<Json> {
      return autoscaler_in(object, as.api_version());
    };
  return to;
}

Status from_json(const Json& json) {
  Status status{int(json["code"].int_or(500)), std::string(json["reason"].string_or("")),
                std::string(json["message"].string_or("")), json["details"]};
  if (json["metadata"].is_object()) status.metadata = json["metadata"];
  // A request whose time is up is answered by another part of the real server, which writes no kind and no type.
  if (!json.contains("kind")) {
    status.plain_text = true;
    status.message = json.dump() + "\n";
  }
  return status;
}

Json client_config(const admission::Webhook& hook) {
  Json::Object config;
  if (!hook.ca_bundle.empty()) config.append("caBundle", hook.ca_bundle);
  if (!hook.service) {
    config.append("url", hook.url);
    return config;
  }
  Json::Object service{{"namespace", hook.service->ns}, {"name", hook.service->name}, {"port", hook.service->port}};
  if (!hook.service->path.empty()) service.append("path", hook.service->path);
  config.append("service", std::move(service));
  return config;
}

// What it has learned beside a refusal. What the sandbox cannot evaluate it does not decide.
Outcome<void> take(ApiServer& server, Call& call, const Attributes& attributes, const admission::Gathered& gathered) {
  server.counters().count_webhooks(gathered.encounters, operation_of(attributes.operation));
  for (const std::string& warning : gathered.warnings) call.warn(warning);
  if (!gathered.undecided) return {};
  return refuse(not_implemented("a matchCondition of a webhook is outside of the part of CEL that it evaluates"));
}

Duration time_left(const Core& core, const Call& call, const admission::Call& webhook) {
  return std::min<Duration>(std::chrono::seconds(webhook.timeout_seconds), call.deadline - core.loop.now());
}

admission::ParamSource param_source(const Core& core) {
  return [&core](const admission::ParamKind& wanted) -> std::optional<admission::Params> {
    size_t slash = wanted.api_version.find('/');
    std::string group = slash == std::string::npos ? "" : wanted.api_version.substr(0, slash);
    std::string version = slash == std::string::npos ? wanted.api_version : wanted.api_version.substr(slash + 1);
    const Kind* kind = core.kinds.by_kind(group, version, wanted.kind);
    if (!kind) return std::nullopt;
    admission::Params found{kind->namespaced, {}};
    for (const auto& [place, object] : core.store.all(kind->stored_as)) found.objects.push_back(*object);
    return found;
  };
}

// As server-side apply merges, but nobody comes to own anything, and what can only be replaced as a whole is refused.
Result<Json> apply_configuration(const Core& core, const Json& object, const Json& patch) {
  std::string api_version(object["apiVersion"].string_or(""));
  size_t slash = api_version.find('/');
  const Kind* kind = core.kinds.by_kind(slash == std::string::npos ? "" : api_version.substr(0, slash),
                                        slash == std::string::npos ? api_version : api_version.substr(slash + 1),
                                        object["kind"].string_or(""));
  schema::SchemaPtr schema = kind ? schema_of(*kind) : nullptr;
  if (!schema) return fail(ErrorKind::limit, "{} has no schema here", object["kind"].string_or(""));
  if (std::vector<schema::Misfit> found = misfits(*schema, patch, schema::Duplicates::refused); !found.empty())
    return fail(ErrorKind::invalid, "failed to convert patch object to typed object: {}", schema::text_of(found));
  if (std::vector<std::string> atomic = schema::atomic_parts(*schema, patch); !atomic.empty())
    return fail(ErrorKind::invalid, "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {}",
                fmt::join(atomic, ", "));
  if (std::vector<schema::Misfit> found = misfits(*schema, object, schema::Duplicates::allowed); !found.empty())
    return fail(ErrorKind::invalid, "failed to convert original object to typed object: {}", schema::text_of(found));
  return schema::merge(*schema, object, patch);
}

// What admission has made of an object has to be an object of its kind still.
Outcome<void> check_form(const Attributes& attributes, const Json& object) {
  if (!attributes.subresource.empty() || attributes.kind.custom) return {};
  schema::SchemaPtr schema = attributes.kind.builtin_schema();
  if (!schema) return {};
  if (schema::Decoding decoding = schema::decode(*schema, object); decoding.error)
    return refuse(internal_error(*decoding.error));
  return {};
}

}  // namespace

Task<Outcome<void>> run_mutating_policies(ApiServer& server, Call& call, Attributes& attributes) {
  const Core& core = server.core();
  std::shared_ptr<const Webhooks::Policies> policies = server.webhooks().policies();
  if (policies->bindings.empty() || !attributes.object) co_return Outcome<void>();
  admission::PolicyMutation mutation = admission::mutate(
      policies->policies, policies->bindings, attributes_of(core, call, attributes), param_source(core),
      [&core](const Json& object, const Json& patch) { return apply_configuration(core, object, patch); });
  if (!mutation.status.is_null()) co_return refuse(from_json(mutation.status));
  if (mutation.undecided)
    co_return refuse(not_implemented("a mutating policy is outside of the part of CEL that it evaluates"));
  CO_TRY(check_form(attributes, mutation.object));
  *attributes.object = std::move(mutation.object);
  co_return Outcome<void>();
}

Task<Outcome<void>> call_mutating_webhooks(ApiServer& server, Call& call, Attributes& attributes) {
  Core& core = server.core();
  Webhooks::Hooks hooks = server.webhooks().hooks(Webhooks::List::mutating);
  if (hooks->empty() || admission::is_exempt_from_webhooks(resource_of(attributes.kind))) co_return Outcome<void>();
  admission::Mutation mutation(*hooks, attributes_of(core, call, attributes), [&core] { return core.random.uid(); });
  while (const admission::Call* next = mutation.next()) {
    Duration left = time_left(core, call, *next);
    if (left <= Duration::zero()) {
      mutation.expire();
      break;
    }
    std::expected<admission::Answer, std::string> answer =
        co_await call_webhook(server, client_config(*next->webhook), next->review, left);
    if (answer) mutation.answered(*answer);
    else if (core.loop.now() >= call.deadline) mutation.expire();
    else mutation.failed("failed to call webhook: " + answer.error());
  }
  Outcome<void> taken = take(server, call, attributes, mutation.gathered());
  if (!mutation.status().is_null()) co_return refuse(from_json(mutation.status()));
  if (!taken) co_return taken;
  if (attributes.object) {
    Result<Json> object = mutation.object();
    if (!object) co_return refuse(internal_error(object.error().message()));
    CO_TRY(check_form(attributes, *object));
    *attributes.object = *std::move(object);
  }
  co_return Outcome<void>();
}

Task<Outcome<void>> check_policies(ApiServer& server, Call& call, Attributes& attributes) {
  Core& core = server.core();
  std::shared_ptr<const Webhooks::Policies> policies = server.webhooks().policies();
  if (policies->bindings.empty() || admission::is_exempt_from_policies(resource_of(attributes.kind)))
    co_return Outcome<void>();
  admission::PolicyOutcome outcome = admission::validate(policies->policies, policies->bindings,
                                                         attributes_of(core, call, attributes), param_source(core));
  for (const std::string& warning : outcome.warnings) call.warn(warning);
  if (!outcome.status.is_null()) co_return refuse(from_json(outcome.status));
  if (outcome.undecided) co_return refuse(not_implemented("a policy is outside of the part of CEL that it evaluates"));
  co_return Outcome<void>();
}

Task<Outcome<void>> call_validating_webhooks(ApiServer& server, Call& call, Attributes& attributes) {
  Core& core = server.core();
  Webhooks::Hooks hooks = server.webhooks().hooks(Webhooks::List::validating);
  if (hooks->empty() || admission::is_exempt_from_webhooks(resource_of(attributes.kind))) co_return Outcome<void>();
  admission::Validation validation(*hooks, attributes_of(core, call, attributes),
                                   [&core] { return core.random.uid(); });
  if (!validation.calls().empty()) {
    auto ask = [](ApiServer& at, const Core& shared, const Call& of, admission::Validation& plan,
                  size_t index) -> Task<void> {
      const admission::Call& one = plan.calls()[index];
      Duration left = time_left(shared, of, one);
      if (left <= Duration::zero()) {
        plan.expire(index);
        co_return;
      }
      std::expected<admission::Answer, std::string> answer =
          co_await call_webhook(at, client_config(*one.webhook), one.review, left);
      if (answer) plan.answered(index, *answer);
      else if (shared.loop.now() >= of.deadline) plan.expire(index);
      else plan.failed(index, "failed to call webhook: " + answer.error());
    };
    Scope scope(core.loop, co_await current_cancel());
    for (size_t i = 0; i < validation.calls().size(); ++i) scope.spawn(ask(server, core, call, validation, i));
    co_await scope.join();
  }
  Outcome<void> taken = take(server, call, attributes, validation.gathered());
  if (!validation.status().is_null()) co_return refuse(from_json(validation.status()));
  co_return taken;
}

}  // namespace fairlead::sandbox
