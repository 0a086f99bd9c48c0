#include "cli/commands/webhook_certificates.h"

#include "async/scope.h"
#include "certs/keeper.h"
#include "certs/secret_source.h"
#include "cli/commands/certificate_tools.h"
#include "cli/commands/webhook_coordination.h"
#include "lease/holder.h"
#include "webhook/server/certificate_files.h"

namespace fairlead::cli {
namespace {

Result<certs::Spec> spec_of(const CertificateFlags& flags, const std::string& ns, const std::string& service) {
  certs::Spec spec{.ns = ns, .service = service, .secret = flags.secret, .cluster_domain = flags.cluster_domain};
  TRY_ASSIGN(spec.validity, read_days("--cert-validity", flags.validity));
  spec.renew_before = certs::default_renew_before(spec.validity);
  TRY(certs::check(spec));
  return spec;
}

lease::HolderOptions leader_options(const CertificateFlags& flags, const CertificateUse& use) {
  return {.ns = flags.leader_namespace.empty() ? use.ns : flags.leader_namespace,
          .name = flags.leader_lease.empty() ? flags.secret + "-keeper" : flags.leader_lease,
          .identity = own_identity()};
}

// The certificate in a folder, which somebody else writes.
class FromFolder final : public ServedCertificate {
 public:
  FromFolder(RealLoop& loop, const std::string& folder) : files_(loop, folder) {}

  certs::CertificateSource& source() override { return files_; }
  Task<void> run() override { return files_.follow(); }

 private:
  webhook::CertificateFiles files_;
};

// The certificate in a Secret, which somebody else writes. The folder counts until the Secret can be read.
class FromSecret : public ServedCertificate {
 public:
  FromSecret(RealLoop& loop, Cluster& cluster, const CertificateFlags& flags, const std::string& ns)
      : loop_(loop),
        files_(flags.folder.empty() ? nullptr : std::make_unique<webhook::CertificateFiles>(loop, flags.folder)),
        secret_(cluster.client(), ns, flags.secret, files_.get()) {}

  certs::CertificateSource& source() override { return secret_; }
  Task<void> run() override {
    Scope scope(loop_, co_await current_cancel());
    scope.spawn(secret_.run());
    if (files_) scope.spawn(files_->follow());
    co_await scope.join();
  }

 private:
  RealLoop& loop_;
  std::unique_ptr<webhook::CertificateFiles> files_;
  certs::SecretSource secret_;
};

// The certificate in a Secret, which the replicas make themselves: the one that holds the Lease does.
class Managed final : public ServedCertificate {
 public:
  Managed(RealLoop& loop, Cluster& cluster, const CertificateFlags& flags, const CertificateUse& use, webhook::Log& log)
      : loop_(loop),
        follow_(loop, cluster, flags, use.ns),
        spec_(spec_of(flags, use.ns, use.service).value()),
        proofs_(cluster.client(), spec_, proof_options(cluster)),
        keeper_(cluster.client(), spec_,
                {.webhooks = use.configurations, .definitions = use.definitions, .none = use.registers_itself}, proofs_,
                {.is_leader = [this] { return leader_.holds(); },
                 .say = [&log](const std::string& line) { log.info(line); }}),
        leader_(cluster.client(), leader_options(flags, use), [this, &log](bool holds) {
          log.info(holds ? "leading: this replica keeps the certificate" : "not leading", {});
          if (holds) keeper_.wake();
        }) {}

  certs::CertificateSource& source() override { return follow_.source(); }
  std::string trouble() const override {
    if (!leader_.holds())
      return leader_.trouble() ? fmt::format("the Lease {}/{} cannot be held: {}", leader_.options().ns,
                                             leader_.options().name, leader_.trouble()->message())
                               : "";
    return keeper_.status().trouble;
  }
  std::string metrics() const override {
    std::string out = fmt::format(
        "# HELP fairlead_webhook_certificate_leading 1 while this replica keeps the certificate.\n"
        "# TYPE fairlead_webhook_certificate_leading gauge\nfairlead_webhook_certificate_leading {}\n"
        "# HELP fairlead_webhook_certificate_trouble 1 while this replica cannot keep the certificate as it should.\n"
        "# TYPE fairlead_webhook_certificate_trouble gauge\nfairlead_webhook_certificate_trouble {}\n"
        "# HELP fairlead_webhook_certificate_steps_total Steps that this replica took.\n"
        "# TYPE fairlead_webhook_certificate_steps_total counter\n",
        leader_.holds() ? 1 : 0, trouble().empty() ? 0 : 1);
    for (const auto& [step, count] : keeper_.status().steps)
      out += fmt::format("fairlead_webhook_certificate_steps_total{{step=\"{}\"}} {}\n", step, count);
    return out;
  }
  Task<void> run() override { return follow_.run(); }
  Task<void> keep() override {
    Scope scope(loop_, co_await current_cancel());
    scope.spawn(keeper_.run());
    scope.spawn(leader_.run());
    co_await scope.join();
    co_await leader_.release().uncancelled();
  }

 private:
  RealLoop& loop_;
  FromSecret follow_;
  certs::Spec spec_;
  certs::ClusterProofs proofs_;
  certs::Keeper keeper_;
  lease::Holder leader_;
};

}  // namespace

void add_certificate_flags(Command command, CertificateFlags& flags, Flag service) {
  constexpr const char* kHeading = "Certificate";
  command
      .option("--cert-dir", flags.folder,
              "Folder with tls.crt, tls.key and, if there is one, ca.crt; it is followed, and need not be there yet")
      .value("DIR")
      .group(kHeading);
  Flag secret = command
                    .option("--secret", flags.secret,
                            "Secret with tls.crt, tls.key and ca.crt in the namespace -n; it is watched, and comes "
                            "before --cert-dir")
                    .value("NAME")
                    .needs(service)
                    .group(kHeading);
  Flag manages = command
                     .flag("--manage-certificates", flags.manages,
                           "Make, renew and rotate the certificates in the Secret, and write the caBundles of the "
                           "configurations; one of several replicas does")
                     .needs(secret)
                     .group(kHeading);
  command.option("--cert-validity", flags.validity, "How long new certificates are valid, such as 90d or 12h")
      .value("DURATION")
      .show_default()
      .needs(manages)
      .group(kHeading);
  command.option("--cluster-domain", flags.cluster_domain, "DNS domain of the cluster, for names in the certificate")
      .value("DOMAIN")
      .show_default()
      .needs(manages)
      .group(kHeading);
  command
      .option("--leader-lease", flags.leader_lease,
              "Lease whose holder manages the certificates; SECRET-keeper unless it is given")
      .value("NAME")
      .needs(manages)
      .group(kHeading);
  command.option("--leader-namespace", flags.leader_namespace, "Namespace of that Lease; that of -n unless it is given")
      .value("NAMESPACE")
      .needs(manages)
      .group(kHeading);
}

Result<void> check(const CertificateFlags& flags, const std::string& service) {
  if (flags.folder.empty() && flags.secret.empty())
    return fail(Error(ErrorKind::invalid, "there is nowhere to take a certificate from")
                    .next("give --cert-dir DIR, or --secret NAME with --service NAME"));
  if (flags.manages) {
    TRY(spec_of(flags, "default", service));
  }
  return {};
}

std::unique_ptr<ServedCertificate> ServedCertificate::make(RealLoop& loop, Cluster* cluster,
                                                           const CertificateFlags& flags, CertificateUse use,
                                                           webhook::Log& log) {
  if (flags.secret.empty()) return std::make_unique<FromFolder>(loop, flags.folder);
  if (!flags.manages) return std::make_unique<FromSecret>(loop, *cluster, flags, use.ns);
  return std::make_unique<Managed>(loop, *cluster, flags, use, log);
}

}  // namespace fairlead::cli
