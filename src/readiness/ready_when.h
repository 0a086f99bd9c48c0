// The annotation fairlead.dev/ready-when: when an object is ready, in the words of kubectl wait --for.
//
//   condition=Ready, condition=Ready=False       a condition, True where nothing else is said; case does not count
//   jsonpath={.status.phase}=Running             one value that reads so
//   jsonpath={.status.loadBalancer.ingress[0]}   a value that is there
//   create                                       ready once it is stored
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
  // What the object asks for; nothing where it has no such annotation. For checking manifests before anything is sent.
  static Result<std::optional<ReadyWhen>> of(const Json& object);

  struct Answer {
    bool met = false;
    std::string text;  // "{.status.phase} is Pending, not Running yet"
  };
  // An error is a path that leads to what cannot be compared: several values, or a nested one.
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
