#include "pulumi/real_engine.h"

#include "async/scope.h"
#include "protobuf/wire.h"

namespace fairlead::pulumi {

namespace {

constexpr Duration kLogTime = std::chrono::seconds(10);

Task<Result<void>> send(rpc::Client& client, std::string request) {
  (void)co_await client.call("/pulumirpc.Engine/Log", std::move(request));
  co_return Result<void>();
}

}  // namespace

Task<void> RealEngine::log(LogLine line) {
  if (clients_.empty()) co_return;
  protobuf::WireWriter request;
  request.number(1, uint64_t(line.severity));
  request.text(2, line.text);
  request.text(3, line.urn);
  request.flag(5, line.is_ephemeral);
  (void)co_await with_deadline(loop_, loop_.now() + kLogTime, "the engine does not answer",
                               send(*clients_.back(), request.take()));
}

void RealEngine::attach(std::string address) {
  if (address.empty() || address == address_) return;
  address_ = address;
  clients_.push_back(std::make_unique<rpc::Client>(loop_, std::move(address)));
}

Task<void> RealEngine::close() {
  for (auto& client : clients_) co_await client->close();
}

}  // namespace fairlead::pulumi
