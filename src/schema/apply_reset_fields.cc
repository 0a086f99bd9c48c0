#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "schema/apply.h"

namespace fairlead::schema {
namespace {

using fields::FieldSet;
using fields::PathElement;

struct Exception {
  std::string_view kind;
  std::array<std::string_view, 2> also;  // left alone by a write of the status, besides the spec
};

// Most kinds let a write of the status change metadata.
constexpr Exception kExceptions[] = {
    {"apps/Deployment", {"metadata.labels"}},
    {"/Pod", {"metadata.deletionTimestamp", "metadata.ownerReferences"}},
    {"storage.k8s.io/VolumeAttachment", {"metadata"}},
    {"flowcontrol.apiserver.k8s.io/FlowSchema", {"metadata"}},
    {"flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration", {"metadata"}},
    {"admissionregistration.k8s.io/ValidatingAdmissionPolicy", {"metadata"}},
    {"apiextensions.k8s.io/CustomResourceDefinition", {"metadata"}},
    {"apiregistration.k8s.io/APIService", {"metadata"}},
};

void insert(FieldSet& set, std::string_view path) {
  fields::Path elements;
  while (!path.empty()) {
    std::string_view name = path.substr(0, path.find('.'));
    elements.push_back(PathElement::field(name));
    path.remove_prefix(std::min(name.size() + 1, path.size()));
  }
  set.insert(elements);
}

}  // namespace

FieldSet reset_fields(std::string_view group, std::string_view kind, std::string_view subresource, bool has_status) {
  FieldSet set;
  if (!has_status) return set;
  if (subresource.empty()) insert(set, "status");
  if (group == "certificates.k8s.io" && subresource.empty()) insert(set, "spec");
  if (group == "certificates.k8s.io" && subresource == "status") insert(set, "status.conditions");
  if (subresource != "status") return set;
  insert(set, "spec");
  for (const Exception& exception : kExceptions)
    if (exception.kind == std::string(group) + "/" + std::string(kind))
      for (std::string_view path : exception.also) insert(set, path);
  return set;
}

}  // namespace fairlead::schema
