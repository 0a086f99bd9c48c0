#include <fmt/format.h>

#include "base/version.h"
#include "pulumi/provider/internal/answers.h"
#include "pulumi/provider/internal/desk.h"
#include "pulumi/provider/package_schema.h"
#include "pulumi/provider/properties.h"
#include "pulumi/value/envelope.h"
#include "pulumi/value/struct.h"

namespace fairlead::pulumi {
namespace {

using protobuf::WireWriter;
using terraform::Diagnostics;
using terraform::Value;

// What is wrong with the configuration of the provider.
Diagnostics check_settings(const Desk& desk, const ReadProperties& read) {
  Diagnostics found = read.problems;
  if (!found.has_errors()) found.add(terraform::check_config(read.value, *desk.settings.facade.schema));
  if (!found.has_errors()) found.add(desk.settings.check(read.value));
  return found;
}

// The version of a package that is asked for is one of the settings, too.
Json without_version(Json settings) {
  if (Json::Object* members = settings.if_object())
    for (const char* name : {"version", "pluginDownloadURL"}) members->erase(name);
  return settings;
}

}  // namespace

Task<rpc::Answer> handshake(Desk& desk, const Message& request) {
  if (std::string address = request.text(1); !address.empty()) desk.engine.attach(std::move(address));
  WireWriter out;
  out.flag(1, true);  // accept_secrets
  co_return out.take();
}

Task<rpc::Answer> attach(Desk& desk, const Message& request) {
  desk.engine.attach(request.text(1));
  co_return std::string();
}

Task<rpc::Answer> get_plugin_info(Desk&, const Message&) {
  WireWriter out;
  out.text(1, program_version());
  co_return out.take();
}

Task<rpc::Answer> get_schema(Desk& desk, const Message&) {
  WireWriter out;
  out.text(1, package_schema(desk.settings.facade, desk.catalog, program_version()).dump());
  co_return out.take();
}

Task<rpc::Answer> check_config(Desk& desk, const Message& request) {
  Result<Json> given = properties_in(desk, request, 3);
  if (!given) co_return invalid(given.error());
  const Facade& facade = desk.settings.facade;
  Diagnostics found = check_settings(desk, read_properties(without_version(*given), facade));
  WireWriter out;
  out.message(1, struct_message(with_secrets_marked(*given, facade)));
  put_failures(out, 2, desk, found, facade, *given);
  co_return out.take();
}

// Every resource would be replaced: so for another cluster only, never for other credentials.
Task<rpc::Answer> diff_config(Desk& desk, const Message& request) {
  Result<Json> before = properties_in(desk, request, request.has(6) ? 6 : 3);
  Result<Json> after = properties_in(desk, request, 4);
  if (!before) co_return invalid(before.error());
  if (!after) co_return invalid(after.error());
  const Facade& facade = desk.settings.facade;
  std::vector<Difference> found;
  for (const auto& [name, value] : before->members())
    for (Difference& one : differences(value, (*after)[name], name)) found.push_back(std::move(one));
  for (const auto& [name, value] : after->members())
    if (!before->contains(name)) found.push_back({.path = name, .kind = Difference::Kind::add});
  Value old_config = read_properties(without_version(*before), facade).value;
  Value new_config = read_properties(without_version(*after), facade).value;
  bool is_known = old_config.is_wholly_known() && new_config.is_wholly_known();
  auto old_server = is_known && !found.empty() ? desk.settings.server(old_config) : std::nullopt;
  auto new_server = is_known && !found.empty() ? desk.settings.server(new_config) : std::nullopt;
  bool is_another_cluster = old_server && new_server && *old_server != *new_server;
  if (is_another_cluster)
    for (Difference& one : found) one.replaces = true;
  co_return diff_answer(found, false);
}

Task<rpc::Answer> configure(Desk& desk, const Message& request) {
  Result<Json> given = properties_in(desk, request, 2);
  if (!given) co_return invalid(given.error());
  const Facade& facade = desk.settings.facade;
  ReadProperties read = read_properties(without_version(*given), facade);
  Diagnostics found = check_settings(desk, read);
  if (found.has_errors()) co_return failed(desk, found, facade);
  desk.settings.configure(read.value);
  WireWriter out;
  out.flag(1, true);  // accept_secrets
  out.flag(2, true);  // supports_preview
  co_return out.take();
}

Task<rpc::Answer> invoke(Desk& desk, const Message& request) {
  const FunctionFacade* facade = nullptr;
  for (const FunctionFacade& one : desk.catalog.functions)
    if (one.token() == request.bytes(1)) facade = &one;
  if (!facade)
    co_return std::unexpected(rpc::Status{
        rpc::Code::not_found, fmt::format("this version of the provider has no function {}", request.bytes(1))});
  Result<Json> given = properties_in(desk, request, 2);
  if (!given) co_return invalid(given.error());
  CallLog log(desk.log, desk.secrets, "");
  terraform::Context context(desk.loop, desk.clusters, log, {});
  ReadProperties read = read_properties(*given, *facade);
  Diagnostics found = std::move(read.problems);
  if (!found.has_errors()) found.add(terraform::check_config(read.value, *facade->schema));
  if (!found.has_errors()) found.add(co_await facade->source->validate(context, read.value));
  WireWriter out;
  if (found.has_errors()) {
    put_failures(out, 2, desk, found, *facade, *given);
    co_return out.take();
  }
  bool is_preview = request.flag(7);
  if (is_preview)
    for (const auto& [name, value] : facade->in_preview) read.value.make(name) = value;
  if (!read.value.is_wholly_known()) co_return out.take();
  terraform::DataResponse response = co_await facade->source->read(context, std::move(read.value));
  log.tell_warnings(response.diagnostics, *facade);
  co_await desk.log.flush();
  if (response.diagnostics.has_errors()) co_return failed(desk, response.diagnostics, *facade);
  out.message(1, struct_message(write_properties(response.state, *given, *facade)));
  co_return out.take();
}

}  // namespace fairlead::pulumi
