// Remembers who was refused for which object, and tells clients when to try again.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "webhook/policy/policy.h"

namespace fairlead::gate {

// How often a client of client-go sends a request again that was answered with 429 and Retry-After.
inline constexpr int kClientRetries = 10;

// Returns the time until the next try of a client that was told `refusals` times before to come again. The steps are
// short at first, so that a webhook that comes up soon is noticed soon. They then grow so that the tries that are left
// reach over `remaining`. Each try is held for `held` before it is refused. At least a second.
std::chrono::seconds retry_after(int refusals, Duration remaining, Duration held);

// Names what a user wants, the same in each try: user, operation, resource, namespace, name, and whether it is a dry
// run.
std::string attempt_key(const webhook::Request& request);

class Attempts {
 public:
  struct Entry {
    // The first try.
    TimePoint first{};
    int refusals = 0;
    // When the client is expected to come again, at the latest.
    TimePoint expected{};
    // The patience with this user and object is used up: further tries are let through.
    bool is_spent = false;
  };

  explicit Attempts(size_t most = 20'000) : most_(most) {}

  // The entry of these tries; a new one if the client did not come again in time. Valid until the next call.
  Entry& at(const std::string& key, TimePoint now);
  void forget(const std::string& key);
  size_t size() const { return order_.size(); }

 private:
  struct Kept {
    std::string key;
    Entry entry;
  };
  size_t most_;
  // What was used last stands last.
  std::list<Kept> order_;
  std::unordered_map<std::string, std::list<Kept>::iterator> by_key_;
};

}  // namespace fairlead::gate
