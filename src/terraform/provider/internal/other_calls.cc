#include <fmt/format.h>

#include "terraform/provider/internal/desk.h"

namespace fairlead::terraform {
namespace {

// A configuration that is checked against the schema, and then by whoever offers it.
template <class Offer>
Task<std::string> validate_offer(Desk& desk, const Message& request, const std::vector<std::unique_ptr<Offer>>& offers,
                                 std::string_view kind) {
  Answering answer(desk, request);
  Context context = desk.context(request, 0);
  if (Offer* offer = answer.find(offers, kind, request.bytes(1))) {
    if (auto config = answer.value(2, desk.type_of(offer->schema()))) {
      answer.diagnostics().add(check_config(*config, offer->schema()));
      if (!answer.diagnostics().has_errors())
        answer.diagnostics().add(co_await offer->validate(context, *std::move(config)));
    }
  }
  co_return answer.finish(1);
}

}  // namespace

Task<std::string> validate_data_source(Desk& desk, const Message& request) {
  return validate_offer(desk, request, desk.offers.data_sources, "data source");
}

Task<std::string> validate_ephemeral(Desk& desk, const Message& request) {
  return validate_offer(desk, request, desk.offers.ephemeral_resources, "ephemeral resource");
}

Task<std::string> read_data_source(Desk& desk, const Message& request) {
  Answering answer(desk, request);
  Context context = desk.context(request, 4);
  if (DataSource* source = answer.find(desk.offers.data_sources, "data source", request.bytes(1))) {
    if (auto config = answer.value(2, desk.type_of(source->schema()))) {
      DataResponse response = co_await source->read(context, *std::move(config));
      answer.diagnostics().add(std::move(response.diagnostics));
      answer.put(1, std::move(response.state), source->schema(), Answering::Known::all);
      answer.put_deferred(3, response.deferred, context.capabilities());
    }
  }
  co_return answer.finish(2);
}

Task<std::string> open_ephemeral(Desk& desk, const Message& request) {
  Answering answer(desk, request);
  Context context = desk.context(request, 3);
  if (EphemeralResource* resource =
          answer.find(desk.offers.ephemeral_resources, "ephemeral resource", request.bytes(1))) {
    if (auto config = answer.value(2, desk.type_of(resource->schema()))) {
      OpenResponse response = co_await resource->open(context, *std::move(config));
      answer.diagnostics().add(std::move(response.diagnostics));
      if (response.renew_at) answer.out().message(2, message_of(*response.renew_at));
      answer.put(3, std::move(response.result), resource->schema(), Answering::Known::all);
      answer.put_private(4, response.private_state);
      answer.put_deferred(5, response.deferred, context.capabilities());
    }
  }
  co_return answer.finish(1);
}

Task<std::string> renew_ephemeral(Desk& desk, const Message& request) {
  Answering answer(desk, request);
  Context context = desk.context(request, 0);
  if (EphemeralResource* resource =
          answer.find(desk.offers.ephemeral_resources, "ephemeral resource", request.bytes(1))) {
    RenewResponse response = co_await resource->renew(context, read_private(request.bytes(2)));
    answer.diagnostics().add(std::move(response.diagnostics));
    if (response.renew_at) answer.out().message(2, message_of(*response.renew_at));
    answer.put_private(3, response.private_state);
  }
  co_return answer.finish(1);
}

Task<std::string> close_ephemeral(Desk& desk, const Message& request) {
  Answering answer(desk, request);
  Context context = desk.context(request, 0);
  if (EphemeralResource* resource =
          answer.find(desk.offers.ephemeral_resources, "ephemeral resource", request.bytes(1)))
    answer.diagnostics().add(co_await resource->close(context, read_private(request.bytes(2))));
  co_return answer.finish(1);
}

Task<std::string> call_function(Desk& desk, const Message& request) {
  Answering answer(desk, request);
  Context context = desk.context(request, 0);
  // A function has no diagnostics, only one error.
  FunctionError error;
  if (Function* function = answer.find(desk.offers.functions, "function", request.bytes(1))) {
    const Signature& signature = function->signature();
    std::vector<Value> arguments;
    for (std::string_view bytes : request.all(2)) {
      size_t index = arguments.size();
      const Parameter* parameter = index < signature.parameters.size() ? &signature.parameters[index] : nullptr;
      if (!parameter && signature.variadic) parameter = &*signature.variadic;
      if (!parameter) {
        error = {.text = fmt::format("{} takes {} arguments", function->name(), signature.parameters.size()),
                 .argument = int64_t(index)};
        break;
      }
      Result<Value> value = read_dynamic_value(bytes, parameter->type);
      if (!value) {
        error = {.text = value.error().message(), .argument = int64_t(index)};
        break;
      }
      arguments.push_back(*std::move(value));
    }
    if (error.text.empty() && arguments.size() < signature.parameters.size())
      error.text =
          fmt::format("{} takes {} arguments, not {}", function->name(), signature.parameters.size(), arguments.size());
    if (error.text.empty()) {
      auto result = co_await function->call(context, std::move(arguments));
      if (result) answer.put(1, *std::move(result), signature.result, Answering::Known::some);
      else error = std::move(result).error();
    }
  }
  if (error.text.empty() && answer.diagnostics().has_errors()) {
    const Diagnostic& first = answer.diagnostics().all().front();
    error.text = first.detail.empty() ? first.summary : first.summary + "\n" + first.detail;
  }
  if (!error.text.empty()) {
    protobuf::WireWriter message;
    message.text(1, desk.secrets.without(error.text));
    if (error.argument) message.set_number(2, static_cast<uint64_t>(*error.argument));
    answer.out().message(2, message);
  }
  co_return answer.out().take();
}

}  // namespace fairlead::terraform
