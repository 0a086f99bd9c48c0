// The id that `terraform import` takes for an object.
//
//   prod:shop:apps/v1/Deployment:web        CONTEXT:[NAMESPACE:]APIVERSION/KIND:NAME
//   arn:aws:eks:eu-1:1234:cluster/prod:v1/Namespace:shop
//   context=prod,namespace=shop,api_version=apps/v1,kind=Deployment,name=web
//
// Contexts and names may hold colons. The part APIVERSION/KIND tells where one ends and the other begins.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace fairlead::terraform {

struct ImportId {
  std::string api_version;
  std::string kind;
  std::string name;
  // With `key=value`: as given. Otherwise empty, and `prefix` has both.
  std::string context;
  std::string ns;
  // "prod:shop": the context, and the namespace if the kind has one. Only the cluster knows whether it has one.
  std::string prefix;
  // The name of a cluster of the provider block, and the path of a kubeconfig; only with `key=value`.
  std::string cluster;
  std::string kubeconfig;

  static Result<ImportId> parse(std::string_view text);

  // Takes the prefix apart. Fails if a namespaced kind has no namespace.
  Result<ImportId> resolved(bool namespaced) const;
};

// Returns the id of an object for an `import` block.
std::string import_id_of(std::string_view context, std::string_view ns, std::string_view api_version,
                         std::string_view kind, std::string_view name);

}  // namespace fairlead::terraform
