#include "sim/machine.h"

#include <cstdlib>

#include "async/signal.h"

namespace fairlead::sim {

class Machine::Body final : public http::Body {
 public:
  Body(Machine& machine, std::unique_ptr<http::Body> inner) : machine_(machine), inner_(std::move(inner)) {}
  Task<Result<std::optional<std::string>>> read() override {
    Result<std::optional<std::string>> piece = co_await inner_->read();
    co_await machine_.turn();
    co_return piece;
  }

 private:
  Machine& machine_;
  std::unique_ptr<http::Body> inner_;
};

Task<Result<http::Answer>> Machine::Network::open(http::Request request) {
  Result<http::Answer> answer = co_await inner_.open(std::move(request));
  co_await machine_.turn();
  if (answer) answer->body = std::make_unique<Body>(machine_, std::move(answer->body));
  co_return answer;
}

Machine::Machine(Loop& world, http::Transport& network, Clocks clocks)
    : world_(world), network_(*this, network), clocks_(clocks) {}

Machine::~Machine() {
  if (alarm_) world_.cancel_timer(*alarm_);
  if (end_of_pause_) world_.cancel_timer(*end_of_pause_);
}

Duration Machine::asleep() const { return slept_ + (asleep_since_ ? world_.now() - *asleep_since_ : Duration()); }

TimePoint Machine::local_now() const {
  Duration awake = world_.now().time_since_epoch() - asleep();
  return TimePoint(Duration(static_cast<Duration::rep>(double(awake.count()) * clocks_.rate)));
}

WallTime Machine::local_wall() const {
  Duration missed = clocks_.wall_sleeps ? asleep() : Duration();
  return world_.clock().wall_now() + clocks_.wall_ahead - missed;
}

void Machine::post(Callback callback) {
  waiting_.push_back(std::move(callback));
  world_.post([this] {
    if (paused_ || waiting_.empty()) return;
    Callback next = std::move(waiting_.front());
    waiting_.pop_front();
    next();
  });
}

void Machine::timers_changed() {
  if (alarm_) world_.cancel_timer(*alarm_);
  alarm_.reset();
  if (!has_timers() || paused_) return;
  Duration left = std::max(first_timer() - local_now(), Duration());
  auto in_world = Duration(static_cast<Duration::rep>(double(left.count()) / clocks_.rate) + 1);
  alarm_ = world_.call_after(in_world, [this] {
    alarm_.reset();
    fire_due_timers();
    if (has_timers() && !alarm_) timers_changed();
  });
}

void Machine::run_until(const bool&) { std::abort(); }

void Machine::pause(Pause how, Duration time) {
  if (paused_) return;
  paused_ = true;
  if (how == Pause::suspended) asleep_since_ = world_.now();
  timers_changed();
  end_of_pause_ = world_.call_after(time, [this] { go_on(); });
}

void Machine::go_on() {
  end_of_pause_.reset();
  slept_ = asleep();
  asleep_since_.reset();
  paused_ = false;
  timers_changed();
  for (size_t left = waiting_.size(); left > 0; --left) {
    Callback next = std::move(waiting_.front());
    waiting_.pop_front();
    post(std::move(next));
  }
}

Task<void> Machine::turn() {
  Signal here(*this);
  post([&] { here.notify_all(); });
  (void)co_await here.wait_uncancelled();
}

}  // namespace fairlead::sim
