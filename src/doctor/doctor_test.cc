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
  EXPECT_EQ(
      text_of(*report, false),
      "error: webhook v.example.com (ValidatingWebhookConfiguration orphan) cannot be trusted: its caBundle has no "
      "certificate\n"
      "  because   the API server then asks its own roots, which do not know the certificate of a Service\n"
      "  next      kubectl get validatingwebhookconfiguration orphan -o yaml\n"
      "  code      ca-bundle-empty\n"
      "\n"
      "error: webhook v.example.com (ValidatingWebhookConfiguration orphan) cannot be called\n"
      "  because   namespace lost, where its service hook should be, does not exist\n"
      "  blocks    CREATE of secrets in every namespace\n"
      "  next      kubectl delete validatingwebhookconfiguration orphan, if nothing uses it any more\n"
      "  code      webhook-orphaned\n"
      "\n"
      "2 errors\n");
  EXPECT_THAT(text_of(*report, true), HasSubstr("\033[31merror\033[0m: webhook"));
  EXPECT_TRUE(report->has(Severity::warning));
  Json json = json_of(*report);
  EXPECT_EQ(json["errors"].int_or(0), 2);
  EXPECT_EQ(json["findings"].item(1)["code"].string_or(""), "webhook-orphaned");
}

TEST_F(ExamineTest, WhatMayNotBeReadIsNamedAndNotJudged) {
  create_orphan();
  forbids_ = [](std::string_view, std::string_view resource, std::string_view) { return resource == "namespaces"; };
  auto report = look();
  ASSERT_TRUE(report);
  EXPECT_THAT(report->unseen, ElementsAre(Unseen{.what = "namespaces", .why = "this user may not read them"}));
  // Without the namespaces, the missing Service is what is known.
  EXPECT_EQ(report->findings.at(1).code, "webhook-service-missing");
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
  ASSERT_EQ(report->findings.size(), 2u);
  EXPECT_EQ(report->findings[1].blocks, "Secret default/new");
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
