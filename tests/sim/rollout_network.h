// What stands between an engine and the API servers in a simulated rollout.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "detour.h"
#include "rollout_judge.h"

namespace fairlead::sim {

// Each request goes to any API server, unless it names its connection.
class LoadBalancer final : public http::Transport {
 public:
  LoadBalancer(World& world, Judge& judge, std::string name) : world_(world), judge_(judge), name_(std::move(name)) {}
  Task<Result<http::Answer>> open(http::Request request) override;

 private:
  World& world_;
  Judge& judge_;
  std::string name_;
  uint64_t requests_ = 0;
  std::map<uint64_t, size_t> servers_;  // by connection
};

// The process that the engine runs in: once it is killed, nothing gets out of it or into it any more.
class Process final : public Detour {
 public:
  // `alone`: no other run may write to the bundle meanwhile.
  Process(http::Transport& network, Judge& judge, std::string run, bool alone)
      : Detour(network), judge_(judge), run_(std::move(run)), alone_(alone) {}
  Task<Result<http::Answer>> open(http::Request request) override;
  void kill() { *killed_ = true; }
  bool killed() const { return *killed_; }

 private:
  Judge& judge_;
  std::string run_;
  bool alone_;
  std::shared_ptr<bool> killed_ = std::make_shared<bool>(false);
};

// Lets nothing pass unseen that a dry run writes.
class Rehearsal final : public Detour {
 public:
  Rehearsal(http::Transport& network, World& world, bool is_dry) : Detour(network), world_(world), is_dry_(is_dry) {}
  Task<Result<http::Answer>> open(http::Request request) override;

 private:
  World& world_;
  bool is_dry_;
};

}  // namespace fairlead::sim
