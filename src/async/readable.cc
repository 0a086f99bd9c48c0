#include "async/readable.h"

#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "async/scope.h"
#include "async/signal.h"

namespace fairlead {

Task<Result<void>> await_readable(RealLoop& loop, int descriptor) {
  using Descriptor = boost::asio::posix::stream_descriptor;
  int copy = ::dup(descriptor);
  if (copy < 0) co_return Result<void>();
  Descriptor watched(loop.io());
  boost::system::error_code refused;
  watched.assign(copy, refused);
  if (refused) {
    ::close(copy);
    co_return Result<void>();
  }
  boost::system::error_code error = co_await await_callback<boost::system::error_code>(
      [&](auto done) { watched.async_wait(Descriptor::wait_read, std::move(done)); }, [&] { watched.cancel(); });
  if (error) co_return fail(cancelled_error());
  co_return Result<void>();
}

}  // namespace fairlead
