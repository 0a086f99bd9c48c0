// Holds a Lease, so that at most one process does something at a time.
//
// This is the room's first header. lease takes, renews and releases Leases (Holder), and sees which namespaces others
// hold one in (NamespaceLocks). It never deletes a Lease, and never changes one that somebody else holds.
//
//   Holder holder(client, {.ns = "team-a", .name = "lock", .identity = identity}, on_change);
//   scope.spawn(holder.run());
//   if (holder.holds()) rotate_certificates();
//
// What makes it safe:
//  - Every write names the version of the Lease that it is based on, so the API server refuses it if anybody was
//  faster.
//  - The Lease of another process may be taken when it has not changed for as long as it promises, on our own monotonic
//    clock, from when we first read it in this form. Its timestamps do not count.
//  - We hold the Lease for five sixths of its duration, counted from when we sent the last renewal that is known to be
//    stored. Nobody else can have seen that renewal earlier, so whatever the Lease protects has the last sixth to stop.
//  - A write that got no answer may have been carried out. The Lease is read before anything is decided.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "async/scope.h"
#include "base/backoff.h"
#include "kube/client.h"
#include "kube/watched.h"
#include "lease/moment.h"
#include "lease/record.h"

namespace fairlead::lease {

struct HolderOptions {
  std::string ns;
  std::string name;
  // Of this process alone: make_identity(). A name that comes again after a restart would be taken for the same holder.
  std::string identity;
  Duration duration = kDuration;
  Duration renew_every = kRenewEvery;
  // How long after taking the Lease it counts as held. Others who only look at Leases from time to time
  // (NamespaceLocks) have noticed by then.
  Duration settle{};
};

// Returns an error if the numbers make no sense together: the duration must be whole seconds, and leave time for at
// least one further attempt after a renewal that failed.
Result<void> check(const HolderOptions& options);

// "host_1f3a…": the name of the pod or machine, and a random part.
std::string make_identity(std::string_view host);

class Holder {
 public:
  // Called by run() and release() when holds() has become true or false.
  using Changed = std::function<void(bool holds)>;

  // Requires options that check() accepts. The client must outlive it, and send its requests on its own loop.
  Holder(kube::Client& client, HolderOptions options, Changed changed = {});

  // Takes the Lease as soon as it is free and renews it, again and again, until it is cancelled. Failures are waited
  // out; trouble() tells.
  Task<void> run();
  // Gives the Lease back if it is still our own. Call after run() has ended and after everything that the Lease
  // protects has stopped. Takes at most a few seconds; without success, the Lease lapses by itself.
  Task<void> release();

  // True while nobody else can hold the Lease. Asks the clock, so that it is right even if the process was stopped.
  bool holds() const;

  // What the Lease said when it was last read; nothing if there was none.
  const std::optional<Record>& record() const { return record_; }
  // Why the Lease could not be read or written; nothing while all is well.
  const std::optional<Error>& trouble() const { return trouble_; }
  const HolderOptions& options() const { return options_; }
  Loop& loop() { return client_.loop(); }

 private:
  // A write of ours, found again in the Lease by the time of renewal that it carries.
  struct Attempt {
    std::string renewed;
    Moment sent;
  };

  Duration held_for() const { return options_.duration * 5 / 6; }
  bool is_ours() const { return record_ && record_->holder == options_.identity; }
  bool in_force() const;
  // When the Lease should be written next.
  TimePoint due() const;
  // When holds() will change by itself, or the Lease should be read again.
  TimePoint next_look() const;
  Task<Result<void>> turn();
  Task<Result<void>> wait_until(TimePoint time);
  Task<Result<void>> pause_after(const kube::Failure& failure);
  // Read and write in limited time. A failure makes `known_` false.
  Task<kube::Outcome<void>> read();
  Task<kube::Outcome<void>> write(const Record& next);
  template <class Make>
  Task<kube::Outcome<kube::Reply>> ask(Make make);
  Record next_record() const;
  void see(std::optional<Json> lease);
  void confirm();
  void see_hint(const Json& lease, bool gone);
  void update();

  kube::Client& client_;
  HolderOptions options_;
  Changed changed_;
  Signal wake_;
  kube::Watched hints_;

  // The Lease as it was last read or written. It is current, as far as we know, if `known_`.
  std::optional<Json> stored_;
  std::optional<Record> record_;
  bool known_ = false;
  // The watch has shown another holder since the last request was sent.
  bool hinted_ = false;
  TimePoint read_at_{};
  // When the record was first read in its present form.
  TimePoint record_changed_{};
  // The last write that is known to be stored, and those since then that may be.
  std::optional<Attempt> confirmed_;
  std::vector<Attempt> attempts_;
  TimePoint settled_at_{};
  bool told_ = false;
  Backoff pauses_;
  std::optional<Error> trouble_;
};

}  // namespace fairlead::lease
