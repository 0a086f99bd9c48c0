// Calls webhooks, as API servers do.
#pragma once

#include <string>

#include "async/task.h"
#include "gate/rules/backend.h"

namespace fairlead {
class RealLoop;
}

namespace fairlead::gate {

struct CallSpec {
  Address address;
  // What the certificate must be valid for: "hook.shop.svc".
  std::string server_name;
  // PEM: who must have issued it.
  std::string ca;
  std::string path;
  Duration connect = std::chrono::seconds(1);
};

class Caller {
 public:
  virtual ~Caller() = default;
  // Sends a review of a dry run that nothing depends on, and says what came of it. Ends in a few seconds.
  virtual Task<CallResult> call(CallSpec spec) = 0;
};

// Over HTTPS, with a connection of its own for each call: a pod that was replaced must not be judged by an old one.
class HttpsCaller final : public Caller {
 public:
  explicit HttpsCaller(RealLoop& loop) : loop_(loop) {}
  Task<CallResult> call(CallSpec spec) override;

 private:
  RealLoop& loop_;
};

// The review that is sent.
std::string probe_review(std::string_view uid);

}  // namespace fairlead::gate
