// What a dry run tells about each object, and that it tells the same without asking the API server.
#include <gmock/gmock.h>

#include "rollout/rollout_testing.h"

namespace fairlead::rollout {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// Writes down every request that would change something, and refuses patches if asked to.
class Gate : public http::Transport {
 public:
  explicit Gate(http::Transport& to) : to_(to) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    bool reads = request.method == "GET" || request.target.contains("selfsubjectaccessreviews");
    bool is_dry = request.target.contains("dryRun=All");
    if (!reads && !is_dry) writes.push_back(request.method + " " + request.target);
    if (!reads && is_dry) ++dry_runs;
    if (!reads && forbids) {
      return refuse();
    }
    return to_.open(std::move(request));
  }

  bool forbids = false;
  std::vector<std::string> writes;
  int dry_runs = 0;

 private:
  static constexpr std::string_view kForbidden =
      R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"configmaps \"x\" is forbidden: User \"joe\" cannot patch resource \"configmaps\" in API group \"\" in the namespace \"default\"","reason":"Forbidden","details":{"name":"x","kind":"configmaps"},"code":403})";

  static Task<Result<http::Answer>> refuse() {
    http::Answer answer{.status = 403, .headers = {}, .body = http::body_of(std::string(kForbidden))};
    answer.headers.set("Content-Type", "application/json");
    co_return answer;
  }
  http::Transport& to_;
};

class ForecastTest : public RolloutTest {
 protected:
  Ending plan(std::string_view yaml, Options options = {}) { return rehearse_through(gate_, yaml, std::move(options)); }
  static std::string text(const Ending& ending) {
    std::string text;
    for (const ObjectEnding& object : ending.objects) {
      if (!object.forecast) {
        text += fmt::format("{} none\n", object.key.text());
        continue;
      }
      const Forecast& forecast = *object.forecast;
      text += fmt::format("{} {} {}\n", forecast.step, object.key.text(), name_of(forecast.action));
      for (const Forecast::Wait& wait : forecast.waits)
        text += fmt::format("  after {} is {} ({})\n", wait.what, wait.until, wait.reason);
      for (const diff::FieldChange& field : forecast.change.fields)
        text += fmt::format("  {}: {} -> {}\n", field.path, field.before ? field.before->dump() : "-",
                            field.after ? field.after->dump() : "-");
      for (const Forecast::Conflict& conflict : forecast.conflicts)
        text += fmt::format("  conflict: {} {}\n", conflict.field, conflict.manager);
      if (!forecast.note.empty()) text += fmt::format("  note: {}\n", forecast.note);
      if (!forecast.unchecked.empty()) text += fmt::format("  unchecked: {}\n", forecast.unchecked);
    }
    for (const Concern& concern : ending.concerns)
      text += fmt::format("{}: {}{}\n", name_of(concern.kind),
                          concern.key.kind.empty() ? "" : concern.key.text() + ": ", concern.text);
    return text;
  }

  Gate gate_{sandbox_.api_server()};
};

std::string settings(std::string_view colour, std::string_view more = "") {
  return fmt::format("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: settings}}\ndata: {{colour: {}{}}}\n---\n",
                     colour, more);
}

constexpr std::string_view kOther = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\ndata: {a: b}\n---\n";

TEST_F(ForecastTest, CreatedChangedPrunedAndUnchangedObjects) {
  std::string old = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: old}\n---\n";
  Options options{.name = "shop", .prune = true};
  EXPECT_EQ(apply(settings("blue", ", size: big") + std::string(kOther) + old, options).how, Ending::How::done);
  std::string next = settings("red") + std::string(kOther) + "apiVersion: v1\nkind: Secret\nmetadata: {name: new}\n";
  constexpr std::string_view kPlan = R"(1 ConfigMap default/settings change
  data.colour: "blue" -> "red"
  data.size: "big" -> -
ConfigMap default/other none
1 Secret default/new create
0 ConfigMap default/old delete
)";
  EXPECT_EQ(text(plan(next, options)), kPlan) << events();
  EXPECT_EQ(gate_.dry_runs, 2);
  options.compare_only = true;
  EXPECT_EQ(text(plan(next, options)), kPlan) << events();
  EXPECT_EQ(gate_.dry_runs, 2);
  EXPECT_THAT(gate_.writes, IsEmpty());
}

TEST_F(ForecastTest, WithoutANameChangedObjectsAreReadForComparison) {
  EXPECT_EQ(apply(settings("blue") + std::string(kOther)).how, Ending::How::done);
  EXPECT_EQ(text(plan(settings("red") + std::string(kOther))),
            "1 ConfigMap default/settings change\n  data.colour: \"blue\" -> \"red\"\nConfigMap default/other none\n");
}

TEST_F(ForecastTest, TheOrderAndItsReasons) {
  std::string yaml = operator_that_listens_after("1s");
  EXPECT_EQ(text(plan(yaml)), R"(1 Namespace operator create
2 Service operator/webhook create
  after Namespace operator is stored (its namespace)
  unchecked: its namespace is created by this bundle
2 Deployment operator/operator create
  after Namespace operator is stored (its namespace)
  unchecked: its namespace is created by this bundle
)");
  EXPECT_THAT(gate_.writes, IsEmpty());
}

TEST_F(ForecastTest, AGuardOfTheBundleHasNotSeenTheObject) {
  std::string hook = operator_that_listens_after("1s") + R"(---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: guard}
webhooks:
- name: guard.example.com
  clientConfig: {caBundle: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCkFBQUEKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=, service: {name: webhook, namespace: operator}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]
  failurePolicy: Fail
  sideEffects: None
  admissionReviewVersions: [v1]
---
)";
  std::string told = text(plan(hook + std::string(kOther)));
  EXPECT_THAT(told, HasSubstr("  after webhook guard.example.com (ValidatingWebhookConfiguration guard) is proved ("));
  EXPECT_THAT(told, HasSubstr("  unchecked: webhook guard.example.com (ValidatingWebhookConfiguration guard) is "
                              "created by this bundle and has not checked it\n"));
}

TEST_F(ForecastTest, AnObjectThatWouldBeReplaced) {
  auto job = [](std::string_view image) {
    return fmt::format(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: once, annotations: {{fairlead.dev/on-immutable: "
        "recreate}}}}\nspec: {{template: {{spec: {{restartPolicy: Never, containers: [{{name: x, image: {}}}]}}}}}}\n",
        image);
  };
  EXPECT_EQ(apply(job("a:1"), {.wait = false}).how, Ending::How::done) << events();
  EXPECT_EQ(text(plan(job("a:2"))), R"(1 Job default/once replace
  spec.template.spec.containers[name=x].image: "a:1" -> "a:2"
  note: an immutable field differs: it would be deleted and created again
replacement: Job default/once: an immutable field differs: it would be deleted and created again
)");
}

TEST_F(ForecastTest, FieldsOfOthersAreNamedOneByOne) {
  EXPECT_EQ(apply(settings("blue", ", size: big"), {.field_manager = "ann"}).how, Ending::How::done);
  Ending ending = plan(settings("red", ", size: small"));
  EXPECT_EQ(ending.how, Ending::How::conflicts);
  EXPECT_EQ(text(ending), R"(1 ConfigMap default/settings change
  data.colour: "blue" -> "red"
  data.size: "big" -> "small"
  conflict: .data.colour ann
  conflict: .data.size ann
)");
}

std::string berths(std::string_view type) {
  return fmt::format(R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: berths.example.com}}
spec:
  group: example.com
  names: {{kind: Berth, plural: berths}}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {{openAPIV3Schema: {{type: object, properties: {{size: {{type: {}}}}}}}}}
---
)",
                     type);
}

TEST_F(ForecastTest, AnUnsafeChangeOfACrd) {
  EXPECT_EQ(apply(berths("string")).how, Ending::How::done) << events();
  EXPECT_THAT(
      text(plan(berths("integer"))),
      HasSubstr("definition: CustomResourceDefinition berths.example.com: v1: size changes its type from string "
                "to integer\n"));
}

TEST_F(ForecastTest, WithoutThePermissionItComparesByItself) {
  EXPECT_EQ(apply(settings("blue") + std::string(kOther)).how, Ending::How::done);
  gate_.forbids = true;
  Ending ending = plan(settings("red") + std::string(kOther));
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending);
  EXPECT_EQ(text(ending), R"(1 ConfigMap default/settings change
  data.colour: "blue" -> "red"
  unchecked: this user may not send it, so Fairlead compared it without the API server
ConfigMap default/other none
permission: this user may not patch configmaps in namespace default
)");
}

TEST_F(ForecastTest, TheFieldsOfAFormerManagerThatWouldGo) {
  EXPECT_EQ(apply(settings("blue", ", size: big")).how, Ending::How::done);
  EXPECT_EQ(text(plan(settings("blue"), {.name = "shop"})), R"(1 ConfigMap default/settings change
  data.size: "big" -> -
  metadata.labels: - -> {"applyset.kubernetes.io/part-of":"applyset-p9A8qVu_6JIe1KH43CK8qXKQKjYic-7iaiWS0zTeoUw-v1"}
  note: its fields would be taken over from fairlead
)");
}

TEST_F(ForecastTest, DigestsTellWhetherAnythingChanged) {
  Options options{.digest_key = "key"};
  EXPECT_EQ(apply(settings("blue")).how, Ending::How::done);
  auto digests = [&](std::string_view yaml) {
    Ending ending = plan(yaml, options);
    const Forecast& forecast = *ending.objects.front().forecast;
    return std::pair(forecast.live_digest, forecast.wanted_digest);
  };
  auto [live, wanted] = digests(settings("red"));
  EXPECT_EQ(digests(settings("red")), std::pair(live, wanted));
  EXPECT_EQ(digests(settings("green")).first, live);
  EXPECT_NE(digests(settings("green")).second, wanted);
  EXPECT_EQ(apply(settings("black")).how, Ending::How::done);
  EXPECT_NE(digests(settings("red")).first, live);
  EXPECT_EQ(digests(settings("red")).second, wanted);
}

}  // namespace
}  // namespace fairlead::rollout
