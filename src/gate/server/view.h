// What the gate sees of the cluster: webhook configurations, CRDs, namespaces, and the Services behind webhooks.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "async/scope.h"
#include "async/signal.h"
#include "gate/rules/backend.h"
#include "gate/rules/hook.h"
#include "gate/rules/kinds.h"
#include "kube/watch.h"

namespace fairlead::gate {

object::Resource webhook_configurations(bool mutating);

using HookPtr = std::shared_ptr<const Hook>;

// Keeps no more than it needs: no schemas, and Services only in namespaces where a webhook is. What cannot be read is
// tried again, and trouble() tells.
class View {
 public:
  // `own_name` is the gate's, to tell its own configurations from others. The client must outlive it.
  View(kube::Client& client, std::string own_name);

  // Until it is cancelled.
  Task<void> run();

  // True once everything has been listed that decides whether a request waits.
  bool synced() const;
  // Why something cannot be read, or empty.
  std::string trouble() const;
  // Notified after each change.
  Signal& changed() { return changed_; }

  // True if it has seen this version of a webhook configuration, or a newer one.
  bool shows(const Json& configuration, bool mutates) const;
  // By id.
  const std::map<std::string, HookPtr>& hooks() const { return hooks_; }
  const CustomKinds& kinds() const { return kinds_; }
  // Null if there is none.
  Json ns_object(const std::string& ns) const;
  Surroundings surroundings(const admission::ServiceReference& service) const;
  // The gate's own configurations.
  const std::set<std::string>& own() const { return own_; }
  // Mutating configurations of others that API servers call before the gate.
  std::vector<std::string> before() const;

 private:
  struct Backing {
    bool services_known = false;
    bool slices_known = false;
    std::map<std::string, Json> services;
    std::map<std::string, Json> slices;
  };
  using Take = std::function<void(const kube::WatchEvent& event)>;

  Task<void> follow(object::Resource resource, kube::WatchOptions options, Take take);
  void take_configuration(const kube::WatchEvent& event, bool mutates);
  void rebuild();
  void watch_backing(const std::string& ns);

  kube::Client& client_;
  std::string own_name_;
  Signal changed_;
  Scope* scope_ = nullptr;
  // By kind and name.
  std::map<std::pair<bool, std::string>, std::vector<HookPtr>> configurations_;
  std::map<std::pair<bool, std::string>, uint64_t> versions_;
  std::map<std::string, HookPtr> hooks_;
  std::set<std::string> own_;
  CustomKinds kinds_;
  // Labels by namespace.
  std::map<std::string, Json> namespaces_;
  std::map<std::string, Backing> backing_;
  bool validating_known_ = false;
  bool mutating_known_ = false;
  bool kinds_known_ = false;
  bool namespaces_known_ = false;
  // By resource.
  std::map<std::string, std::string> troubles_;
};

}  // namespace fairlead::gate
