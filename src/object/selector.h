// Label selectors: the text that kubectl takes with -l, and the LabelSelector of an object's spec.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace fairlead::object {

class Selector {
 public:
  // Matches everything.
  Selector() = default;
  static Selector nothing();

  // "app=web,tier in (a,b),!canary,rank>3"; the empty text matches everything.
  static Result<Selector> parse(std::string_view text);
  // {"matchLabels": {...}, "matchExpressions": [...]}. {} matches everything, null matches nothing.
  static Result<Selector> from_json(const Json& label_selector);
  // A plain map of labels, as a Service has it. Empty or null matches nothing there.
  static Result<Selector> from_service(const Json& selector);

  // `labels` is an object of strings, or null where there are none.
  bool matches(const Json& labels) const;
  // As parse reads it, for a labelSelector in a query. What matches nothing has no text.
  std::string text() const;

  bool matches_everything() const { return !nothing_ && requirements_.empty(); }
  bool matches_nothing() const { return nothing_; }

 private:
  friend class SelectorParser;
  enum class Operator { in, not_in, exists, does_not_exist, greater, less };
  struct Requirement {
    std::string key;
    Operator op = Operator::exists;
    std::vector<std::string> values;  // sorted, no duplicates

    bool matches(const Json& labels) const;
    std::string text() const;
  };

  Result<void> add(std::string key, Operator op, std::vector<std::string> values);

  bool nothing_ = false;
  std::vector<Requirement> requirements_;
};

}  // namespace fairlead::object
