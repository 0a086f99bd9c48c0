// One line of default_rules.h, read.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace fairlead::schema {

class DefaultRule {
 public:
  // Ends the process where the text makes no sense: it is ours.
  static DefaultRule parse(std::string_view line);

  // `object` is one of the type that the rule belongs to.
  void follow(Json& object) const;

 private:
  struct Step {
    std::string name;
    bool every_item = false;  // then the list's items rather than the list
  };
  using Path = std::vector<Step>;
  enum class Verb { set_if_unset, set, fill, drop };
  enum class Test { is, is_not, set, unset, latest, only };
  struct Condition {
    Path path;
    Test test;
    Json value;
  };
  struct Value {
    std::optional<Json> constant;
    Path from;
    bool from_top = false;
    bool lower = false;
    std::string suffix;
  };

  static Path parse_path(std::string_view text);
  static Value parse_value(std::string_view text);
  static Condition parse_condition(std::string_view text);

  bool holds(const Json& object) const;
  void follow(Json& at, std::span<const Step> path, const Json& top) const;
  void do_it(Json& parent, const std::string& name, const Json& top) const;

  Path path_;
  Verb verb_ = Verb::set_if_unset;
  Value value_;
  std::vector<Condition> conditions_;
};

class DefaultRules {
 public:
  explicit DefaultRules(std::string_view text);
  // Those of default_rules.h.
  static const DefaultRules& builtin();

  // Of a type, in their order.
  std::span<const DefaultRule> of(std::string_view type) const;

 private:
  std::map<std::string, std::vector<DefaultRule>, std::less<>> by_type_;
};

}  // namespace fairlead::schema
