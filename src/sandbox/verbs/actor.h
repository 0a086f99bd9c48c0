// The hands of a controller: it writes through an API server like everybody else, admission and managedFields included.
#pragma once

#include <string>
#include <string_view>

#include "sandbox/verbs/api_server.h"

namespace fairlead::sandbox {

class Actor {
 public:
  // `agent` is the name in managedFields: kube-controller-manager, kubelet.
  Actor(ApiServer& server, std::string user, std::string agent)
      : server_(server), user_(std::move(user)), agent_(std::move(agent)) {}

  Core& core() { return server_.core(); }

  // The kind is that of the object's apiVersion.
  Task<Outcome<Json>> create(ResourceId resource, std::string ns, Json object);
  // With the object's resourceVersion: refused if it changed meanwhile.
  Task<Outcome<Json>> update(ResourceId resource, Json object, std::string subresource = "");
  Task<Outcome<Json>> patch(ResourceId resource, Place place, Json merge_patch, std::string subresource = "");
  Task<Outcome<Json>> remove(ResourceId resource, Place place, Json options = Json::Object{});

 private:
  Task<Outcome<Json>> send(std::string method, ResourceId resource, Place place, std::string subresource, Json body,
                           std::string content_type = "application/json");

  ApiServer& server_;
  std::string user_;
  std::string agent_;
};

}  // namespace fairlead::sandbox
