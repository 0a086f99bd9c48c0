// Reading a cluster, and showing what was found.
#include "doctor/doctor.h"

#include <fstream>
#include <regex>
#include <set>

#include "doctor/doctor_testing.h"
#include "doctor/reading.h"
#include "doctor/show.h"
#include "sandbox/sandbox.h"

namespace fairlead::doctor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ExamineTest : public testing::Test {
 protected:
  ExamineTest() : sandbox_(loop_, options()), client_(loop_, sandbox_.api_server(), nullptr, {}), discovery_(client_) {}
  ~ExamineTest() override { loop_.run(sandbox_.stop()); }

  sandbox::Options options() {
    sandbox::Options options;
    options.forbids = [this](auto, std::string_view verb, auto, std::string_view resource, std::string_view ns, auto) {
      return forbids_ && forbids_(verb, resource, ns);
    };
    return options;
  }
  void create(std::string_view group, std::string_view plural, std::string_view json) {
    object::Resource resource{.group = std::string(group), .version = "v1", .kind = "X", .plural = std::string(plural)};
    auto created = loop_.run(client_.create(resource, "", *Json::parse(json)));
    ASSERT_TRUE(created) << created.error().error().message();
  }
  void create_orphan() {
    create("admissionregistration.k8s.io", "validatingwebhookconfigurations",
           R"({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
               "metadata": {"name": "orphan"}, "webhooks": [{"name": "v.example.com", "admissionReviewVersions": ["v1"],
               "sideEffects": "None", "clientConfig": {"service": {"namespace": "lost", "name": "hook"}},
               "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["secrets"]}]}]})");
  }
  Result<Report> look(Subject subject = {}) { return loop_.run(examine(client_, discovery_, std::move(subject))); }

  VirtualLoop loop_;
  std::function<bool(std::string_view verb, std::string_view resource, std::string_view ns)> forbids_;
  sandbox::Sandbox sandbox_;
  kube::Client client_;
  kube::Discovery discovery_;
};

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
              ElementsAre(Unseen{.what = "services", .why = "this user may list them only in namespace default"}));
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
  EXPECT_THAT(unseen->why, testing::MatchesRegex("only the first [0-9]+ were read"));
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

TEST_F(ExamineTest, WhatDoesNotExistIsAnError) {
  EXPECT_EQ(look({.ns = "nope"}).error().what(), "there is no namespace nope");
  EXPECT_EQ(look({.object = "gadget/x"}).error().what(), "the cluster serves no kind gadget");
  EXPECT_FALSE(look({.object = "configmap/x"}));
}

TEST_F(ExamineTest, ABundleNeedNotBeInTheCluster) {
  create_orphan();
  Json secret = *Json::parse(R"({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "new"}})");
  auto report = look({.bundle = {secret}});
  ASSERT_TRUE(report);
  ASSERT_EQ(report->findings.size(), 1u);
  EXPECT_EQ(report->findings[0].blocks, "Secret default/new");
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
