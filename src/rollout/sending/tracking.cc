#include "rollout/sending/tracking.h"

#include <algorithm>

#include "base/duration_text.h"
#include "base/timestamp.h"
#include "inventory/applyset.h"
#include "object/status_expected.h"
#include "rollout/core/retry.h"
#include "rollout/guards/causes.h"
#include "rollout/guards/missing.h"
#include "rollout/sending/internal/effect.h"

namespace fairlead::rollout {
namespace {

using journal::EventKind;
using readiness::State;

// If there is no status after this time, we assume that no controller writes one.
constexpr Duration kStatusGrace = std::chrono::seconds(10);
// Most pods start faster than this. Pods are watched only after this time.
constexpr Duration kPodsGrace = std::chrono::seconds(3);

// Returns the most likely reason for the deletion, from the object's last form.
std::string who_deleted(const Json& last) {
  if (const Json& owners = last["metadata"]["ownerReferences"]; !owners.items().empty())
    return fmt::format("it has an owner, {} {}: the garbage collector deletes it if its owner does not exist",
                       owners.items()[0]["kind"].string_or("?"), owners.items()[0]["name"].string_or("?"));
  if (last["spec"].contains("ttlSecondsAfterFinished"))
    return "its ttlSecondsAfterFinished deleted it before its result was seen";
  return "another user or a controller deleted it";
}

bool makes_pods(const object::Key& key) {
  return key.group == "apps" || (key.group == "batch" && key.kind == "Job") || (key.group.empty() && key.kind == "Pod");
}

}  // namespace

Tracker::~Tracker() {
  for (auto& [node, waiting] : waiting_)
    for (Loop::TimerId timer : waiting.timers) run_.loop().cancel_timer(timer);
}

bool Tracker::is_enough(NodeId node) const {
  if (run_.options().dry_run) return true;
  return !run_.options().wait && !run_.plan().is_needed_done(node);
}

// Returns the time since anything but the object's status was last written.
Duration Tracker::age_of(const Json& object) const {
  const Json& metadata = object["metadata"];
  std::optional<WallTime> last = parse_timestamp(metadata["creationTimestamp"].string_or(""));
  for (const Json& entry : metadata["managedFields"].items())
    if (entry["subresource"].string_or("").empty())
      if (auto time = parse_timestamp(entry["time"].string_or("")); time && last) last = std::max(*last, *time);
  return last ? run_.server_now() - *last : Duration::zero();
}

void Tracker::follow(NodeId node, Json stored) {
  if (is_enough(node)) {
    run_.edit(node).verdict = {.state = State::unknown, .reason = "stored"};
    run_.ready(node);
    return;
  }
  Waiting& waiting = waiting_[node];
  waiting.last = std::move(stored);
  Duration for_status = kStatusGrace;
  if (run_.state(node).stored == ObjectState::Stored::unchanged) for_status -= age_of(waiting.last);
  waiting.status_overdue = for_status <= Duration::zero();
  judge(node);
  if (run_.plan().is_settled(node)) return;
  const object::Key& key = run_.object(node).key();
  waiting.deadline = std::make_unique<Deadline>(run_, key, workloads_behind(run_, node), [this, node] {
    run_.edit(node).timed_out = true;
    run_.failed(node, not_ready_error(run_, evidence_, node, waiting_[node].deadline->waited()));
    settle(node);
  });
  if (!waiting.status_overdue)
    waiting.timers.push_back(run_.loop().call_after(for_status, [this, node] {
      waiting_[node].status_overdue = true;
      judge(node);
    }));
  if (makes_pods(key))
    waiting.timers.push_back(run_.loop().call_after(kPodsGrace, [this, node, ns = key.ns] {
      evidence_.watch_pods(ns);
      judge(node);
    }));
  if (key.kind == "PersistentVolumeClaim") evidence_.watch_cluster_wide("storage.k8s.io", "StorageClass");
  watch(node);
}

std::vector<Tracker::View> Tracker::views_of(NodeId node) {
  const object::Object& object = run_.object(node);
  const object::Resource* resource = run_.kinds().of(object);
  std::string kind = resource->api_version() + " " + resource->kind;
  auto [scattered, is_new] = scattered_.try_emplace(kind, false);
  if (is_new)
    scattered->second = std::ranges::any_of(run_.bundle().objects, [&](const object::Object& other) {
      return other.kind() == resource->kind && other.group() == resource->group && other.ns() != object.ns();
    });
  kube::WatchOptions all;
  if (!run_.part_of().empty()) all.label_selector = fmt::format("{}={}", inventory::kPartOfLabel, run_.part_of());
  std::vector<View> views;
  if (scattered->second) views.push_back({.name = kind, .options = all});
  all.ns = object.ns();
  views.push_back({.name = fmt::format("{} in {}", kind, object.ns()), .options = all});
  views.push_back({.name = object.key().text_with_group(),
                   .options = {.ns = object.ns(), .field_selector = "metadata.name=" + object.name()}});
  return views;
}

void Tracker::watch(NodeId node) {
  const object::Object& object = run_.object(node);
  std::optional<Error> trouble;
  for (View& view : views_of(node)) {
    auto running = watches_.find(view.name);
    if (running == watches_.end()) {
      start(*run_.kinds().of(object), std::move(view));
      return;
    }
    if (!running->second->trouble()) {
      // The watch may have shown the object before we knew that it is stored, and then does not show it again.
      if (const Json* seen = running->second->find(object.ns(), object.name())) see(node, *seen);
      return;
    }
    trouble = running->second->trouble();
  }
  cannot_see(node, *std::move(trouble));
}

void Tracker::start(const object::Resource& resource, View view) {
  auto changed = [this, name = view.name, group = resource.group, kind = resource.kind](const Json& object, bool gone) {
    if (object.is_null()) {
      synced(name);
      return;
    }
    const Json& metadata = object["metadata"];
    auto found = run_.find({.group = group,
                            .kind = kind,
                            .ns = std::string(metadata["namespace"].string_or("")),
                            .name = std::string(metadata["name"].string_or(""))});
    if (!found) return;
    if (!gone) see(*found, object);
    else if (metadata["uid"].string_or("") == run_.state(*found).uid) look_again(*found);
  };
  auto& watched = watches_[view.name];
  watched = std::make_unique<kube::Watched>(client_, resource, std::move(view.options), std::move(changed));
  scope_.spawn(watched->run());
}

// Called when the watch has shown all objects, or has failed. If it failed, its objects are watched by narrower views.
void Tracker::synced(const std::string& view) {
  const kube::Watched& watched = *watches_.at(view);
  std::vector<NodeId> concerned;
  for (const auto& [node, waiting] : waiting_) {
    if (!run_.is_object(node)) continue;
    std::vector<View> views = views_of(node);
    if (std::ranges::find(views, view, &View::name) != views.end()) concerned.push_back(node);
  }
  for (NodeId node : concerned) {
    const object::Object& object = run_.object(node);
    if (watched.trouble()) watch(node);
    else if (!watched.find(object.ns(), object.name())) look_again(node);
  }
}

// Marks the object as failed, since nothing more will be known about it and waiting would be useless.
void Tracker::cannot_see(NodeId node, Error why) {
  const object::Object& object = run_.object(node);
  std::string next = why.next();
  if (!next.empty()) next += "; or ";
  next += "fairlead apply … --no-wait, which does not wait until objects are ready";
  run_.failed(node, Error(why.kind(), fmt::format("{} is stored, but it is not known whether it becomes ready",
                                                  object.key().text()))
                        .because(std::move(why))
                        .at(object.source().text())
                        .next(std::move(next)));
  settle(node);
}

void Tracker::look_again(NodeId node) {
  if (waiting_.contains(node)) scope_.spawn(find_out_whether_deleted(node));
}

// A watch by label also reports an object as deleted if it only lost its label.
Task<void> Tracker::find_out_whether_deleted(NodeId node) {
  const object::Object& object = run_.object(node);
  auto there = co_await retry_while_passing(
      run_.loop(), [&] { return client_.get(*run_.kinds().of(object), object.ns(), object.name()); });
  if (!there) {
    if (there.error().is(kube::FaultKind::not_found)) deleted(node, "was deleted");
    co_return;
  }
  see(node, there->value);
  View alone = views_of(node).back();
  if (waiting_.contains(node) && !watches_.contains(alone.name)) start(*run_.kinds().of(object), std::move(alone));
}

void Tracker::deleted(NodeId node, std::string_view how) {
  auto found = waiting_.find(node);
  if (found == waiting_.end()) return;
  const object::Object& object = run_.object(node);
  Error error(ErrorKind::unavailable, fmt::format("{} {} while Fairlead waited for it", object.key().text(), how));
  error = std::move(error).because(who_deleted(found->second.last)).at(object.source().text());
  run_.failed(node,
              std::move(error).next(fmt::format("kubectl {}get events --field-selector involvedObject.name={}; "
                                                "then apply again",
                                                object.ns().empty() ? "" : "-n " + object.ns() + " ", object.name())));
  settle(node);
}

void Tracker::see(NodeId node, const Json& object) {
  auto found = waiting_.find(node);
  if (found == waiting_.end()) return;
  // A version from before our own write says nothing about what we wrote.
  if (version_number(object) < run_.state(node).version) return;
  if (object["metadata"]["uid"].string_or("") != run_.state(node).uid) {
    deleted(node, "was deleted and created again");
    return;
  }
  found->second.last = object;
  judge(node);
}

bool Tracker::has_status(const object::Key& key, std::string_view version) const {
  const Json* definition = find_definition(run_.bundle(), run_.cluster().definitions, key);
  return definition && object::expects_conditions(*definition, version);
}

readiness::Options Tracker::options_for(NodeId node, const Waiting& waiting) const {
  const object::Object& object = run_.object(node);
  readiness::Options options;
  if (object.group().find('.') != std::string::npos && !waiting.status_overdue)
    options.status_expected = has_status(object.key(), object.version());
  if (object.kind() == "PersistentVolumeClaim") {
    std::string name(waiting.last["spec"]["storageClassName"].string_or(""));
    const Json* storage = evidence_.find("StorageClass", "", name);
    options.binds_on_first_use = storage && (*storage)["volumeBindingMode"].string_or("") == "WaitForFirstConsumer";
  }
  return options;
}

readiness::Why Tracker::why(NodeId node, const Json& object) const {
  const object::Key& key = run_.object(node).key();
  return makes_pods(key) ? why_pods(run_, evidence_, node, object) : readiness::Why();
}

// Reports trouble at once, while the wait continues: it may pass, and people want to know. For a while after the object
// was stored, it is no trouble that a pod takes time to start.
void Tracker::tell_trouble(NodeId node, const readiness::Why& why) {
  std::string& last = waiting_[node].trouble;
  bool is_early = !why.grave && run_.loop().now() - run_.state(node).stored_at < kPodsGrace;
  if (is_early || why.causes.empty() || why.causes.front() == last) return;
  last = why.causes.front();
  // A pod that takes its time to start is no trouble yet.
  run_.tell(EventKind::progress, node, why.grave ? "trouble" : "starting", last);
}

void Tracker::judge(NodeId node) {
  auto found = waiting_.find(node);
  if (found == waiting_.end()) return;
  ObjectState& state = run_.edit(node);
  readiness::Verdict verdict = readiness::judge(found->second.last, options_for(node, found->second));
  bool moved = verdict.reason != state.verdict.reason;
  // Nothing was sent for an object that is unchanged, so that it is news only if it was not ready before.
  bool was_awaited = state.stored == ObjectState::Stored::unchanged && !state.verdict.reason.empty();
  state.verdict = verdict;
  if (verdict.state == State::ready) {
    if (was_awaited && !run_.plan().is_settled(node)) run_.tell(EventKind::ready, node, "ready", verdict.reason);
    run_.ready(node);
    settle(node);
    return;
  }
  if (verdict.state == State::terminating) {
    deleted(node, "began terminating");
    return;
  }
  readiness::Why pods = why(node, found->second.last);
  if ((verdict.state == State::failed && verdict.permanent) || pods.permanent) {
    run_.failed(node, not_ready_error(run_, evidence_, node, std::nullopt));
    settle(node);
    return;
  }
  if (moved) run_.tell(EventKind::progress, node, std::string(readiness::name_of(verdict.state)), verdict.reason);
  tell_trouble(node, pods);
}

void Tracker::settle(NodeId node) {
  auto found = waiting_.find(node);
  if (found == waiting_.end()) return;
  for (Loop::TimerId timer : found->second.timers) run_.loop().cancel_timer(timer);
  waiting_.erase(found);
}

void Tracker::follow_outside(NodeId node) {
  const object::Key& key = run_.graph().key(node);
  const object::Resource* resource = discovery_.known().find(key.group, key.kind);
  if (!resource) {
    run_.failed(node, Error(ErrorKind::not_found,
                            fmt::format("{} is neither in the bundle nor in the cluster", key.text_with_group())));
    return;
  }
  std::string name = "outside " + key.text_with_group();
  auto& watched = watches_[name];
  watched = std::make_unique<kube::Watched>(
      client_, *resource, kube::WatchOptions{.ns = key.ns, .field_selector = "metadata.name=" + key.name},
      [this, node, name](const Json& object, bool gone) {
        if (!object.is_null() && !gone && readiness::judge(object).state == State::ready) run_.ready(node);
        if (const std::optional<Error>& trouble = watches_.at(name)->trouble())
          run_.failed(node, Error(trouble->kind(),
                                  fmt::format("it is not known whether {} is ready", run_.graph().key(node).text()))
                                .because(*trouble));
      });
  scope_.spawn(watched->run());
  Duration limit = run_.timeout_for(key);
  waiting_[node].timers.push_back(run_.loop().call_after(limit, [this, node, limit, text = key.text()] {
    run_.failed(node, Error(ErrorKind::timeout,
                            fmt::format("{} does not exist or is not ready after {}", text, short_text(limit))));
  }));
}

void Tracker::evidence_changed(std::string_view kind, const std::string& ns) {
  if (kind != "Pod" && kind != "Event" && kind != "StorageClass") return;
  std::vector<NodeId> concerned;
  for (const auto& [node, waiting] : waiting_)
    if (run_.is_object(node) && (ns.empty() || run_.object(node).ns() == ns)) concerned.push_back(node);
  for (NodeId node : concerned) judge(node);
}

}  // namespace fairlead::rollout
