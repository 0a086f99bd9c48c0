// The flags of `fairlead webhook serve` about its certificate: where it comes from, and who makes it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "certs/source.h"
#include "cli/core/connect.h"
#include "cli/core/flags.h"
#include "webhook/server/log.h"

namespace fairlead::cli {

struct CertificateFlags {
  std::string folder;
  std::string secret;
  bool manages = false;
  std::string validity = "3650d";
  std::string cluster_domain = "cluster.local";
  std::string leader_lease;
  std::string leader_namespace;
};

// `service` is the flag --service.
void add_certificate_flags(Command command, CertificateFlags& flags, Flag service);
// An error is one of usage.
Result<void> check(const CertificateFlags& flags, const std::string& service);

// What the certificate is made for and registered with.
struct CertificateUse {
  std::string ns;
  std::string service;
  std::vector<std::string> configurations;
  std::vector<std::string> definitions;
  // Whoever uses the certificate writes the caBundles.
  bool registers_itself = false;
};

// Follows the Secret, the folder, or both; and, if that was asked for, makes, renews and registers the certificate.
class ServedCertificate {
 public:
  virtual ~ServedCertificate() = default;
  // Requires flags that check() accepts. `cluster` is null unless flags.secret names a Secret. All must outlive it.
  static std::unique_ptr<ServedCertificate> make(RealLoop& loop, Cluster* cluster, const CertificateFlags& flags,
                                                 CertificateUse use, webhook::Log& log);

  virtual certs::CertificateSource& source() = 0;
  // What keeps this replica from managing the certificate; empty while all is well, or if it does not manage any.
  virtual std::string trouble() const { return {}; }
  // For /metrics.
  virtual std::string metrics() const { return {}; }
  // Follows the certificate until it is cancelled, which is after the server has ended.
  virtual Task<void> run() = 0;
  // Makes, renews and registers the certificate while this replica leads. Cancel it as soon as the server is asked to
  // stop: another replica goes on at once, and a Secret that is deleted together with the server stays deleted.
  virtual Task<void> keep() { co_return; }
};

}  // namespace fairlead::cli
