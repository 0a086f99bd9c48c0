// For the tests of the server: policies that do what a widget asks for, reviews of widgets, and certificates.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "base/temp_folder_testing.h"
#include "certs/source.h"
#include "webhook/server/routes.h"
#include "x509/x509.h"

namespace fairlead::webhook {

using namespace std::literals;

// Decides as `spec.do` of the widget says.
class WidgetPolicy : public Policy {
 public:
  Result<Decision> validate_create(const Request& request) const override {
    std::string_view what = request.object["spec"]["do"].string_or("");
    if (what == "fail") return fail(Error(ErrorKind::internal, "no table of sizes").because("the disk is full"));
    if (what == "throw") throw std::runtime_error("out of range");
    if (what == "throw a number") throw 7;
    if (what == "wait" && wait) wait();
    if (what == "deny") return deny("spec.do must not be \"deny\"");
    return allow();
  }
  Result<Json> mutate(const Request& request) const override {
    Json object = request.object;
    std::string_view what = request.object["spec"]["do"].string_or("");
    if (what == "fail") return fail(ErrorKind::internal, "no table of sizes");
    if (what == "break") return Json(7);
    object.make("spec").make("size") = 1;
    return object;
  }

  std::function<void()> wait;
};

inline PolicySet widget_set(std::shared_ptr<const Policy> policy = std::make_shared<WidgetPolicy>()) {
  Registration widgets{.kind = {"example.com", "v1", "Widget"},
                       .resource = "widgets",
                       .policy = std::move(policy),
                       .validates = true,
                       .mutates = true,
                       .earlier_paths = {"/validate-widget", "/mutate-widget"}};
  Conversion conversion{.group = "example.com",
                        .kind = "Widget",
                        .resource = "widgets",
                        .versions = {"v1", "v2"},
                        .convert = [](const Json& object, const std::string& version) -> Result<Json> {
                          if (object["spec"]["do"].string_or("") == "throw") throw std::runtime_error("no such field");
                          Json converted = object;
                          converted.make("apiVersion") = "example.com/" + version;
                          return converted;
                        }};
  return {.name = "widgets", .registrations = {std::move(widgets)}, .conversions = {std::move(conversion)}};
}

inline constexpr std::string_view kWidgets = "/validate-example-com-v1-widget";
inline constexpr std::string_view kMutateWidgets = "/mutate-example-com-v1-widget";

// A CREATE of a widget that asks for `what`.
inline std::string widget_review(std::string_view what, std::string_view version = "v1") {
  return fmt::format(
      R"({{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u-1","operation":"CREATE",)"
      R"("kind":{{"group":"example.com","version":"{1}","kind":"Widget"}},)"
      R"("resource":{{"group":"example.com","version":"{1}","resource":"widgets"}},"namespace":"team","name":"w",)"
      R"("userInfo":{{"username":"jane"}},)"
      R"("object":{{"apiVersion":"example.com/{1}","kind":"Widget","spec":{{"do":"{0}","password":"hunter2"}}}}}}}})",
      what, version);
}

inline constexpr std::string_view kHost = "hook.team.svc";

inline x509::KeyPair test_ca(std::string_view name = "CA") {
  return x509::make_ca(name, 24h, RealClock().wall_now()).value();
}

inline x509::KeyPair test_leaf(const x509::KeyPair& ca, x509::LeafSpec spec = {}) {
  if (spec.dns_names.empty()) spec.dns_names = {std::string(kHost), "localhost"};
  return x509::make_leaf(ca, spec, RealClock().wall_now()).value();
}

inline std::shared_ptr<const certs::ServingPair> serving_pair(const x509::KeyPair& ca, const x509::KeyPair& leaf) {
  return std::make_shared<const certs::ServingPair>(
      certs::ServingPair{.chain = {leaf.certificate}, .key = leaf.key, .ca = {ca.certificate}, .origin = "a test"});
}

// Certificates that a test changes.
class TestCertificates : public certs::CertificateSource {
 public:
  explicit TestCertificates(Loop& loop) : changed_(loop) {}
  std::shared_ptr<const certs::ServingPair> current() const override { return pair; }
  std::string trouble() const override { return why; }
  Signal& changed() override { return changed_; }

  std::shared_ptr<const certs::ServingPair> pair;
  std::string why;

 private:
  Signal changed_;
};

}  // namespace fairlead::webhook
