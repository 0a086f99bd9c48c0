#include "sandbox/controllers/workload.h"

#include <fmt/format.h>

#include <cmath>

#include "fields/managed_fields.h"
#include "object/selector.h"
#include "sandbox/core/conditions.h"

namespace fairlead::sandbox {
namespace {

bool has_ended(const Json& pod) {
  std::string_view phase = pod["status"]["phase"].string_or("");
  return phase == "Succeeded" || phase == "Failed";
}

}  // namespace

Place place_of(const Json& object) {
  return {std::string(object["metadata"]["namespace"].string_or("")),
          std::string(object["metadata"]["name"].string_or(""))};
}

std::string uid_of(const Json& object) { return std::string(object["metadata"]["uid"].string_or("")); }

const Json& controller_of(const Json& object) {
  static const Json kNone;
  for (const Json& owner : object["metadata"]["ownerReferences"].items())
    if (owner["controller"].bool_or(false)) return owner;
  return kNone;
}

std::optional<Place> owner_place(const Place& place, const Json& object, std::string_view kind) {
  const Json& owner = controller_of(object);
  if (owner["kind"].string_or("") != kind) return std::nullopt;
  return Place{place.ns, std::string(owner["name"].string_or(""))};
}

Json owner_reference(const Json& owner) {
  return Json::Object{{"apiVersion", owner["apiVersion"]}, {"kind", owner["kind"]}, {"name", owner["metadata"]["name"]},
                      {"uid", owner["metadata"]["uid"]},   {"controller", true},    {"blockOwnerDeletion", true}};
}

std::vector<ObjectPtr> controlled_by(const Core& core, const ResourceId& resource, const Json& owner) {
  std::vector<ObjectPtr> found;
  std::string uid = uid_of(owner);
  std::string ns(owner["metadata"]["namespace"].string_or(""));
  const Store::Objects& all = core.store.all(resource);
  for (auto at = all.lower_bound({ns, ""}); at != all.end() && at->first.ns == ns; ++at)
    if (controller_of(*at->second)["uid"].string_or("") == uid) found.push_back(at->second);
  return found;
}

Task<void> adopt(Actor& actor, ResourceId resource, Json owner) {
  Result<object::Selector> selector = object::Selector::from_json(owner["spec"]["selector"]);
  if (!selector || selector->matches_everything()) co_return;
  std::string ns(owner["metadata"]["namespace"].string_or(""));
  std::vector<ObjectPtr> orphans;
  const Store::Objects& all = actor.core().store.all(resource);
  for (auto at = all.lower_bound({ns, ""}); at != all.end() && at->first.ns == ns; ++at) {
    const Json& object = *at->second;
    if (controller_of(object).is_null() && !is_deleting(object) && is_active(object) &&
        selector->matches(object["metadata"]["labels"]))
      orphans.push_back(at->second);
  }
  for (const ObjectPtr& orphan : orphans) {
    const Json& metadata = (*orphan)["metadata"];
    Json::Array owners = metadata["ownerReferences"].items();
    owners.push_back(owner_reference(owner));
    (void)co_await actor.patch(resource, place_of(*orphan),
                               Json::Object{{"metadata", Json::Object{{"resourceVersion", metadata["resourceVersion"]},
                                                                      {"ownerReferences", std::move(owners)}}}});
  }
}

bool is_ready(const Json& pod) { return condition_is_true(pod, "Ready"); }
bool is_deleting(const Json& object) { return object["metadata"].contains("deletionTimestamp"); }

bool is_active(const Json& pod) { return !has_ended(pod) && !is_deleting(pod); }
bool is_terminating(const Json& pod) { return !has_ended(pod) && is_deleting(pod); }

bool is_available(const Core& core, const Json& pod, int64_t min_ready_seconds, Duration& wait) {
  if (!is_ready(pod)) return false;
  if (min_ready_seconds <= 0) return true;
  const Json* ready = find_condition(pod, "Ready");
  std::optional<std::chrono::sys_seconds> since = fields::parse_time((*ready)["lastTransitionTime"].string_or(""));
  if (!since) return true;
  Duration left = WallTime(*since) + std::chrono::seconds(min_ready_seconds) - core.loop.clock().wall_now();
  if (left <= Duration::zero()) return true;
  wait = std::min(wait, left);
  return false;
}

Json pod_from(const Json& pod_template, const Json& owner) {
  Json::Object metadata;
  for (std::string_view kept : {"labels", "annotations", "finalizers"})
    if (pod_template["metadata"].contains(kept)) metadata.append(std::string(kept), pod_template["metadata"][kept]);
  metadata.append("ownerReferences", Json::Array{owner_reference(owner)});
  return Json::Object{
      {"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", std::move(metadata)}, {"spec", pod_template["spec"]}};
}

std::string template_hash(const Json& pod_template) {
  uint32_t hash = 2166136261u;
  for (char c : pod_template.dump()) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return safe_encode(std::to_string(hash));
}

int64_t resolve_amount(const Json& amount, int64_t total, bool round_up) {
  if (const std::string* text = amount.if_string()) {
    double share = std::strtod(text->c_str(), nullptr) / 100.0 * double(total);
    return int64_t(round_up ? std::ceil(share) : std::floor(share));
  }
  return amount.int_or(0);
}

void record_event(Core& core, const Json& about, std::string_view type, std::string_view reason, std::string message,
                  std::string_view component) {
  if (!core.options.events) return;
  const Json& metadata = about["metadata"];
  std::string ns(metadata["namespace"].string_or("default"));
  std::string name = fmt::format("{}.{:x}", metadata["name"].string_or(""), core.random.next() >> 4);
  core.store.put({"", "events"}, {ns, name},
                 Json::Object{{"apiVersion", "v1"},
                              {"kind", "Event"},
                              {"metadata", Json::Object{{"name", name},
                                                        {"namespace", ns},
                                                        {"uid", core.random.uid()},
                                                        {"creationTimestamp", core.now_text()}}},
                              {"involvedObject", Json::Object{{"kind", about["kind"]},
                                                              {"namespace", metadata["namespace"]},
                                                              {"name", metadata["name"]},
                                                              {"uid", metadata["uid"]},
                                                              {"apiVersion", about["apiVersion"]},
                                                              {"resourceVersion", metadata["resourceVersion"]}}},
                              {"reason", reason},
                              {"message", std::move(message)},
                              {"source", Json::Object{{"component", component}}},
                              {"firstTimestamp", core.now_text()},
                              {"lastTimestamp", core.now_text()},
                              {"count", 1},
                              {"type", type},
                              {"eventTime", nullptr},
                              {"reportingComponent", component},
                              {"reportingInstance", ""}});
}

}  // namespace fairlead::sandbox
