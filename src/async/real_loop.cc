#include "async/real_loop.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

namespace fairlead {

namespace asio = boost::asio;

struct RealLoop::Impl {
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> work = asio::make_work_guard(io);
  // One for all timers of ours: armed for the first of them.
  asio::steady_timer alarm{io};
};

RealLoop::RealLoop() : impl_(std::make_unique<Impl>()) {}
RealLoop::~RealLoop() = default;

asio::io_context& RealLoop::io() { return impl_->io; }

void RealLoop::post(Callback callback) { asio::post(impl_->io, std::move(callback)); }

void RealLoop::timers_changed() {
  if (!has_timers()) {
    impl_->alarm.cancel();
    return;
  }
  impl_->alarm.expires_at(first_timer());
  impl_->alarm.async_wait([this](boost::system::error_code error) {
    if (error) return;
    fire_due_timers();
    if (has_timers()) timers_changed();
  });
}

void RealLoop::run_until(const bool& done) {
  while (!done) impl_->io.run_one();
}

}  // namespace fairlead
