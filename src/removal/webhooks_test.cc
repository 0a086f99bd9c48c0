#include <gmock/gmock.h>

#include "removal/removal_testing.h"

namespace fairlead::removal {
namespace {

using std::chrono::minutes;
using testing::ElementsAre;

// A finalizer of Kubernetes itself: what has only such ones is deleted after the webhooks of its bundle.
constexpr std::string_view kHeld = "finalizers: [service.kubernetes.io/load-balancer-cleanup]";
constexpr std::string_view kTeam = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n";
constexpr std::string_view kGuard =
    "---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: guard}\n"
    "webhooks:\n- name: v.example.com\n  admissionReviewVersions: [v1]\n  sideEffects: None\n  failurePolicy: Fail\n"
    "  clientConfig: {service: {name: nobody, namespace: nowhere}}\n"
    "  rules: [{apiGroups: [''], apiVersions: ['*'], operations: [UPDATE], resources: [configmaps]}]\n";
// What is said of the namespace and of the ConfigMap in it, with `causes` and `next` for both.
std::string both(std::string_view causes, std::string_view next) {
  std::string held =
      "finalizer service.kubernetes.io/load-balancer-cleanup has not been removed\n"
      "  because   the cloud's controller manager removes it\n";
  return fmt::format(
      "error: Namespace team is still there after 1m: 1 left\n"
      "  because   remaining in it: 1 configmaps\n"
      "  because   ConfigMap team/held: {0}{1}"
      "  from      bundle.yaml:1\n"
      "  next      {2}\n"
      "error: ConfigMap team/held is still there after 1m\n"
      "  because   {0}{1}"
      "  from      bundle.yaml:5\n"
      "  next      {2}\n",
      held, causes, next);
}
std::string no_blame() { return both("", "kubectl -n team get ConfigMap held -o yaml"); }

class WebhooksTest : public RemovalTest {
 protected:
  // Notes the requests for webhook configurations. Calls `meanwhile` when the ConfigMap is deleted.
  void listen(std::function<Task<void>()> meanwhile = {}) {
    network_.before = [this, meanwhile](const http::Request& request) -> Task<void> {
      const std::string& target = request.target;
      if (target.find("webhookconfigurations") != std::string::npos)
        requests_.push_back(request.method + " " + target.substr(target.rfind('/') + 1));
      if (meanwhile && request.method == "DELETE" && target.find("/configmaps/held") != std::string::npos)
        co_await meanwhile();
    };
  }
  Task<void> write_guard(std::string method, std::string content_type, std::string body) {
    auto done = co_await admin_.request(
        {.method = std::move(method),
         .target = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/guard",
         .content_type = std::move(content_type),
         .body = std::move(body)});
    EXPECT_TRUE(done) << done.error().error().report();
  }
  std::string held_report(const std::string& bundle) { return reports(remove(bundle, {.timeout = minutes(1)})); }
  std::vector<std::string> requests_;
};

TEST_F(WebhooksTest, AreReadOnceAndTheOneToBlameIsCheckedAgain) {
  std::string bundle = std::string(kTeam) + config_map("held", kHeld, "team");
  put(bundle + std::string(kGuard));
  listen();
  EXPECT_EQ(
      held_report(bundle),
      both("  because   the update that removes it must pass webhook v.example.com (guard), which does not answer\n"
           "  because   service nowhere/nobody does not exist\n",
           "kubectl -n nowhere get endpointslices,pods; if the webhook is no longer needed: kubectl delete "
           "validatingwebhookconfiguration guard"));
  // Two objects are stuck.
  std::string again = "GET validatingwebhookconfigurations?fieldSelector=metadata.name%3Dguard&limit=500";
  EXPECT_THAT(requests_, ElementsAre("GET validatingwebhookconfigurations?limit=500",
                                     "GET mutatingwebhookconfigurations?limit=500", again, again));
}

TEST_F(WebhooksTest, OneOfTheBundleThatIsDeletedIsNotBlamed) {
  std::string bundle = std::string(kTeam) + config_map("held", kHeld, "team") + std::string(kGuard);
  put(bundle);
  listen();
  EXPECT_EQ(held_report(bundle), no_blame());
  EXPECT_THAT(removed(), ElementsAre("ValidatingWebhookConfiguration guard"));
}

TEST_F(WebhooksTest, OneThatSomebodyDeletesMeanwhileIsNotBlamed) {
  std::string bundle = std::string(kTeam) + config_map("held", kHeld, "team");
  put(bundle + std::string(kGuard));
  listen([this] { return write_guard("DELETE", "", ""); });
  EXPECT_EQ(held_report(bundle), no_blame());
}

TEST_F(WebhooksTest, OneThatIsToldMeanwhileToLetEverythingPassIsNotBlamed) {
  std::string bundle = std::string(kTeam) + config_map("held", kHeld, "team");
  put(bundle + std::string(kGuard));
  listen([this] {
    return write_guard("PATCH", "application/json-patch+json",
                       R"([{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Ignore"}])");
  });
  EXPECT_EQ(held_report(bundle), no_blame());
}

}  // namespace
}  // namespace fairlead::removal
