#include "sandbox/verbs/internal/reviews.h"

#include "sandbox/kinds/types.h"
#include "sandbox/verbs/internal/admission_chain.h"
#include "sandbox/verbs/internal/write.h"

namespace fairlead::sandbox {
namespace {

Json groups_json(const User& user) {
  Json::Array groups;
  for (const std::string& group : user.groups) groups.emplace_back(group);
  return groups;
}

Json strings(std::initializer_list<const char*> texts) {
  Json::Array list;
  for (const char* text : texts) list.emplace_back(text);
  return list;
}

// Those of cluster-admin, and of the roles that everybody has.
Json rules_for_everything() {
  auto resources = [](Json verbs, const char* group, Json names) {
    return Json::Object{
        {"verbs", std::move(verbs)}, {"apiGroups", Json::Array{group}}, {"resources", std::move(names)}};
  };
  auto paths = [](Json verbs, Json urls) {
    return Json::Object{{"verbs", std::move(verbs)}, {"nonResourceURLs", std::move(urls)}};
  };
  return Json::Object{
      {"resourceRules",
       Json::Array{resources(strings({"create"}), "authorization.k8s.io",
                             strings({"selfsubjectaccessreviews", "selfsubjectrulesreviews"})),
                   resources(strings({"create"}), "authentication.k8s.io", strings({"selfsubjectreviews"})),
                   resources(strings({"*"}), "*", strings({"*"}))}},
      {"nonResourceRules",
       Json::Array{paths(strings({"get"}), strings({"/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez",
                                                    "/openapi", "/openapi/*", "/readyz", "/version", "/version/"})),
                   paths(strings({"*"}), strings({"*"})),
                   paths(strings({"get"}), strings({"/healthz", "/livez", "/readyz", "/version", "/version/"}))}},
      {"incomplete", false}};
}

Json access(const Core& core, std::string_view user, const Json& spec) {
  const Json& what = spec["resourceAttributes"];
  bool refused =
      core.options.forbids && !what.is_null() &&
      core.options.forbids(user, what["verb"].string_or(""), what["group"].string_or(""),
                           what["resource"].string_or(""), what["namespace"].string_or(""), what["name"].string_or(""));
  Json::Object status{{"allowed", !refused}};
  return status;
}

}  // namespace

bool is_review(const Kind& kind) {
  return kind.group == "authorization.k8s.io" || kind.group == "authentication.k8s.io";
}

Task<Outcome<Reply>> answer_review(ApiServer& server, Call& call, const Kind& kind) {
  if (kind.resource == "tokenreviews") co_return refuse(not_implemented("token reviews"));
  CO_TRY(check_write_options(call, "CreateOptions", false));
  CO_TRY_ASSIGN(Json object, decode_object(call, kind));
  Core& core = server.core();
  object = with_managers(core, kind, "", nullptr, std::move(object), call.manager());
  Attributes attributes{
      kind,          {call.route.ns, ""}, "", Operation::create, &object, nullptr, options_json(call, "CreateOptions"),
      call.dry_run()};
  CO_TRY(co_await admit_mutating(server, call, attributes));
  CO_TRY(co_await admit_validating(server, call, attributes));
  if (kind.resource == "selfsubjectreviews") {
    co_return Reply::of(
        Json::Object{{"kind", "SelfSubjectReview"},
                     {"apiVersion", "authentication.k8s.io/v1"},
                     {"metadata", Json::Object{{"creationTimestamp", core.now_text()}}},
                     {"status", Json::Object{{"userInfo", Json::Object{{"username", call.user.name},
                                                                       {"groups", groups_json(call.user)}}}}}},
        201);
  }
  if (kind.resource == "selfsubjectrulesreviews") {
    co_return Reply::of(Json::Object{{"kind", "SelfSubjectRulesReview"},
                                     {"apiVersion", "authorization.k8s.io/v1"},
                                     {"metadata", Json::Object{}},
                                     {"spec", Json::Object{}},
                                     {"status", rules_for_everything()}},
                        201);
  }
  bool about_others = kind.resource != "selfsubjectaccessreviews";
  std::string_view user = about_others ? object["spec"]["user"].string_or("") : std::string_view(call.user.name);
  object.make("status") = access(core, user, object["spec"]);
  co_return Reply::of(std::move(object), 201);
}

}  // namespace fairlead::sandbox
