#include "terraform/cluster/real_clusters.h"

#include <fmt/format.h>

#include "kube/connect.h"

namespace fairlead::terraform {
namespace {

std::string names_text(const Value& named) {
  std::vector<std::string> names;
  for (const auto& [name, unused] : named.members()) names.push_back(name);
  return names.empty() ? "it names no cluster" : fmt::format("it names {}", fmt::join(names, ", "));
}

}  // namespace

class RealClusters::Real final : public Connection {
 public:
  Real(RealLoop& loop, std::unique_ptr<kube::Connection> connection)
      : loop_(loop), connection_(std::move(connection)), discovery_(connection_->client()) {}

  Loop& loop() override { return loop_; }
  kube::Client& client() override { return connection_->client(); }
  kube::Discovery& discovery() override { return discovery_; }
  const std::string& default_namespace() const override { return connection_->config().ns; }
  std::string text() const override {
    const kube::ClusterConfig& config = connection_->config();
    return config.context.empty() ? "server " + config.server.text() : "context " + config.context;
  }
  Task<void> close() { co_await connection_->close(); }

 private:
  RealLoop& loop_;
  std::unique_ptr<kube::Connection> connection_;
  kube::Discovery discovery_;
};

RealClusters::RealClusters(RealLoop& loop, Options options) : loop_(loop), options_(std::move(options)) {}
RealClusters::~RealClusters() = default;

// The description itself: what a name stands for, and what nothing stands for. Unknown if it is not known yet.
Result<Value> RealClusters::described(Value cluster) const {
  if (cluster.is_null()) {
    if (named_.is_unknown()) return Value::unknown();
    if (named_.members().size() == 1) return named_.members().begin()->second;
    if (named_.members().empty() && options_.omitted == Omitted::as_kubectl) return Value::object({});
    return fail(Error(ErrorKind::invalid, "no cluster is described")
                    .because(fmt::format("\"cluster\" is not set, and the provider block has no single cluster: {}",
                                         names_text(named_)))
                    .next("set \"cluster\""));
  }
  const std::string* name = cluster["name"].if_string();
  if (!name) return cluster;
  if (Diagnostics problems = check_description(cluster, Path("cluster")); problems.has_errors())
    return fail(Error(ErrorKind::invalid, problems.all().front().summary).because(problems.all().front().detail));
  if (named_.is_unknown()) return Value::unknown();
  if (!named_.contains(*name))
    return fail(Error(ErrorKind::not_found, fmt::format("the provider block has no cluster \"{}\"", *name))
                    .because(names_text(named_))
                    .next(fmt::format("add {} to \"clusters\" in the provider block", *name)));
  return named_[*name];
}

Task<Result<Connection*>> RealClusters::connect(Value cluster) {
  CO_TRY_ASSIGN(Value description, described(std::move(cluster)));
  if (!description.is_wholly_known()) co_return nullptr;
  CO_TRY_ASSIGN(Json json, description.to_json());
  std::string key = json.dump();
  auto found = connections_.find(key);
  if (found == connections_.end()) {
    CO_TRY_ASSIGN(kube::ClusterConfig config, read_description(description, options_.surroundings, options_.omitted));
    kube::ConnectOptions options;
    options.on_secret = options_.on_secret;
    options.client.user_agent = options_.user_agent;
    CO_TRY_ASSIGN(std::unique_ptr<kube::Connection> connection,
                  kube::connect(loop_, std::move(config), std::move(options)));
    found = connections_.emplace(std::move(key), std::make_unique<Real>(loop_, std::move(connection))).first;
  }
  co_return found->second.get();
}

Diagnostics RealClusters::check(const Value& cluster, Path at) const {
  return check_description(cluster, at, options_.omitted);
}

Task<void> RealClusters::close() {
  for (auto& [key, connection] : connections_) co_await connection->close();
}

}  // namespace fairlead::terraform
