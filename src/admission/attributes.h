// A request, as admission sees it: everything that decides which webhooks and policies it meets, and what they are
// told.
//
// This is the room's first header. admission decides, exactly as the API server does, which webhooks and policies guard
// a request (match.h, policy.h) or may guard an object that is still to be sent (prospect.h); writes and reads
// AdmissionReviews (review.h); and says in which order what is called and what comes out (dispatch.h), in the server's
// own words (status.h). It never calls anything, reads no clock and does no I/O.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace fairlead::admission {

struct GroupVersionKind {
  std::string group;
  std::string version;
  std::string kind;

  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  Json json() const;
  bool operator==(const GroupVersionKind&) const = default;
};

struct GroupVersionResource {
  std::string group;
  std::string version;
  std::string resource;

  // "deployments.apps", "pods"
  std::string name_with_group() const { return group.empty() ? resource : resource + "." + group; }
  Json json() const;
  bool operator==(const GroupVersionResource&) const = default;
};

enum class Operation { create, update, remove, connect };
// "CREATE", "UPDATE", "DELETE", "CONNECT"
std::string_view name_of(Operation operation);

struct User {
  std::string name;
  std::string uid;
  std::vector<std::string> groups;
  // Lists of strings by key, or null.
  Json extra;
};

// Another version under which the same objects are served.
struct Equivalent {
  GroupVersionResource resource;
  GroupVersionKind kind;
};

struct Attributes {
  Operation operation = Operation::create;
  GroupVersionResource resource;
  GroupVersionKind kind;
  std::string subresource;
  // Empty for what has no namespace, but for a Namespace itself its own name: that is how the server has it.
  std::string ns;
  // Empty where the server is to make the name.
  std::string name;
  // Null where there is none: a DELETE has only the old one.
  Json object;
  Json old_object;
  // The Namespace `ns` as it is in the cluster; null if there is none.
  Json ns_object;
  bool dry_run = false;
  User user;
  // CreateOptions and so on, with kind and apiVersion.
  Json options;
  std::vector<Equivalent> equivalents;
  // The object in another version. Without it only apiVersion and kind change, as for a CRD without a conversion
  // webhook.
  std::function<Result<Json>(const Json& object, const GroupVersionKind& to)> convert;
};

// As `kind`; what is null stays null.
Result<Json> in_version(const Attributes& attributes, const Json& object, const GroupVersionKind& kind);

// The AdmissionRequest without uid, object and oldObject, as a webhook gets it and as `request` is in an expression.
// `resource` and `kind` are those that the request was matched as.
Json request_json(const Attributes& attributes, const GroupVersionResource& resource, const GroupVersionKind& kind);

}  // namespace fairlead::admission
