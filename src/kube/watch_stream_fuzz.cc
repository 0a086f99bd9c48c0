// Any bytes as a watch: no crash, bounded memory, and the same events however the bytes are cut.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "kube/watch_stream.h"

namespace {

using fairlead::kube::WatchStream;

// The events as text; "!" at the end for an error.
std::string events_of(std::string_view text, size_t piece) {
  WatchStream stream(4096);
  std::string result;
  auto drain = [&] {
    while (true) {
      auto event = stream.next();
      if (!event) {
        result += "!";
        return false;
      }
      if (!*event) return true;
      result += std::to_string(static_cast<int>((*event)->type)) + (*event)->object.dump() + "\n";
    }
  };
  for (size_t at = 0; at < text.size(); at += piece) {
    stream.feed(text.substr(at, piece));
    if (!drain()) break;
  }
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string whole = events_of(text, size + 1);
  if (events_of(text, 1) != whole || events_of(text, 7) != whole) std::abort();
  return 0;
}
