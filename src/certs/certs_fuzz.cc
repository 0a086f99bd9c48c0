// Two Secrets with any contents are judged, whatever step that gives can be taken, and every step ends in a pair that
// is kept. Nothing of a private key is in a text.
#include <cstdint>
#include <cstdlib>

#include "certs/judge.h"

using namespace fairlead;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  Result<Json> input = Json::parse(text);
  if (!input) return 0;
  certs::Spec spec;
  spec.ns = "shop";
  spec.service = "hook";
  spec.secret = "hook-cert";
  WallTime now(std::chrono::sys_days(std::chrono::March / 4 / 2027));
  certs::Material material = certs::read_material((*input)["serving"], (*input)["authority"]);
  (void)certs::check_writable((*input)["serving"]);
  // Begin, publish, switch and retire, at most.
  for (int steps = 0;; ++steps) {
    if (steps > 5) std::abort();
    certs::Judgement judgement = certs::judge(material, spec, now);
    if (judgement.reason.contains("PRIVATE KEY--")) std::abort();
    if (judgement.step == certs::Step::keep) break;
    Result<certs::Change> change = certs::take_step(judgement.step, material, spec, now);
    if (!change) std::abort();
    if (change->writes_serving) (void)certs::serving_secret((*input)["serving"], change->after, spec);
    if (change->writes_ca) (void)certs::authority_secret((*input)["authority"], change->after, spec);
    material = std::move(change->after);
  }
  return 0;
}
