#include "admission/attributes.h"

namespace fairlead::admission {

Json GroupVersionKind::json() const { return Json::Object{{"group", group}, {"version", version}, {"kind", kind}}; }

Json GroupVersionResource::json() const {
  return Json::Object{{"group", group}, {"version", version}, {"resource", resource}};
}

std::string_view name_of(Operation operation) {
  switch (operation) {
    case Operation::create: return "CREATE";
    case Operation::update: return "UPDATE";
    case Operation::remove: return "DELETE";
    case Operation::connect: return "CONNECT";
  }
  return "";
}

Result<Json> in_version(const Attributes& attributes, const Json& object, const GroupVersionKind& kind) {
  if (object.is_null()) return Json();
  if (object["apiVersion"].string_or("") == kind.api_version() && object["kind"].string_or("") == kind.kind)
    return object;
  if (attributes.convert) return attributes.convert(object, kind);
  Json converted = object;
  converted.make("apiVersion") = kind.api_version();
  converted.make("kind") = kind.kind;
  return converted;
}

Json request_json(const Attributes& attributes, const GroupVersionResource& resource, const GroupVersionKind& kind) {
  Json::Object request;
  auto add_text = [](Json::Object& target, std::string key, const std::string& text) {
    if (!text.empty()) target.append(std::move(key), text);
  };
  request.append("kind", kind.json());
  request.append("resource", resource.json());
  add_text(request, "subResource", attributes.subresource);
  request.append("requestKind", attributes.kind.json());
  request.append("requestResource", attributes.resource.json());
  add_text(request, "requestSubResource", attributes.subresource);
  add_text(request, "name", attributes.name);
  add_text(request, "namespace", attributes.ns);
  request.append("operation", name_of(attributes.operation));

  Json::Object user;
  add_text(user, "username", attributes.user.name);
  add_text(user, "uid", attributes.user.uid);
  if (!attributes.user.groups.empty())
    user.append("groups", Json::Array(attributes.user.groups.begin(), attributes.user.groups.end()));
  if (!attributes.user.extra.members().empty()) user.append("extra", attributes.user.extra);
  request.append("userInfo", std::move(user));

  request.append("dryRun", attributes.dry_run);
  request.append("options", attributes.options);
  return request;
}

}  // namespace fairlead::admission
