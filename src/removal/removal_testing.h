// Helpers for the tests of this room: a sandbox on a virtual loop with objects in it, operators that clean up, and
// removals.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "async/scope.h"
#include "kube/interceptor_testing.h"
#include "kube/watched.h"
#include "manifest/manifest_testing.h"
#include "removal/removal.h"
#include "sandbox/core/core.h"
#include "sandbox/sandbox.h"

namespace fairlead::removal {

using manifest::bundle_of;

constexpr std::string_view kWidgets =
    "apiVersion: apiextensions.k8s.io/v1\n"
    "kind: CustomResourceDefinition\n"
    "metadata: {name: widgets.example.com}\n"
    "spec:\n"
    "  group: example.com\n"
    "  scope: Namespaced\n"
    "  names: {kind: Widget, plural: widgets, singular: widget}\n"
    "  versions:\n"
    "  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, "
    "x-kubernetes-preserve-unknown-fields: true}}}\n";

inline std::string widget(std::string_view name, std::string_view finalizer = "example.com/cleanup",
                          std::string_view ns = "default") {
  return fmt::format(
      "---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: {}, namespace: {}, finalizers: [{}]}}\n", name,
      ns, finalizer);
}

inline std::string config_map(std::string_view name, std::string_view more = "", std::string_view ns = "default") {
  return fmt::format("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {}, namespace: {}{}{}}}\n", name, ns,
                     more.empty() ? "" : ", ", more);
}

inline std::string deployment(std::string_view name, std::string_view ns = "default", int replicas = 1) {
  return fmt::format(
      "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {0}, namespace: {1}}}\n"
      "spec: {{replicas: {2}, selector: {{matchLabels: {{app: {0}}}}}, template: {{metadata: {{labels: {{app: {0}}}}}, "
      "spec: {{containers: [{{name: x, image: x}}]}}}}}}\n",
      name, ns, replicas);
}

class RemovalTest : public testing::Test {
 protected:
  explicit RemovalTest(sandbox::Options options = {})
      : sandbox_(loop_, std::move(options)),
        network_(sandbox_.api_server()),
        admin_(loop_, sandbox_.api_server(), nullptr, {}),
        client_(loop_, network_, nullptr, {}),
        discovery_(client_),
        journal_(loop_.clock()),
        actors_(loop_, nullptr) {
    journal_.read_by([this](const journal::Event& event) { events_.push_back(event); });
  }
  ~RemovalTest() override {
    actors_.cancel();
    loop_.run(actors_.join());
    loop_.run(sandbox_.stop());
  }

  void pass(Duration time) { (void)loop_.run(sleep_for(loop_, time)); }

  // Creates objects, each as soon as its kind is served.
  void put(const std::string& yaml) {
    manifest::Bundle bundle = bundle_of(yaml);
    kube::Discovery discovery(admin_);
    for (const object::Object& object : bundle.objects) {
      auto find = [&] { return discovery.known().find(object.group(), object.version(), object.kind()); };
      if (!find()) (void)loop_.run(discovery.refresh());
      auto resource = find();
      ASSERT_TRUE(resource) << object.key().text();
      auto made = loop_.run(admin_.create(*resource, object.ns(), object.value()));
      ASSERT_TRUE(made) << made.error().error().report();
      if (object.kind() == "CustomResourceDefinition") pass(std::chrono::seconds(1));
    }
  }
  // Removes the finalizers of widgets that are being deleted, one per `pace`, while `alive`.
  Task<void> operate(Duration pace) {
    object::Resource widgets{
        .group = "example.com", .version = "v1", .kind = "Widget", .plural = "widgets", .namespaced = true};
    while (co_await sleep_for(loop_, pace)) {
      if (!alive_ || !alive_()) continue;
      auto list = co_await admin_.list(widgets, {});
      if (!list) continue;
      for (const Json& item : list->items) {
        if (!item["metadata"].contains("deletionTimestamp")) continue;
        Json patch(Json::Object{{"metadata", Json::Object{{"finalizers", nullptr}}}});
        auto done = co_await admin_.patch(widgets, item["metadata"]["namespace"].string_or(""),
                                          item["metadata"]["name"].string_or(""), kube::PatchType::merge, patch);
        if (done) break;
      }
    }
  }
  void start_operator(Duration pace, std::function<bool()> alive = [] { return true; }) {
    alive_ = std::move(alive);
    actors_.spawn(operate(pace));
  }

  Ending remove(const std::string& yaml, Options options = {}, CancelSource* stop = nullptr) {
    begin();
    manifest::Bundle bundle = bundle_of(yaml);
    return loop_.run(take_out_manifests(client_, discovery_, bundle, std::move(options), journal_, stop));
  }
  Ending remove_named(std::vector<std::string> names, Options options = {}) {
    begin();
    return loop_.run(take_out_named(client_, discovery_, std::move(names), std::move(options), journal_, nullptr));
  }
  void begin() {
    events_.clear();
    (void)loop_.run(discovery_.refresh());
  }

  Json get(std::string target) {
    auto reply = loop_.run(admin_.request({.target = std::move(target)}));
    return reply ? reply->value : Json();
  }

  static std::string states(const Ending& ending) {
    std::string text;
    for (const ObjectEnding& object : ending.objects)
      text += fmt::format("{} {}\n", object.key.text(), name_of(object.state));
    return text;
  }
  static std::string reports(const Ending& ending) {
    std::string text;
    for (const Cause& cause : ending.causes) text += cause.error.report();
    return text;
  }
  std::string events() const {
    std::string text;
    for (const journal::Event& event : events_) text += journal::to_json(event).dump() + "\n";
    return text;
  }
  // Returns the objects in the order in which they were deleted.
  std::vector<std::string> removed() const {
    std::vector<std::string> all;
    for (const journal::Event& event : events_)
      if (event.kind == journal::EventKind::removed) all.push_back(event.key.text());
    return all;
  }
  size_t count_events(journal::EventKind kind, std::string_view state) const {
    return size_t(std::ranges::count_if(
        events_, [&](const journal::Event& event) { return event.kind == kind && event.state == state; }));
  }
  uint64_t requests() const {
    uint64_t all = 0;
    for (const auto& [verb, count] : client_.counts()) all += count;
    return all;
  }

  VirtualLoop loop_;
  sandbox::Sandbox sandbox_;
  // What `client_` sends goes through it.
  kube::Interceptor network_;
  kube::Client admin_;
  kube::Client client_;
  kube::Discovery discovery_;
  journal::Journal journal_;
  Scope actors_;
  std::function<bool()> alive_;
  std::vector<journal::Event> events_;
};

}  // namespace fairlead::removal
