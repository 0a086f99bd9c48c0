// Reads what --set and --set-string take, as Helm writes it: "a.b=1,c\.d=x,e[0].f=y,g={1,2}". Pure; the text is
// hostile.
//
// A backslash takes the next character as it is: a dot in a key, a comma in a value. A key can also stand in brackets
// and quotes: a["c.d"]=x. A scalar has the type that YAML gives it; null is no value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "config/fields.h"

namespace fairlead::config {

struct Assignment {
  Path path;
  Json value;
  // The value as it was written, where it is a scalar: "1.20" for a key that holds a string.
  std::optional<std::string> text;
};

// The flag that the text comes from.
struct AssignmentFlag {
  std::string name = "--set";
  // For errors: "webhook.failurePolicy=Ignore".
  std::string example;
  // Each scalar is a string, whatever it looks like.
  bool is_text = false;
};

// What a plain text means in YAML: 3 is a number, true is a boolean. What is no scalar or null there is the text
// itself.
Json scalar_of(std::string_view text);

Result<std::vector<Assignment>> parse_assignments(std::string_view text, const AssignmentFlag& flag);

// Puts the value into `values`, from step `from` of the path on, and makes the mappings and lists on the way. A null
// removes the member. Fails if the path leads past the end of a list, or through a value that has no members.
Result<void> assign(Json& values, const Assignment& assignment, size_t from = 0);

}  // namespace fairlead::config
