// PersistentVolumeClaims: a volume is made for each whose class exists, and they are kept while a pod uses them.
#include <fmt/format.h>

#include "sandbox/controllers/workload.h"

namespace fairlead::sandbox {
namespace {

const ResourceId kVolumes{"", "persistentvolumes"};
constexpr std::string_view kProtection = "kubernetes.io/pvc-protection";

class VolumeController final : public Controller {
 public:
  using Controller::Controller;

  void note(const ResourceId& resource, const Event& event) override {
    if (resource == kClaims && event.type != Event::Type::deleted) {
      add_after(event.place, delay_of(*event.object, "bound-after", delays().volume_bound));
    } else if (resource == kClaims) {
      release(*event.object);
    } else if (resource == kPods) {
      for (const Json& volume : (*event.object)["spec"]["volumes"].items())
        if (std::string_view claim = volume["persistentVolumeClaim"]["claimName"].string_or(""); !claim.empty())
          add({event.place.ns, std::string(claim)});
    } else if (resource == ResourceId{"storage.k8s.io", "storageclasses"}) {
      for (const auto& [place, claim] : core().store.all(kClaims)) add(place);
    }
  }

 protected:
  Task<void> look(Place key) override {
    ObjectPtr found = core().store.find(kClaims, key);
    if (!found) co_return;
    const Json& claim = *found;
    if (is_deleting(claim)) {
      if (!is_used(key)) co_await unprotect(key, claim);
      co_return;
    }
    if (claim["status"]["phase"].string_or("") == "Bound") co_return;
    ObjectPtr storage =
        core().find("storage.k8s.io", "storageclasses", "", claim["spec"]["storageClassName"].string_or(""));
    if (!storage) co_return;
    if ((*storage)["volumeBindingMode"].string_or("") == "WaitForFirstConsumer" && !is_used(key)) co_return;
    co_await bind(key, claim, *storage);
  }

 private:
  bool is_used(const Place& key) {
    for (const auto& [place, pod] : core().store.all(kPods)) {
      if (place.ns != key.ns) continue;
      std::string_view phase = (*pod)["status"]["phase"].string_or("");
      if (phase == "Succeeded" || phase == "Failed") continue;
      for (const Json& volume : (*pod)["spec"]["volumes"].items())
        if (volume["persistentVolumeClaim"]["claimName"].string_or("") == key.name) return true;
    }
    return false;
  }

  Task<void> unprotect(Place key, Json claim) {
    Json::Array left;
    for (const Json& one : claim["metadata"]["finalizers"].items())
      if (one.string_or("") != kProtection) left.push_back(one);
    Json list = left.empty() ? Json() : Json(std::move(left));
    (void)co_await actor_.patch(kClaims, key,
                                Json::Object{{"metadata", Json::Object{{"finalizers", std::move(list)}}}});
  }

  Task<void> bind(Place key, Json claim, Json storage) {
    std::string volume = "pvc-" + uid_of(claim);
    Json capacity = Json::Object{{"storage", claim["spec"]["resources"]["requests"]["storage"]}};
    if (!core().store.find(kVolumes, {"", volume})) {
      Json reference = Json::Object{{"kind", "PersistentVolumeClaim"},
                                    {"namespace", key.ns},
                                    {"name", key.name},
                                    {"uid", claim["metadata"]["uid"]},
                                    {"apiVersion", "v1"},
                                    {"resourceVersion", claim["metadata"]["resourceVersion"]}};
      Json spec = Json::Object{{"capacity", capacity},
                               {"accessModes", claim["spec"]["accessModes"]},
                               {"claimRef", std::move(reference)},
                               {"persistentVolumeReclaimPolicy", storage["reclaimPolicy"].string_or("Delete")},
                               {"storageClassName", storage["metadata"]["name"]},
                               {"hostPath", Json::Object{{"path", "/sandbox/" + volume}}}};
      Outcome<Json> made = co_await actor_.create(kVolumes, "",
                                                  Json::Object{{"apiVersion", "v1"},
                                                               {"kind", "PersistentVolume"},
                                                               {"metadata", Json::Object{{"name", volume}}},
                                                               {"spec", std::move(spec)}});
      if (!made) {
        add_after(key, std::chrono::seconds(1));
        co_return;
      }
      (void)co_await actor_.patch(kVolumes, {"", volume}, Json::Object{{"status", Json::Object{{"phase", "Bound"}}}},
                                  "status");
    }
    (void)co_await actor_.patch(kClaims, key, Json::Object{{"spec", Json::Object{{"volumeName", volume}}}});
    Json status =
        Json::Object{{"phase", "Bound"}, {"accessModes", claim["spec"]["accessModes"]}, {"capacity", capacity}};
    Outcome<Json> written = co_await actor_.patch(kClaims, key, Json::Object{{"status", std::move(status)}}, "status");
    if (!written && written.error().code != 404) add_after(key, std::chrono::seconds(1));
  }

  // A volume that was made for the claim goes with it, unless its policy is to stay.
  void release(const Json& claim) {
    std::string volume(claim["spec"]["volumeName"].string_or(""));
    ObjectPtr found = core().store.find(kVolumes, {"", volume});
    if (found && (*found)["spec"]["persistentVolumeReclaimPolicy"].string_or("") == "Delete")
      core().store.remove(kVolumes, {"", volume});
  }
};

}  // namespace

std::unique_ptr<Controller> make_volume_controller(ApiServer& server, Scope& scope) {
  return std::make_unique<VolumeController>(server, scope);
}

}  // namespace fairlead::sandbox
