#include "wait/internal/objects.h"

#include <algorithm>

#include "base/backoff.h"
#include "base/duration_text.h"
#include "object/definition.h"
#include "object/status_expected.h"
#include "readiness/shadow_objects.h"

namespace fairlead::wait {

using State = ObjectEnding::State;

namespace {

// If there is no status after this time, we assume that no controller writes one.
constexpr Duration kStatusGrace = std::chrono::seconds(10);
// Most pods start faster than this. Pods are watched only after this time.
constexpr Duration kPodsGrace = std::chrono::seconds(3);
constexpr Duration kApiPause = std::chrono::milliseconds(200);

bool makes_pods(const object::Key& key) {
  return key.group == "apps" || (key.group == "batch" && key.kind == "Job") || (key.group.empty() && key.kind == "Pod");
}

bool is_definition(const object::Resource& resource) {
  return resource.group == "apiextensions.k8s.io" && resource.kind == "CustomResourceDefinition";
}

bool is_configuration(const object::Resource& resource) {
  return resource.group == "admissionregistration.k8s.io" && readiness::configurations_of(resource.kind).has_value();
}

std::string text(const Json& value) { return std::string(value.string_or("")); }

// What has no conversion webhook is not waited for: nobody but its author adds one.
Error no_conversion(const std::string& definition) {
  return Error(
             ErrorKind::invalid,
             fmt::format("CustomResourceDefinition {} has no conversion webhook that could be functional", definition))
      .next(fmt::format("fairlead wait crd/{} --for ready", definition));
}

std::string leaving_text(const Json& object) {
  const Json& metadata = object["metadata"];
  if (metadata["deletionTimestamp"].is_null()) return "nobody has deleted it yet";
  std::string finalizers;
  for (std::string_view part : {"metadata", "spec"})
    for (const Json& one : object[part]["finalizers"].items())
      finalizers += fmt::format("{}{}", finalizers.empty() ? "" : ", ", one.string_or("?"));
  return finalizers.empty() ? "it is being deleted"
                            : "it is being deleted, and waits for its finalizers: " + finalizers;
}

}  // namespace

void Objects::evidence_changed() {
  ++evidence_changes_;
  for (auto& [name, view] : views_) view.changed->notify_all();
  any_changed_.notify_all();
}

bool Objects::is_proved(const object::Resource& resource) const {
  if (run_.options.form.is(Form::Kind::functional)) return true;
  return run_.options.form.is(Form::Kind::ready) && is_configuration(resource);
}

Result<void> Objects::check_form(const Target& target, const object::Resource& resource) const {
  const Form& form = run_.options.form;
  bool can_prove = is_configuration(resource) || is_definition(resource);
  bool fits = form.is(Form::Kind::rollout)      ? can_roll_out(resource.group, resource.kind)
              : form.is(Form::Kind::functional) ? can_prove
                                                : true;
  if (fits) return {};
  std::string_view kinds = form.is(Form::Kind::rollout) ? "Deployments, StatefulSets, DaemonSets and ReplicaSets"
                                                        : "webhooks, webhook configurations and CRDs";
  return fail(Error(ErrorKind::invalid, fmt::format("--for {} cannot be used for {}", form.text(), target.text()))
                  .because(fmt::format("it is for {} only", kinds))
                  .at(target.source)
                  .next(fmt::format("fairlead wait {} --for ready", target.text())));
}

Objects::View& Objects::view(const object::Resource& resource, kube::WatchOptions options) {
  std::string name = fmt::format("{}|{}|{}|{}", resource.api_path() + resource.plural, options.ns,
                                 options.label_selector, options.field_selector);
  auto found = views_.find(name);
  if (found != views_.end()) return found->second;
  View& view = views_[name];
  view.changed = std::make_unique<Signal>(run_.loop);
  view.watched = std::make_unique<kube::Watched>(run_.client, resource, std::move(options),
                                                 [this, changed = view.changed.get()](const Json& object, bool) {
                                                   // Our own shadows are no news.
                                                   if (readiness::shadow_ownership(object)) return;
                                                   changed->notify_all();
                                                   any_changed_.notify_all();
                                                   webhooks_.notify();
                                                 });
  if (is_configuration(resource)) view.watched->keep_managed_fields();
  scope_.spawn(view.watched->run());
  return view;
}

Task<Result<void>> Objects::check_access(const object::Resource& resource, const object::Key& key) {
  kube::Outcome<kube::Reply> reply = co_await run_.client.get(resource, key.ns, key.name);
  bool is_denied =
      !reply && (reply.error().is(kube::FaultKind::forbidden) || reply.error().is(kube::FaultKind::unauthorized));
  if (!is_denied) co_return Result<void>();
  Error why = reply.error().error();
  co_return fail(Error(ErrorKind::denied, fmt::format("{} cannot be seen", key.text())).because(std::move(why)));
}

bool Objects::shares_watch(const Target& target) const {
  auto alike = std::ranges::count_if(run_.units, [&](const Unit& unit) {
    const Target& other = unit.target;
    return !other.is_group() && other.kinds == target.kinds && other.group == target.group &&
           other.kind == target.kind && other.ns == target.ns;
  });
  return alike > 1;
}

Task<bool> Objects::expects_status(const object::Resource& resource) {
  const object::Resource* definitions = run_.discovery.known().find("apiextensions.k8s.io", "CustomResourceDefinition");
  if (!definitions || !run_.options.form.is(Form::Kind::ready) || !resource.group.contains('.')) co_return false;
  auto reply = co_await run_.client.get(*definitions, "", resource.name_with_group());
  co_return reply&& object::expects_conditions(reply->value, resource.version);
}

Task<Result<bool>> Objects::is_served(const Json& definition) {
  for (const object::Resource& one : object::Definition(definition).resources()) {
    auto found = co_await run_.discovery.find_at_source(one.group, one.version, one.kind);
    if (!found && found.error().error().kind() == ErrorKind::cancelled) co_return fail(found.error().error());
    if (!found || !*found) co_return false;
  }
  co_return true;
}

readiness::Options Objects::options_for(const Judged& judged, const Json& object) {
  readiness::Options options;
  options.status_expected = judged.status_expected && run_.loop.now() < *judged.subject->seen + kStatusGrace;
  if (object["kind"].string_or("") == "PersistentVolumeClaim") {
    evidence_.watch_cluster_wide("storage.k8s.io", "StorageClass");
    const Json* storage = evidence_.find("StorageClass", "", text(object["spec"]["storageClassName"]));
    options.binds_on_first_use = storage && (*storage)["volumeBindingMode"].string_or("") == "WaitForFirstConsumer";
  }
  return options;
}

readiness::Why Objects::why(const Subject& subject, const Json& object) {
  if (!makes_pods(subject.key) || run_.loop.now() < *subject.seen + kPodsGrace) return {};
  evidence_.watch_pods(subject.key.ns);
  return readiness::why_not_ready(object, evidence_.pods(subject.key.ns));
}

TimePoint Objects::next_look(const Judged& judged) const {
  const Subject& subject = *judged.subject;
  TimePoint due = run_.due(subject);
  if (!subject.seen) return due;
  TimePoint now = run_.loop.now();
  auto earlier = [&](TimePoint time) {
    if (time > now) due = std::min(due, time);
  };
  if (makes_pods(subject.key)) earlier(*subject.seen + kPodsGrace);
  if (judged.status_expected) earlier(*subject.seen + kStatusGrace);
  return due;
}

void Objects::judge_removal(Subject& subject, const object::Resource& resource, const Json* object) {
  subject.next = kubectl("describe", resource.name_with_group(), subject.key.ns, subject.key.name);
  std::string uid = object ? text((*object)["metadata"]["uid"]) : "";
  if (object && subject.uid.empty()) subject.uid = uid;
  if (!object || uid != subject.uid) {
    run_.met(subject, object ? "another object has its name now" : "it does not exist");
    return;
  }
  run_.seen(subject);
  run_.tell(subject, leaving_text(*object));
}

void Objects::judge(Judged& judged, const object::Resource& resource, const Json* object) {
  Subject& subject = *judged.subject;
  if (subject.is_settled()) return;
  if (run_.options.form.is(Form::Kind::removal)) {
    judge_removal(subject, resource, object);
    return;
  }
  if (!object) {
    subject.next = kubectl("get", resource.name_with_group(), subject.key.ns, "");
    run_.tell(subject, subject.seen ? "it was deleted, and does not exist again yet" : std::string(kAbsent));
    return;
  }
  run_.seen(subject);
  subject.next = kubectl("describe", resource.name_with_group(), subject.key.ns, subject.key.name);
  Form::Answer answer = run_.options.form.ask(*object, options_for(judged, *object));
  using Met = Form::Answer::State;
  bool needs_api = is_definition(resource) && run_.options.form.is(Form::Kind::ready);
  judged.awaits_api = answer.state == Met::met && needs_api;
  if (answer.state == Met::met) {
    if (!judged.awaits_api) run_.met(subject, std::move(answer.text));
    return;
  }
  subject.why = answer.state == Met::never ? readiness::Why() : why(subject, *object);
  run_.tell(subject, std::move(answer.text));
  if (answer.state == Met::never || subject.why.permanent)
    run_.failed(subject, run_.unmet_error(subject, std::nullopt));
}

void Objects::time_out(Subject& subject, const View& view) {
  Error error = run_.unmet_error(subject, run_.timeout_for(subject));
  const std::optional<Error>& interruption = view.watched->interruption();
  // What was known of the object may be old.
  if (interruption && !error.cause()) {
    Error silence = Error(error.kind(), "the API server has stopped answering").because(*interruption);
    error = std::move(error).because(std::move(silence)).next(std::string(kAskServer));
  }
  run_.failed(subject, std::move(error));
}

Task<Result<void>> Objects::follow_object(Unit& unit, const object::Resource& resource) {
  Subject& subject = *unit.subjects.front();
  const object::Key& key = subject.key;
  std::string by_name = "metadata.name=" + key.name;
  bool is_shared = shares_watch(unit.target);
  if (!is_shared) CO_TRY(co_await check_access(resource, key));
  View* seen = &view(resource, {.ns = key.ns, .field_selector = is_shared ? "" : by_name});
  Judged judged{.subject = &subject};
  judged.status_expected = co_await expects_status(resource);
  Backoff pauses(kApiPause, std::chrono::seconds(1));
  while (!subject.is_settled()) {
    if (seen->watched->trouble()) {
      if (!is_shared) co_return fail(*seen->watched->trouble());
      is_shared = false;
      CO_TRY(co_await check_access(resource, key));
      seen = &view(resource, {.ns = key.ns, .field_selector = by_name});
    }
    TimePoint next = TimePoint::max();
    if (seen->watched->synced()) {
      const Json* object = seen->watched->find(key.ns, key.name);
      judge(judged, resource, object);
      if (judged.awaits_api) {
        CO_TRY_ASSIGN(bool is_there, co_await is_served(*object));
        if (is_there) run_.met(subject, "it is established and served");
        else run_.tell(subject, "it is established, and the API server does not serve it yet");
      }
      if (!subject.is_settled() && run_.loop.now() >= run_.due(subject)) time_out(subject, *seen);
      next = next_look(judged);
      if (judged.awaits_api) next = std::min(next, run_.loop.now() + pauses.next());
    }
    if (!subject.is_settled()) CO_TRY(co_await wait_until(run_.loop, *seen->changed, next));
  }
  co_return Result<void>();
}

Task<Result<void>> Objects::follow_named(Unit& unit) {
  const Target& target = unit.target;
  std::string kind = target.kind.empty() ? target.kinds.front() : target.kind;
  Subject& subject = run_.add(unit, {.group = target.group, .kind = kind, .ns = "", .name = target.name});
  bool is_removal = run_.options.form.is(Form::Kind::removal);
  TimePoint due = run_.due(subject);
  CO_TRY_ASSIGN(std::optional<object::Resource> found, co_await kinds_.find(target, kind, false, due));
  if (!found && is_removal && run_.discovery.known().problems().empty()) {
    run_.met(subject, "its kind does not exist");
    co_return Result<void>();
  }
  if (!found) {
    Error missing = kinds_.missing(target, kind);
    subject.next = missing.next();
    subject.reason = missing.message();
    run_.journal.add(
        {.kind = journal::EventKind::note, .text = fmt::format("{} waits: {}", target.text(), subject.reason)});
    CO_TRY_ASSIGN(found, co_await kinds_.find(target, kind, true, due));
  }
  if (!found) {
    run_.timed_out(subject);
    co_return Result<void>();
  }
  const object::Resource& resource = *found;
  std::string ns = target.ns.empty() ? run_.options.default_namespace : target.ns;
  subject.key = {
      .group = resource.group, .kind = resource.kind, .ns = resource.namespaced ? ns : "", .name = target.name};
  subject.reason.clear();
  CO_TRY(check_form(target, resource));
  if (!is_proved(resource)) co_return co_await follow_object(unit, resource);
  CO_TRY(co_await check_access(resource, subject.key));
  View& seen = view(resource, {.field_selector = "metadata.name=" + target.name});
  subject.next = kubectl("get", resource.name_with_group(), "", "");
  co_return co_await webhooks_.follow(
      subject, [this, &seen, name = target.name, is_a_definition = is_definition(resource)] {
        Webhooks::Looked looked{
            .known = seen.watched->synced(), .absence = std::string(kAbsent), .trouble = seen.watched->trouble()};
        if (const Json* object = seen.watched->find("", name)) {
          looked.callees = callees_of(*object, run_.client.server_now());
          looked.absence = "it has no webhooks";
          looked.is_there = true;
          if (is_a_definition && looked.callees.empty()) looked.trouble = no_conversion(name);
        }
        return looked;
      });
}

// Webhooks are looked for in all configurations, by the name of the configuration and by their own.
Task<Result<void>> Objects::follow_webhook(Unit& unit) {
  const Target& target = unit.target;
  std::string name = target.hook.empty() ? target.name : fmt::format("{}/{}", target.name, target.hook);
  Subject& subject =
      run_.add(unit, {.group = "admissionregistration.k8s.io", .kind = "Webhook", .ns = "", .name = name});
  subject.is_webhook = true;
  std::vector<View*> views;
  for (std::string_view kind : {"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"}) {
    const object::Resource resource = *readiness::configurations_of(kind);
    View* seen = &view(resource, {});
    while (!seen->watched->synced() && !seen->watched->trouble())
      CO_TRY(co_await wait_until(run_.loop, *seen->changed, TimePoint::max()));
    // Whoever may not list configurations may still be allowed to read one.
    if (seen->watched->trouble()) {
      CO_TRY(co_await check_access(resource,
                                   {.group = resource.group, .kind = resource.kind, .ns = "", .name = target.name}));
      seen = &view(resource, {.field_selector = "metadata.name=" + target.name});
    }
    views.push_back(seen);
  }
  subject.next = "kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations";
  co_return co_await webhooks_.follow(subject, [this, views, &target] {
    Webhooks::Looked looked{.absence = fmt::format("there is no webhook and no webhook configuration {}", target.name)};
    std::vector<Callee> by_own_name;
    bool is_there = false;
    for (const View* seen : views) {
      looked.known = looked.known && seen->watched->synced();
      if (seen->watched->trouble()) looked.trouble = seen->watched->trouble();
      for (const auto& [place, object] : seen->watched->objects()) {
        if (readiness::shadow_ownership(object)) continue;
        bool is_it = place.second == target.name;
        is_there = is_there || is_it;
        for (Callee& callee : callees_of(object, run_.client.server_now())) {
          if (is_it && (target.hook.empty() || callee.name == target.hook)) looked.callees.push_back(std::move(callee));
          else if (!is_it && target.hook.empty() && callee.name == target.name)
            by_own_name.push_back(std::move(callee));
        }
      }
    }
    looked.is_there = is_there && target.hook.empty();
    if (is_there)
      looked.absence =
          target.hook.empty() ? "the configuration has no webhooks" : "the configuration has no webhook " + target.hook;
    else if (looked.callees.empty()) looked.callees = std::move(by_own_name);
    return looked;
  });
}

Task<void> Objects::prove(Subject& subject, Webhooks::Look look) {
  (void)co_await webhooks_.follow(subject, std::move(look));
  any_changed_.notify_all();
}

void Objects::judge_group(Unit& unit, const std::vector<std::pair<object::Resource, View*>>& views,
                          std::map<object::Key, Judged>& judged, Scope& proofs) {
  bool is_synced = std::ranges::all_of(views, [](const auto& one) { return one.second->watched->synced(); });
  bool is_removal = run_.options.form.is(Form::Kind::removal);
  std::map<object::Key, const object::Resource*> there;
  for (const auto& [resource, seen] : views)
    for (const auto& [place, object] : seen->watched->objects()) {
      if (readiness::shadow_ownership(object)) continue;
      object::Key key{.group = resource.group, .kind = resource.kind, .ns = place.first, .name = place.second};
      there[key] = &resource;
      auto found = judged.find(key);
      if (found == judged.end()) {
        // What comes later does not have to be deleted.
        if (is_removal && is_synced && !judged.empty()) continue;
        found = judged.emplace(key, Judged{.subject = &run_.add(unit, key)}).first;
        if (is_proved(resource))
          proofs.spawn(prove(*found->second.subject, [this, watched = seen->watched.get(), place,
                                                      is_a_definition = is_definition(resource)] {
            Webhooks::Looked looked{
                .known = watched->synced(), .absence = "it does not exist any more", .trouble = watched->trouble()};
            if (const Json* now = watched->find(place.first, place.second)) {
              looked.callees = callees_of(*now, run_.client.server_now());
              looked.absence = "it has no webhooks";
              looked.is_there = true;
              if (is_a_definition && looked.callees.empty()) looked.trouble = no_conversion(place.second);
            }
            return looked;
          }));
      }
      std::string version = text(object["metadata"]["resourceVersion"]);
      bool is_known = found->second.version == version && found->second.evidence == evidence_changes_ &&
                      run_.loop.now() < next_look(found->second);
      if (is_known || is_proved(resource)) continue;
      found->second.version = std::move(version);
      found->second.evidence = evidence_changes_;
      judge(found->second, resource, &object);
      if (found->second.awaits_api) run_.met(*found->second.subject, "it is established");
    }
  for (auto& [key, one] : judged)
    if (!there.contains(key) && is_removal) run_.met(*one.subject, "it does not exist");
  // An object that was deleted is no longer waited for.
  if (!is_removal) std::erase_if(unit.subjects, [&](const Subject* subject) { return !there.contains(subject->key); });
  for (Subject* subject : unit.subjects)
    if (!subject->is_settled() && run_.loop.now() >= run_.due(*subject)) run_.timed_out(*subject);
  auto has = [&](State state) {
    return std::ranges::any_of(unit.subjects, [&](const Subject* one) { return one->state == state; });
  };
  if (!run_.options.any && has(State::failed)) run_.settle(unit, State::failed);
  else if (!run_.options.any && has(State::timed_out)) run_.settle(unit, State::timed_out);
  else if (is_synced && !has(State::waiting) && (is_removal || !unit.subjects.empty()))
    run_.settle(unit, has(State::met) || unit.subjects.empty() ? State::met
                      : has(State::failed)                     ? State::failed
                                                               : State::timed_out);
}

std::string Objects::list_command(const Target& target) const {
  const std::string& ns = run_.options.default_namespace;
  std::string words = fmt::format("kubectl {}get {}", run_.options.all_namespaces ? "" : fmt::format("-n {} ", ns),
                                  fmt::join(target.kinds, ","));
  if (run_.options.all_namespaces) words += " -A";
  return target.selector.empty() ? words : fmt::format("{} -l '{}'", words, target.selector);
}

Task<Result<void>> Objects::follow_group(Unit& unit) {
  const Target& target = unit.target;
  TimePoint due = run_.loop.now() + run_.options.time_to_exist();
  bool is_removal = run_.options.form.is(Form::Kind::removal);
  std::vector<std::pair<object::Resource, View*>> views;
  for (const std::string& kind : target.kinds) {
    CO_TRY_ASSIGN(std::optional<object::Resource> found, co_await kinds_.find(target, kind, !is_removal, due));
    if (!found && is_removal) continue;
    if (!found)
      co_return fail(Error(ErrorKind::timeout, fmt::format("nothing matches {}", target.text()))
                         .because(kinds_.missing(target, kind)));
    CO_TRY(check_form(target, *found));
    std::string ns = !found->namespaced || run_.options.all_namespaces ? "" : run_.options.default_namespace;
    views.emplace_back(*found, &view(*found, {.ns = ns, .label_selector = target.selector}));
  }
  std::map<object::Key, Judged> judged;
  Scope proofs(run_.loop, co_await current_cancel());
  Result<void> result;
  while (result) {
    for (const auto& [resource, seen] : views)
      if (seen->watched->trouble()) result = fail(*seen->watched->trouble());
    if (!result) break;
    judge_group(unit, views, judged, proofs);
    if (unit.is_settled()) break;
    bool is_synced = std::ranges::all_of(views, [](const auto& one) { return one.second->watched->synced(); });
    if (is_synced && judged.empty() && run_.loop.now() >= due) {
      result =
          fail(Error(ErrorKind::timeout, fmt::format("nothing matches {}", target.text())).next(list_command(target)));
      break;
    }
    TimePoint next = is_synced && judged.empty() ? due : TimePoint::max();
    for (const auto& [key, one] : judged)
      if (!one.subject->is_settled()) next = std::min(next, next_look(one));
    result = co_await wait_until(run_.loop, any_changed_, next);
  }
  proofs.cancel();
  co_await proofs.join();
  co_return result;
}

Task<Result<void>> Objects::follow_kind(Unit& unit) {
  const std::string& name = unit.target.kinds.front();
  Subject& subject = run_.add(unit, {.group = "", .kind = "kind", .ns = "", .name = name});
  Error missing = kinds_.missing(unit.target, name);
  subject.next = missing.next();
  CO_TRY_ASSIGN(std::optional<object::Resource> found, co_await kinds_.find(unit.target, name, false, TimePoint()));
  if (!found) {
    run_.tell(subject, "the cluster does not serve it yet");
    CO_TRY_ASSIGN(found, co_await kinds_.find(unit.target, name, true, run_.due(subject)));
  }
  if (found) run_.met(subject, "the cluster serves it");
  else run_.timed_out(subject);
  co_return Result<void>();
}

Error Objects::silence() const {
  for (const auto& [name, view] : views_)
    if (const std::optional<Error>& interruption = view.watched->interruption()) return *interruption;
  return Error(ErrorKind::timeout, "the API server does not answer");
}

void Objects::end_unread(Unit& unit) {
  has_given_up_ = true;
  Duration within = std::chrono::round<std::chrono::seconds>(run_.loop.now() - unit.begun);
  auto error_for = [&](const std::string& what) {
    return Error(ErrorKind::timeout, fmt::format("{} could not be read within {}", what, short_text(within)))
        .because(silence())
        .next(std::string(kAskServer));
  };
  for (Subject* subject : unit.subjects) {
    if (subject->is_settled()) continue;
    Error error = error_for(subject->key.text());
    if (subject->seen) {
      error = run_.unmet_error(*subject, run_.timeout_for(*subject));
      if (!error.cause()) error = std::move(error).because(silence());
    }
    run_.failed(*subject, std::move(error));
  }
  run_.settle(unit, State::timed_out,
              unit.subjects.empty() ? std::optional(error_for(unit.target.text())) : std::nullopt);
}

Task<void> Objects::end_overdue() {
  while (true) {
    TimePoint next = TimePoint::max();
    for (Unit& unit : run_.units) {
      if (!unit.is_settled() && run_.limit(unit) <= run_.loop.now()) end_unread(unit);
      if (!unit.is_settled()) next = std::min(next, run_.limit(unit));
    }
    if (!co_await wait_until(run_.loop, run_.limits_changed, next)) co_return;
  }
}

Task<void> Objects::follow(Unit& unit) {
  bool is_webhook = unit.target.is_webhook &&
                    (run_.options.form.is(Form::Kind::ready) || run_.options.form.is(Form::Kind::functional));
  Result<void> followed = is_webhook               ? co_await follow_webhook(unit)
                          : unit.target.is_kind    ? co_await follow_kind(unit)
                          : unit.target.is_group() ? co_await follow_group(unit)
                                                   : co_await follow_named(unit);
  if (!followed && followed.error().kind() == ErrorKind::cancelled) co_return;
  if (unit.target.is_group()) {
    if (followed) co_return;
    State state = followed.error().kind() == ErrorKind::timeout ? State::timed_out : State::failed;
    run_.settle(unit, state, std::move(followed).error());
    co_return;
  }
  Subject& subject = *unit.subjects.front();
  if (!followed) run_.failed(subject, std::move(followed).error());
  run_.settle(unit, subject.state);
}

}  // namespace fairlead::wait
