// What is waited for, for how long, and what is told when the wait is in vain.
#include "rollout/sending/tracking.h"

#include <gmock/gmock.h>

#include "rollout/rollout_testing.h"
#include "sandbox/core/core.h"

namespace fairlead::rollout {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;

std::string deployment(std::string_view ns, std::string_view ready_after = "3s") {
  return fmt::format(R"(
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: {}}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}, annotations: {{sandbox.fairlead.dev/ready-after: {}}}}}
    spec: {{containers: [{{name: web, image: "web:1"}}]}}
)",
                     ns, ready_after);
}

constexpr std::string_view kDeploymentsPath = "/apis/apps/v1/namespaces/default/deployments/web";

class TrackingTest : public RolloutTest {
 protected:
  // Forbids what `refuses` says to whoever applies, but nothing to the controllers.
  void forbid(std::function<bool(std::string_view verb, std::string_view resource, std::string_view ns)> refuses) {
    sandbox_.core().options.forbids = [refuses = std::move(refuses)](std::string_view user, std::string_view verb,
                                                                     std::string_view, std::string_view resource,
                                                                     std::string_view ns, std::string_view) {
      return user == "kubernetes-admin" && refuses(verb, resource, ns);
    };
  }
  void make_namespaces() {
    ASSERT_EQ(apply("{apiVersion: v1, kind: Namespace, metadata: {name: a}}\n---\n"
                    "{apiVersion: v1, kind: Namespace, metadata: {name: b}}\n")
                  .how,
              Ending::How::done);
  }
  // Another user asks for this when so much time has passed.
  void after(Duration time, std::string method, std::string target, std::string body = {}) {
    loop_.call_after(time, [this, method = std::move(method), target = std::move(target), body = std::move(body)] {
      injector_.spawn(
          [](RolloutTest& test, std::string how, std::string where, std::string type, std::string what) -> Task<void> {
            (void)co_await test.client().request({.verb = "other",
                                                  .method = std::move(how),
                                                  .target = std::move(where),
                                                  .content_type = std::move(type),
                                                  .body = std::move(what)});
          }(*this, method, target, method == "POST" ? "application/json" : "application/merge-patch+json", body));
    });
  }
  size_t count(journal::EventKind kind) const {
    return size_t(std::ranges::count(events_, kind, &journal::Event::kind));
  }
};

TEST_F(TrackingTest, AUserOfTwoNamespacesSeesWhatBecomesOfThem) {
  make_namespaces();
  forbid([](std::string_view verb, auto, std::string_view ns) {
    return ns.empty() && (verb == "list" || verb == "watch");
  });
  for (std::string_view name : {"", "shop"}) {
    Options options;
    options.name = name;
    Ending ending = apply(deployment("a") + deployment("b"), options);
    EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
    EXPECT_LT(ending.took, seconds(10));
    EXPECT_EQ(count(journal::EventKind::warning), 0u) << events();
    EXPECT_THAT(events(), HasSubstr("this user may not list APIServices, CRDs, Services, admission policies, "
                                    "namespaces, webhook configurations: "));
  }
}

TEST_F(TrackingTest, AUserWhoMayOnlyGetSeesWhatBecomesOfIt) {
  forbid([](std::string_view verb, std::string_view resource, auto) {
    return resource == "deployments" && (verb == "list" || verb == "watch");
  });
  Ending ending = apply(deployment("default"));
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_LT(ending.took, seconds(20));
}

TEST_F(TrackingTest, WhatMayNotBeSeenIsNotWaitedFor) {
  forbid([](std::string_view verb, std::string_view resource, auto) {
    return resource == "deployments" && (verb == "list" || verb == "watch" || verb == "get");
  });
  Ending ending = apply(deployment("default"));
  EXPECT_EQ(ending.how, Ending::How::failed);
  EXPECT_LT(ending.took, minutes(1));
  EXPECT_EQ(reports(ending),
            "error: Deployment default/web is stored, but it is not known whether it becomes ready\n"
            "  because   deployments.apps \"web\" is forbidden: User \"kubernetes-admin\" cannot get resource "
            "\"deployments\" in API group \"apps\" in the namespace \"default\"\n"
            "  from      bundle.yaml:3\n"
            "  next      kubectl auth can-i get deployments.apps -n default; or fairlead apply … --no-wait, which does "
            "not wait until objects are ready\n");
}

TEST_F(TrackingTest, ThatPodsMayNotBeSeenIsACause) {
  forbid([](std::string_view verb, std::string_view resource, auto) { return resource == "pods" && verb == "list"; });
  Ending ending = apply(deployment("default", "1h"));
  EXPECT_EQ(ending.how, Ending::How::timed_out);
  EXPECT_THAT(reports(ending), HasSubstr("  because   its pods cannot be read: pods is forbidden: User"));
}

// What refers to it needs it to be stored.
constexpr std::string_view kAutoscaler = R"(
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: default}
spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
)";

TEST_F(TrackingTest, NoWaitEndsWhenAllIsStored) {
  Options options;
  options.wait = false;
  Ending ending = apply(deployment("default", "1h") + std::string(kAutoscaler), options);
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending);
  EXPECT_LT(ending.took, seconds(1));
}

TEST_F(TrackingTest, NoWaitStillWaitsForWhatOthersNeed) {
  std::string needs_it =
      "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: after, annotations: {config.kubernetes.io/depends-on: "
      "apps/namespaces/default/Deployment/web}}\n";
  Options options;
  options.wait = false;
  Ending ending = apply(deployment("default", "30s") + needs_it, options);
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending);
  EXPECT_GT(ending.took, seconds(29)) << events();
  EXPECT_FALSE(get("/api/v1/namespaces/default/configmaps/after").is_null());
}

TEST_F(TrackingTest, WhatSomebodyDeletesIsNotWaitedFor) {
  after(seconds(5), "DELETE", std::string(kDeploymentsPath));
  Ending ending = apply(deployment("default", "1h"));
  EXPECT_EQ(ending.how, Ending::How::failed) << events();
  EXPECT_LT(ending.took, seconds(6));
  EXPECT_EQ(reports(ending),
            "error: Deployment default/web was deleted while Fairlead waited for it\n"
            "  because   another user or a controller deleted it\n"
            "  from      bundle.yaml:3\n"
            "  next      kubectl -n default get events --field-selector involvedObject.name=web; then apply again\n");
}

// GETs of the Deployment reach the server three seconds later.
class SlowGets final : public http::Transport {
 public:
  SlowGets(Loop& loop, http::Transport& to) : loop_(loop), to_(to) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    if (request.method == "GET" && request.target == kDeploymentsPath) (void)co_await sleep_for(loop_, seconds(3));
    co_return co_await to_.open(std::move(request));
  }

 private:
  Loop& loop_;
  http::Transport& to_;
};

// The new one becomes ready, which says nothing about what was applied.
TEST_F(TrackingTest, AnObjectThatSomebodyCreatedInItsPlaceIsNotOurs) {
  after(seconds(5), "DELETE", std::string(kDeploymentsPath));
  after(seconds(6), "POST", "/apis/apps/v1/namespaces/default/deployments",
        bundle_of(deployment("default", "1s")).objects[0].value().dump());
  SlowGets network(loop_, sandbox_.api_server());
  Ending ending = apply_through(network, deployment("default", "1h"), {.run = "slow"});
  EXPECT_EQ(ending.how, Ending::How::failed) << events();
  EXPECT_THAT(reports(ending),
              HasSubstr("error: Deployment default/web was deleted and created again while Fairlead waited for it\n"));
}

TEST_F(TrackingTest, WhatIsBeingDeletedIsNotWaitedFor) {
  after(seconds(2), "PATCH", std::string(kDeploymentsPath), R"({"metadata":{"finalizers":["example.com/stay"]}})");
  after(seconds(5), "DELETE", std::string(kDeploymentsPath));
  Ending ending = apply(deployment("default", "1h"));
  EXPECT_EQ(ending.how, Ending::How::failed) << events();
  EXPECT_LT(ending.took, seconds(6));
  EXPECT_THAT(reports(ending),
              HasSubstr("error: Deployment default/web began terminating while Fairlead waited for it\n"));
}

TEST_F(TrackingTest, WhatLosesTheLabelOfTheBundleIsStillWaitedFor) {
  Options options;
  options.name = "shop";
  after(seconds(5), "PATCH", std::string(kDeploymentsPath),
        R"({"metadata":{"labels":{"applyset.kubernetes.io/part-of":null}}})");
  Ending ending = apply(deployment("default", "8s"), options);
  EXPECT_THAT(reports(ending), Not(HasSubstr("was deleted")));
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
}

constexpr std::string_view kWidgets = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer}}}
          status:
            type: object
            properties: {conditions: {type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: one, namespace: default}
spec: {size: 1}
)";
constexpr std::string_view kWidgetStatus = "/apis/example.com/v1/namespaces/default/widgets/one/status";

TEST_F(TrackingTest, WhatOnlyProgressesIsNotReady) {
  after(seconds(4), "PATCH", std::string(kWidgetStatus),
        R"({"status":{"conditions":[{"type":"Progressing","status":"True","reason":"Building"}]}})");
  after(seconds(40), "PATCH", std::string(kWidgetStatus),
        R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})");
  Ending ending = apply(kWidgets);
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending);
  EXPECT_GT(ending.took, seconds(39)) << events();
}

TEST_F(TrackingTest, NobodyWaitsAgainForAStatusThatNeverCame) {
  for (std::string_view name : {"", "shop"}) {
    Options options;
    options.name = name;
    options.adopt = true;
    Ending first = apply(kWidgets, options);
    EXPECT_GT(first.took, seconds(9)) << "nobody waited the first time";
    Ending second = apply(kWidgets, options);
    EXPECT_EQ(second.how, Ending::How::done) << reports(second);
    EXPECT_THAT(states(second), HasSubstr("Widget default/one unchanged\n"));
    EXPECT_LT(second.took, seconds(1)) << events();
  }
}

}  // namespace
}  // namespace fairlead::rollout
