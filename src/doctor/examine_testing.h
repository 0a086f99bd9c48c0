// For the tests of this room: a sandbox on virtual time, which the real examine() reads.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "doctor/doctor_testing.h"
#include "sandbox/sandbox.h"

namespace fairlead::doctor {

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

}  // namespace fairlead::doctor
