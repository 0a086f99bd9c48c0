#include "retry/internal/waiting.h"

#include <algorithm>

#include "async/scope.h"
#include "object/name.h"
#include "readiness/shadow_objects.h"
#include "wait/wait.h"

namespace fairlead::retry {

using journal::EventKind;
using What = Missing::What;

namespace {

constexpr std::string_view kDefinitions = "customresourcedefinitions.apiextensions.k8s.io";
constexpr std::string_view kApiServices = "apiservices.apiregistration.k8s.io";

bool is_name(const std::string& name) { return object::check_path_segment("name", name).has_value(); }

bool is_called_at(const Json& hook, const kube::FaultWebhook& webhook) {
  const Json& service = hook["clientConfig"]["service"];
  if (webhook.service.empty()) return true;
  return service["name"].string_or("") == webhook.service && service["namespace"].string_or("") == webhook.ns;
}

Task<std::vector<Json>> configurations(kube::Client& client) {
  std::vector<Json> all;
  for (std::string_view kind : {"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"}) {
    auto found = co_await client.list(*readiness::configurations_of(kind), {});
    if (!found) continue;
    for (Json& one : found->items)
      if (!readiness::shadow_ownership(one)) all.push_back(std::move(one));
  }
  co_return all;
}

// The APIServices of a group, if only that is known.
Task<std::vector<std::string>> api_services(const Cluster& cluster, std::string name) {
  auto resource = co_await cluster.discovery->find("apiregistration.k8s.io", "v1", "APIService");
  if (!resource || !*resource) co_return std::vector<std::string>{name};
  auto found = co_await cluster.client->list(**resource, {});
  if (!found) co_return std::vector<std::string>{name};
  std::vector<std::string> of_group;
  for (const Json& one : found->items) {
    std::string own(one["metadata"]["name"].string_or(""));
    if (own == name) co_return std::vector<std::string>{name};
    if (one["spec"]["group"].string_or("") == name) of_group.push_back(std::move(own));
  }
  co_return of_group.empty() ? std::vector<std::string>{name} : of_group;
}

// "GROUP/VERSION, Kind=KIND" to the name of the CRD, as far as the cluster tells.
Task<std::optional<std::string>> definition_of(const Cluster& cluster, std::string text) {
  size_t slash = text.find('/'), kind = text.find(", Kind=");
  if (slash == std::string::npos || kind == std::string::npos || kind < slash) co_return std::nullopt;
  auto found = co_await cluster.discovery->find(text.substr(0, slash), text.substr(slash + 1, kind - slash - 1),
                                                text.substr(kind + 7));
  if (!found || !*found) co_return std::nullopt;
  co_return (*found)->name_with_group();
}

Task<bool> lacks_namespace(const Cluster& cluster, std::string name) {
  if (!is_name(name)) co_return false;
  object::Resource resource{.group = "", .version = "v1", .kind = "Namespace", .plural = "namespaces"};
  auto found = co_await cluster.client->get(resource, "", name);
  co_return !found && found.error().is(kube::FaultKind::not_found);
}

std::string last_seen(const wait::Ending& ending) {
  for (const wait::ObjectEnding& object : ending.objects)
    if (object.state != wait::ObjectEnding::State::met && !object.reason.empty()) return object.reason;
  return ending.causes.empty() ? std::string() : ending.causes.front().error.message();
}

Task<Waited> wait_once(const Cluster& cluster, std::vector<wait::Target> targets, std::string form,
                       const Options& options, TimePoint due, journal::Journal& journal, CancelSource* stop) {
  Loop& loop = cluster.client->loop();
  CancelSource limit(stop);
  CancelAt timer(loop, due, limit);
  Duration left = due - loop.now();
  wait::Options wanted{.form = *wait::Form::parse(form),
                       .existence_timeout = left,
                       .timeout = left,
                       .allow_short = true,
                       .default_namespace = cluster.default_namespace,
                       .run = options.run,
                       .run_known_dead = options.run_known_dead};
  wait::Ending ending = co_await wait::wait_for(*cluster.client, *cluster.discovery, std::move(targets),
                                                std::move(wanted), journal, &limit);
  if (ending.how == wait::Ending::How::done) co_return Waited{};
  bool is_failed = ending.how == wait::Ending::How::failed;
  co_return Waited{.how = is_failed ? Waited::How::unknown : Waited::How::time_is_over, .reason = last_seen(ending)};
}

}  // namespace

std::vector<wait::Target> registered(const kube::FaultWebhook& webhook, const std::vector<Json>& configurations) {
  std::vector<wait::Target> targets;
  for (const Json& configuration : configurations)
    for (const Json& hook : configuration["webhooks"].items()) {
      if (hook["name"].string_or("") != webhook.name || !is_called_at(hook, webhook)) continue;
      wait::Target target{.kinds = {"webhook"},
                          .name = std::string(configuration["metadata"]["name"].string_or("")),
                          .is_webhook = true,
                          .hook = webhook.name};
      if (std::ranges::find(targets, target) == targets.end()) targets.push_back(std::move(target));
    }
  return targets;
}

Task<Awaited> find_awaited(const Cluster& cluster, const std::vector<Missing>& missing) {
  Awaited awaited;
  std::optional<std::vector<Json>> known;
  for (const Missing& one : missing) {
    if (one.what == What::conversion) {
      std::optional<std::string> name = co_await definition_of(cluster, one.name);
      if (name) awaited.functional.push_back({.kinds = {std::string(kDefinitions)}, .name = *std::move(name)});
      continue;
    }
    if (!is_name(one.name)) continue;
    if (one.what == What::kind) {
      awaited.ready.push_back({.kinds = {one.name}, .is_kind = true});
    } else if (one.what == What::definition) {
      awaited.ready.push_back({.kinds = {std::string(kDefinitions)}, .name = one.name});
    } else if (one.what == What::api) {
      for (std::string& name : co_await api_services(cluster, one.name))
        awaited.ready.push_back({.kinds = {std::string(kApiServices)}, .name = std::move(name)});
    } else {
      if (!known) known = co_await configurations(*cluster.client);
      std::vector<wait::Target> targets = registered(one.webhook, *known);
      if (targets.empty() && !awaited.unregistered) awaited.unregistered = one;
      else if (!awaited.orphaned && co_await lacks_namespace(cluster, one.webhook.ns)) awaited.orphaned = one;
      if (targets.empty()) targets.push_back({.kinds = {"webhook"}, .name = one.name, .is_webhook = true});
      std::ranges::move(targets, std::back_inserter(awaited.ready));
    }
  }
  co_return awaited;
}

Task<Waited> wait_for(const Cluster& cluster, const Awaited& awaited, const Options& options, TimePoint due,
                      journal::Journal& journal, CancelSource* stop) {
  // What the wait tells is part of our run: it does not begin or end one.
  journal::Journal part(cluster.client->loop().clock());
  part.hide(journal.secrets());
  part.read_by([&](const journal::Event& event) {
    if (event.kind != EventKind::started && event.kind != EventKind::ended) journal.add(event);
  });
  Waited waited;
  if (!awaited.ready.empty()) waited = co_await wait_once(cluster, awaited.ready, "ready", options, due, part, stop);
  if (waited.how == Waited::How::there && !awaited.functional.empty())
    waited = co_await wait_once(cluster, awaited.functional, "functional", options, due, part, stop);
  if (awaited.ready.empty() && awaited.functional.empty())
    waited = {.how = Waited::How::unknown, .reason = "the output does not name it in a way that the cluster knows"};
  co_return waited;
}

}  // namespace fairlead::retry
