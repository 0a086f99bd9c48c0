// What the target of a request to a Kubernetes API is about: the way back from a path to a resource.
//
// Never fails: what is not there is empty. Views point into the target.
#pragma once

#include <string>
#include <string_view>

namespace fairlead::kube {

struct RequestPath {
  // "" for the core group.
  std::string_view group;
  std::string_view version;
  std::string_view ns;
  // Plural: "deployments". For /api/v1/namespaces/x it is "namespaces" with the name x.
  std::string_view resource;
  std::string_view name;
  std::string_view subresource;

  // "widgets.example.com", the name of its CRD. Empty for the core group, or where there is no resource.
  std::string definition() const;
  // "v1beta1.metrics.k8s.io", the name of its APIService. Empty for the core group.
  std::string api_service() const;
};

RequestPath parse_request_path(std::string_view target);

}  // namespace fairlead::kube
