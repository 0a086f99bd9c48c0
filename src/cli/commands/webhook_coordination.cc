#include "cli/commands/webhook_coordination.h"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "cli/runs/timeouts.h"
#include "object/name.h"

namespace fairlead::cli {
namespace {

Result<lease::HolderOptions> holder_options(const CoordinationFlags& flags) {
  lease::HolderOptions options{.ns = flags.restrict_to,
                               .name = flags.lease_name,
                               .identity = {},
                               .settle = lease::NamespaceLocks::stale_after({})};
  TRY_ASSIGN(options.duration, read_duration("--lease-duration", flags.duration));
  TRY_ASSIGN(options.renew_every, read_duration("--lease-renew-interval", flags.renew_interval));
  Result<void> checked = lease::check(options);
  if (!checked)
    return fail(
        Error(ErrorKind::invalid, fmt::format("--lease-duration {} and --lease-renew-interval {} do not fit together",
                                              flags.duration, flags.renew_interval))
            .because(checked.error()));
  return options;
}

class Restricted final : public Coordinator {
 public:
  Restricted(kube::Client& client, lease::HolderOptions options, webhook::Log& log)
      : holder_(client, options,
                [&log, options](bool holds) {
                  log.info(holds ? "holding the Lease of the namespace" : "not holding the Lease of the namespace",
                           {{"namespace", options.ns}, {"lease", options.name}, {"identity", options.identity}});
                }),
        territory_(options.ns, holder_) {}

  const webhook::Territory& territory() const override { return territory_; }
  Task<void> run(webhook::AdmissionServer& server, const CancelSource& stop) override {
    return hold_while_ready(server, holder_, stop);
  }

 private:
  lease::Holder holder_;
  webhook::OneNamespace territory_;
};

class ClusterWide final : public Coordinator {
 public:
  ClusterWide(kube::Client& client, std::string lease_name, webhook::Log& log)
      : locks_(client, {.name = std::move(lease_name)},
               [&log](const std::string& ns, lease::Lock lock, const std::string& holder) {
                 bool is_left = lock == lease::Lock::held;
                 Json::Object fields{{"namespace", ns}, {"lease", lease::name_of(lock)}};
                 if (!holder.empty()) fields.append("holder", holder);
                 log.info(is_left ? "left to the operator of the namespace" : "deciding for the namespace",
                          std::move(fields));
               }),
        territory_(locks_) {}

  const webhook::Territory& territory() const override { return territory_; }
  Task<void> run(webhook::AdmissionServer&, const CancelSource&) override { return locks_.run(); }

 private:
  lease::NamespaceLocks locks_;
  webhook::RestOfCluster territory_;
};

}  // namespace

void add_coordination_flags(Command command, CoordinationFlags& flags, Flag service) {
  constexpr const char* kHeading = "Several operators";
  Flag restrict =
      command
          .option("--restrict-to-namespace", flags.restrict_to,
                  "Decide only on objects of this namespace, and hold a Lease there, so that the operator of the whole "
                  "cluster leaves it alone")
          .value("NAMESPACE")
          .needs(service)
          .group(kHeading);
  command
      .option("--lease-name", flags.lease_name,
              "Name of the Leases by which operators of single namespaces are known; with an empty name, no Leases are "
              "looked at")
      .value("NAME")
      .show_default()
      .group(kHeading);
  command.option("--lease-duration", flags.duration, "How long the Lease is valid after each renewal")
      .value("DURATION")
      .show_default()
      .needs(restrict)
      .group(kHeading);
  command.option("--lease-renew-interval", flags.renew_interval, "How often the Lease is renewed")
      .value("DURATION")
      .show_default()
      .needs(restrict)
      .group(kHeading);
}

Result<void> check(const CoordinationFlags& flags) {
  if (flags.lease_name.empty() && !flags.restrict_to.empty())
    return fail(ErrorKind::invalid, "--restrict-to-namespace needs a --lease-name that is not empty");
  if (!flags.restrict_to.empty()) {
    Result<void> checked = object::check_namespace(flags.restrict_to);
    if (!checked) return fail(std::move(checked).error().in("--restrict-to-namespace cannot be used"));
  }
  TRY(holder_options(flags));
  return {};
}

std::string own_identity() {
  if (const char* pod = std::getenv("POD_NAME"); pod && *pod) return lease::make_identity(pod);
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return lease::make_identity(host.data());
}

std::unique_ptr<Coordinator> Coordinator::make(kube::Client& client, const CoordinationFlags& flags,
                                               webhook::Log& log) {
  if (flags.restrict_to.empty()) return std::make_unique<ClusterWide>(client, flags.lease_name, log);
  lease::HolderOptions options = holder_options(flags).value();
  options.identity = own_identity();
  return std::make_unique<Restricted>(client, std::move(options), log);
}

}  // namespace fairlead::cli
