#include "cli/apply_run.h"

#include "base/scope.h"

namespace fairlead::cli {
namespace {

using object::Object;
using object::Resource;

// As many tasks as requests can ever be in flight; the client decides how many of them really are.
constexpr size_t kWorkers = 200;

bool same_kind(const Object& a, const Object& b) {
  return a.kind() == b.kind() && a.version() == b.version() && a.group() == b.group();
}

Error unknown_kind(const Object& object, const kube::Discovered& known) {
  return Error(ErrorKind::not_found, fmt::format("{} was not sent", object.key().text()))
      .because(known.missing(object.group(), object.version(), object.kind()))
      .at(object.source().text());
}

std::optional<Error> place(const ApplyPlan& plan, const Resource& resource, Object& object) {
  if (!resource.namespaced) {
    object.set_namespace("");
    return std::nullopt;
  }
  if (object.ns().empty()) {
    object.set_namespace(plan.default_namespace);
  } else if (plan.namespace_is_chosen && object.ns() != plan.default_namespace) {
    return Error(ErrorKind::invalid, fmt::format("{} is not for the namespace that was asked for, {}",
                                                 object.key().text(), plan.default_namespace))
        .at(object.source().text())
        .next(fmt::format("fairlead apply --namespace={} …, or no --namespace at all", object.ns()));
  }
  return std::nullopt;
}

// The neighbours of one kind that are sent side by side, and what their tasks share.
struct Run {
  kube::Client& client;
  const ApplyPlan& plan;
  const Resource& resource;
  std::vector<Object>& objects;
  ApplyOutput& output;
  size_t next;
  size_t end;
  // What ended the run early.
  std::optional<Error> trouble;
};

Applied judge(const Object& object, const kube::Outcome<kube::Reply>& outcome) {
  if (outcome)
    return {.outcome = outcome->created() ? Applied::Outcome::created : Applied::Outcome::applied,
            .warnings = outcome->warnings};
  return {.outcome = Applied::Outcome::refused,
          .warnings = outcome.error().warnings(),
          .error = Error(ErrorKind::denied, fmt::format("{} was not accepted", object.key().text()))
                       .because(outcome.error().error())
                       .at(object.source().text()),
          .is_conflict = outcome.error().is(kube::FaultKind::field_conflict)};
}

Task<void> work(Run& run, Scope& scope) {
  kube::ApplyOptions options;
  options.field_manager = run.plan.field_manager;
  options.dry_run = run.plan.dry_run;
  options.force = run.plan.force;
  while (run.next < run.end && !run.trouble) {
    size_t index = run.next++;
    const Object& object = run.objects[index];
    auto outcome = co_await run.client.apply(run.resource, object.ns(), object.name(), object.value(), options);
    bool answered = outcome || outcome.error().fault();
    if (answered) {
      run.output.add(index, judge(object, outcome));
    } else if (!run.trouble) {
      run.trouble = Error(outcome.error().error().kind(), fmt::format("{} could not be sent", object.key().text()))
                        .because(outcome.error().error())
                        .at(object.source().text());
      scope.cancel();
    }
  }
}

Task<Result<void>> send_run(Run& run) {
  CancelSource* cancel = co_await current_cancel();
  Scope scope(run.client.loop(), cancel);
  size_t workers = std::min(kWorkers, run.end - run.next);
  for (size_t i = 0; i < workers; ++i) scope.spawn(work(run, scope));
  co_await scope.join();
  if (cancel && cancel->cancelled()) co_return fail(cancelled_error());
  if (run.trouble) co_return fail(*run.trouble);
  co_return Result<void>();
}

}  // namespace

Task<Result<manifest::Errors>> prepare(kube::Discovery& discovery, const ApplyPlan& plan, manifest::Bundle& bundle) {
  CO_TRY_ASSIGN(const kube::Discovered* known, kube::as_result(co_await discovery.all()));
  manifest::Errors errors;
  for (Object& object : bundle.objects)
    if (const Resource* resource = known->find(object.group(), object.version(), object.kind()))
      if (auto error = place(plan, *resource, object)) errors.push_back(*error);
  for (Error& twice : manifest::find_duplicates(bundle)) errors.push_back(std::move(twice));
  co_return errors;
}

Task<Result<void>> send_all(kube::Client& client, kube::Discovery& discovery, const ApplyPlan& plan,
                            manifest::Bundle& bundle, ApplyOutput& output) {
  std::vector<Object>& objects = bundle.objects;
  for (size_t begin = 0, end = 0; begin < objects.size(); begin = end) {
    const Object& first = objects[begin];
    while (end < objects.size() && same_kind(first, objects[end])) ++end;
    CO_TRY_ASSIGN(std::optional<Resource> resource,
                  kube::as_result(co_await discovery.find(first.group(), first.version(), first.kind())));
    if (!resource) {
      for (size_t i = begin; i < end; ++i)
        output.add(i, {.outcome = Applied::Outcome::refused, .error = unknown_kind(objects[i], discovery.known())});
      continue;
    }
    for (size_t i = begin; i < end; ++i)
      if (auto error = place(plan, *resource, objects[i])) co_return fail(*error);
    Run run{.client = client,
            .plan = plan,
            .resource = *resource,
            .objects = objects,
            .output = output,
            .next = begin,
            .end = end};
    CO_TRY(co_await send_run(run));
  }
  co_return Result<void>();
}

}  // namespace fairlead::cli
