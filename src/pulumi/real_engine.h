// The engine that started the process.
#pragma once

#include <memory>
#include <string>

#include "async/real_loop.h"
#include "pulumi/provider/engine.h"
#include "rpc/client.h"

namespace fairlead::pulumi {

class RealEngine final : public Engine {
 public:
  explicit RealEngine(RealLoop& loop) : loop_(loop) {}

  // Lines are lost while there is no engine, or none that answers.
  Task<void> log(LogLine line) override;
  void attach(std::string address) override;

  // Always, before it is destroyed.
  Task<void> close();

 private:
  RealLoop& loop_;
  std::string address_;
  // The last one is used; the others may have calls.
  std::vector<std::unique_ptr<rpc::Client>> clients_;
};

}  // namespace fairlead::pulumi
