#include "rollout/sending/internal/effect.h"

#include <algorithm>
#include <charconv>

#include "base/timestamp.h"

namespace fairlead::rollout {
namespace {

using Stored = ObjectState::Stored;

// API servers of one cluster agree on the time to within this.
constexpr Duration kClocksDiffer = std::chrono::seconds(5);
// Timestamps are in whole seconds, and a Date header is seen up to one second late.
constexpr Duration kWholeSeconds = std::chrono::seconds(1);

std::string_view version_of(const Json& object) { return object["metadata"]["resourceVersion"].string_or(""); }

// Returns when an apply of that manager last changed anything.
std::optional<WallTime> last_changed(const Json& object, std::string_view manager) {
  for (const Json& entry : object["metadata"]["managedFields"].items())
    if (entry["manager"].string_or("") == manager && entry["operation"].string_or("") == "Apply" &&
        entry["subresource"].string_or("").empty())
      return parse_timestamp(entry["time"].string_or(""));
  return std::nullopt;
}

// True if the group has an API server of its own, whose resourceVersions cannot be compared with those of others.
bool has_own_server(const Run& run, const std::string& group) {
  return std::ranges::any_of(run.cluster().api_services, [&](const Json& service) {
    return service["spec"]["group"].string_or("") == group && service["spec"]["service"].is_object();
  });
}

// An object that was created without a field owner gets the owner before-first-apply with the next apply. That apply
// need not change anything else.
bool has_just_got_an_owner(const Run& run, const Json& answer) {
  for (const Json& entry : answer["metadata"]["managedFields"].items()) {
    if (entry["manager"].string_or("") != "before-first-apply") continue;
    std::optional<WallTime> since = parse_timestamp(entry["time"].string_or(""));
    return since && *since + kWholeSeconds >= run.begun_at_server();
  }
  return false;
}

bool is_as_it_was(const Run& run, NodeId node, const Json& answer) {
  std::optional<WallTime> changed = last_changed(answer, run.field_manager());
  if (changed && *changed + kClocksDiffer < run.begun_at_server()) return true;
  // A dry run returns the stored version, whatever it would change.
  if (run.options().dry_run || has_own_server(run, run.object(node).group())) return false;
  uint64_t version = version_number(answer);
  bool is_old = version != 0 && version <= run.version_before();
  // There is no entry if the apply sets nothing, as for objects that only have a name.
  if (!changed) return is_old || has_just_got_an_owner(run, answer);
  return is_old && *changed <= run.begun_at_server() + kWholeSeconds;
}

// Returns what people see of an object: without field owners, and without what controllers report.
Json content_of(Json object) {
  if (Json::Object* metadata = object.make("metadata").if_object())
    for (std::string_view name : {"managedFields", "resourceVersion"}) metadata->erase(name);
  if (Json::Object* members = object.if_object()) members->erase("status");
  return object;
}

}  // namespace

uint64_t version_number(const Json& object) {
  std::string_view version = version_of(object);
  uint64_t number = 0;
  std::from_chars(version.data(), version.data() + version.size(), number);
  return number;
}

bool is_in_doubt(const Run& run, NodeId node, const kube::Reply& reply) {
  if (!run.options().dry_run || reply.created() || run.before(node)) return false;
  std::optional<WallTime> changed = last_changed(reply.value, run.field_manager());
  return !changed || *changed + kClocksDiffer >= run.begun_at_server();
}

Stored effect_of(const Run& run, NodeId node, const kube::Reply& reply) {
  if (run.state(node).taken_over) return Stored::changed;
  if (const Json* before = run.before(node)) {
    bool is_another = (*before)["metadata"]["uid"].string_or("") != reply.value["metadata"]["uid"].string_or("");
    if (is_another) return Stored::created;
    bool same = !run.options().dry_run && version_of(*before) == version_of(reply.value);
    return same || content_of(*before).same_as(content_of(reply.value)) ? Stored::unchanged : Stored::changed;
  }
  if (reply.created() || run.must_be_new(node)) return Stored::created;
  return is_as_it_was(run, node, reply.value) ? Stored::unchanged : Stored::changed;
}

}  // namespace fairlead::rollout
