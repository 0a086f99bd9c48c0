#include "rollout/internal/permissions.h"

#include <set>

#include "async/scope.h"
#include "kube/access.h"

namespace fairlead::rollout {
namespace {

using Action = Forecast::Action;

struct Question {
  std::string verb;
  std::string group;
  std::string resource;
  std::string ns;
  auto operator<=>(const Question&) const = default;

  std::string text() const {
    std::string name = group.empty() ? resource : resource + "." + group;
    return ns.empty() ? fmt::format("this user may not {} {}", verb, name)
                      : fmt::format("this user may not {} {} in namespace {}", verb, name, ns);
  }
};

void add(std::set<Question>& questions, std::string verb, const object::Resource& resource, const std::string& ns) {
  questions.insert({.verb = std::move(verb), .group = resource.group, .resource = resource.plural, .ns = ns});
}

std::set<Question> questions_of(const kube::Discovery& discovery, const Run& run, const Pruned& pruned) {
  std::set<Question> questions;
  for (NodeId node : run.objects()) {
    const object::Object& object = run.object(node);
    const object::Resource* resource = run.kinds().of(object);
    const Forecast* forecast = run.state(node).forecast.get();
    if (!forecast || !resource) continue;
    if (forecast->action == Action::replace) add(questions, "delete", *resource, object.ns());
    bool is_asked = forecast->action != Action::replace && !run.state(node).unchecked && !run.options().compare_only;
    if (is_asked) continue;
    add(questions, "patch", *resource, object.ns());
    if (forecast->action != Action::change) add(questions, "create", *resource, object.ns());
  }
  for (const ObjectEnding& object : pruned.objects)
    if (const object::Resource* resource = discovery.known().find(object.key.group, object.key.kind))
      add(questions, "delete", *resource, object.key.ns);
  return questions;
}

Task<void> ask(kube::Client& client, Run& run, Question question) {
  auto access = co_await kube::ask_access(client, {.verb = question.verb,
                                                   .group = question.group,
                                                   .resource = question.resource,
                                                   .subresource = {},
                                                   .ns = question.ns,
                                                   .name = {}});
  // Without an answer nothing is known, and the rollout will tell.
  if (access && !access->allowed)
    run.add_concern({.kind = Concern::Kind::permission, .key = {}, .text = question.text()});
}

}  // namespace

Task<void> check_permissions(kube::Client& client, const kube::Discovery& discovery, Run& run, const Pruned& pruned) {
  Scope scope(run.loop(), co_await current_cancel());
  for (const Question& question : questions_of(discovery, run, pruned)) scope.spawn(ask(client, run, question));
  co_await scope.join();
}

}  // namespace fairlead::rollout
