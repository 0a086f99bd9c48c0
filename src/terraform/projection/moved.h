// What `moved` blocks take over from the state of other providers.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"

namespace fairlead::terraform {

struct MovedObject {
  // As a manifest.
  std::string yaml_body;
  // The attribute `cluster` of k8sconnect_object; null for others, which are configured in their provider blocks.
  Json cluster;
  bool force_destroy = false;
  bool delete_protection = false;
  // The field manager of the former provider.
  std::string field_manager;
};

// Reads the state of k8sconnect_object, kubectl_manifest or kubernetes_manifest. Fails for other resources, and for
// state that names no object.
Result<MovedObject> read_moved(std::string_view source_type, const Json& source_state);

// Removes what only the API server writes, so that the object is a manifest: also the status and the annotations of
// kubectl and of the Deployment controller.
Json as_manifest(Json object);

}  // namespace fairlead::terraform
