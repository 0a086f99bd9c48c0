// Clusters that are really there.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "async/real_loop.h"
#include "kube/config/surroundings.h"
#include "terraform/cluster/clusters.h"
#include "terraform/cluster/description.h"

namespace fairlead::terraform {

class RealClusters final : public Clusters {
 public:
  struct Options {
    kube::Surroundings surroundings = kube::Surroundings::real();
    std::string user_agent;
    Omitted omitted = Omitted::refused;
    // Told of every token, password and key: they must not reach any text.
    std::function<void(std::string_view secret)> on_secret;
  };
  RealClusters(RealLoop& loop, Options options);
  ~RealClusters() override;

  // The value of `clusters` in the provider block. Connections that are there already stay.
  void configure(Value clusters) { named_ = std::move(clusters); }

  Task<Result<Connection*>> connect(Value cluster) override;
  Diagnostics check(const Value& cluster, Path at) const override;

  // Always, before it is destroyed.
  Task<void> close();

 private:
  class Real;
  Result<Value> described(Value cluster) const;

  RealLoop& loop_;
  Options options_;
  Value named_;
  // By what describes them.
  std::map<std::string, std::unique_ptr<Real>> connections_;
};

}  // namespace fairlead::terraform
