// Any bytes as a connection of gRPC: no crash, no hang; every call that arrives can be answered or given up.
#include <cstdlib>
#include <string>
#include <vector>

#include "rpc/internal/grpc_session.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::rpc;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::vector<int32_t> calls;
  GrpcSession session({.message_bytes = 1 << 16, .header_bytes = 1 << 12, .calls = 16},
                      {.is_known = [](std::string_view path) { return path.starts_with("/s/"); },
                       .arrived =
                           [&](int32_t call, const std::string&, const std::string& message) {
                             if (message.size() > (1 << 16)) std::abort();
                             calls.push_back(call);
                           },
                       .cancelled = [](int32_t) {}});
  std::string output;
  while (!bytes.empty()) {
    // In pieces, with answers between them.
    size_t piece = std::min<size_t>(bytes.size(), 200);
    if (!session.feed(bytes.substr(0, piece))) return 0;
    bytes.remove_prefix(piece);
    for (int32_t call : calls)
      session.answer(call, call % 4 == 1 ? Answer("answer") : std::unexpected(Status{Code::internal, "no"}));
    calls.clear();
    output.clear();
    session.take_output(output, 1 << 20);
  }
  return 0;
}
