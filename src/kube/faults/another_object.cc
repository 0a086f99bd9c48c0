#include "kube/faults/another_object.h"

#include <algorithm>

namespace fairlead::kube {

// A deletion has the UID as a precondition; it is refused in the words of the storage if the object was replaced while
// the request was under way. An apply or patch has it in the object, where it may not change.
bool is_about_another_object(const Fault& fault) {
  if (fault.kind == FaultKind::conflict)
    return fault.message.contains("UID in the precondition") || fault.message.contains("UID in precondition") ||
           fault.message.contains("uid mismatch");
  return fault.http == 422 && std::ranges::find(fault.causes, "metadata.uid", &FaultCause::field) != fault.causes.end();
}

}  // namespace fairlead::kube
