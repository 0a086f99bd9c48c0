// Reads from the output of an installer why it failed. Pure.
//
// The texts of API servers are the same in every tool; what differs is what is wrapped around them: colours and boxes,
// escaped quotes, prefixes, several errors on one line. The output may be anything: any size, any bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/faults/fault.h"

namespace fairlead::retry {

// Something that the cluster did not have, or that did not work, when the command needed it.
struct Missing {
  enum class What {
    webhook,     // an admission webhook that could not be called
    conversion,  // a conversion webhook that could not be called
    kind,        // a kind that is not served
    definition,  // a CRD that does not exist, or is not served
    api,         // an aggregated API whose server does not answer
  };
  What what = What::webhook;
  // A webhook as the API server names it, with its Service where it tells.
  kube::FaultWebhook webhook = {};
  // A kind as kubectl takes it: "Widget.v1.example.com", "widgets". The name of a CRD or an APIService. For an API
  // whose version is not known: its group.
  std::string name = {};
  // One sentence about it.
  std::string text = {};

  // "webhook v.example.com", "kind Widget.v1.example.com", "CRD widgets.example.com".
  std::string subject() const;
  // True if it is the same, whatever is said about it.
  bool is(const Missing& other) const;
  bool operator==(const Missing&) const = default;
};

struct Failure {
  enum class Kind {
    missing,          // something is not there yet: it is worth running the command again once it is
    release_pending,  // Helm: an earlier operation on the release has not ended
    name_in_use,      // Helm: a release of that name exists
    refused,          // the API server, or a webhook, refused something for good
    other,
  };
  Kind kind = Kind::other;
  // What is missing, each once, in the order of the output. Not empty for Kind::missing.
  std::vector<Missing> missing = {};
  // One sentence, and what to do about it. Empty if nothing is known.
  std::string cause = {};
  std::string next = {};
  // `helm install` has failed: the release exists now, and its name is in use.
  bool is_installation = false;
  // Helm removed what it had installed, or went back to what was there before.
  bool is_rolled_back = false;
};
std::string_view name_of(Failure::Kind kind);

// `output` is what a command wrote before it failed, or the end of that.
Failure read_failure(std::string_view output);

}  // namespace fairlead::retry
