// CustomResourceDefinitions: names accepted, established, served, and taken away again with their objects.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sandbox/controllers/controllers.h"
#include "sandbox/core/api_services.h"
#include "sandbox/core/conditions.h"
#include "sandbox/core/custom_kind.h"

namespace fairlead::sandbox {
namespace {

const ResourceId kDefinitions{"apiextensions.k8s.io", "customresourcedefinitions"};
constexpr Duration kResync = std::chrono::minutes(5);
constexpr std::string_view kCleanup = "customresourcecleanup.apiextensions.k8s.io";

Json condition(const Core& core, std::string_view type, bool status, std::string_view reason, std::string message) {
  return Json::Object{{"type", type},
                      {"status", status ? "True" : "False"},
                      {"lastTransitionTime", core.now_text()},
                      {"reason", reason},
                      {"message", std::move(message)}};
}

class DefinitionController final : public Controller {
 public:
  DefinitionController(ApiServer& server, Scope& scope) : Controller(server, scope, "kube-apiserver") {}

  void note(const ResourceId& resource, const Event& event) override {
    if (resource == kDefinitions) {
      if (event.type == Event::Type::deleted) {
        serve_nothing(*event.object);
        return;
      }
      const Json& object = *event.object;
      bool named = find_condition(object, "NamesAccepted") != nullptr;
      if (condition_is_true(object, "Established") || object["metadata"].contains("deletionTimestamp")) serve(object);
      add_after(event.place,
                named ? delay_of(object, "established-after", delays().crd_established) : delays().crd_names_accepted);
    } else if (event.type == Event::Type::deleted &&
               core().find(kDefinitions.group, kDefinitions.resource, "", qualified(resource))) {
      // An object less may be the last one of a definition that is on its way out.
      add_after({"", qualified(resource)}, Duration::zero());
    }
  }

 protected:
  Task<void> look(Place key) override {
    ObjectPtr found = core().store.find(kDefinitions, key);
    if (!found) co_return;
    if ((*found)["metadata"].contains("deletionTimestamp")) {
      co_await clean_up(key, *found);
      co_return;
    }
    Json object = *found;
    if (!names_settled(object)) {
      accept_names(object);
    } else if (condition_is_true(object, "NamesAccepted") && !condition_is_true(object, "Established")) {
      set_condition(object, condition(core(), "Established", true, "InitialNamesAccepted",
                                      "the initial names have been accepted"));
    } else {
      co_return;
    }
    (void)co_await actor_.update(kDefinitions, std::move(object), "status");
  }

 private:
  static bool names_settled(const Json& object) {
    if (!find_condition(object, "NamesAccepted")) return false;
    const Json &wanted = object["spec"]["names"], &accepted = object["status"]["acceptedNames"];
    return !condition_is_true(object, "NamesAccepted") || wanted.same_as(accepted);
  }

  void serve(const Json& object) {
    ResourceId id{std::string(object["spec"]["group"].string_or("")),
                  std::string(object["spec"]["names"]["plural"].string_or(""))};
    if (!condition_is_true(object, "Established")) return;
    core().kinds.set_custom(id, kinds_of(object), core().store.version());
    register_custom(core(), id.group);
  }

  void serve_nothing(const Json& object) {
    core().kinds.set_custom({std::string(object["spec"]["group"].string_or("")),
                             std::string(object["spec"]["names"]["plural"].string_or(""))},
                            {}, 0);
    register_custom(core(), object["spec"]["group"].string_or(""));
  }

  // Which of the names another definition of the group has already: as a set of plural, singular, kind, short names.
  std::string taken_by_others(const Json& object, std::string_view name, bool is_kind) {
    for (const auto& [place, other] : core().store.all(kDefinitions)) {
      if (place.name == object["metadata"]["name"].string_or("")) continue;
      if ((*other)["spec"]["group"] != object["spec"]["group"]) continue;
      const Json& names = (*other)["status"]["acceptedNames"];
      std::vector<std::string_view> theirs;
      if (is_kind) theirs = {names["kind"].string_or(""), names["listKind"].string_or("")};
      else {
        theirs = {names["plural"].string_or(""), names["singular"].string_or("")};
        for (const Json& one : names["shortNames"].items()) theirs.push_back(one.string_or(""));
      }
      if (!name.empty() && std::find(theirs.begin(), theirs.end(), name) != theirs.end()) return place.name;
    }
    return "";
  }

  void accept_names(Json& object) {
    const Json names = object["spec"]["names"];
    Json accepted = object["status"]["acceptedNames"];
    std::string reason, message;
    auto check = [&](std::string_view field, std::string_view conflict_reason, bool is_kind) {
      std::string value(names[field].string_or(""));
      if (taken_by_others(object, value, is_kind).empty()) {
        if (!value.empty()) accepted.make(field) = value;
      } else {
        reason = conflict_reason;
        message = fmt::format("\"{}\" is already in use", value);
      }
    };
    check("plural", "PluralConflict", false);
    check("singular", "SingularConflict", false);
    bool short_names_free = true;
    for (const Json& one : names["shortNames"].items())
      if (!taken_by_others(object, one.string_or(""), false).empty()) {
        short_names_free = false;
        reason = "ShortNamesConflict";
        message = fmt::format("\"{}\" is already in use", one.string_or(""));
      }
    if (short_names_free && names.contains("shortNames")) accepted.make("shortNames") = names["shortNames"];
    check("kind", "KindConflict", true);
    check("listKind", "ListKindConflict", true);
    if (names.contains("categories")) accepted.make("categories") = names["categories"];
    object.make("status").make("acceptedNames") = accepted;
    if (reason.empty()) {
      set_condition(object, condition(core(), "NamesAccepted", true, "NoConflicts", "no conflicts found"));
      if (!find_condition(object, "Established"))
        set_condition(object,
                      condition(core(), "Established", false, "Installing", "the initial names have been accepted"));
    } else {
      set_condition(object, condition(core(), "NamesAccepted", false, reason, message));
      if (!condition_is_true(object, "Established"))
        set_condition(object, condition(core(), "Established", false, "NotAccepted", "not all names are accepted"));
    }
  }

  // Each API server runs this controller. Where the last update of one conflicts with the other's, both stop, and
  // changes of the condition alone do not make them look again.
  bool is_lost(const Place& key, const Json& metadata) {
    std::string uid(metadata["uid"].string_or(""));
    auto found = lost_.find(uid);
    if (found != lost_.end()) {
      TimePoint now = core().loop.now(), until = found->second.until;
      if (now >= until || !metadata["annotations"].same_as(found->second.annotations)) return false;
      // The queue keeps only the earliest time for a key, which was that of a change of the condition.
      add_after(key, until - now);
      return true;
    }
    if (core().options.lost_crd_cleanup <= 0 || !core().random.chance(core().options.lost_crd_cleanup)) return false;
    lost_.emplace(uid, Lost{.annotations = metadata["annotations"], .until = core().loop.now() + kResync});
    add_after(key, kResync);
    return true;
  }

  Task<void> clean_up(Place key, const Json& found) {
    ResourceId id{std::string(found["spec"]["group"].string_or("")),
                  std::string(found["spec"]["names"]["plural"].string_or(""))};
    const Json* terminating = find_condition(found, "Terminating");
    if (terminating && (*terminating)["reason"].string_or("") != "InstanceDeletionInProgress" &&
        (*terminating)["reason"].string_or("") != "InstanceDeletionCompleted") {
      Json object = found;
      set_condition(object, condition(core(), "Terminating", true, "InstanceDeletionInProgress",
                                      "CustomResource deletion is in progress"));
      (void)co_await actor_.update(kDefinitions, std::move(object), "status");
    }
    std::vector<Place> instances;
    for (const auto& [place, object] : core().store.all(id)) instances.push_back(place);
    for (const Place& place : instances) {
      ObjectPtr instance = core().store.find(id, place);
      if (!instance || (*instance)["metadata"].contains("deletionTimestamp")) continue;
      Outcome<Json> removed = co_await actor_.remove(id, place);
      if (!removed && removed.error().code != 404) {
        if (ObjectPtr now = core().store.find(kDefinitions, key)) {
          Json object = *now;
          set_condition(object, condition(core(), "Terminating", true, "InstanceDeletionFailed",
                                          fmt::format("could not list instances: {}", removed.error().message)));
          (void)co_await actor_.update(kDefinitions, std::move(object), "status");
        }
        add_after(key, delays().crd_deletion_retry);
        co_return;
      }
    }
    if (!core().store.all(id).empty()) {
      add_after(key, delays().crd_deletion_retry);
      co_return;
    }
    ObjectPtr now = core().store.find(kDefinitions, key);
    if (!now || is_lost(key, (*now)["metadata"])) co_return;
    Json object = *now;
    Json::Array finalizers;
    for (const Json& one : object["metadata"]["finalizers"].items())
      if (one.string_or("") != kCleanup) finalizers.push_back(one);
    object.make("metadata").make("finalizers") = std::move(finalizers);
    (void)co_await actor_.update(kDefinitions, std::move(object));
  }

  struct Lost {
    Json annotations;
    TimePoint until;
  };
  // The CRDs whose cleanup stopped before its end, by UID.
  std::map<std::string, Lost> lost_;
};

}  // namespace

std::unique_ptr<Controller> make_definition_controller(ApiServer& server, Scope& scope) {
  return std::make_unique<DefinitionController>(server, scope);
}

}  // namespace fairlead::sandbox
