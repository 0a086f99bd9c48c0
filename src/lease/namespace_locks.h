// Sees which namespaces have an operator of their own, by the Leases that those operators hold.
//
// An operator that serves one namespace holds a Lease there (Holder). The operator that serves the whole cluster leaves
// such a namespace alone, and takes it back when the Lease is released or lapses.
//
// What makes it safe:
//  - A namespace counts as held only if a renewal of its Lease was certainly stored less than the Lease's duration and
//    the grace ago: a renewal that is new in one list was stored after the list before it was asked for. So a namespace
//    whose operator died is left alone for at most that long. A Lease that was there before the first list counts only
//    once it has changed.
//  - A namespace counts as free only if no holder can believe that it holds the Lease.
//  - Between the two, and while the view is old, the state is unknown. Validating is then right, because it does no
//  harm
//    to validate twice; changing objects is not.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/watched.h"
#include "lease/moment.h"
#include "lease/record.h"

namespace fairlead::lease {

struct LocksOptions {
  // Of the Lease, in every namespace.
  std::string name;
  Duration grace = std::chrono::seconds(5);
  // How often the Leases are listed, beside watching them.
  Duration check_every = std::chrono::seconds(5);
  // Leases that promise more are not believed for longer than this.
  Duration longest = std::chrono::minutes(10);
};

enum class Lock { free, held, unknown };
std::string_view name_of(Lock lock);

class NamespaceLocks {
 public:
  // Called by run() when the lock of a namespace has changed; `holder` is text for people. A view that is stale is not
  // told: see is_stale().
  using Changed = std::function<void(const std::string& ns, Lock lock, const std::string& holder)>;

  // After this time without a list, the view is stale. A Holder whose `settle` is at least this long is known to every
  // NamespaceLocks, or makes its state unknown, by the time that it counts as holding.
  static Duration stale_after(const LocksOptions& options) { return options.check_every * 3; }

  // The client must outlive it.
  NamespaceLocks(kube::Client& client, LocksOptions options, Changed changed = {});

  // Keeps the view up to date until it is cancelled. Failures are waited out; trouble() tells.
  Task<void> run();

  // Never waits, and asks the clock: right even if the process was stopped.
  Lock lock_of(const std::string& ns) const;
  // Who holds the Lease of that namespace, for logs; empty if nobody does.
  std::string holder_of(const std::string& ns) const;
  bool is_stale() const;
  // How many namespaces are held.
  size_t held() const;
  const std::optional<Error>& trouble() const { return trouble_; }

 private:
  struct Seen {
    std::string uid;
    Record record;
    // A time before which the record was certainly not stored; nothing if none is known.
    std::optional<Moment> stored_after;
    // When it was first seen.
    TimePoint seen_at{};
    bool deleted = false;
  };

  Lock lock_of(const Seen& seen) const;
  Task<void> list();
  void take(const std::vector<Json>& items, Moment asked);
  void see(const Json& lease);
  void see_hint(const Json& lease, bool gone);
  void tell();

  kube::Client& client_;
  LocksOptions options_;
  Changed changed_;
  Signal wake_;
  kube::Watched hints_;
  std::map<std::string, Seen> seen_;
  std::map<std::string, Lock> told_;
  // When the last list that was answered was asked for.
  std::optional<Moment> asked_;
  bool hinted_ = false;
  std::optional<Error> trouble_;
};

}  // namespace fairlead::lease
