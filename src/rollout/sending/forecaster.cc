#include "rollout/sending/forecaster.h"

#include "base/plain_text.h"
#include "diff/definition_changes.h"
#include "diff/digest.h"
#include "inventory/applyset.h"
#include "rollout/core/field_texts.h"
#include "rollout/sending/as_sent.h"

namespace fairlead::rollout {
namespace {

using Action = Forecast::Action;

bool is_definition(const object::Key& key) {
  return key.group == "apiextensions.k8s.io" && key.kind == "CustomResourceDefinition";
}

std::string names_of(const std::vector<std::string>& managers) {
  std::string text;
  for (const std::string& manager : managers) text += (text.empty() ? "" : ", ") + plain_text(manager, 128);
  return text;
}

kube::Reply reply_of(Json value, bool created) {
  kube::Reply reply;
  reply.value = std::move(value);
  reply.status = created ? 201 : 200;
  return reply;
}

}  // namespace

Forecaster::Forecaster(kube::Client& client, Run& run) : client_(client), run_(run), look_(run.options().look) {
  look_.own_labels.emplace_back(inventory::kPartOfLabel);
}

Task<kube::Outcome<const Json*>> Forecaster::live(NodeId node) {
  const object::Object& object = run_.object(node);
  const Json* known = run_.before(node);
  bool is_in_same_version = known && (*known)["apiVersion"].string_or("") == object.value()["apiVersion"].string_or("");
  if (is_in_same_version) co_return known;
  auto there = co_await client_.get(*run_.kinds().of(object), object.ns(), object.name());
  if (!there && there.error().is(kube::FaultKind::not_found)) co_return nullptr;
  if (!there) co_return std::unexpected(there.error());
  Json& kept = read_[node] = std::move(there->value);
  run_.found_before(node, kept);
  co_return &kept;
}

void Forecaster::forget(NodeId node) {
  if (read_.contains(node)) run_.forget_before(node);
  read_.erase(node);
}

std::expected<Json, schema::Refusal> Forecaster::applied(NodeId node, const Json& live, bool force) {
  if (!has_learned_types_)
    for (const Json& definition : run_.cluster().definitions) types_.learn(definition);
  has_learned_types_ = true;
  schema::Writer writer{.manager = run_.field_manager(),
                        .now = std::chrono::floor<std::chrono::seconds>(run_.server_now()),
                        .force = force};
  return inventory::applied(as_sent(run_.object(node), run_.part_of()), live, writer, types_);
}

Task<kube::Outcome<kube::Reply>> Forecaster::apply(NodeId node, bool force) {
  kube::Outcome<const Json*> there = co_await live(node);
  if (!there) co_return std::unexpected(there.error());
  std::expected<Json, schema::Refusal> result = applied(node, *there ? **there : Json(), force);
  if (result) co_return reply_of(*std::move(result), *there == nullptr);
  const object::Object& object = run_.object(node);
  std::string path = run_.kinds().of(object)->path(object.ns(), object.name()).value_or("");
  co_return std::unexpected(kube::Failure(kube::classify_status("PATCH", path, result.error().status())));
}

Forecast& Forecaster::record(NodeId node, Action action, const Json& before, const Json& after) {
  auto forecast = std::make_shared<Forecast>();
  forecast->action = action;
  forecast->change = diff::change_of(before, after, look_);
  if (const std::string& key = run_.options().digest_key; !key.empty()) {
    forecast->live_digest = diff::digest_of(before, key);
    forecast->wanted_digest = diff::digest_of(as_sent(run_.object(node), run_.part_of()), key);
  }
  run_.edit(node).forecast = forecast;
  return *forecast;
}

Json Forecaster::taken_over(NodeId node, const Json& answer) {
  Json managed = inventory::managed_fields_after_takeover(answer, run_.successor());
  if (managed.is_null()) return answer;
  Json adopted = answer;
  adopted.make("metadata").make("managedFields") = std::move(managed);
  return applied(node, adopted, true).value_or(answer);
}

void Forecaster::look_at_definition(NodeId node, const Json& before, const Json& after) {
  const object::Key& key = run_.object(node).key();
  if (!is_definition(key)) return;
  for (std::string& text : diff::unsafe_changes(before, after))
    run_.add_concern({.kind = Concern::Kind::definition, .key = key, .text = std::move(text)});
}

void Forecaster::accepted(NodeId node, const Json& answer) {
  const Json* before = run_.before(node);
  switch (run_.state(node).stored) {
    case ObjectState::Stored::no:
    case ObjectState::Stored::unchanged: break;
    case ObjectState::Stored::created:
      record(node, Action::create, Json(),
             run_.options().with_defaults ? answer : as_sent(run_.object(node), run_.part_of()));
      break;
    case ObjectState::Stored::changed: {
      std::vector<std::string> managers = inventory::former_managers(answer, run_.successor());
      Json after = managers.empty() ? answer : taken_over(node, answer);
      Forecast& forecast = record(node, Action::change, before ? *before : Json(), after);
      if (!managers.empty()) forecast.note = "its fields would be taken over from " + names_of(managers);
      if (before) look_at_definition(node, *before, after);
      if (!before) forecast.change = {};
      if (!before) forecast.note = "it cannot be read, so it is not known what would change";
      break;
    }
  }
  forget(node);
}

Task<void> Forecaster::unchecked(NodeId node, std::string why, bool may_exist) {
  if (may_exist) (void)co_await live(node);
  const Json* before = may_exist ? run_.before(node) : nullptr;
  Json after = as_sent(run_.object(node), run_.part_of());
  if (before) after = applied(node, *before, true).value_or(after);
  record(node, before ? Action::change : Action::create, before ? *before : Json(), after).unchecked =
      run_.secrets().without(why);
  forget(node);
}

Task<void> Forecaster::replaced(NodeId node, std::string why) {
  (void)co_await live(node);
  const Json* before = run_.before(node);
  Json after = as_sent(run_.object(node), run_.part_of());
  if (before) after = applied(node, *before, true).value_or(after);
  record(node, Action::replace, before ? *before : Json(), after).note = why;
  run_.add_concern({.kind = Concern::Kind::replacement, .key = run_.object(node).key(), .text = std::move(why)});
  forget(node);
}

void Forecaster::conflicting(NodeId node, const kube::Fault& conflict, const Json& answer) {
  const Json* before = run_.before(node);
  Forecast& forecast = record(node, Action::change, before ? *before : Json(), answer);
  if (!before || answer.is_null()) forecast.change = {};
  for (const kube::FaultCause& cause : conflict.causes)
    forecast.conflicts.push_back({.field = cause.field, .manager = owner_in(cause.message)});
  forget(node);
}

void Forecaster::forbidden(NodeId node, const kube::Fault& fault) {
  const object::Object& object = run_.object(node);
  std::string_view verb = fault.message.contains("cannot create resource") ? "create" : "patch";
  std::string text = fmt::format("this user may not {} {}", verb, run_.kinds().of(object)->name_with_group());
  if (!object.ns().empty()) text += fmt::format(" in namespace {}", object.ns());
  if (!forbidden_.insert(text).second) return;
  run_.add_concern({.kind = Concern::Kind::permission, .key = {}, .text = text});
  run_.add_event({.kind = journal::EventKind::warning,
                  .state = "permission",
                  .text = text + ": such objects are compared without the API server"});
}

}  // namespace fairlead::rollout
