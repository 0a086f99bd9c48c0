#include "cli/runs/deletion_hooks.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "graph/hooks.h"
#include "history/history.h"
#include "inventory/holder.h"
#include "inventory/inventory.h"

namespace fairlead::cli {
namespace {

rollout::Options options_from(const removal::Options& removal) {
  rollout::Options options;
  options.default_namespace = removal.default_namespace;
  options.namespace_is_chosen = removal.namespace_is_chosen;
  options.timeout = removal.timeout;
  options.run = inventory::run_of(::getpid());
  options.run_known_dead = inventory::is_gone_run;
  options.holder = removal.holder;
  options.origin = removal.origin;
  options.known_dead = removal.known_dead;
  return options;
}

Error not_readable(const std::string& name, const Error& cause) {
  return Error(cause.kind(), fmt::format("bundle {} has Helm hooks for its deletion, and they cannot be read", name))
      .because(cause)
      .next(
          fmt::format("fairlead delete --name {} --chart CHART gives them; --no-hooks deletes it without them", name));
}

}  // namespace

manifest::Bundle hooks_for(const manifest::Bundle& bundle, std::string_view event) {
  manifest::Bundle hooks;
  for (const object::Object& object : bundle.objects) {
    if (!graph::is_hook_for(object.annotations(), event)) continue;
    hooks.objects.push_back(object);
    // To a rollout, hooks for deletion are none of its own. As a hook for installations, this one runs, in the order of
    // its weight, and its delete policy counts.
    Json& annotations = hooks.objects.back().edit().make("metadata").make("annotations");
    annotations.make(graph::kHookAnnotation) = fmt::format("{},pre-install,pre-upgrade", event);
  }
  return hooks;
}

Task<Result<manifest::Bundle>> read_kept_hooks(kube::Client& client, kube::Discovery& discovery, std::string name,
                                               std::string ns) {
  if (!inventory::check_name(name)) co_return manifest::Bundle();
  auto inventory = co_await inventory::Inventory::open(client, discovery, {.name = name, .ns = std::move(ns)});
  if (!inventory) co_return manifest::Bundle();
  std::vector<history::Revision> revisions = history::revisions_of(**inventory);
  if (revisions.empty() || !revisions.front().has_delete_hooks) co_return manifest::Bundle();
  auto kept = co_await history::read_revision(client, **inventory, revisions.front());
  if (!kept) co_return fail(not_readable(name, kept.error()));
  std::erase_if(*kept, [](const history::KeptObject& one) { return !graph::is_delete_hook(one.object.annotations()); });
  auto restored =
      co_await history::restore(client, *std::move(kept), history::OtherValues::keep, (*inventory)->label_value());
  if (!restored) co_return fail(not_readable(name, restored.error()));
  co_return manifest::Bundle{.objects = std::move(restored->objects)};
}

DeletionHooks::DeletionHooks(kube::Client& client, kube::Discovery& discovery, const manifest::Bundle& bundle,
                             const removal::Options& options, journal::Journal& journal, CancelSource* stop)
    : client_(client),
      discovery_(discovery),
      bundle_(bundle),
      options_(options_from(options)),
      journal_(journal),
      stop_(stop) {}

std::function<Task<bool>(std::string text)> DeletionHooks::asking(std::function<Task<bool>(std::string text)> ask) {
  return [this, ask](std::string text) { return ask_and_run(ask, std::move(text)); };
}

Task<bool> DeletionHooks::ask_and_run(std::function<Task<bool>(std::string text)> ask, std::string text) {
  if (ask && !co_await ask(std::move(text))) co_return false;
  // A removal asks again when new members of the bundle turn up meanwhile, and before it removes finalizers.
  if (std::exchange(begun_, true)) co_return !failure_;
  failure_ = co_await run(When::before);
  co_return !failure_;
}

void DeletionHooks::fail(removal::Ending& ending, journal::Cause cause) const {
  bool is_stopped = stop_ && stop_->cancelled();
  ending.how = is_stopped ? removal::Ending::How::interrupted : removal::Ending::How::failed;
  if (!is_stopped) ending.causes.push_back(std::move(cause));
}

Task<void> DeletionHooks::finish(removal::Ending& ending) {
  if (failure_) fail(ending, *failure_);
  else if (begun_ && ending.how == removal::Ending::How::done)
    if (std::optional<journal::Cause> cause = co_await run(When::after)) fail(ending, *std::move(cause));
}

Task<std::optional<journal::Cause>> DeletionHooks::run(When when) {
  std::string_view event = when == When::before ? "pre-delete" : "post-delete";
  manifest::Bundle hooks = hooks_for(bundle_, event);
  if (hooks.objects.empty()) co_return std::nullopt;
  // The run of the hooks begins and ends within another one, which is the one that people see.
  journal::Journal inner(client_.loop().clock());
  inner.hide(journal_.secrets());
  inner.read_by([this](const journal::Event& event) {
    if (event.kind != journal::EventKind::started && event.kind != journal::EventKind::ended) journal_.add(event);
  });
  for (const object::Object& hook : hooks.objects)
    inner.add({.kind = journal::EventKind::note,
               .key = hook.key(),
               .source = hook.source().text(),
               .text = fmt::format("runs as a Helm hook for {}", event)});
  rollout::Ending ending = co_await rollout::roll_out(client_, discovery_, std::move(hooks), options_, inner, stop_);
  if (ending.how == rollout::Ending::How::done) co_return std::nullopt;
  if (ending.causes.empty()) co_return journal::Cause{.error = cancelled_error(), .blocks = {}};
  journal::Cause cause = std::move(ending.causes.front());
  ErrorKind kind = cause.error.kind();
  if (when == When::after)
    cause.error =
        Error(kind, "a hook for post-delete failed; everything else is deleted").because(std::move(cause.error));
  else
    cause.error = Error(kind, "a hook for pre-delete failed, and nothing was deleted")
                      .because(std::move(cause.error))
                      .next("--no-hooks deletes the bundle without its hooks");
  co_return cause;
}

}  // namespace fairlead::cli
