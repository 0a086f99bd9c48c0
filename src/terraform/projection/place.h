// The way to a field of an object as users write it and as outputs show it.
//
//   spec.replicas
//   data["config.yaml"]                                          a key with dots
//   spec.template.spec.containers[name="web"].image              an item by its key
//   spec.template.spec.containers[?(@.name=='web')].image        the same
//   spec.template.spec.containers[0].image                       an item by its position
//   metadata.finalizers[="example.com/cleanup"]                  an item of a set by its value
//
// Every path that outputs show can be copied into `ignore_fields`, `sensitive_fields` and `outputs`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "fields/path_element.h"

namespace fairlead::terraform {

// A dot or "$." at the start is allowed. The empty path and paths that cannot be read are errors.
Result<fields::Path> parse_place(std::string_view text);
// As parse_place() reads it.
std::string text_of_place(std::span<const fields::PathElement> path);

// Returns the value at the path, or null if there is none. Of several items with the same key, the first counts.
const Json* find_place(const Json& object, std::span<const fields::PathElement> path);

// True if `inner` is `outer` or leads to something in it, both seen in `object`. Works for paths that name the same
// item in different ways. Where `outer` leads nowhere, the texts of the paths are compared.
bool is_within(const Json& object, std::span<const fields::PathElement> outer,
               std::span<const fields::PathElement> inner);

// Removes what the path leads to. Objects and lists that become empty by this are removed too, except for the object
// itself. Returns false if there was nothing.
bool erase_place(Json& object, std::span<const fields::PathElement> path);

}  // namespace fairlead::terraform
