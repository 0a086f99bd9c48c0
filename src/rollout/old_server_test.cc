// Clusters that are older than what Fairlead is built for: an API server as of about 1.24, which has neither
// matchConditions nor policies nor aggregated discovery, and takes no notice of fieldValidation.
#include <gmock/gmock.h>

#include "base/base64.h"
#include "rollout/rollout_testing.h"

namespace fairlead::rollout {
namespace {

using testing::HasSubstr;

class OldServer final : public http::Transport {
 public:
  explicit OldServer(http::Transport& server) : server_(server) {}

  Task<Result<http::Answer>> open(http::Request request) override {
    std::string_view path = std::string_view(request.target).substr(0, request.target.find('?'));
    if (path.contains("admissionpolic")) co_return answer(404, "404 page not found");
    bool discovers = path == "/api" || path == "/apis" || path.ends_with("/v1") || path.ends_with("/v1beta1");
    if (discovers) request.headers.set("Accept", "application/json");
    bool has_resources = path == "/apis/admissionregistration.k8s.io/v1";
    drop_query(request.target, "fieldValidation");
    if (path.contains("webhookconfigurations") && !request.body.empty()) drop_conditions(request.body);
    CO_TRY_ASSIGN(http::Answer from, co_await server_.open(std::move(request)));
    if (!has_resources) co_return from;
    CO_TRY_ASSIGN(std::optional<std::string> body, co_await from.body->read());
    from.body = http::body_of(without_policies(body.value_or("")));
    co_return from;
  }

 private:
  static http::Answer answer(int status, std::string text) {
    return {status, {{"Content-Type", "text/plain"}}, http::body_of(std::move(text)), 1};
  }
  static void drop_query(std::string& target, std::string_view name) {
    size_t begin = target.find(fmt::format("{}=", name));
    if (begin == std::string::npos) return;
    size_t end = target.find('&', begin);
    target.erase(begin, end == std::string::npos ? std::string::npos : end + 1 - begin);
  }
  static void drop_conditions(std::string& body) {
    Json object = Json::parse(body).value();
    if (Json* hooks = object.if_object()->find("webhooks"))
      for (Json& hook : *hooks->if_array()) hook.if_object()->erase("matchConditions");
    body = object.dump();
  }
  static std::string without_policies(std::string_view body) {
    Json list = Json::parse(body).value();
    Json::Array kept;
    for (const Json& one : list["resources"].items())
      if (!one["name"].string_or("").contains("admissionpolic")) kept.push_back(one);
    list.make("resources") = std::move(kept);
    return list.dump();
  }

  http::Transport& server_;
};

class OldServerTest : public RolloutTest, public testing::WithParamInterface<std::string_view> {
 protected:
  Ending apply_old(std::string_view yaml) {
    events_.clear();
    Options options;
    options.name = "bundle";
    options.run = "run" + std::to_string(++runs_);
    return loop_.run(roll_out(old_client_, old_discovery_, bundle_of(yaml), std::move(options), journal_, nullptr));
  }

  OldServer old_{sandbox_.api_server()};
  kube::Client old_client_{loop_, old_, nullptr, {}};
  kube::Discovery old_discovery_{old_client_};
};
INSTANTIATE_TEST_SUITE_P(Policies, OldServerTest, testing::Values("Fail", "Ignore"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(OldServerTest, ABundleWithAWebhookGoesInAndItsReportSaysWhatIsNotProved) {
  serve("operator/webhook", std::string(kCertificate));
  std::string yaml = operator_that_listens_after("2s") + fmt::format(R"(---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: widgets.example.com}}
spec:
  group: example.com
  scope: Cluster
  names: {{plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}}
  versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object}}}}}}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {{name: widgets}}
webhooks:
- name: v.widgets.example.com
  clientConfig: {{caBundle: {}, service: {{name: webhook, namespace: operator}}}}
  rules: [{{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [widgets]}}]
  failurePolicy: {}
  sideEffects: None
  admissionReviewVersions: [v1]
---
apiVersion: example.com/v1
kind: Widget
metadata: {{name: w}}
)",
                                                                     to_base64(kCertificate), GetParam());
  Ending ending = apply_old(yaml);
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_THAT(events(), HasSubstr("is in effect: the API server does not support matchConditions "
                                  "(Kubernetes before 1.28)"));
  EXPECT_EQ(get("/apis/example.com/v1/widgets")["items"].items().size(), 1u);
  // With Fail the object's own request shows that the webhook answers.
  if (GetParam() == "Fail") EXPECT_THAT(seen_, testing::ElementsAre("w"));
  // Nothing of ours is left, or was ever there.
  EXPECT_EQ(get("/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations")["items"].items().size(), 0u);
  Ending again = apply_old(yaml);
  EXPECT_EQ(again.how, Ending::How::done) << reports(again) << events();
  for (const ObjectEnding& object : again.objects)
    EXPECT_EQ(name_of(object.state), name_of(ObjectEnding::State::unchanged)) << object.key.text();
}

}  // namespace
}  // namespace fairlead::rollout
