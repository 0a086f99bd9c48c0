// The objects of a kind, kept up to date: a watch with a memory.
//
// Where watching is forbidden it lists instead, every second while something changes and up to every ten seconds while
// nothing does. Where listing is forbidden as well and the field selector names one object, it gets that object in the
// same rhythm. managedFields are left out unless they are asked for. run() ends when it is cancelled, or on a failure
// that will not pass (no permission to read, no such kind), which trouble() then tells.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "kube/watch.h"

namespace fairlead::kube {

class Watched {
 public:
  // Namespace and name.
  using Place = std::pair<std::string, std::string>;
  // Called for every change, after it has been taken in; for what is gone with its last form. And once, with null, when
  // all that is there has been seen or when the watch has failed.
  using Changed = std::function<void(const Json& object, bool gone)>;

  // The client must outlive it.
  Watched(Client& client, object::Resource resource, WatchOptions options, Changed changed)
      : client_(client), resource_(std::move(resource)), options_(std::move(options)), changed_(std::move(changed)) {}

  // To be called before run(): keeps managedFields.
  void keep_managed_fields() { managed_fields_ = true; }

  Task<void> run();

  // All that is there has been seen.
  bool synced() const { return synced_; }
  // Will never be synced, or is not kept up to date any more.
  const std::optional<Error>& trouble() const { return trouble_; }
  // Why it is not up to date at the moment, where that may pass; nothing while all is well.
  const std::optional<Error>& interruption() const { return watch_ ? watch_->trouble() : interruption_; }
  const std::map<Place, Json>& objects() const { return objects_; }
  const Json* find(const std::string& ns, const std::string& name) const;
  const object::Resource& resource() const { return resource_; }

 private:
  Task<Outcome<void>> follow();
  Task<Outcome<void>> poll();
  // What a poll finds: by a list, or by a get once lists are forbidden.
  Task<Outcome<List>> ask();
  void take_all(std::vector<Json> objects, bool& moved);
  // The name of the only object that the field selector lets through; empty if it lets others through.
  std::string_view only_name() const;
  void take(Json object);
  void drop(const Place& place);
  void sync();

  Client& client_;
  object::Resource resource_;
  WatchOptions options_;
  Changed changed_;
  bool managed_fields_ = false;
  std::map<Place, Json> objects_;
  bool synced_ = false;
  // Lists are forbidden, and only one object is wanted.
  bool by_get_ = false;
  std::optional<Error> trouble_;
  // While it follows; and while it polls, the last list's failure.
  const Watch* watch_ = nullptr;
  std::optional<Error> interruption_;
};

}  // namespace fairlead::kube
