#include "sandbox/kinds/internal/cel_rules.h"

#include <fmt/format.h>

#include "cel/cel.h"

namespace fairlead::sandbox {
namespace {

class Checker {
 public:
  RuleFindings findings;

  void check(const Json& schema, const Json* old, const Json& value, const std::string& path) {
    if (value.is_null()) return;
    for (const Json& rule : schema["x-kubernetes-validations"].items()) apply(schema, rule, old, value, path);
    for (const Json::Member& property : schema["properties"].members()) {
      if (!value.contains(property.key)) continue;
      const Json* old_value = old && old->contains(property.key) ? &(*old)[property.key] : nullptr;
      check(property.value, old_value, value[property.key], path.empty() ? property.key : path + "." + property.key);
    }
    if (const Json& each = schema["additionalProperties"]; each.is_object())
      for (const Json::Member& member : value.members()) {
        const Json* old_value = old && old->contains(member.key) ? &(*old)[member.key] : nullptr;
        check(each, old_value, member.value, fmt::format("{}[{}]", path, member.key));
      }
    // Items of lists have no old selves unless they have keys; rules about those are then left out.
    if (const Json& each = schema["items"]; each.is_object())
      for (size_t i = 0; i < value.items().size(); ++i)
        check(each, matching(schema, old, value.items()[i]), value.items()[i], fmt::format("{}[{}]", path, i));
  }

 private:
  static const Json* matching(const Json& schema, const Json* old, const Json& item) {
    if (!old || schema["x-kubernetes-list-type"].string_or("") != "map") return nullptr;
    for (const Json& candidate : old->items()) {
      bool same = true;
      for (const Json& key : schema["x-kubernetes-list-map-keys"].items())
        same = same && candidate[key.string_or("")] == item[key.string_or("")];
      if (same) return &candidate;
    }
    return nullptr;
  }

  void apply(const Json& schema, const Json& rule, const Json* old, const Json& value, const std::string& path) {
    std::string text(rule["rule"].string_or(""));
    bool transition = text.find("oldSelf") != std::string::npos;
    if (transition && rule["optionalOldSelf"].bool_or(false)) return leave(text);
    if (transition && !old) return;
    Result<cel::Program> program = cel::compile(text, {"self", "oldSelf"});
    if (!program) return leave(text);
    cel::Bindings bindings{{"self", cel::Value::of(value)}};
    if (old) bindings.emplace_back("oldSelf", cel::Value::of(*old));
    Result<cel::Value> outcome = program->evaluate(bindings);
    if (!outcome) {
      if (outcome.error().kind() == ErrorKind::limit) return leave(text);
      return fail_rule(schema, path, text, outcome.error().what());
    }
    if (const bool* passed = outcome->if_bool(); passed && *passed) return;
    add(schema, rule, path, value, message_of(rule, bindings, text));
  }

  std::string message_of(const Json& rule, const cel::Bindings& bindings, const std::string& text) {
    if (std::string_view expression = rule["messageExpression"].string_or(""); !expression.empty()) {
      Result<cel::Program> program = cel::compile(expression, {"self", "oldSelf"});
      Result<cel::Value> made = program ? program->evaluate(bindings) : Result<cel::Value>(fail(program.error()));
      if (!made && made.error().kind() == ErrorKind::limit) leave(text);
      else if (made)
        if (std::optional<std::string_view> message = made->if_string(); message && !message->empty())
          return std::string(*message);
    }
    std::string_view message = rule["message"].string_or("");
    return message.empty() ? fmt::format("failed rule: {}", text) : std::string(message);
  }

  void fail_rule(const Json& schema, const std::string& path, const std::string& text, std::string_view error) {
    std::string message =
        error.starts_with("no such overload")
            ? fmt::format(
                  "'{}': call arguments did not match a supported operator, function or macro signature for "
                  "rule: {}",
                  error, text)
            : fmt::format("{} evaluating rule: {}", error, text);
    findings.causes.push_back({"FieldValueInvalid", path.empty() ? "<nil>" : path,
                               fmt::format("Invalid value: {}: {}", schema["type"].dump(), message)});
  }

  // Values of objects and lists are not shown.
  void add(const Json& schema, const Json& rule, const std::string& path, const Json& value,
           const std::string& message) {
    std::string_view type = schema["type"].string_or("");
    std::string subject = type == "object" || type == "array" ? "" : fmt::format("{}: ", value.dump());
    std::string at = path + std::string(rule["fieldPath"].string_or(""));
    std::string_view reason = rule["reason"].string_or("FieldValueInvalid");
    std::string shown;
    if (reason == "FieldValueRequired") shown = fmt::format("Required value: {}", message);
    else if (reason == "FieldValueForbidden") shown = fmt::format("Forbidden: {}", message);
    else if (reason == "FieldValueDuplicate")
      shown = fmt::format("Duplicate value{}", subject.empty() ? "" : ": " + value.dump());
    else shown = fmt::format("Invalid value: {}{}", subject, message);
    findings.causes.push_back({std::string(reason), at.empty() ? "<nil>" : at, std::move(shown)});
  }

  void leave(const std::string& text) {
    if (findings.undecided.empty()) findings.undecided = text;
  }
};

}  // namespace

RuleFindings check_rules(const Json& schema, const Json* old, const Json& object) {
  Checker checker;
  checker.check(schema, old, object, "");
  return std::move(checker.findings);
}

}  // namespace fairlead::sandbox
