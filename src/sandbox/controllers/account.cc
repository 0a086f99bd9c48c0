// What every namespace gets: the service account "default", and the authority of the API server in a ConfigMap.
#include "sandbox/controllers/workload.h"

namespace fairlead::sandbox {
namespace {

const ResourceId kAccounts{"", "serviceaccounts"};
const ResourceId kMaps{"", "configmaps"};
constexpr std::string_view kRootName = "kube-root-ca.crt";
constexpr std::string_view kRootText =
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
    "internal "
    "service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

class AccountController final : public Controller {
 public:
  using Controller::Controller;

  void note(const ResourceId& resource, const Event& event) override {
    if (resource == kNamespaces && event.type == Event::Type::added) add({"", event.place.name});
    bool gone = event.type == Event::Type::deleted;
    if (gone && ((resource == kAccounts && event.place.name == "default") ||
                 (resource == kMaps && event.place.name == kRootName)))
      add({"", event.place.ns});
  }

 protected:
  Task<void> look(Place key) override {
    std::string ns = key.name;
    ObjectPtr found = core().store.find(kNamespaces, {"", ns});
    if (!found || is_deleting(*found)) co_return;
    bool failed = false;
    if (!core().store.find(kAccounts, {ns, "default"})) {
      Outcome<Json> made =
          co_await actor_.create(kAccounts, ns,
                                 Json::Object{{"apiVersion", "v1"},
                                              {"kind", "ServiceAccount"},
                                              {"metadata", Json::Object{{"name", "default"}, {"namespace", ns}}}});
      failed = !made && made.error().code != 404 && made.error().code != 409;
    }
    if (!core().store.find(kMaps, {ns, std::string(kRootName)})) {
      Json metadata = Json::Object{{"name", kRootName},
                                   {"namespace", ns},
                                   {"annotations", Json::Object{{"kubernetes.io/description", kRootText}}}};
      Outcome<Json> made =
          co_await actor_.create(kMaps, ns,
                                 Json::Object{{"apiVersion", "v1"},
                                              {"kind", "ConfigMap"},
                                              {"metadata", std::move(metadata)},
                                              {"data", Json::Object{{"ca.crt", core().options.root_certificate}}}});
      failed = failed || (!made && made.error().code != 404 && made.error().code != 409);
    }
    // A webhook stands in the way: again later.
    if (failed) add_after(key, std::chrono::seconds(1));
  }
};

}  // namespace

std::unique_ptr<Controller> make_account_controller(ApiServer& server, Scope& scope) {
  return std::make_unique<AccountController>(server, scope);
}

}  // namespace fairlead::sandbox
