// How long the small reviews of each path take lately. For any thread.
#pragma once

#include <atomic>
#include <unordered_map>

#include "base/clock.h"
#include "webhook/server/routes.h"

namespace fairlead::webhook {

class UsualTimes {
 public:
  // The routes must outlive it.
  explicit UsualTimes(const Routes& routes) {
    for (const std::string& path : routes.paths()) times_[routes.find(path)] = 0;
  }

  Duration of(const Route& route) const { return Duration(times_.at(&route)); }
  // Of two threads that learn at the same time, one may be forgotten: this is an estimate.
  void learn(const Route& route, Duration took) {
    std::atomic<Duration::rep>& usual = times_.at(&route);
    usual = (usual * 7 + took.count()) / 8;
  }

 private:
  // Only the values change.
  std::unordered_map<const Route*, std::atomic<Duration::rep>> times_;
};

}  // namespace fairlead::webhook
