#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pulumi/provider/internal/answers.h"
#include "pulumi/provider/internal/desk.h"
#include "pulumi/provider/properties.h"
#include "pulumi/value/struct.h"

namespace fairlead::pulumi {
namespace {

using protobuf::WireWriter;
using terraform::Attribute;
using terraform::Diagnostics;
using terraform::Value;

// "fairlead:index:Object" of urn:pulumi:STACK::PROJECT::PARENT$TYPE::NAME
std::string_view type_of(std::string_view urn) {
  size_t part = 0;
  for (int i = 0; i < 2; ++i) {
    part = urn.find("::", part);
    if (part == std::string_view::npos) return {};
    part += 2;
  }
  std::string_view type = urn.substr(part, urn.find("::", part) - part);
  size_t parent = type.rfind('$');
  return parent == std::string_view::npos ? type : type.substr(parent + 1);
}

// One call about one resource.
class ResourceCall {
 public:
  ResourceCall(Desk& desk, const Message& request, uint64_t urn_field)
      : desk_(desk),
        request_(request),
        urn_(request.text(urn_field)),
        log_(desk.log, desk.secrets, urn_),
        context_(desk.loop, desk.clusters, log_, {}) {
    for (const ResourceFacade& one : desk.catalog.resources)
      if (one.token() == type_of(urn_)) facade_ = &one;
  }

  // The answer when there is no such resource.
  std::optional<rpc::Status> problem() const {
    if (facade_) return std::nullopt;
    return rpc::Status{rpc::Code::not_found,
                       fmt::format("this version of the provider has no resource {}", type_of(urn_))};
  }

  Task<rpc::Answer> check() {
    Result<Json> given = properties_in(desk_, request_, 3);
    if (!given) co_return invalid(given.error());
    ReadProperties inputs = read_properties(*given, *facade_);
    Diagnostics found = std::move(inputs.problems);
    bool needs_manifest = facade_->free_form && !facade_->free_form->is_list;
    if (!found.has_errors() && needs_manifest && inputs.value[facade_->free_form->attribute].is_null())
      found.error("There is no manifest",
                  fmt::format("Set {} or {}.", facade_->free_form->property,
                              facade_->property_of(facade_->free_form->attribute)),
                  terraform::Path(std::string_view(facade_->free_form->attribute)));
    if (!found.has_errors()) found.add(terraform::check_config(inputs.value, *facade_->schema));
    if (!found.has_errors()) found.add(co_await facade_->resource->validate(context_, inputs.value));
    log_.tell_warnings(found, *facade_);
    WireWriter out;
    out.message(1, struct_message(with_secrets_marked(*given, *facade_)));
    put_failures(out, 2, desk_, found, *facade_, *given);
    co_return co_await done(out.take());
  }

  Task<rpc::Answer> diff() {
    Result<Former> former = read_former(3);
    Result<Json> given = properties_in(desk_, request_, 4);
    if (!former) co_return invalid(former.error());
    if (!given) co_return invalid(given.error());
    desk_.compared.insert(urn_);
    Value config = read_properties(*given, *facade_).value;
    bool is_new_import = former->private_state["migrate"].bool_or(false);
    if (is_new_import && facade_->is_as_imported && facade_->is_as_imported(former->state, config))
      co_return co_await done(diff_answer({}, true));
    terraform::PlanResponse plan = co_await this->plan(former->state, config, former->private_state);
    if (plan.diagnostics.has_errors()) co_return co_await done(failed(desk_, plan.diagnostics, *facade_));
    co_return co_await done(diff_answer(differences_of(*former, *given, config, plan), true));
  }

  Task<rpc::Answer> create() {
    Result<Json> given = properties_in(desk_, request_, 2);
    if (!given) co_return invalid(given.error());
    Value config = read_properties(*given, *facade_).value;
    bool is_preview = request_.flag(4);
    if (is_preview) {
      Json former = desk_.compared.contains(urn_) ? Json(Json::Object{{"replaces", Json::Object()}}) : Json();
      terraform::PlanResponse plan = co_await this->plan({}, config, former);
      co_return co_await preview_answer(std::move(plan), *given, 2);
    }
    Value limited = with_time_limit(config, facade_->create_time, request_.real(3));
    Value planned = proposed({}, limited);
    for (const auto& [name, value] : facade_->planned) planned.make(name) = value;
    terraform::ApplyResponse made = co_await facade_->resource->apply(
        context_,
        {.prior = {}, .planned = std::move(planned), .config = limited, .planned_private = {}, .planned_identity = {}});
    log_.tell_warnings(made.diagnostics, *facade_);
    if (made.state.is_null()) co_return co_await done(failed(desk_, made.diagnostics, *facade_));
    std::string id = id_of(made.state);
    Json outputs = outputs_of(made, config, *given);
    if (made.diagnostics.has_errors())
      co_return co_await done(half_made(desk_, made.diagnostics, *facade_, id, outputs));
    WireWriter out;
    out.text(1, id);
    out.message(2, struct_message(outputs));
    co_return co_await done(out.take());
  }

  Task<rpc::Answer> update() {
    Result<Former> former = read_former(3);
    Result<Json> given = properties_in(desk_, request_, 4);
    if (!former) co_return invalid(former.error());
    if (!given) co_return invalid(given.error());
    Value config = read_properties(*given, *facade_).value;
    Value limited = with_time_limit(config, facade_->update_time, request_.real(5));
    terraform::PlanResponse plan = co_await this->plan(former->state, config, former->private_state);
    bool is_preview = request_.flag(7);
    if (is_preview) co_return co_await preview_answer(std::move(plan), *given, 1);
    if (!plan.requires_replace.empty() && !plan.diagnostics.has_errors())
      plan.diagnostics.error("The resource has to be replaced, which was not so when the update was planned",
                             "  next      run pulumi up again");
    if (plan.diagnostics.has_errors()) co_return co_await done(failed(desk_, plan.diagnostics, *facade_));
    Value planned = with_time_limit(std::move(plan.planned), facade_->update_time, request_.real(5));
    terraform::ApplyResponse made =
        co_await facade_->resource->apply(context_, {.prior = former->state,
                                                     .planned = std::move(planned),
                                                     .config = limited,
                                                     .planned_private = std::move(plan.planned_private),
                                                     .planned_identity = {}});
    Diagnostics told = std::move(plan.diagnostics);
    told.add(made.diagnostics);
    log_.tell_warnings(told, *facade_);
    if (made.diagnostics.has_errors()) {
      // Pulumi keeps the former state by itself.
      if (made.state == former->state) co_return co_await done(failed(desk_, made.diagnostics, *facade_));
      Json outputs = outputs_of(made, former->state, former->outputs);
      co_return co_await done(half_made(desk_, made.diagnostics, *facade_, request_.text(1), outputs));
    }
    WireWriter out;
    out.message(1, struct_message(outputs_of(made, config, *given)));
    co_return co_await done(out.take());
  }

  Task<rpc::Answer> remove() {
    Result<Former> former = read_former(3);
    if (!former) co_return invalid(former.error());
    Value state = with_time_limit(former->state, facade_->delete_time, request_.real(4));
    terraform::PlanResponse plan = co_await this->plan(state, {}, former->private_state);
    if (plan.diagnostics.has_errors()) co_return co_await done(failed(desk_, plan.diagnostics, *facade_));
    terraform::ApplyResponse made =
        co_await facade_->resource->apply(context_, {.prior = std::move(state),
                                                     .planned = {},
                                                     .config = {},
                                                     .planned_private = std::move(plan.planned_private),
                                                     .planned_identity = {}});
    log_.tell_warnings(made.diagnostics, *facade_);
    if (made.diagnostics.has_errors()) co_return co_await done(failed(desk_, made.diagnostics, *facade_));
    co_return co_await done(std::string());
  }

  Task<rpc::Answer> read() {
    Result<Json> outputs = properties_in(desk_, request_, 3);
    Result<Json> inputs = properties_in(desk_, request_, 4);
    if (!outputs) co_return invalid(outputs.error());
    if (!inputs) co_return invalid(inputs.error());
    bool is_import = !outputs->contains(kBookkeeping);
    if (is_import) co_return co_await import();
    Former former = former_of(*std::move(outputs));
    terraform::ReadResponse live = co_await facade_->resource->read(
        context_, {.state = former.state, .private_state = former.private_state, .identity = {}});
    log_.tell_warnings(live.diagnostics, *facade_);
    if (live.diagnostics.has_errors()) co_return co_await done(failed(desk_, live.diagnostics, *facade_));
    // No id says that the resource is gone.
    if (live.state.is_null()) co_return co_await done(std::string());
    co_return co_await done(read_answer(live, former.outputs, *inputs));
  }

 private:
  // What Pulumi keeps of a resource.
  struct Former {
    Value state;
    Json private_state;
    Json outputs;
  };

  // Every answer comes after the lines that belong to it.
  Task<rpc::Answer> done(rpc::Answer answer) {
    co_await desk_.log.flush();
    co_return answer;
  }

  Former former_of(Json outputs) {
    return {.state = read_properties(outputs, *facade_).value,
            .private_state = outputs[kBookkeeping]["private"],
            .outputs = std::move(outputs)};
  }

  Result<Former> read_former(uint64_t field) {
    TRY_ASSIGN(Json outputs, properties_in(desk_, request_, field));
    return former_of(std::move(outputs));
  }

  // The configuration, with the former values of what is computed.
  Value proposed(const Value& former, const Value& config) const {
    Value out = config;
    for (const Attribute& attribute : facade_->schema->attributes)
      if (attribute.computed && config[attribute.name].is_null())
        out.make(attribute.name) = former.is_null() ? Value::unknown() : former[attribute.name];
    return out;
  }

  Task<terraform::PlanResponse> plan(Value former, Value config, Json private_state) {
    Value wanted = config.is_null() ? Value() : proposed(former, config);
    co_return co_await facade_->resource->plan(context_, {.prior = std::move(former),
                                                          .proposed = std::move(wanted),
                                                          .config = std::move(config),
                                                          .prior_private = std::move(private_state),
                                                          .prior_identity = {}});
  }

  Task<rpc::Answer> preview_answer(terraform::PlanResponse plan, const Json& given, uint64_t field) {
    log_.tell_warnings(plan.diagnostics, *facade_);
    if (plan.diagnostics.has_errors()) co_return co_await done(failed(desk_, plan.diagnostics, *facade_));
    WireWriter out;
    out.message(field, struct_message(write_properties(plan.planned, given, *facade_)));
    co_return co_await done(out.take());
  }

  // `path` is "timeout" or "timeouts.create". Zero seconds are none.
  static Value with_time_limit(Value value, const std::string& path, double seconds) {
    if (path.empty() || seconds <= 0) return value;
    std::string text = fmt::format("{}s", static_cast<int64_t>(std::ceil(seconds)));
    size_t dot = path.find('.');
    Value& at = value.make(path.substr(0, dot));
    if (dot == std::string::npos) at = text;
    else at.make(path.substr(dot + 1)) = text;
    return value;
  }

  // Puts the time limits of the configuration in place of those of this call.
  void restore_time_limits(Value& state, const Value& config) const {
    for (const std::string* path : {&facade_->create_time, &facade_->update_time, &facade_->delete_time})
      if (!path->empty()) {
        std::string attribute = path->substr(0, path->find('.'));
        state.make(attribute) = config[attribute];
      }
  }

  std::string id_of(const Value& state) const {
    return facade_->id_of ? facade_->id_of(state) : std::string(state["id"].string_or(""));
  }

  Json outputs_of(terraform::ApplyResponse& made, const Value& config, const Json& given) const {
    restore_time_limits(made.state, config);
    return with_bookkeeping(write_properties(made.state, given, *facade_), made.state, made.private_state);
  }

  static Json with_bookkeeping(Json outputs, const Value& state, const Json& private_state) {
    outputs.make(kBookkeeping) = bookkeeping(state["id"].string_or(""), private_state);
    return outputs;
  }

  std::string read_answer(const terraform::ReadResponse& live, const Json& given, const Json& inputs) const {
    WireWriter out;
    out.text(1, request_.text(1));
    out.message(2, struct_message(with_bookkeeping(write_properties(live.state, given, *facade_), live.state,
                                                   live.private_state)));
    out.message(3, struct_message(inputs));
    return out.take();
  }

  Task<rpc::Answer> import() {
    Diagnostics found;
    if (!facade_->import_id_of) {
      found.error(fmt::format("A resource {} cannot be imported", facade_->token()),
                  "  next      create it with the setting adopt, where it has one: it goes on with what exists");
      co_return co_await done(failed(desk_, found, *facade_));
    }
    Result<std::string> id = facade_->import_id_of(request_.text(1));
    if (!id) found.error(id.error());
    if (!id) co_return co_await done(failed(desk_, found, *facade_));
    terraform::ImportResponse imported =
        co_await facade_->resource->import(context_, {.id = *std::move(id), .identity = {}});
    if (imported.diagnostics.has_errors()) co_return co_await done(failed(desk_, imported.diagnostics, *facade_));
    terraform::ReadResponse live = co_await facade_->resource->read(
        context_, {.state = std::move(imported.state), .private_state = imported.private_state, .identity = {}});
    log_.tell_warnings(live.diagnostics, *facade_);
    if (live.diagnostics.has_errors()) co_return co_await done(failed(desk_, live.diagnostics, *facade_));
    if (live.state.is_null()) co_return co_await done(std::string());
    Result<Json> inputs = facade_->imported_inputs(live.state);
    if (!inputs) co_return co_await done(invalid(inputs.error()));
    co_return co_await done(read_answer(live, *inputs, *inputs));
  }

  std::vector<Difference> differences_of(const Former& former, const Json& given, const Value& config,
                                         const terraform::PlanResponse& plan) const {
    std::vector<Difference> inputs, outputs;
    bool is_unchanged = plan.planned == former.state;
    if (is_unchanged && plan.requires_replace.empty()) return {};
    for (const Attribute& attribute : facade_->schema->attributes) {
      if (!facade_->shows(attribute.name) || plan.planned[attribute.name] == former.state[attribute.name]) continue;
      bool is_output = attribute.computed && config[attribute.name].is_null();
      if (is_output && plan.planned[attribute.name].is_unknown()) continue;
      std::vector<Difference>& found = is_output ? outputs : inputs;
      std::vector<std::string> properties{facade_->property_of(attribute.name)};
      if (facade_->free_form && facade_->free_form->attribute == attribute.name)
        properties.push_back(facade_->free_form->property);
      bool replaces = std::ranges::any_of(plan.requires_replace, [&](const terraform::Path& path) {
        return path == terraform::Path(std::string_view(attribute.name));
      });
      for (const std::string& property : properties) {
        Json after =
            &found == &inputs ? given[property] : json_of(plan.planned[attribute.name], attribute.whole_type());
        for (Difference& one : differences(former.outputs[property], after, property)) {
          one.is_input = &found == &inputs;
          one.replaces = replaces;
          found.push_back(std::move(one));
        }
      }
    }
    // What is computed differs because the inputs do.
    bool replaces = !plan.requires_replace.empty();
    if (replaces)
      for (Difference& one : inputs) one.replaces = true;
    if (!inputs.empty()) return inputs;
    // The former object was changed or deleted by others, or is to be applied for another reason.
    for (Difference& one : outputs) one.replaces = replaces;
    if (outputs.empty())
      outputs.push_back(
          {.path = facade_->schema->find("revision") ? "revision" : "id", .is_input = false, .replaces = replaces});
    return outputs;
  }

  Desk& desk_;
  const Message& request_;
  std::string urn_;
  CallLog log_;
  terraform::Context context_;
  const ResourceFacade* facade_ = nullptr;
};

using Step = Task<rpc::Answer> (ResourceCall::*)();

Task<rpc::Answer> run(Desk& desk, const Message& request, uint64_t urn_field, Step step) {
  ResourceCall call(desk, request, urn_field);
  if (auto problem = call.problem()) co_return std::unexpected(*problem);
  co_return co_await (call.*step)();
}

}  // namespace

Task<rpc::Answer> check(Desk& desk, const Message& request) { return run(desk, request, 1, &ResourceCall::check); }
Task<rpc::Answer> diff(Desk& desk, const Message& request) { return run(desk, request, 2, &ResourceCall::diff); }
Task<rpc::Answer> create(Desk& desk, const Message& request) { return run(desk, request, 1, &ResourceCall::create); }
Task<rpc::Answer> read(Desk& desk, const Message& request) { return run(desk, request, 2, &ResourceCall::read); }
Task<rpc::Answer> update(Desk& desk, const Message& request) { return run(desk, request, 2, &ResourceCall::update); }
Task<rpc::Answer> remove(Desk& desk, const Message& request) { return run(desk, request, 2, &ResourceCall::remove); }

}  // namespace fairlead::pulumi
