// Reading a cluster, and showing what was found.
#include "doctor/doctor.h"

#include <fstream>
#include <regex>
#include <set>

#include "doctor/examine_testing.h"
#include "doctor/reading.h"
#include "doctor/show.h"

namespace fairlead::doctor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST_F(ExamineTest, AHealthyClusterIsReadInFewRequests) {
  auto report = look();
  ASSERT_TRUE(report) << report.error().report();
  EXPECT_THAT(report->findings, IsEmpty());
  EXPECT_LE(report->requests, kMostRequests);
  EXPECT_EQ(text_of(*report, false), "no problems found\n");
}

TEST_F(ExamineTest, NothingIsWritten) {
  (void)look();
  for (const auto& [verb, count] : client_.counts()) EXPECT_TRUE(verb == "get" || verb == "list") << verb;
}

TEST_F(ExamineTest, AnOrphanedWebhookIsFoundAndShown) {
  create_orphan();
  auto report = look();
  ASSERT_TRUE(report);
  EXPECT_EQ(text_of(*report, false),
            "error: webhook v.example.com (ValidatingWebhookConfiguration orphan) cannot be called\n"
            "  because   namespace lost, where its service hook should be, does not exist\n"
            "  blocks    CREATE of secrets in every namespace\n"
            "  next      kubectl delete validatingwebhookconfiguration orphan, if nothing uses it any more\n"
            "  code      webhook-orphaned\n"
            "\n"
            "1 error\n");
  EXPECT_THAT(text_of(*report, true), HasSubstr("\033[31merror\033[0m: webhook"));
  EXPECT_TRUE(report->has(Severity::warning));
  Json json = json_of(*report);
  EXPECT_EQ(json["errors"].int_or(0), 1);
  EXPECT_EQ(json["findings"].item(0)["code"].string_or(""), "webhook-orphaned");
}

TEST_F(ExamineTest, AConversionIsTried) {
  create("apiextensions.k8s.io", "customresourcedefinitions", R"({
      "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "things.example.com"},
      "spec": {"group": "example.com", "scope": "Cluster", "names": {"kind": "Thing", "plural": "things"},
               "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}},
                            {"name": "v2", "served": true, "storage": false, "schema": {"openAPIV3Schema": {"type": "object"}}}],
               "conversion": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
                              "clientConfig": {"url": "https://nobody.example.com/convert"}}}}})");
  (void)loop_.run(sleep_for(loop_, std::chrono::seconds(30)));
  EXPECT_THAT(look()->findings, IsEmpty()) << "there is nothing to convert";
  create("example.com", "things", R"({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "one"}})");
  auto report = look();
  ASSERT_TRUE(report);
  ASSERT_EQ(report->findings.size(), 1u);
  EXPECT_EQ(report->findings[0].code, "conversion-dead");
  EXPECT_EQ(report->findings[0].what, "the conversion webhook of things.example.com does not work");
  EXPECT_LE(report->requests, kMostRequests);
}

TEST_F(ExamineTest, WhatAContainerMayNotIsReadInItsLog) {
  Json pod = *Json::parse(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "operator", "annotations": {
      "sandbox.fairlead.dev/fail": "crash-loop"}}, "spec": {"containers": [{"name": "main", "image": "operator"}]}})");
  pod.make("metadata").make("annotations").make("sandbox.fairlead.dev/logs") =
      "the password is hunter2\npods is forbidden: User \"system:serviceaccount:default:default\" cannot list resource "
      "\"pods\" in API group \"\" at the cluster scope";
  object::Resource pods{.group = "", .version = "v1", .kind = "Pod", .plural = "pods", .namespaced = true};
  // The ServiceAccount of the namespace comes first.
  (void)loop_.run(sleep_for(loop_, std::chrono::minutes(1)));
  auto created = loop_.run(client_.create(pods, "default", pod));
  ASSERT_TRUE(created) << created.error().error().message();
  (void)loop_.run(sleep_for(loop_, std::chrono::minutes(1)));
  auto report = look();
  ASSERT_TRUE(report);
  EXPECT_LE(report->requests, kMostRequests);
  std::string text = text_of(*report, false);
  EXPECT_THAT(text, HasSubstr("warning: ServiceAccount default/default may not list pods\n"
                              "  because   container main of Pod default/operator says so in its log\n"
                              "  next      kubectl auth can-i list pods --as=system:serviceaccount:default:default "
                              "--all-namespaces\n"));
  EXPECT_THAT(text, Not(HasSubstr("hunter2")));
  forbids_ = [](std::string_view verb, std::string_view resource, std::string_view) {
    return resource == "pods" && verb == "get";
  };
  report = look();
  ASSERT_TRUE(report);
  EXPECT_THAT(report->unseen,
              ElementsAre(Unseen{.what = "the logs of containers that fail", .why = "this user may not read them"}));
}

TEST_F(ExamineTest, APendingHelmReleaseThatWasRolledBackIsNoFinding) {
  object::Resource secrets{.group = "", .version = "v1", .kind = "Secret", .plural = "secrets", .namespaced = true};
  auto record = [&](int revision, std::string_view status) {
    Json::Object labels{{"owner", "helm"}, {"name", "shop"}, {"status", status}, {"version", std::to_string(revision)}};
    Json secret(Json::Object{{"apiVersion", "v1"}, {"kind", "Secret"}});
    secret.make("metadata") =
        Json::Object{{"name", fmt::format("sh.helm.release.v1.shop.v{}", revision)}, {"labels", std::move(labels)}};
    ASSERT_TRUE(loop_.run(client_.create(secrets, "default", secret)));
  };
  record(1, "superseded");
  record(2, "pending-upgrade");
  (void)loop_.run(sleep_for(loop_, std::chrono::minutes(20)));
  auto report = look();
  ASSERT_TRUE(report);
  ASSERT_EQ(report->findings.size(), 1u);
  EXPECT_EQ(report->findings[0].next, "helm -n default rollback shop");
  record(3, "deployed");
  report = look();
  ASSERT_TRUE(report);
  EXPECT_THAT(report->findings, IsEmpty());
  EXPECT_THAT(report->unseen, IsEmpty());
}

TEST_F(ExamineTest, WhatMayNotBeReadIsNamedAndNotJudged) {
  create_orphan();
  forbids_ = [](std::string_view, std::string_view resource, std::string_view) { return resource == "namespaces"; };
  auto report = look();
  ASSERT_TRUE(report);
  EXPECT_THAT(report->unseen, ElementsAre(Unseen{.what = "namespaces", .why = "this user may not read them"}));
  // Without the namespaces, the missing Service is what is known.
  ASSERT_EQ(report->findings.size(), 1u);
  EXPECT_EQ(report->findings[0].code, "webhook-service-missing");
}

TEST_F(ExamineTest, AUserOfOneNamespaceSeesThatNamespace) {
  forbids_ = [](std::string_view, std::string_view resource, std::string_view ns) {
    return resource == "services" && ns != "default";
  };
  auto report = look({.ns = "default"});
  ASSERT_TRUE(report) << report.error().report();
  EXPECT_THAT(report->unseen,
              ElementsAre(Unseen{
                  .what = "services", .why = "this user may list them only in namespace default", .is_partial = true}));
  EXPECT_LE(report->requests, kMostRequests);
}

TEST_F(ExamineTest, AUserWhoSeesOnlyOneNamespaceCostsNoMoreRequests) {
  forbids_ = [](std::string_view, std::string_view, std::string_view ns) { return ns != "default"; };
  auto report = look({.ns = "default"});
  ASSERT_TRUE(report) << report.error().report();
  EXPECT_LE(report->requests, kMostRequests);
  auto why = [&](std::string_view what) {
    auto found = std::ranges::find(report->unseen, what, &Unseen::what);
    return found == report->unseen.end() ? "" : found->why;
  };
  EXPECT_EQ(why("pods"), "this user may list them only in namespace default");
  EXPECT_EQ(why("deployments.apps"), "this user may list them only in namespace default");
  EXPECT_EQ(why("namespaces"), "this user may not read them");
}

TEST_F(ExamineTest, PagesCountToo) {
  for (int i = 0; i < 100; ++i)
    create("", "namespaces",
           fmt::format(R"({{"apiVersion": "v1", "kind": "Namespace", "metadata": {{"name": "n{}"}}}})", i));
  uint64_t before = client_.counts().at("create");
  auto snapshot = loop_.run(read_snapshot(client_, discovery_, "default", {.page = 5}));
  ASSERT_TRUE(snapshot);
  uint64_t read = 0;
  for (const auto& [verb, count] : client_.counts()) read += count;
  EXPECT_EQ(read - before, kMostRequests);
  EXPECT_FALSE(snapshot->sees_all("Namespace"));
  auto unseen = std::ranges::find(snapshot->unseen, std::string("namespaces"), &Unseen::what);
  ASSERT_NE(unseen, snapshot->unseen.end());
  EXPECT_THAT(unseen->why, testing::MatchesRegex("only the first [0-9]+"));
  EXPECT_TRUE(snapshot->sees_all("Pod")) << "the first pages of all kinds are read before the second of any";
}

TEST_F(ExamineTest, WhatThereAreNoRequestsForIsNamed) {
  auto snapshot = loop_.run(read_snapshot(client_, discovery_, "default", {.requests = 5}));
  ASSERT_TRUE(snapshot);
  uint64_t read = 0;
  for (const auto& [verb, count] : client_.counts()) read += count;
  EXPECT_EQ(read, 5u);
  EXPECT_THAT(snapshot->unseen,
              testing::Contains(Unseen{.what = "pods", .why = "doctor has sent as many requests as it may"}));
}

// Does not answer requests whose target contains a text.
class Silent final : public http::Transport {
 public:
  Silent(Loop& loop, sandbox::Sandbox& sandbox, std::string part)
      : sandbox_(sandbox), part_(std::move(part)), never_(loop) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    if (request.target.contains(part_)) CO_TRY(co_await never_.wait());
    co_return co_await sandbox_.api_server().open(std::move(request));
  }

 private:
  sandbox::Sandbox& sandbox_;
  std::string part_;
  Signal never_;
};

TEST_F(ExamineTest, WhatIsNotAnsweredIsNamedAndCostsLittleTime) {
  create_orphan();
  for (auto [part, what] :
       {std::pair("/pods?", "pods"), {"/metrics", "the metrics of the API server"}, {"/secrets?", "secrets"}}) {
    SCOPED_TRACE(part);
    Silent network(loop_, sandbox_, part);
    kube::Client client(loop_, network, nullptr, {});
    kube::Discovery discovery(client);
    TimePoint begun = loop_.now();
    auto report = loop_.run(examine(client, discovery, {}));
    ASSERT_TRUE(report) << report.error().report();
    EXPECT_LE(loop_.now() - begun, kReadingTakes);
    EXPECT_THAT(report->unseen,
                testing::Contains(Unseen{.what = what, .why = "the API server did not answer within 10s"}));
    EXPECT_EQ(report->findings.size(), 1u) << "the orphan";
  }
}

TEST_F(ExamineTest, AServerThatIsSilentIsAnError) {
  for (const char* what : {"", "configmap/x"}) {
    Silent network(loop_, sandbox_, "/");
    kube::Client client(loop_, network, nullptr, {});
    kube::Discovery discovery(client);
    TimePoint begun = loop_.now();
    auto report = loop_.run(examine(client, discovery, {.object = what}));
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().report(),
              "error: the cluster could not be read within 30s\n"
              "  because   the API server does not answer\n"
              "  next      kubectl get --raw /readyz?verbose\n");
    EXPECT_LE(loop_.now() - begun, kReadingTakes);
  }
}

TEST_F(ExamineTest, WithoutTheRightToReadNothingIsConcluded) {
  create_orphan();
  forbids_ = [](std::string_view, std::string_view, std::string_view) { return true; };
  auto report = look();
  ASSERT_TRUE(report);
  EXPECT_EQ(text_of(*report, false), "nothing was examined: no webhook configuration, workload or pod could be read\n");
  EXPECT_TRUE(report->is_blind);
  std::vector<std::string> notes = notes_of(*report);
  ASSERT_EQ(notes.size(), 1u) << "one line per reason";
  EXPECT_TRUE(notes[0].starts_with("could not be read: ") && notes[0].ends_with(": this user may not read them"));
  EXPECT_EQ(
      look({.webhook = "orphan"}).error().report(),
      "error: webhook orphan was not found, and not all webhooks could be read\n"
      "  because   ValidatingWebhookConfigurations and MutatingWebhookConfigurations could not be read, or not all "
      "of them\n"
      "  next      kubectl auth can-i list validatingwebhookconfigurations,mutatingwebhookconfigurations\n");
}

TEST_F(ExamineTest, WhatWasNotReadIsPartOfTheSummary) {
  forbids_ = [](std::string_view, std::string_view resource, std::string_view) { return resource == "namespaces"; };
  auto report = look();
  ASSERT_TRUE(report);
  EXPECT_EQ(text_of(*report, false), "no problems found in what could be read (1 part of the cluster could not be)\n");
  EXPECT_FALSE(report->is_blind);
  report->unseen = {{.what = "pods", .why = "only the first 2", .is_partial = true}};
  EXPECT_THAT(notes_of(*report), ElementsAre("partly read: pods: only the first 2"));
}

TEST_F(ExamineTest, WhatDoesNotExistIsAnError) {
  EXPECT_EQ(look({.ns = "nope"}).error().what(), "there is no namespace nope");
  EXPECT_EQ(look({.object = "gadget/x"}).error().what(), "the cluster serves no kind gadget");
  EXPECT_EQ(look({.object = "configmap/x"}).error().next(), "kubectl -n default get configmaps");
}

TEST_F(ExamineTest, ABundleNeedNotBeInTheCluster) {
  create_orphan();
  Json secret = *Json::parse(R"({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "new"}})");
  auto report = look({.bundle = {*object::Object::from(secret)}});
  ASSERT_TRUE(report);
  ASSERT_EQ(report->findings.size(), 1u);
  EXPECT_EQ(report->findings[0].blocks, "Secret default/new");
}

TEST_F(ExamineTest, AnOldVersionInABundleHasItsPlace) {
  Json budget =
      *Json::parse(R"({"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget", "metadata": {"name": "x"}})");
  auto report = look({.bundle = {*object::Object::from(budget, {.file = "k8s/web.yaml", .line = 7})}});
  ASSERT_TRUE(report);
  EXPECT_EQ(text_of(*report, false),
            "error: PodDisruptionBudget x is written in policy/v1beta1, which this cluster does not serve\n"
            "  because   Kubernetes 1.25 does not have it\n"
            "  from      k8s/web.yaml:7\n"
            "  next      write apiVersion: policy/v1, and compare the fields\n"
            "  code      deprecated-api-in-manifests\n"
            "\n"
            "1 error\n");
  EXPECT_EQ(json_of(*report)["findings"].item(0)["from"], Json("k8s/web.yaml:7"));
}

TEST(Codes, EachHasItsParagraph) {
  std::ifstream page(FAIRLEAD_SOURCE_DIR "/docs/doctor.md");
  std::stringstream text;
  text << page.rdbuf();
  std::set<std::string> documented;
  std::regex head("### ([a-z-]+)\n");
  std::string all = text.str();
  for (std::sregex_iterator one(all.begin(), all.end(), head), end; one != end; ++one) documented.insert((*one)[1]);
  EXPECT_EQ(documented, std::set<std::string>(codes().begin(), codes().end()));
}

TEST(Codes, OneThatDoesNotExistIsRefused) {
  EXPECT_TRUE(check_code("webhook-orphaned"));
  EXPECT_EQ(check_code("webhook-orphan").error().report(),
            "error: there is no finding with the code \"webhook-orphan\"\n"
            "  next      did you mean webhook-orphaned?\n");
}

}  // namespace
}  // namespace fairlead::doctor
