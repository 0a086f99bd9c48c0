// What a webhook is called at, and whether that can work: judged from what the cluster shows, and from calls.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "gate/rules/health.h"
#include "gate/rules/hook.h"
#include "readiness/why.h"

namespace fairlead::gate {

// What is known about the namespace of the Service.
struct Surroundings {
  // False until the Services and EndpointSlices there have been listed.
  bool known = false;
  // Null if the Service does not exist.
  const Json* service = nullptr;
  readiness::Objects slices;
};

struct Address {
  std::string host;
  uint16_t port = 443;

  bool operator==(const Address&) const = default;
};

// What came of a call of one address.
struct CallResult {
  enum class Kind {
    answered,   // it sent an answer over TLS, whatever the answer says
    refused,    // nothing listens there
    untrusted,  // its certificate does not verify against the caBundle for the name of the Service
    unsure,     // anything else, such as a time-out: an API server may have more luck
  };
  Kind kind = Kind::unsure;
  std::string text;
};

struct Look {
  // Set if no call is needed to tell.
  std::optional<Finding> finding;
  // Otherwise what to call, and how.
  std::vector<Address> addresses;
  // The address that kube-proxy serves for these; nothing if there is none.
  std::optional<Address> cluster_address;
  // "hook.shop.svc"
  std::string server_name;
  // PEM.
  std::string ca;
  std::string path;
};

Look look_at(const Hook& hook, const Surroundings& surroundings);

// Judges one call per address. A webhook that never worked works once none of its addresses fails, because an API
// server may choose any of them. One that worked fails once all of them do.
Finding judge(const Hook& hook, const Look& look, const std::vector<CallResult>& results, bool has_worked);

}  // namespace fairlead::gate
