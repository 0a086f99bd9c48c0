#include "webhook/dynamo/internal/graph.h"

#include <map>

#include "base/printable.h"
#include "webhook/dynamo/internal/shared_spec.h"

namespace fairlead::webhook::dynamo {
namespace {

constexpr size_t kMostServices = 25;
constexpr size_t kMostClaims = 100;

constexpr std::array kClaimFields = {Field{"create", Type::flag}, Field{"name", Type::text},
                                     Field{"storageClass", Type::text}, Field{"size", Type::quantity},
                                     Field{"volumeAccessMode", Type::text}};
constexpr std::array kClaim = {Field{"", Type::object, kClaimFields}};
constexpr std::array kService = {Field{"", Type::object, kSharedFields}};
constexpr std::array kGraphFields = {Field{"backendFramework", Type::text}, Field{"pvcs", Type::list, kClaim},
                                     Field{"services", Type::map, kService}};

std::map<std::string_view, const Json*> sorted_services(const Json& spec) {
  std::map<std::string_view, const Json*> services;
  for (const Json::Member& service : spec["services"].members()) services.emplace(service.key, &service.value);
  return services;
}

std::string path_of(std::string_view service) { return fmt::format("spec.services[{}]", printable_line(service)); }

void join(std::string& errors, const std::string& error) {
  if (!errors.empty()) errors += "\n";
  errors += error;
}

// Everything that is missing from one PVC.
std::string claim_errors(const Json& claim, size_t index) {
  std::string errors;
  std::string path = fmt::format("spec.pvcs[{}]", index);
  if (claim["name"].string_or("").empty()) join(errors, path + ".name is required");
  if (!claim["create"].bool_or(false)) return errors;
  if (claim["storageClass"].string_or("").empty()) join(errors, path + ".storageClass is required when create is true");
  if (is_zero_quantity(claim["size"])) join(errors, path + ".size is required when create is true");
  if (claim["volumeAccessMode"].string_or("").empty())
    join(errors, path + ".volumeAccessMode is required when create is true");
  return errors;
}

std::string claims_error(const Json& claims) {
  if (claims.items().size() > kMostClaims)
    return fmt::format("spec.pvcs must have at most {} items, and has {}", kMostClaims, claims.items().size());
  for (size_t i = 0; i < claims.items().size(); ++i)
    if (std::string errors = claim_errors(claims.items()[i], i); !errors.empty()) return errors;
  return {};
}

bool has_adapter(const Json& service) { return service["scalingAdapter"]["enabled"].bool_or(false); }

int64_t replicas_of(const Json& service) { return service["replicas"].int_or(1); }

std::string changed_replicas(const Json& old_spec, const Json& spec) {
  std::string errors;
  for (const auto& [name, service] : sorted_services(spec)) {
    const Json& old_service = old_spec["services"][name];
    if (!has_adapter(*service) || old_service.is_null() || replicas_of(old_service) == replicas_of(*service)) continue;
    join(errors, path_of(name) +
                     ".replicas cannot be modified directly when scaling adapter is enabled; scale or update the "
                     "related DynamoGraphDeploymentScalingAdapter instead");
  }
  return errors;
}

Verdict check_services(const Request& request, const Json& spec) {
  Verdict all;
  std::string graph(request.object["metadata"]["name"].string_or(request.name));
  for (const auto& [name, service] : sorted_services(spec)) {
    Verdict verdict = check_shared(*service, path_of(name), namespace_of(request), graph);
    if (!verdict.ok()) return verdict;
    all.warnings.insert(all.warnings.end(), verdict.warnings.begin(), verdict.warnings.end());
  }
  return all;
}

}  // namespace

Verdict GraphPolicy::check(const Request& request) const {
  const Json& spec = request.object["spec"];
  if (!spec.is_null())
    if (std::string wrong = wrong_type(spec, "spec", {"", Type::object, kGraphFields}); !wrong.empty())
      return malformed(std::move(wrong));
  size_t services = spec["services"].members().size();
  if (services == 0) return refused("spec.services must have at least one service");
  if (services > kMostServices)
    return refused(fmt::format("spec.services must have at most {} services, and has {}", kMostServices, services));
  if (std::string error = claims_error(spec["pvcs"]); !error.empty()) return refused(std::move(error));
  if (Verdict backend = check_backend(spec); !backend.ok()) return backend;
  return check_services(request, spec);
}

Verdict GraphPolicy::check_change(const Request& request) const {
  const Json& old_spec = request.old_object["spec"];
  const Json& spec = request.object["spec"];
  if (Verdict backend = check_backend_change(old_spec, spec); !backend.ok()) return backend;
  if (may_scale(request)) return {};
  std::string errors = changed_replicas(old_spec, spec);
  return errors.empty() ? Verdict() : refused(std::move(errors));
}

bool GraphPolicy::may_scale(const Request& request) const {
  const std::string& user = request.user.name;
  if (user.empty()) return false;
  if (user == options_.operator_account) return true;
  std::string ns = namespace_of(request);
  return !ns.empty() && !options_.planner_account.empty() &&
         user == fmt::format("system:serviceaccount:{}:{}", ns, options_.planner_account);
}

}  // namespace fairlead::webhook::dynamo
