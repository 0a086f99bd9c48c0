// How errors and warnings speak of an object. Summaries end with `(Kind namespace/name)`, because Terraform shows
// diagnostics with equal summaries only once.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/outcome.h"
#include "object/key.h"
#include "terraform/value/diagnostic.h"

namespace fairlead::terraform {

// "The object was not accepted (ConfigMap shop/web)"
std::string headline(std::string_view what, const object::Key& key);

// The error of a request about the object, with advice for those who use Terraform.
Error refused(std::string_view what, const object::Key& key, const kube::Failure& failure);

// The error of a request without an answer for a resource that is destroyed. `so` is what that means: "so nothing was
// deleted". Nothing if the failure is another one.
std::optional<Error> unreachable(std::string_view so, const object::Key& key, const kube::Failure& failure);

// Adds the API server's warnings, each once.
void add_warnings(Diagnostics& diagnostics, const object::Key& key, const std::vector<std::string>& warnings,
                  const Path& path);

// The error of a plan that creates something again which the state protects.
Error protected_in_state(std::string summary);

// "spec.replicas, spec.paused and 3 more"
std::string some_of(const std::vector<std::string>& names, size_t most = 5);

}  // namespace fairlead::terraform
