#include "async/readable.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "async/scope.h"
#include "async/signal.h"

namespace fairlead {

Task<Result<void>> await_readable(RealLoop& loop, int descriptor) {
  using Descriptor = boost::asio::posix::stream_descriptor;
  // Asio makes what it watches non-blocking. Standard input may be shared with other processes, which would get EAGAIN
  // from it, so that Asio is given an epoll instance of our own instead.
  int watch = ::epoll_create1(EPOLL_CLOEXEC);
  if (watch < 0) co_return Result<void>();
  Descriptor watched(loop.io(), watch);
  epoll_event wanted{.events = EPOLLIN, .data = {}};
  if (::epoll_ctl(watch, EPOLL_CTL_ADD, descriptor, &wanted) != 0) co_return Result<void>();
  boost::system::error_code error = co_await await_callback<boost::system::error_code>(
      [&](auto done) { watched.async_wait(Descriptor::wait_read, std::move(done)); }, [&] { watched.cancel(); });
  if (error) co_return fail(cancelled_error());
  co_return Result<void>();
}

}  // namespace fairlead
