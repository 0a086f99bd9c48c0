// The content of a patch: what is sent, and which fields it is about. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "fields/path_element.h"
#include "terraform/objects/reference.h"

namespace fairlead::terraform {

struct PatchContent {
  enum class Kind { apply, json, merge };
  Kind kind = Kind::apply;
  // The attribute that has it.
  std::string attribute;
  Json document;

  // Reads `patch`, `json_patch` or `merge_patch`. Fails unless exactly one of them is set and can be read.
  static Result<PatchContent> read(const Value& config);

  // The document as it is applied to this object; for Kind::apply only.
  Json for_object(const Reference& reference, const Json& live) const;
  // The fields that the patch sets or removes. For Kind::apply, the field manager of the patched object knows them.
  std::vector<fields::Path> places() const;
};

// What is wrong with `patch`, `json_patch` or `merge_patch`.
void check_patch(const Value& config, Diagnostics& found);

}  // namespace fairlead::terraform
