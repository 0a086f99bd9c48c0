// Takes over an object from the tools that managed it before, so that fields that leave the manifest leave the object.
#pragma once

#include <string>
#include <vector>

#include "inventory/takeover.h"
#include "kube/client.h"
#include "object/object.h"

namespace fairlead::terraform {

// `former` are more field managers that give way: those of the state that was moved, or of the resource before its
// field_manager was changed.
inventory::Successor successor_of(const std::string& field_manager, const std::vector<std::string>& former);

// Moves the fields of former managers to the successor, if `answer`, the object as it was just applied, has any. Then
// applies `value` again. Returns the object as it is at the end.
Task<kube::Outcome<kube::Reply>> take_over(kube::Client& client, object::Resource resource, Json value,
                                           kube::Reply answer, inventory::Successor successor,
                                           kube::ApplyOptions options);

}  // namespace fairlead::terraform
