// The way to a field of an object: "spec.template.spec.containers[0].name".
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace fairlead::object {

class FieldPath {
 public:
  // The key of a member, or an index into an array.
  using Step = std::variant<std::string, size_t>;

  FieldPath() = default;
  FieldPath(std::initializer_list<Step> steps) : steps_(steps) {}
  explicit FieldPath(std::vector<Step> steps) : steps_(std::move(steps)) {}

  // Keys with dots and other characters go in brackets: metadata.annotations["example.com/x"]. A dot or "$." at the
  // start is allowed, as JSONPath has it.
  static Result<FieldPath> parse(std::string_view text);
  // As parse reads it.
  std::string text() const;

  const std::vector<Step>& steps() const { return steps_; }
  bool empty() const { return steps_.empty(); }
  FieldPath child(Step step) const;

  // Null where the path leads nowhere.
  const Json* find(const Json& value) const;
  // JSON null where the path leads nowhere.
  const Json& get(const Json& value) const;

  bool operator==(const FieldPath&) const = default;

 private:
  std::vector<Step> steps_;
};

}  // namespace fairlead::object
