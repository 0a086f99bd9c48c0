#include "webhook/dynamo/internal/component.h"

#include "webhook/dynamo/internal/shared_spec.h"

namespace fairlead::webhook::dynamo {
namespace {

constexpr std::array kBackend = {Field{"backendFramework", Type::text}};

// The name of the graph that made the component; empty if a person made it.
std::string graph_of(const Json& object) {
  for (const Json& owner : object["metadata"]["ownerReferences"].items())
    if (owner["kind"].string_or("") == "DynamoGraphDeployment") return std::string(owner["name"].string_or(""));
  return {};
}

// Fields that are not there have no type.
std::string wrong_types(const Json& spec) {
  if (spec.is_null()) return {};
  if (std::string wrong = wrong_type(spec, "spec", {"", Type::object, kSharedFields}); !wrong.empty()) return wrong;
  return wrong_type(spec, "spec", {"", Type::object, kBackend});
}

}  // namespace

Verdict ComponentPolicy::check(const Request& request) const {
  const Json& spec = request.object["spec"];
  if (std::string wrong = wrong_types(spec); !wrong.empty()) return malformed(std::move(wrong));
  if (Verdict backend = check_backend(spec); !backend.ok()) return backend;
  return check_shared(spec, "spec", namespace_of(request), graph_of(request.object));
}

Verdict ComponentPolicy::check_change(const Request& request) const {
  return check_backend_change(request.old_object["spec"], request.object["spec"]);
}

}  // namespace fairlead::webhook::dynamo
