// Refreshes, imports and moves the state of an object.
#pragma once

#include "terraform/object/internal/live_objects.h"
#include "terraform/objects/stored_states.h"
#include "terraform/provider/resource.h"

namespace fairlead::terraform {

// Notes what Terraform's state has.
void note_object(StoredStates& stored_states, const Value& state);
Task<ReadResponse> read_object(Context& context, LiveObjects& live_objects, ReadRequest request);
Task<ImportResponse> import_object(Context& context, ImportRequest request);
MoveResponse move_object(const MoveRequest& request);

}  // namespace fairlead::terraform
