// A place inside a value: `cluster.exec.args[0]`.
//
//   Path("cluster")["exec"]["args"].at(0)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "terraform/value/value.h"

namespace fairlead::terraform {

class Path {
 public:
  struct Attribute {
    std::string name;
    bool operator==(const Attribute&) const = default;
  };
  struct Key {
    std::string key;
    bool operator==(const Key&) const = default;
  };
  struct Index {
    int64_t index;
    bool operator==(const Index&) const = default;
  };
  using Step = std::variant<Attribute, Key, Index>;

  // The value itself.
  Path() = default;
  // An attribute at the top.
  Path(const char* attribute) : Path(std::string_view(attribute)) {}
  Path(std::string_view attribute) : steps_{Attribute{std::string(attribute)}} {}

  // An attribute of an object, a key of a map, an element of a list.
  Path operator[](std::string_view attribute) const;
  Path key(std::string_view key) const;
  Path at(int64_t index) const;

  const std::vector<Step>& steps() const { return steps_; }
  bool empty() const { return steps_.empty(); }
  // What is there in `value`; null where nothing is.
  const Value& in(const Value& value) const;
  // For people: cluster.exec.args[0], labels["a.b"].
  std::string text() const;

  bool operator==(const Path&) const = default;

 private:
  std::vector<Step> steps_;
};

}  // namespace fairlead::terraform
