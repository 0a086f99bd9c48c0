// Adds the lines of pods that are not ready to the journal of a run, while the run goes on.
#pragma once

#include <map>
#include <memory>

#include "async/scope.h"
#include "journal/journal.h"
#include "kube/discovery.h"
#include "logs/logs.h"

namespace fairlead::logs {

// Follows one pod per workload, from when the workload is first said to be in progress until it is ready or has failed.
class RunLogs {
 public:
  // What the references point to must outlive it.
  RunLogs(kube::Client& client, kube::Discovery& discovery, journal::Journal& journal, Filter filter)
      : client_(client),
        discovery_(discovery),
        journal_(journal),
        filter_(std::move(filter)),
        work_(client.loop(), nullptr) {}

  // Call it for every event of the journal.
  void read(const journal::Event& event);
  // Always call it before the object is destroyed. Stops following.
  Task<void> close();

 private:
  struct Followed {
    CancelSource cancel;
    size_t lines = 0;
  };
  Task<void> follow(object::Key key, std::shared_ptr<Followed> followed);
  Task<std::optional<Source>> next_source(const object::Resource& resource, const object::Key& key);
  void tell(const object::Key& key, const Source& source, std::string text);
  void take(const object::Key& key, Followed& followed, const Source& source, std::string_view line);

  kube::Client& client_;
  kube::Discovery& discovery_;
  journal::Journal& journal_;
  Filter filter_;
  std::map<object::Key, std::shared_ptr<Followed>> followed_;
  Scope work_;
};

}  // namespace fairlead::logs
