#include "admission/own.h"

namespace fairlead::admission {

bool is_of_fairlead(const Json& configuration) {
  const Json& labels = configuration["metadata"]["labels"];
  return labels.contains(kGateLabel) || labels.contains("fairlead.dev/shadow");
}

}  // namespace fairlead::admission
