#include "pulumi/provider/internal/answers.h"

#include <fmt/format.h>

#include <set>

#include "pulumi/value/envelope.h"
#include "pulumi/value/struct.h"

namespace fairlead::pulumi {
namespace {

using protobuf::WireWriter;
using terraform::Diagnostic;
using terraform::Diagnostics;

std::string errors_text(const Desk& desk, const Diagnostics& diagnostics, const Facade& facade) {
  std::string text;
  for (const Diagnostic& one : diagnostics.all())
    if (one.severity == Diagnostic::Severity::error)
      text += (text.empty() ? "" : "\n") + text_of(one, facade, desk.secrets);
  return text;
}

// "cluster.kubeconfig" of a path in the core.
std::string property_path(const terraform::Path& path, const Facade& facade, const Json& given) {
  std::string text;
  for (const terraform::Path::Step& step : path.steps()) {
    if (const auto* attribute = std::get_if<terraform::Path::Attribute>(&step)) {
      bool is_first = text.empty();
      bool is_free_form = is_first && facade.free_form && facade.free_form->attribute == attribute->name &&
                          given.contains(facade.free_form->property);
      text = with_name(text, is_free_form ? facade.free_form->property
                             : is_first   ? facade.property_of(attribute->name)
                                          : camel_case(attribute->name));
    } else if (const auto* key = std::get_if<terraform::Path::Key>(&step)) {
      text = with_name(text, key->key);
    } else {
      text += fmt::format("[{}]", std::get<terraform::Path::Index>(step).index);
    }
  }
  return text;
}

}  // namespace

Result<Json> properties_in(Desk& desk, const Message& request, uint64_t field) {
  Result<Json> properties = read_struct(request.bytes(field));
  if (properties) each_secret(*properties, [&](std::string_view value) { desk.secrets.hide(value); });
  return properties;
}

std::unexpected<rpc::Status> invalid(const Error& error) {
  return std::unexpected(rpc::Status{rpc::Code::invalid_argument, error.message()});
}

std::unexpected<rpc::Status> failed(const Desk& desk, const Diagnostics& diagnostics, const Facade& facade) {
  return std::unexpected(rpc::Status{rpc::Code::failed_precondition, errors_text(desk, diagnostics, facade)});
}

std::unexpected<rpc::Status> half_made(const Desk& desk, const Diagnostics& diagnostics, const Facade& facade,
                                       const std::string& id, const Json& outputs) {
  std::string text = errors_text(desk, diagnostics, facade);
  WireWriter resource;
  resource.text(1, id);
  resource.message(2, struct_message(outputs));
  resource.text(3, text);
  WireWriter any;
  any.text(1, "type.googleapis.com/pulumirpc.ErrorResourceInitFailed");
  any.bytes(2, resource.out());
  WireWriter status;
  status.number(1, uint64_t(rpc::Code::failed_precondition));
  status.text(2, text);
  status.message(3, any);
  return std::unexpected(
      rpc::Status{.code = rpc::Code::failed_precondition, .message = std::move(text), .details = status.take()});
}

void put_failures(WireWriter& out, uint64_t field, const Desk& desk, const Diagnostics& diagnostics,
                  const Facade& facade, const Json& given) {
  for (const Diagnostic& one : diagnostics.all()) {
    if (one.severity != Diagnostic::Severity::error) continue;
    WireWriter failure;
    failure.text(1, property_path(one.path, facade, given));
    failure.text(2, text_of(one, facade, desk.secrets));
    out.message(field, failure);
  }
}

std::string diff_answer(const std::vector<Difference>& found, bool deletes_first) {
  constexpr uint64_t kNone = 1, kSome = 2;
  constexpr uint64_t kAdd = 0, kDelete = 2, kUpdate = 4;
  std::set<std::string> changed, replacing;
  for (const Difference& one : found) {
    changed.insert(top_of(one.path));
    if (one.replaces) replacing.insert(top_of(one.path));
  }
  WireWriter out;
  for (const std::string& name : replacing) out.text(1, name);
  out.flag(3, deletes_first);
  out.number(4, found.empty() ? kNone : kSome);
  for (const std::string& name : changed) out.text(5, name);
  for (const Difference& one : found) {
    uint64_t kind = one.kind == Difference::Kind::add ? kAdd : one.kind == Difference::Kind::remove ? kDelete : kUpdate;
    WireWriter difference;
    // The kind that replaces is the next number.
    difference.number(1, kind + (replacing.contains(top_of(one.path)) ? 1 : 0));
    difference.flag(2, one.is_input);
    WireWriter entry;
    entry.text(1, one.path);
    entry.message(2, difference);
    out.message(6, entry);
  }
  out.flag(7, true);
  return out.take();
}

}  // namespace fairlead::pulumi
