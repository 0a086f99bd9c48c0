// One process of the world, on a machine of its own: its clocks run a little fast or slow, its wall clock is off, and
// the process stops for a while, as when a machine is short of memory, or suspended.
//
// Everything that belongs to the process runs on its loop, and reaches the world through its network().
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "async/loop.h"
#include "http/message.h"

namespace fairlead::sim {

struct Clocks {
  // Of the own seconds to those of the world.
  double rate = 1;
  // How far the wall clock is ahead.
  Duration wall_ahead{};
  // A bug to put in: the wall clock does not notice either when the machine was suspended.
  bool wall_sleeps = false;
};

class Machine final : public Loop {
 public:
  // Both must outlive it, and everything on this loop must have ended before it is destroyed.
  Machine(Loop& world, http::Transport& network, Clocks clocks);
  ~Machine() override;

  const Clock& clock() const override { return clock_; }
  void post(Callback callback) override;
  http::Transport& network() { return network_; }

  // Nothing of the process runs for that long. While a machine is suspended, its monotonic clock stands still.
  enum class Pause { stalled, suspended };
  void pause(Pause how, Duration time);
  bool paused() const { return paused_; }

 private:
  class LocalClock final : public Clock {
   public:
    explicit LocalClock(const Machine& machine) : machine_(machine) {}
    TimePoint now() const override { return machine_.local_now(); }
    WallTime wall_now() const override { return machine_.local_wall(); }

   private:
    const Machine& machine_;
  };
  // Hands answers over only while the process runs.
  class Network final : public http::Transport {
   public:
    Network(Machine& machine, http::Transport& inner) : machine_(machine), inner_(inner) {}
    Task<Result<http::Answer>> open(http::Request request) override;

   private:
    Machine& machine_;
    http::Transport& inner_;
  };
  class Body;

  TimePoint local_now() const;
  WallTime local_wall() const;
  Duration asleep() const;
  void timers_changed() override;
  void run_until(const bool& done) override;
  void go_on();
  // Resumes on this loop.
  Task<void> turn();

  Loop& world_;
  Network network_;
  Clocks clocks_;
  LocalClock clock_{*this};
  std::deque<Callback> waiting_;
  bool paused_ = false;
  std::optional<TimePoint> asleep_since_;
  Duration slept_{};
  std::optional<TimerId> alarm_;
  std::optional<TimerId> end_of_pause_;
};

}  // namespace fairlead::sim
