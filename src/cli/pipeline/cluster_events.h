// Writes the events of a pipeline to the clusters that it works on, as Kubernetes Events.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "cli/core/connect.h"
#include "pipeline/events.h"

namespace fairlead::cli {

// Returns the Kubernetes Event, whose name has to be unique in the namespace.
Json event_object(const pipeline::Event& event, const std::string& pipeline, const std::string& ns,
                  const std::string& name);

// Writes the events of one phase. An event that cannot be written never stops the run: a namespace that does not exist
// yet may exist when the next event comes, and after any other failure no more events are written.
class ClusterEvents {
 public:
  // The loop must outlive it.
  ClusterEvents(RealLoop& loop, std::string pipeline, Globals globals);
  ~ClusterEvents();

  // Returns why no more events are written, the first time that this happens. Ends in a few seconds, whatever the
  // server does.
  Task<Result<void>> write(pipeline::Event event);
  // Always, before it is destroyed.
  Task<void> close();

 private:
  Task<Result<void>> write_waiting();

  RealLoop& loop_;
  std::string pipeline_;
  Globals globals_;
  // Makes the names of events unique.
  std::string run_;
  uint64_t written_ = 0;
  journal::Journal journal_;
  std::unique_ptr<Cluster> cluster_;
  std::deque<pipeline::Event> waiting_;
  bool has_failed_ = false;
};

}  // namespace fairlead::cli
