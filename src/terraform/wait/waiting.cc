#include "terraform/wait/waiting.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "inventory/holder.h"
#include "terraform/objects/attributes.h"
#include "terraform/objects/deletion.h"
#include "terraform/objects/words.h"
#include "terraform/projection/owner.h"
#include "wait/wait.h"

namespace fairlead::terraform {
namespace {

constexpr std::string_view kWays = "field, field_value, regex, condition, jsonpath, rollout, functional, ready";

constexpr std::string_view kFieldExample = "write the path like status.phase or status.conditions[0].type";

// Paths with filters are JSONPath.
std::string form_text(std::string_view path, std::string_view rest) {
  bool is_plain = object::FieldPath::parse(path).has_value();
  if (is_plain) return fmt::format("field={}{}", path, rest);
  return fmt::format("jsonpath={{.{}}}{}", path.starts_with('.') ? path.substr(1) : path, rest);
}

struct FormText {
  std::string text;
  Path path;
  // How one writes it.
  std::string_view example;
  // The field, if it is one.
  std::string field = {};
};

std::vector<FormText> forms_in(const Value& wait_for, const Path& at) {
  std::vector<FormText> forms;
  auto text = [&](const char* name) { return wait_for[name].if_string(); };
  if (const std::string* field = text("field"))
    forms.push_back({form_text(*field, ""), at["field"], kFieldExample, *field});
  for (const auto& [path, value] : wait_for["field_value"].members())
    if (const std::string* wanted = value.if_string())
      forms.push_back({form_text(path, "=" + *wanted), at["field_value"].key(path), kFieldExample, path});
  for (const auto& [path, value] : wait_for["regex"].members())
    if (const std::string* pattern = value.if_string())
      forms.push_back({fmt::format("field={}=~{}", path, *pattern), at["regex"].key(path),
                       "regex = { \"status.phase\" = \"Bound|Available\" }", path});
  if (const std::string* condition = text("condition"))
    forms.push_back({"condition=" + *condition, at["condition"], "condition = \"Ready\", or \"Ready=False\""});
  if (const std::string* path = text("jsonpath"))
    forms.push_back({"jsonpath=" + *path, at["jsonpath"], "jsonpath = \"{.status.phase}=Running\""});
  for (const char* name : {"rollout", "functional", "ready"})
    if (wait_for[name].bool_or(false)) forms.push_back({name, at[name], ""});
  return forms;
}

Error not_met(const wait::Ending& ending, const object::Key& key, const wait::Form& form) {
  using How = wait::Ending::How;
  std::string_view what = ending.how == How::timed_out     ? "The wait timed out"
                          : ending.how == How::interrupted ? "The wait was interrupted"
                                                           : "The wait failed";
  ErrorKind kind = ending.how == How::timed_out     ? ErrorKind::timeout
                   : ending.how == How::interrupted ? ErrorKind::cancelled
                                                    : ErrorKind::invalid;
  Error error(kind, headline(what, key));
  if (!ending.causes.empty()) return std::move(error).because(ending.causes.front().error);
  std::string reason = ending.objects.empty() ? std::string() : ending.objects.front().reason;
  return std::move(error)
      .because(fmt::format("{} {}{}{}", key.text(), form.unmet_text(), reason.empty() ? "" : ": ", reason))
      .next(fmt::format("{}: it waits again, and changes nothing else", tool().wait_again));
}

// Puts the value at the path into `out`.
void copy_field(Json& out, const Json& from, std::span<const object::FieldPath::Step> steps) {
  if (steps.empty()) {
    out = from;
    return;
  }
  if (const std::string* name = std::get_if<std::string>(&steps[0])) {
    const Json* member = from.members().find(*name);
    if (member) copy_field(out.make(*name), *member, steps.subspan(1));
    return;
  }
  size_t index = std::get<size_t>(steps[0]);
  if (index >= from.items().size()) return;
  if (!out.is_array()) out = Json::Array();
  if (out.items().size() <= index) out.if_array()->resize(index + 1);
  copy_field((*out.if_array())[index], from.items()[index], steps.subspan(1));
}

}  // namespace

Attribute wait_for_attribute(bool required) {
  Type texts = Type::map(Type::string());
  return {
      .name = "wait_for",
      .nesting = Nesting::single,
      .nested = {optional_attribute("field", Type::string(),
                                    "A field that has to be there and not empty: `status.loadBalancer.ingress`."),
                 optional_attribute("field_value", texts,
                                    "Fields and the values that they must have: `{\"status.phase\" = \"Bound\"}`."),
                 optional_attribute("regex", texts, "Fields, and RE2 expressions that their whole values must match."),
                 optional_attribute("condition", Type::string(),
                                    "A condition: `Ready`, or `Ready=False` for another status."),
                 optional_attribute("jsonpath", Type::string(), "As `kubectl wait` has it: `{.status.phase}=Running`."),
                 optional_attribute("rollout", Type::boolean(), "A workload runs its newest revision."),
                 optional_attribute(
                     "functional", Type::boolean(),
                     "A webhook configuration, or a CRD with a conversion webhook: the API server was made to call "
                     "it, and it answered."),
                 optional_attribute("ready", Type::boolean(), "The object is ready by the rules of its kind."),
                 optional_attribute("timeout", Type::string(), "The same as `timeout` beside `wait_for`.")},
      .required = required,
      .optional = !required,
      .description = "What to wait for. If several are set, all of them have to come true."};
}

std::vector<Attribute> wait_timeout_attributes() {
  return {
      optional_attribute("existence_timeout", Type::string(),
                         "How long the object may take to exist, `5m` by default, or `timeout` if that is shorter."),
      optional_attribute("timeout", Type::string(),
                         "How long it may take from then on, `10m` by default, `3m` for webhooks.")};
}

Diagnostics check_waiting(const Value& config) {
  Diagnostics found;
  Path at("wait_for");
  const Value& wait_for = config["wait_for"];
  std::vector<FormText> forms = forms_in(wait_for, at);
  for (const FormText& form : forms)
    if (Result<wait::Form> parsed = wait::Form::parse(form.text); !parsed) {
      // The error itself is about a flag of the command line.
      const Error* cause = parsed.error().cause();
      Error error = Error(ErrorKind::invalid, fmt::format("{} cannot be used", form.path.text()))
                        .because(cause ? *cause : Error(ErrorKind::invalid, "it has no path of a field"))
                        .next(std::string(form.example));
      found.error(error, form.path);
    }
  if (wait_for.is_known() && wait_for.is_wholly_known() && forms.empty())
    found.error("There is nothing to wait for", fmt::format("Set one of {} in wait_for.", kWays), at);
  check_duration(wait_for["timeout"], at["timeout"], found);
  check_duration(config["timeout"], "timeout", found);
  check_duration(config["existence_timeout"], "existence_timeout", found);
  return found;
}

Waiting Waiting::read(const Value& value) {
  Waiting waiting;
  for (const FormText& form : forms_in(value["wait_for"], "wait_for")) {
    if (Result<wait::Form> parsed = wait::Form::parse(form.text)) waiting.forms.push_back(*std::move(parsed));
    if (form.field.empty()) continue;
    if (Result<object::FieldPath> field = object::FieldPath::parse(form.field))
      waiting.fields.push_back(*std::move(field));
  }
  if (waiting.forms.empty()) waiting.forms.push_back(wait::Form::parse("create").value());
  waiting.existence_timeout = duration_in(value["existence_timeout"]);
  waiting.timeout = duration_in(value["timeout"]);
  if (!waiting.timeout) waiting.timeout = duration_in(value["wait_for"]["timeout"]);
  return waiting;
}

Task<Awaited> wait_for_object(Context& context, Connection& cluster, Reference reference, Waiting waiting) {
  CancelSource* stop = co_await current_cancel();
  CancelSource own;
  journal::Journal journal(context.loop().clock());
  journal.read_by(log_reader(context.log()));
  if (reference.key.ns.empty()) {
    auto kind = co_await cluster.discovery().find(reference.key.group, reference.version(), reference.kind());
    if (kind && *kind && (*kind)->namespaced) reference.key.ns = cluster.default_namespace();
  }
  TimePoint end = waiting.timeout ? context.loop().now() + *waiting.timeout : TimePoint::max();
  for (const wait::Form& form : waiting.forms) {
    wait::Options options;
    options.form = form;
    options.existence_timeout = waiting.existence_timeout;
    if (waiting.timeout) options.timeout = std::max(end - context.loop().now(), Duration(std::chrono::seconds(1)));
    options.allow_short = true;
    options.default_namespace = cluster.default_namespace();
    options.run = inventory::run_of(::getpid());
    options.run_known_dead = inventory::is_gone_run;
    wait::Target target{.group = reference.key.group,
                        .version = reference.version(),
                        .kind = reference.key.kind,
                        .ns = reference.key.ns,
                        .name = reference.key.name};
    wait::Ending ending = co_await wait::wait_for(cluster.client(), cluster.discovery(), {std::move(target)},
                                                  std::move(options), journal, stop)
                              .governed_by(&own);
    if (ending.how != wait::Ending::How::done) co_return Awaited{{}, not_met(ending, reference.key, form)};
  }
  auto kind = co_await cluster.discovery().find(reference.key.group, reference.version(), reference.kind());
  if (!kind || !*kind) co_return Awaited();
  auto live = co_await cluster.client().get(**kind, reference.key.ns, reference.key.name);
  co_return Awaited{live ? std::move(live->value) : Json(), {}};
}

Json only_fields(const Json& object, const std::vector<object::FieldPath>& fields) {
  Json out;
  for (const object::FieldPath& field : fields)
    if (field.find(object)) copy_field(out, object, field.steps());
  return out;
}

}  // namespace fairlead::terraform
