// The lines that the pods of a bundle write.
//
// This is the room's first header. It reads and follows the logs of pods: of a bundle in the cluster (bundle_logs.h),
// and of what is not ready while a run goes on (run_logs.h). It never changes anything in the cluster.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "async/task.h"
#include "kube/client.h"
#include "object/key.h"

namespace re2 {
class RE2;
}

namespace fairlead::logs {

// Lets through the lines that match a regular expression.
class Filter {
 public:
  // Lets everything through.
  Filter() = default;
  // Fails if the text is no regular expression of RE2. The empty text lets everything through.
  static Result<Filter> parse(const std::string& text);
  bool matches(std::string_view line) const;

 private:
  std::shared_ptr<const re2::RE2> expression_;
};

// An instance of a container that has a log.
struct Source {
  std::string ns;
  std::string pod;
  std::string container;
  // Identifies the instance: a restarted container has another one.
  std::string instance;

  bool operator==(const Source&) const = default;
};

// True for the kinds whose objects have pods: Deployment, StatefulSet, Job, Pod and so on.
bool has_pods(const object::Key& key);

// Returns the containers of the pod that have started, in the order of the pod.
std::vector<Source> sources_of(const Json& pod);
// Returns the container that a pod which is not ready waits for: the first that has started and is not ready.
std::optional<Source> unready_source_of(const Json& pod);

// Lists the pods of a workload. `workload` is the whole object.
Task<kube::Outcome<std::vector<Json>>> pods_of(kube::Client& client, const Json& workload);

// Returns a line as people read it, for example "web-7c9f-x2x4l app | listening".
std::string line_text(std::string_view pod, std::string_view container, std::string_view text);

using Sink = std::function<void(const Source& source, std::string_view line)>;

// Calls `sink` for each line of the container, from the last `tail` lines on (all if there is no number). Follows the
// log until the container ends, or reads only what is there.
Task<kube::Outcome<void>> read_lines(kube::Client& client, Source source, bool follow, std::optional<int64_t> tail,
                                     Sink sink);

}  // namespace fairlead::logs
