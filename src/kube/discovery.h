// What the cluster serves, asked once and remembered.
//
// Asks for aggregated discovery (two requests), and group by group where a server does not have that. A kind that is
// not known is looked for again at most every `pause`, however often it is asked for: CRDs come at any time, and
// bundles can name a thousand kinds that nobody has. A group whose server is down is a problem that is remembered, not
// an error.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "async/signal.h"
#include "kube/client.h"
#include "kube/discovered.h"

namespace fairlead::kube {

class Discovery {
 public:
  struct Options {
    Duration pause = std::chrono::seconds(1);
  };
  Discovery(Client& client, Options options);
  explicit Discovery(Client& client) : Discovery(client, Options()) {}

  // Nothing if the cluster does not serve it; missing() says why.
  Task<Outcome<std::optional<object::Resource>>> find(std::string group, std::string version, std::string kind);
  Task<Outcome<std::optional<object::Resource>>> find_by_name(std::string name);
  // The same, from the server of that API itself: what is told about all of them may be seconds behind. Those who ask
  // at the same time share one request.
  Task<Outcome<std::optional<object::Resource>>> find_at_source(std::string group, std::string version,
                                                                std::string kind);

  // Everything that is known. Asks the server if nothing is yet.
  Task<Outcome<const Discovered*>> all();
  // Asks the server now. Those who ask at the same time share one round.
  Task<Outcome<void>> refresh();
  const Discovered& known() const { return known_; }

 private:
  template <class Look>
  Task<Outcome<std::optional<object::Resource>>> look(Look look);
  Task<Outcome<void>> read_all();
  Task<Outcome<void>> read_branch(std::string path, Discovered& found);
  Task<void> read_group(std::string group, std::string version, Discovered& found);

  Client& client_;
  Options options_;
  Discovered known_;
  std::optional<TimePoint> read_at_;
  // "group/version" of those that are being asked themselves.
  std::set<std::string> asking_;
  bool reading_ = false;
  uint64_t rounds_ = 0;
  std::optional<Failure> last_failure_;
  Signal read_ended_;
};

}  // namespace fairlead::kube
