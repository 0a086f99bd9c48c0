// The annotation fairlead.dev/ready-when says when an object is ready, in the syntax of kubectl wait --for.
//
//   condition=Ready, condition=Ready=False       the condition has this status, True by default; case is ignored
//   jsonpath={.status.phase}=Running             the path leads to one value with this text
//   jsonpath={.status.loadBalancer.ingress[0]}   the path leads to a value
//   create                                       the object is ready once it is stored
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/error.h"
#include "base/json.h"
#include "readiness/json_path.h"

namespace fairlead::readiness {

inline constexpr std::string_view kReadyWhen = "fairlead.dev/ready-when";

class ReadyWhen {
 public:
  static Result<ReadyWhen> parse(std::string_view text);
  // Reads the annotation of an object. Returns nothing if there is none. Use it to check manifests before anything is
  // sent.
  static Result<std::optional<ReadyWhen>> of(const Json& object);

  struct Answer {
    bool met = false;
    std::string text;  // for example "{.status.phase} is Pending, not Running yet"
  };
  // Checks whether the object meets the annotation. Fails if the path leads to several values, or to a nested value
  // that cannot be compared.
  Result<Answer> ask(const Json& object) const;
  bool met_at_once() const { return std::holds_alternative<Create>(form_); }

 private:
  struct Create {};
  struct Condition {
    std::string type;
    std::string status;
  };
  struct Path {
    std::string text;
    JsonPath path;
    std::optional<std::string> value;
  };
  using Form = std::variant<Create, Condition, Path>;

  explicit ReadyWhen(Form form) : form_(std::move(form)) {}
  static Result<ReadyWhen> parse_condition(std::string_view text);
  static Result<ReadyWhen> parse_path(std::string_view text);
  static Answer ask_condition(const Condition& wanted, const Json& object);
  static Result<Answer> ask_path(const Path& wanted, const Json& object);

  Form form_;
};

}  // namespace fairlead::readiness
