#include "rollout/tracking.h"

#include <algorithm>

#include "inventory/applyset.h"
#include "rollout/causes.h"
#include "rollout/effect.h"
#include "rollout/missing.h"

namespace fairlead::rollout {
namespace {

using journal::What;
using readiness::State;

// After this long without a status, nobody is taken to write one.
constexpr Duration kStatusGrace = std::chrono::seconds(10);
// Most pods start faster than this: only then is it worth watching them.
constexpr Duration kPodsGrace = std::chrono::seconds(3);

bool makes_pods(const object::Key& key) {
  return key.group == "apps" || (key.group == "batch" && key.kind == "Job") || (key.group.empty() && key.kind == "Pod");
}

}  // namespace

Tracker::~Tracker() {
  for (auto& [node, waiting] : waiting_)
    for (Loop::TimerId timer : waiting.timers) run_.loop.cancel_timer(timer);
}

bool Tracker::is_enough(uint32_t node) const {
  if (run_.options.dry_run) return true;
  return !run_.options.wait && run_.graph.needed_by(node).empty();
}

void Tracker::follow(uint32_t node, Json stored) {
  if (is_enough(node)) {
    run_.records[node].verdict = {.state = State::unknown, .reason = "stored"};
    run_.ready(node);
    return;
  }
  Waiting& waiting = waiting_[node];
  waiting.last = std::move(stored);
  judge(node);
  if (run_.plan.is_settled(node)) return;
  const object::Key& key = run_.object(node).key();
  Duration limit = run_.patience_for(key);
  waiting.timers.push_back(run_.loop.call_after(limit, [this, node, limit] {
    run_.records[node].timed_out = true;
    run_.failed(node, not_ready_error(run_, evidence_, node, limit));
    settle(node);
  }));
  waiting.timers.push_back(run_.loop.call_after(kStatusGrace, [this, node] {
    waiting_[node].status_overdue = true;
    judge(node);
  }));
  if (makes_pods(key))
    waiting.timers.push_back(run_.loop.call_after(kPodsGrace, [this, node, ns = key.ns] {
      evidence_.watch_pods(ns);
      judge(node);
    }));
  if (key.kind == "PersistentVolumeClaim") evidence_.watch_cluster_wide("storage.k8s.io", "StorageClass");
  watch(node);
}

void Tracker::watch(uint32_t node) {
  const object::Resource* resource = run_.kinds.of(run_.object(node));
  std::string what = resource->api_version() + " " + resource->kind;
  if (auto running = watches_.find(what); running != watches_.end()) {
    // It may have shown what came of the object before we were told that it is stored, and then does not show it again.
    const object::Object& object = run_.object(node);
    if (const Json* seen = running->second->find(object.ns(), object.name())) see(node, *seen);
    return;
  }
  kube::WatchOptions options;
  if (!run_.part_of.empty()) {
    options.label_selector = fmt::format("{}={}", inventory::kPartOfLabel, run_.part_of);
  } else {
    // All of a kind, where the objects are in several namespaces.
    options.ns = run_.object(node).ns();
    for (const object::Object& other : run_.bundle.objects)
      if (other.kind() == resource->kind && other.group() == resource->group && other.ns() != options.ns)
        options.ns.clear();
  }
  auto changed = [this, group = resource->group, kind = resource->kind](const Json& object, bool gone) {
    if (object.is_null() || gone) return;
    const Json& metadata = object["metadata"];
    auto found = run_.find({.group = group,
                            .kind = kind,
                            .ns = std::string(metadata["namespace"].string_or("")),
                            .name = std::string(metadata["name"].string_or(""))});
    if (found) see(*found, object);
  };
  auto& watched = watches_[what];
  watched = std::make_unique<kube::Watched>(run_.client, *resource, options, std::move(changed));
  scope_.spawn(watched->run());
}

void Tracker::see(uint32_t node, const Json& object) {
  auto found = waiting_.find(node);
  if (found == waiting_.end()) return;
  // What was there before our own write says nothing about it.
  if (version_number(object) < run_.records[node].version) return;
  found->second.last = object;
  judge(node);
}

bool Tracker::has_status(const object::Key& key, std::string_view version) const {
  auto in = [&](const Json& definition) {
    const Json& spec = definition["spec"];
    if (spec["group"].string_or("") != key.group || spec["names"]["kind"].string_or("") != key.kind) return false;
    for (const Json& served : spec["versions"].items())
      if (served["name"].string_or("") == version)
        return served["subresources"].contains("status") &&
               served["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"].contains("conditions");
    return false;
  };
  for (const object::Object& object : run_.bundle.objects)
    if (object.kind() == "CustomResourceDefinition" && in(object.value())) return true;
  return std::ranges::any_of(run_.cluster.definitions, in);
}

readiness::Options Tracker::options_for(uint32_t node, const Waiting& waiting) const {
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

readiness::Why Tracker::why(uint32_t node, const Json& object) const {
  const object::Key& key = run_.object(node).key();
  return makes_pods(key) ? why_pods(run_, evidence_, node, object) : readiness::Why();
}

// The first evidence is told at once, while the wait goes on: it may pass, and people want to know. That a pod takes
// its time to start is none for a while.
void Tracker::tell_trouble(uint32_t node, const readiness::Why& why) {
  std::string& last = waiting_[node].trouble;
  bool is_early = !why.grave && run_.loop.now() - run_.records[node].stored_at < kPodsGrace;
  if (is_early || why.causes.empty() || why.causes.front() == last) return;
  last = why.causes.front();
  run_.tell(What::progress, node, "trouble", last);
}

void Tracker::judge(uint32_t node) {
  auto found = waiting_.find(node);
  if (found == waiting_.end()) return;
  Record& record = run_.records[node];
  readiness::Verdict verdict = readiness::judge(found->second.last, options_for(node, found->second));
  bool moved = verdict.reason != record.verdict.reason;
  record.verdict = verdict;
  if (verdict.state == State::ready) {
    run_.ready(node);
    settle(node);
    return;
  }
  readiness::Why pods = why(node, found->second.last);
  if ((verdict.state == State::failed && verdict.permanent) || pods.permanent) {
    run_.failed(node, not_ready_error(run_, evidence_, node, std::nullopt));
    settle(node);
    return;
  }
  if (moved) run_.tell(What::progress, node, std::string(readiness::name_of(verdict.state)), verdict.reason);
  tell_trouble(node, pods);
}

void Tracker::settle(uint32_t node) {
  auto found = waiting_.find(node);
  if (found == waiting_.end()) return;
  for (Loop::TimerId timer : found->second.timers) run_.loop.cancel_timer(timer);
  waiting_.erase(found);
}

void Tracker::follow_outside(uint32_t node) {
  const object::Key& key = run_.graph.key(node);
  const object::Resource* resource = run_.discovery.known().find(key.group, key.kind);
  if (!resource) {
    run_.failed(node, Error(ErrorKind::not_found,
                            fmt::format("{} is neither in the bundle nor in the cluster", key.text_with_group())));
    return;
  }
  auto& watched = watches_[key.text_with_group()];
  watched = std::make_unique<kube::Watched>(
      run_.client, *resource, kube::WatchOptions{.ns = key.ns, .field_selector = "metadata.name=" + key.name},
      [this, node](const Json& object, bool gone) {
        if (!object.is_null() && !gone && readiness::judge(object).state == State::ready) run_.ready(node);
      });
  scope_.spawn(watched->run());
  Duration limit = run_.patience_for(key);
  waiting_[node].timers.push_back(run_.loop.call_after(limit, [this, node, limit, text = key.text()] {
    run_.failed(node,
                Error(ErrorKind::timeout, fmt::format("{} is not there and ready after {}", text, short_text(limit))));
  }));
}

void Tracker::evidence_changed(std::string_view kind, const std::string& ns) {
  if (kind != "Pod" && kind != "Event" && kind != "StorageClass") return;
  std::vector<uint32_t> concerned;
  for (const auto& [node, waiting] : waiting_)
    if (node < run_.records.size() && (ns.empty() || run_.object(node).ns() == ns)) concerned.push_back(node);
  for (uint32_t node : concerned) judge(node);
}

}  // namespace fairlead::rollout
