// The resource fairlead_object: one Kubernetes object.
//
// This is the room's first header. A plan is a dry run of server-side apply, where the cluster can be asked. What
// cannot be known yet is unknown in the plan. An apply is one request; nothing here waits for readiness. Deletions go
// through the removal engine. settings.h has the attributes; internal/ has one header per operation.
//
// Private state, which Terraform keeps and never shows:
//   uid         of the object
//   unread      the last refresh could not read the object, so the plan reads it
//   migrate     the object was imported, moved or adopted: fields of former managers are taken over at the next apply
//   former      their names, as far as the state of the other provider had them
//   moved       the state is that of another provider, whose connection is not known
//   absent      (plan only) the plan saw that the object does not exist
//   replaces    (plan only) the private state of the object that is deleted first
//   protected   (plan only) the object, if it must not be replaced
#pragma once

#include <memory>

#include "terraform/provider/resource.h"

namespace fairlead::terraform {

std::unique_ptr<Resource> make_object_resource();

}  // namespace fairlead::terraform
