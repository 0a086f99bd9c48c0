// What the certificates of a webhook server are made for. This is the room's first header.
//
// The room keeps the certificates of webhooks: it judges what is stored and makes what is missing (judge.h),
// keeps it in two Secrets (store.h), tells API servers whom to trust (inject.h), and replaces a CA without a gap
// (engine.h). Those who serve read the pair from a CertificateSource (source.h), and a Keeper (keeper.h) does all of
// this inside a server. Decisions are pure and get the time from the caller. Private keys never leave a Secret except
// into memory: no text of this room has them.
//
// The Secret that pods use has ca.crt, tls.crt and tls.key. The CA's own key is in a second Secret, which no pod
// mounts, so that whoever can read the files of a pod cannot sign certificates.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"

namespace fairlead::certs {

inline constexpr Duration kDay = std::chrono::hours(24);

struct Spec {
  std::string ns;
  // The Service through which the API server calls.
  std::string service;
  // The Secret with ca.crt, tls.crt and tls.key.
  std::string secret;
  std::string cluster_domain = "cluster.local";
  // How long a certificate is valid that is made.
  Duration validity = 3650 * kDay;
  // How long before its end it is replaced.
  Duration renew_before = 30 * kDay;

  // The name that the API server asks for and verifies: "hook.shop.svc".
  std::string host() const { return service + "." + ns + ".svc"; }
  // All names under which the Service can be reached in the cluster.
  std::vector<std::string> dns_names() const;
  // The Secret with the CA's key.
  std::string ca_secret() const { return secret + "-ca"; }
  // The subject of the CA, in less than 64 bytes. Every CA that was ever made for this Service has it, which tells
  // those apart from the CAs of others in a caBundle.
  std::string ca_name() const;
};

// Fails if the names cannot be those of Kubernetes objects, or if certificates would be renewed as soon as they are
// made.
Result<void> check(const Spec& spec);

// 30 days, or a third of a validity that is shorter than 90 days.
Duration default_renew_before(Duration validity);

}  // namespace fairlead::certs
