// What is waited for: the value of --for. Pure.
//
//   ready                        the object is ready by the rules of its kind; a webhook has to be functional
//   functional                   a webhook answers, proved by a real call of the API server
//   rollout                      a workload runs its newest revision
//   create, delete               the object exists, or does not exist any more
//   condition=X[=VALUE]          as in kubectl
//   jsonpath={.path}[=VALUE]     as in kubectl
//   field=PATH                   the field is there, and is not empty
//   field=PATH=VALUE             the field has this value
//   field=PATH=~REGEX            the whole value of the field matches the regular expression (RE2)
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "object/field_path.h"
#include "readiness/ready_when.h"
#include "readiness/verdict.h"

namespace re2 {
class RE2;
}

namespace fairlead::wait {

class Form {
 public:
  enum class Kind { ready, functional, rollout, create, removal, condition, path, field };

  // The form `ready`.
  Form() = default;
  // Case does not matter in words without a value.
  static Result<Form> parse(std::string_view text);

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  // As the user wrote it: "condition=Ready".
  const std::string& text() const { return text_; }
  // Follows the name of an object: "ready", "deleted", "meets condition=Ready".
  std::string met_text() const;
  // "is not ready", "still exists", "does not meet condition=Ready".
  std::string unmet_text() const;

  struct Answer {
    enum class State { met, not_yet, never } state = State::not_yet;
    // One line of text: what was seen.
    std::string text;
  };
  // Judges an object that exists. The form must be another one than `removal` and `functional`. An object that has
  // failed for good never meets a form that it does not meet now.
  Answer ask(const Json& object, const readiness::Options& options) const;

 private:
  static Result<Form> parse_field(std::string_view text);
  Answer ask_ready_when(const Json& object, const readiness::Options& options) const;
  Answer ask_field(const Json& object, const readiness::Options& options) const;

  Kind kind_ = Kind::ready;
  std::string text_ = "ready";
  std::optional<readiness::ReadyWhen> ready_when_;
  object::FieldPath field_;
  // What the field must be; at most one of them.
  std::optional<std::string> value_;
  std::shared_ptr<const re2::RE2> pattern_;
};

// True if the kind has revisions of pods that can be rolled out.
bool can_roll_out(std::string_view group, std::string_view kind);

}  // namespace fairlead::wait
