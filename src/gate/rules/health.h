// Whether API servers can call a webhook, and since when they can or cannot.
//
// This is the first header of the room. The room decides, and does no I/O: whether a webhook works (health.h,
// backend.h), whether a request has to wait for one (verdict.h, exemption.h), for how long a client should wait
// (attempts.h), and which webhook configurations the gate itself must have (registration.h). It reads no clock.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"

namespace fairlead::gate {

// What one look at a webhook has shown.
struct Finding {
  enum class Kind {
    unseen,    // nobody has looked yet
    works,     // it answered
    failing,   // it is proved that a call fails
    doubtful,  // a call fails, unless API servers know of something that the gate does not
    unproved,  // neither is proved, so requests are let through
  };
  Kind kind = Kind::unseen;
  // For people: "service shop/hook has no ready endpoint". Empty if it works.
  std::string cause = {};
  // A command that tells more, or empty.
  std::string next = {};

  bool operator==(const Finding&) const = default;
};

// For how long requests wait for a webhook that is proved not to work. After that they are let through, to whatever
// the API server says.
struct Patience {
  // From the registration of a webhook that has never worked.
  Duration coming_up = std::chrono::minutes(5);
  // From the moment when a webhook that worked was first seen to fail.
  Duration gone = std::chrono::seconds(30);
  // From the registration of a webhook that has never worked, and about which there is doubt.
  Duration doubtful = std::chrono::seconds(30);
  // From the first request of a service account for an object: controllers come again by themselves.
  Duration service_accounts = std::chrono::seconds(30);
  // For the first look at a webhook that was just registered.
  Duration unseen = std::chrono::seconds(1);
};

enum class Phase {
  unseen,     // registered, and not looked at yet: requests wait, and are not refused
  works,      // requests are allowed
  coming_up,  // it never worked and is registered lately: requests wait
  gone,       // it worked until lately: requests wait
  broken,     // it does not work, and the patience is used up: requests are let through
  unproved,   // it may work: requests are let through
};
// "not looked at yet", "works", "coming up", "gone", "broken" or "not proved".
std::string_view name_of(Phase phase);

class Health {
 public:
  // `registered` may lie before the start of this process; `seen` is when the gate learnt of the webhook.
  Health(TimePoint registered, TimePoint seen) : registered_(registered), seen_(seen) {}

  void see(Finding finding, TimePoint now);

  Phase phase(const Patience& patience, TimePoint now) const;
  // True if requests wait for it.
  bool is_awaited(const Patience& patience, TimePoint now) const;
  // Until when requests wait, if it does not work earlier. Requires that it is awaited.
  TimePoint awaited_until(const Patience& patience) const;
  // Since when it has been as it is.
  TimePoint since() const;
  const Finding& finding() const { return finding_; }
  bool has_worked() const { return worked_; }

 private:
  TimePoint registered_;
  TimePoint seen_;
  Finding finding_;
  // When the kind of finding last changed.
  TimePoint changed_{};
  bool worked_ = false;
};

}  // namespace fairlead::gate
