// The type of a Terraform value, as Terraform's type system (cty) has them.
//
// A type is written as JSON: "string", ["list","string"], ["object",{"host":"string"}]. Types are immutable and cheap
// to copy.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace fairlead::terraform {

class Type {
 public:
  enum class Kind { dynamic, boolean, number, string, list, set, map, object, tuple };
  using Fields = std::map<std::string, Type, std::less<>>;

  // Any value, which brings its own type.
  static Type dynamic();
  static Type boolean();
  static Type number();
  static Type string();
  static Type list(Type element);
  static Type set(Type element);
  static Type map(Type element);
  static Type object(Fields fields);
  static Type tuple(std::vector<Type> elements);

  Kind kind() const;
  bool is(Kind kind) const { return this->kind() == kind; }
  // Of a list, set or map.
  const Type& element() const;
  // Of a tuple.
  const std::vector<Type>& elements() const;
  // Of an object.
  const Fields& fields() const;

  // Fails for JSON that is not a type, and for types that are nested too deep.
  static Result<Type> from_json(const Json& json);
  Json to_json() const;
  // For people: "list of string".
  std::string text() const;

  bool operator==(const Type& other) const;

 private:
  struct Rep;
  explicit Type(std::shared_ptr<const Rep> rep) : rep_(std::move(rep)) {}
  static Type simple(Kind kind);
  static Type collection(Kind kind, Type element);
  static Result<Type> from_json(const Json& json, int depth);

  std::shared_ptr<const Rep> rep_;
};

}  // namespace fairlead::terraform
