// A user who may read namespaced kinds in single namespaces only, as Roles allow it, and not in the whole cluster.
#pragma once

#include <fmt/format.h>

#include <set>

#include "base/json.h"
#include "detour.h"

namespace fairlead::sim {

class FewRights final : public Detour {
 public:
  // Without `applies` it changes nothing.
  FewRights(http::Transport& network, bool applies) : Detour(network), applies_(applies) {}

  Task<Result<http::Answer>> open(http::Request request) override {
    std::string resource = applies_ && request.method == "GET" ? listed_in_cluster(request.target) : std::string();
    if (resource.empty()) co_return co_await network_.open(std::move(request));
    Json status(Json::Object{{"kind", "Status"},
                             {"apiVersion", "v1"},
                             {"metadata", Json::Object{}},
                             {"status", "Failure"},
                             {"reason", "Forbidden"},
                             {"code", 403}});
    status.make("message") =
        fmt::format("{0} is forbidden: User \"jane\" cannot list resource \"{0}\" at the cluster scope", resource);
    co_return http::Answer{
        .status = 403, .headers = {{"Content-Type", "application/json"}}, .body = http::body_of(status.dump())};
  }

 private:
  // "deployments" of "/apis/apps/v1/deployments?limit=500"; empty for anything else.
  static std::string listed_in_cluster(std::string_view target) {
    static const std::set<std::string_view> kNamespaced = {"configmaps",      "secrets", "services",
                                                           "serviceaccounts", "pods",    "endpointslices",
                                                           "deployments",     "jobs",    "events"};
    target = target.substr(0, target.find('?'));
    std::string_view resource = target.substr(target.rfind('/') + 1);
    bool is_in_namespace = target.find("/namespaces/") != std::string_view::npos;
    return !is_in_namespace && kNamespaced.contains(resource) ? std::string(resource) : std::string();
  }

  bool applies_;
};

}  // namespace fairlead::sim
