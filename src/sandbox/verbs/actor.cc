#include "sandbox/verbs/actor.h"

#include "async/scope.h"

namespace fairlead::sandbox {
namespace {

constexpr Duration kRetry = std::chrono::milliseconds(200);

}  // namespace

Task<Outcome<Json>> Actor::send(std::string method, ResourceId resource, Place place, std::string subresource,
                                Json body, std::string content_type) {
  const Kind* kind = core().kinds.preferred(resource.group, resource.resource);
  if (!kind) co_return refuse(unknown_resource());
  Call call;
  call.method = std::move(method);
  call.user = {user_, {"system:authenticated"}};
  call.user_agent = agent_;
  call.content_type = std::move(content_type);
  call.body = std::move(body);
  Route& route = call.route;
  route.is_resource = true;
  route.group = kind->group;
  route.version = kind->version;
  route.resource = kind->resource;
  route.ns = std::move(place.ns);
  route.name = std::move(place.name);
  route.subresource = std::move(subresource);
  Call attempt = call;
  Reply reply = co_await server_.serve(attempt);
  // Its API server is down. Controllers do not give up for that.
  while (reply.status == 503 && co_await sleep_for(core().loop, kRetry)) {
    attempt = call;
    reply = co_await server_.serve(attempt);
  }
  if (reply.status < 300) co_return std::move(reply.value);
  Status status{reply.status, std::string(reply.value["reason"].string_or("")),
                std::string(reply.value["message"].string_or(reply.text)), reply.value["details"]};
  co_return refuse(std::move(status));
}

Task<Outcome<Json>> Actor::create(ResourceId resource, std::string ns, Json object) {
  return send("POST", std::move(resource), {std::move(ns), ""}, "", std::move(object));
}

Task<Outcome<Json>> Actor::update(ResourceId resource, Json object, std::string subresource) {
  Place place{std::string(object["metadata"]["namespace"].string_or("")),
              std::string(object["metadata"]["name"].string_or(""))};
  return send("PUT", std::move(resource), std::move(place), std::move(subresource), std::move(object));
}

Task<Outcome<Json>> Actor::patch(ResourceId resource, Place place, Json merge_patch, std::string subresource) {
  return send("PATCH", std::move(resource), std::move(place), std::move(subresource), std::move(merge_patch),
              "application/merge-patch+json");
}

Task<Outcome<Json>> Actor::remove(ResourceId resource, Place place, Json options) {
  return send("DELETE", std::move(resource), std::move(place), "", std::move(options));
}

}  // namespace fairlead::sandbox
