#include <fmt/format.h>

#include "terraform/provider/internal/desk.h"

namespace fairlead::terraform {
namespace {

// A step into an attribute that the type has, or into an element of a collection.
bool type_has(const Type& type, const Path& path) {
  const Type* here = &type;
  for (const Path::Step& step : path.steps()) {
    if (const auto* attribute = std::get_if<Path::Attribute>(&step)) {
      auto field = here->fields().find(attribute->name);
      if (field == here->fields().end()) return false;
      here = &field->second;
      continue;
    }
    bool is_collection = here->is(Type::Kind::list) || here->is(Type::Kind::set) || here->is(Type::Kind::map);
    if (!is_collection) return false;
    here = &here->element();
  }
  return true;
}

void check_write_only(const Value& config, const Schema& schema, const ClientCapabilities& client, Diagnostics& found) {
  if (client.write_only_attributes_allowed) return;
  for (const Path& path : write_only_set(config, schema))
    found.error("A write-only attribute needs terraform 1.11 or newer, or tofu 1.11 or newer",
                fmt::format("This client would store the value of \"{}\" in the state.", path.text()), path);
}

}  // namespace

Task<std::string> validate_resource(Desk& desk, const Message& request) {
  Answering answer(desk, request);
  Context context = desk.context(request, 3);
  if (Resource* resource = answer.find(desk.offers.resources, "resource", request.bytes(1))) {
    const Schema& schema = resource->schema();
    if (auto config = answer.value(2, desk.type_of(schema))) {
      answer.diagnostics().add(check_config(*config, schema));
      check_write_only(*config, schema, context.capabilities(), answer.diagnostics());
      if (!answer.diagnostics().has_errors())
        answer.diagnostics().add(co_await resource->validate(context, *std::move(config)));
    }
  }
  co_return answer.finish(1);
}

Task<std::string> upgrade_state(Desk& desk, const Message& request) {
  Answering answer(desk, request);
  Context context = desk.context(request, 0);
  if (Resource* resource = answer.find(desk.offers.resources, "resource", request.bytes(1))) {
    if (auto state = answer.raw_state(3)) {
      UpgradeResponse response =
          co_await resource->upgrade(context, {.version = request.number(2), .state = *std::move(state)});
      answer.diagnostics().add(std::move(response.diagnostics));
      answer.put(1, std::move(response.state), resource->schema(), Answering::Known::all);
    }
  }
  co_return answer.finish(2);
}

Task<std::string> upgrade_identity(Desk& desk, const Message& request) {
  Answering answer(desk, request);
  Resource* resource = answer.find(desk.offers.resources, "resource", request.bytes(1));
  const IdentitySchema* schema = resource ? resource->identity_schema() : nullptr;
  if (schema && request.number(2) != schema->version) {
    answer.diagnostics().error(
        fmt::format("The identity of {} has version {}, which this provider does not know", resource->name(),
                    request.number(2)),
        fmt::format("This provider writes version {}. Use the version of the provider that wrote it, or a newer one.",
                    schema->version));
  } else if (schema) {
    if (auto json = answer.raw_state(3)) {
      Result<Value> identity = Value::from_state_json(*json, schema->type());
      if (identity) answer.put_identity(1, *std::move(identity), schema);
      else answer.diagnostics().error(std::move(identity).error().in("The provider cannot read an identity"));
    }
  }
  co_return answer.finish(2);
}

Task<std::string> read_resource(Desk& desk, const Message& request) {
  Answering answer(desk, request);
  Context context = desk.context(request, 5);
  if (Resource* resource = answer.find(desk.offers.resources, "resource", request.bytes(1))) {
    const Schema& schema = resource->schema();
    auto state = answer.value(2, desk.type_of(schema));
    auto identity = answer.identity(6, resource->identity_schema());
    if (state && identity) {
      Value known_identity = *identity;
      ReadResponse response = co_await resource->read(context, {.state = *std::move(state),
                                                                .private_state = read_private(request.bytes(3)),
                                                                .identity = *std::move(identity)});
      answer.diagnostics().add(std::move(response.diagnostics));
      answer.put(1, std::move(response.state), schema, Answering::Known::all);
      answer.put_private(3, response.private_state);
      answer.put_deferred(4, response.deferred, context.capabilities());
      if (response.identity.is_null()) response.identity = std::move(known_identity);
      answer.put_identity(5, std::move(response.identity), resource->identity_schema());
    }
  }
  co_return answer.finish(2);
}

Task<std::string> plan_change(Desk& desk, const Message& request) {
  Answering answer(desk, request);
  Context context = desk.context(request, 7);
  if (Resource* resource = answer.find(desk.offers.resources, "resource", request.bytes(1))) {
    const Schema& schema = resource->schema();
    const Type& type = desk.type_of(schema);
    auto prior = answer.value(2, type);
    auto proposed = answer.value(3, type);
    auto config = answer.value(4, type);
    auto identity = answer.identity(8, resource->identity_schema());
    if (prior && proposed && config && identity) {
      bool is_create = prior->is_null();
      Value known_identity = *identity;
      PlanResponse response = co_await resource->plan(context, {.prior = *std::move(prior),
                                                                .proposed = *std::move(proposed),
                                                                .config = *std::move(config),
                                                                .prior_private = read_private(request.bytes(5)),
                                                                .prior_identity = *std::move(identity)});
      answer.diagnostics().add(std::move(response.diagnostics));
      answer.put(1, std::move(response.planned), schema, Answering::Known::some);
      for (const Path& path : response.requires_replace)
        if (!is_create && type_has(type, path)) answer.out().message(2, message_of(path));
      answer.put_private(3, response.planned_private);
      answer.put_deferred(6, response.deferred, context.capabilities());
      if (response.planned_identity.is_null()) response.planned_identity = std::move(known_identity);
      answer.put_identity(7, std::move(response.planned_identity), resource->identity_schema());
    }
  }
  co_return answer.finish(4);
}

Task<std::string> apply_change(Desk& desk, const Message& request) {
  Answering answer(desk, request);
  Context context = desk.context(request, 0);
  if (Resource* resource = answer.find(desk.offers.resources, "resource", request.bytes(1))) {
    const Schema& schema = resource->schema();
    const Type& type = desk.type_of(schema);
    auto prior = answer.value(2, type);
    auto planned = answer.value(3, type);
    auto config = answer.value(4, type);
    auto identity = answer.identity(7, resource->identity_schema());
    if (prior && planned && config && identity) {
      bool is_destroy = planned->is_null();
      Value known_identity = *identity;
      ApplyResponse response = co_await resource->apply(context, {.prior = *std::move(prior),
                                                                  .planned = *std::move(planned),
                                                                  .config = *std::move(config),
                                                                  .planned_private = read_private(request.bytes(5)),
                                                                  .planned_identity = *std::move(identity)});
      answer.diagnostics().add(std::move(response.diagnostics));
      bool is_gone = response.state.is_null();
      answer.put(1, std::move(response.state), schema, Answering::Known::all);
      answer.put_private(2, response.private_state);
      if (response.identity.is_null() && !is_destroy && !is_gone && known_identity.is_wholly_known())
        response.identity = std::move(known_identity);
      answer.put_identity(5, std::move(response.identity), resource->identity_schema());
    }
  }
  co_return answer.finish(3);
}

Task<std::string> import_state(Desk& desk, const Message& request) {
  Answering answer(desk, request);
  Context context = desk.context(request, 3);
  if (Resource* resource = answer.find(desk.offers.resources, "resource", request.bytes(1))) {
    if (auto identity = answer.identity(4, resource->identity_schema())) {
      ImportResponse response =
          co_await resource->import(context, {.id = request.text(2), .identity = *std::move(identity)});
      answer.diagnostics().add(std::move(response.diagnostics));
      if (response.state.is_null() && !answer.diagnostics().has_errors())
        answer.diagnostics().error(fmt::format("{} \"{}\" was not found", resource->name(), request.bytes(2)),
                                   "There is nothing to import.");
      if (!response.state.is_null()) {
        // One message with a value, its diagnostics beside it.
        Answering imported(desk, request);
        imported.out().text(1, resource->name());
        imported.put(2, std::move(response.state), resource->schema(), Answering::Known::all);
        imported.put_private(3, response.private_state);
        imported.put_identity(4, std::move(response.identity), resource->identity_schema());
        answer.diagnostics().add(imported.diagnostics());
        answer.out().message(1, imported.out());
      }
    }
  }
  co_return answer.finish(2);
}

Task<std::string> move_state(Desk& desk, const Message& request) {
  Answering answer(desk, request);
  Context context = desk.context(request, 0);
  if (Resource* resource = answer.find(desk.offers.resources, "resource", request.bytes(5))) {
    auto state = answer.raw_state(4);
    auto identity = answer.raw_state(7);
    if (state && identity) {
      MoveResponse response = co_await resource->move(context, {.source_provider = request.text(1),
                                                                .source_type = request.text(2),
                                                                .source_version = request.number(3),
                                                                .source_state = *std::move(state),
                                                                .source_private = read_private(request.bytes(6)),
                                                                .source_identity = *std::move(identity)});
      answer.diagnostics().add(std::move(response.diagnostics));
      answer.put(1, std::move(response.state), resource->schema(), Answering::Known::all);
      answer.put_private(3, response.private_state);
      answer.put_identity(4, std::move(response.identity), resource->identity_schema());
    }
  }
  co_return answer.finish(2);
}

}  // namespace fairlead::terraform
