// Takes the steps that the judge asks for: makes, renews, heals, injects and rotates.
//
// All state is in the Secrets. An Engine that is stopped at any moment leaves something from which another one goes on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "certs/inject.h"
#include "certs/judge.h"
#include "certs/proofs.h"
#include "certs/store.h"

namespace fairlead::certs {

// A step that was taken.
struct Taken {
  Step step = Step::keep;
  std::string reason;
  // It brought back what was lost, from memory.
  bool healed = false;
};

// When a rotation begins.
enum class Begin {
  now,
  if_due,  // the certificate needs a new CA
  never,
};

struct Ensured {
  std::vector<Taken> taken;
  Material material;
  // What is still to be done: `keep`, or a step of a rotation.
  Judgement judgement;
};

struct Rotated {
  std::vector<Taken> taken;
  // What is known about each proof, in order.
  std::vector<std::string> evidence;
  Material material;
  InjectReport injected;
};

// For how long a step of a rotation waits if its proof is not possible.
inline constexpr Duration kInUseWait = std::chrono::seconds(30);
inline constexpr Duration kServedWait = std::chrono::minutes(2);
// For how long endpoints may go on serving the old certificate.
inline constexpr Duration kServedPatience = std::chrono::minutes(5);

class Engine {
 public:
  struct Options {
    bool dry_run = false;
    // Told about each step and each wait, for people; may be empty.
    std::function<void(const std::string& line)> say = {};
  };
  // All must outlive it.
  Engine(kube::Client& client, Spec spec, Targets targets, Proofs& proofs, Options options);

  const Spec& spec() const { return spec_; }

  // Takes every step that can be taken at once. Afterwards there is a pair that works. Brings back what was lost since
  // the last call, from memory.
  Task<Result<Ensured>> ensure();
  // Writes what `material` has to be trusted by into all targets. Removes earlier CAs of ours only if it is proved at
  // once that nobody serves their certificates.
  Task<Result<InjectReport>> inject(Material material, InjectOptions options = {});
  // Finishes a rotation that is under way; otherwise begins one, or changes nothing, as `begin` says. Fails before a
  // step that would break a client, and can be called again then.
  Task<Result<Rotated>> rotate(Begin begin);

 private:
  Task<Result<void>> take_rotation_step(Step step, std::string reason, Rotated& rotated);
  Task<Result<void>> prepare_switch(const Material& material, Rotated& rotated);
  Task<Result<void>> prepare_retirement(const Material& material, Rotated& rotated);
  Task<Result<void>> wait_instead(const Evidence& evidence, std::string what, Duration time, Rotated& rotated);
  void say(const std::string& line) const;
  WallTime now() const { return client_.loop().clock().wall_now(); }
  // The way to the Service that the API server takes.
  admission::ServiceReference service_of(const InjectReport& report) const;

  kube::Client& client_;
  Spec spec_;
  Targets targets_;
  Proofs& proofs_;
  Options options_;
  Store store_;
  // The last contents that worked.
  Material memory_;
};

}  // namespace fairlead::certs
