// What may go now, and what is held by what: the removal without its requests. Pure: knows no clock and does no I/O.
//
// The engine tells what became of an object; the plan says what that lets go. Groups are met by themselves.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "removal/order.h"

namespace fairlead::removal {

class Plan {
 public:
  enum class State : uint8_t {
    waiting,  // something that has to go first is still there
    started,  // it was given out, and the engine is at work on it
    gone,
    failed,
    held,  // never started, since something that has to go first failed
  };

  // Without loops.
  explicit Plan(Order order);

  // The things that nothing stands before by now, each once.
  std::vector<uint32_t> take_startable();

  void gone(uint32_t target);
  // Everything that goes after it, however far, and was not started yet is held by it.
  void failed(uint32_t target);

  State state(uint32_t node) const { return states_[node]; }
  bool is_settled(uint32_t node) const { return states_[node] >= State::gone; }
  // Things that are neither gone, failed nor held.
  size_t unsettled() const { return unsettled_; }
  // Something goes after it.
  bool is_awaited(uint32_t target) const { return !later_than(target).empty(); }

  // What a waiting thing waits for itself, a few of them; things in place of groups.
  struct Wait {
    uint32_t target = 0;
    std::string_view reason;
  };
  std::vector<Wait> waits_for(uint32_t target, size_t at_most) const;
  // Everything that a thing which failed holds, in order.
  std::vector<uint32_t> held_by(uint32_t target) const;

  const Order& order() const { return order_; }

 private:
  std::span<const uint32_t> later_than(uint32_t node) const;
  void met(uint32_t node);

  Order order_;
  std::vector<State> states_;
  std::vector<uint32_t> unmet_;
  std::vector<uint32_t> cause_;
  std::vector<uint32_t> later_;
  std::vector<size_t> first_later_;
  std::vector<uint32_t> startable_;
  size_t unsettled_ = 0;
};

}  // namespace fairlead::removal
