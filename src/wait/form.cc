#include "wait/form.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/plain_text.h"

namespace fairlead::wait {
namespace {

using State = Form::Answer::State;

constexpr size_t kTextBytes = 600;
constexpr std::string_view kForms =
    "--for ready, functional, rollout, create, delete, condition=NAME[=VALUE], jsonpath={.path}[=VALUE] or "
    "field=PATH[=VALUE]";
constexpr std::string_view kField = "field=";
constexpr std::array<std::pair<std::string_view, Form::Kind>, 5> kWords{{{"ready", Form::Kind::ready},
                                                                         {"functional", Form::Kind::functional},
                                                                         {"rollout", Form::Kind::rollout},
                                                                         {"create", Form::Kind::create},
                                                                         {"delete", Form::Kind::removal}}};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

Error wrong(std::string what) { return Error(ErrorKind::invalid, std::move(what)).next(std::string(kForms)); }

bool is_empty(const Json& value) {
  if (const std::string* text = value.if_string()) return text->empty();
  return value.is_null() || (value.is_array() && value.items().empty()) ||
         (value.is_object() && value.members().empty());
}

Form::Answer answer_of(const readiness::Verdict& verdict) {
  if (verdict.state == readiness::State::ready) return {.state = State::met, .text = verdict.reason};
  bool is_final = verdict.state == readiness::State::failed && verdict.permanent;
  return {.state = is_final ? State::never : State::not_yet, .text = verdict.reason};
}

// What was not met is never met by an object that has failed for good.
Form::Answer unmet(std::string text, const Json& object, const readiness::Options& options) {
  Form::Answer own = answer_of(readiness::judge(object, options));
  if (own.state == State::never) return own;
  return {.state = State::not_yet, .text = plain_text(text, kTextBytes)};
}

// Where the path ends: at the first '=' that is in no quotes.
size_t end_of_path(std::string_view text) {
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (quote && text[i] == '\\') ++i;
    else if (quote) quote = text[i] == quote ? 0 : quote;
    else if (text[i] == '"' || text[i] == '\'') quote = text[i];
    else if (text[i] == '=') return i;
  }
  return text.size();
}

// The value as people write it.
std::string written(const Json& value) {
  const std::string* text = value.if_string();
  return text ? *text : value.dump();
}

Json without_annotations(const Json& object) {
  Json plain = object;
  if (Json::Object* metadata = plain.make("metadata").if_object()) metadata->erase("annotations");
  return plain;
}

}  // namespace

Result<Form> Form::parse(std::string_view text) {
  Form form;
  form.text_ = plain_text(text, kTextBytes);
  for (const auto& [word, kind] : kWords)
    if (lower(text) == word) {
      form.kind_ = kind;
      form.text_ = word;
      return form;
    }
  if (text.starts_with(kField)) return parse_field(text);
  bool is_path = text.starts_with("jsonpath=");
  if (!is_path && !text.starts_with("condition="))
    return fail(wrong(fmt::format("--for: \"{}\" is none of the forms", form.text_)));
  Result<readiness::ReadyWhen> parsed = readiness::ReadyWhen::parse(text);
  if (!parsed) {
    std::string why = parsed.error().message();
    return fail(wrong(fmt::format("--for: \"{}\" cannot be read", form.text_)).because(std::move(why)));
  }
  form.kind_ = is_path ? Kind::path : Kind::condition;
  form.ready_when_ = *std::move(parsed);
  return form;
}

Result<Form> Form::parse_field(std::string_view text) {
  Form form;
  form.text_ = plain_text(text, kTextBytes);
  std::string_view rest = text.substr(kField.size());
  size_t end = end_of_path(rest);
  Result<object::FieldPath> path = object::FieldPath::parse(rest.substr(0, end));
  if (!path || path->empty()) return fail(wrong(fmt::format("--for: \"{}\" has no path of a field", form.text_)));
  form.kind_ = Kind::field;
  form.field_ = *std::move(path);
  if (end == rest.size()) return form;
  std::string_view value = rest.substr(end + 1);
  if (!value.starts_with('~')) {
    form.value_ = value;
    return form;
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  auto pattern = std::make_shared<const re2::RE2>(re2::StringPiece(value.data() + 1, value.size() - 1), options);
  if (!pattern->ok())
    return fail(wrong(fmt::format("--for: \"{}\" cannot be read", form.text_)).because(pattern->error()));
  form.pattern_ = std::move(pattern);
  return form;
}

std::string Form::met_text() const {
  switch (kind_) {
    case Kind::ready: return "ready";
    case Kind::functional: return "functional";
    case Kind::rollout: return "rolled out";
    case Kind::create: return "exists";
    case Kind::removal: return "deleted";
    case Kind::condition:
    case Kind::path:
    case Kind::field: break;
  }
  return "meets " + text_;
}

std::string Form::unmet_text() const {
  switch (kind_) {
    case Kind::create: return "does not exist";
    case Kind::removal: return "still exists";
    case Kind::condition:
    case Kind::path:
    case Kind::field: return "does not meet " + text_;
    default: return "is not " + met_text();
  }
}

Form::Answer Form::ask(const Json& object, const readiness::Options& options) const {
  switch (kind_) {
    case Kind::create: return {.state = State::met, .text = "it exists"};
    // The annotation fairlead.dev/ready-when says something else than how far the rollout is.
    case Kind::rollout: return answer_of(readiness::judge(without_annotations(object), options));
    case Kind::condition:
    case Kind::path: return ask_ready_when(object, options);
    case Kind::field: return ask_field(object, options);
    default: return answer_of(readiness::judge(object, options));
  }
}

Form::Answer Form::ask_ready_when(const Json& object, const readiness::Options& options) const {
  Result<readiness::ReadyWhen::Answer> answer = ready_when_->ask(object);
  // A path that leads to several values cannot be compared, however long one waits.
  if (!answer) return {.state = State::never, .text = plain_text(answer.error().message(), kTextBytes)};
  if (answer->met) return {.state = State::met, .text = plain_text(answer->text, kTextBytes)};
  return unmet(answer->text, object, options);
}

Form::Answer Form::ask_field(const Json& object, const readiness::Options& options) const {
  const Json* value = field_.find(object);
  if (value && (value_ || pattern_)) {
    std::string now = written(*value);
    bool fits = value_ ? now == *value_ : re2::RE2::FullMatch(now, *pattern_);
    if (fits) return {.state = State::met, .text = plain_text(fmt::format("{} is {}", field_.text(), now), kTextBytes)};
    return unmet(fmt::format("{} is {}, {} {}", field_.text(), now, value_ ? "not" : "which does not match",
                             value_ ? *value_ : pattern_->pattern()),
                 object, options);
  }
  if (value && !is_empty(*value)) return {.state = State::met, .text = fmt::format("{} is there", field_.text())};
  return unmet(fmt::format("{} is {}", field_.text(), value ? "empty" : "not there yet"), object, options);
}

bool can_roll_out(std::string_view group, std::string_view kind) {
  return group == "apps" &&
         (kind == "Deployment" || kind == "StatefulSet" || kind == "DaemonSet" || kind == "ReplicaSet");
}

}  // namespace fairlead::wait
