// Lets requests in as InFlight allows, in the order in which they came. Inside this room only.
#pragma once

#include <list>
#include <memory>

#include "async/signal.h"
#include "http/client/internal/in_flight.h"

namespace fairlead::http {

class RequestLimiter : public std::enable_shared_from_this<RequestLimiter> {
 public:
  RequestLimiter(Loop& loop, size_t max) : loop_(loop), flight_(max) {}

  // A request's place. Gives it back when it is released or destroyed; keeps the gate alive.
  class Permit {
   public:
    Permit() = default;
    explicit Permit(std::shared_ptr<RequestLimiter> gate) : gate_(std::move(gate)) {}
    Permit(Permit&&) = default;
    Permit& operator=(Permit&& other) noexcept {
      release();
      gate_ = std::move(other.gate_);
      return *this;
    }
    ~Permit() { release(); }

    void learn(InFlight::Outcome outcome, TimePoint started);
    void release();

   private:
    std::shared_ptr<RequestLimiter> gate_;
  };

  Task<Result<Permit>> enter();
  const InFlight& flight() const { return flight_; }

 private:
  struct Waiter {
    explicit Waiter(Loop& loop) : woken(loop) {}
    Signal woken;
    bool has_place = false;
  };

  void let_in();

  Loop& loop_;
  InFlight flight_;
  std::list<Waiter*> waiters_;
};

}  // namespace fairlead::http
