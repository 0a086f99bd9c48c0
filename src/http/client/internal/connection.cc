#include "http/client/internal/connection.h"

#include <atomic>

namespace fairlead::http {

Connection::Connection() {
  static std::atomic<uint64_t> last = 0;
  id_ = ++last;
}

}  // namespace fairlead::http
