#include "sandbox/verbs/api_server.h"

#include <fmt/format.h>

#include <charconv>

#include "sandbox/core/api_services.h"
#include "sandbox/verbs/internal/delete.h"
#include "sandbox/verbs/internal/deprecation.h"
#include "sandbox/verbs/internal/discovery.h"
#include "sandbox/verbs/internal/impersonation.h"
#include "sandbox/verbs/internal/plain_paths.h"
#include "sandbox/verbs/internal/read.h"
#include "sandbox/verbs/internal/reviews.h"
#include "sandbox/verbs/internal/write.h"
#include "sandbox/verbs/subresources.h"

namespace fairlead::sandbox {
namespace {

std::string_view verb_of(const Call& call) {
  const Route& route = call.route;
  if (call.method == "GET" || call.method == "HEAD")
    return route.query.flag("watch") ? "watch" : route.name.empty() ? "list" : "get";
  if (call.method == "POST") return "create";
  if (call.method == "PUT") return "update";
  if (call.method == "PATCH") return "patch";
  if (call.method == "DELETE") return route.name.empty() ? "deletecollection" : "delete";
  return "";
}

// ?timeout=5s, and never more than the server's own 34 s.
Duration timeout_of(const Call& call) {
  constexpr Duration kMost = std::chrono::seconds(34);
  std::string_view text = call.route.query.get("timeout");
  int64_t amount = 0;
  auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
  if (error != std::errc() || amount <= 0) return kMost;
  std::string_view unit(rest, size_t(text.data() + text.size() - rest));
  Duration wanted = unit == "ms"  ? Duration(std::chrono::milliseconds(amount))
                    : unit == "m" ? Duration(std::chrono::minutes(amount))
                                  : Duration(std::chrono::seconds(amount));
  return std::min(wanted, kMost);
}

Status access_refused(const Call& call, std::string_view verb) {
  const Route& route = call.route;
  std::string resource = route.subresource.empty() ? route.resource : route.resource + "/" + route.subresource;
  std::string where = route.ns.empty() ? "at the cluster scope" : fmt::format("in the namespace \"{}\"", route.ns);
  return forbidden(route.id(), route.name,
                   fmt::format("User \"{}\" cannot {} resource \"{}\" in API group \"{}\" {}", call.user.name, verb,
                               resource, route.group, where));
}

}  // namespace

ApiServer::ApiServer(Core& core, size_t index)
    : core_(core), index_(index), connection_(core.next_connection++), webhooks_(core, index) {}

void ApiServer::set_down(bool down) {
  down_ = down;
  if (!down) return;
  counters_ = {};
  ++generation_;
  // A connection does not outlive the server that it was made to.
  connection_ = core_.next_connection++;
  for (const ResourceId& id : core_.store.resources()) core_.store.changed(id).notify_all();
}

Task<Result<http::Answer>> ApiServer::answer(http::Request request, User user) {
  if (request.connection != 0 && request.connection != connection_)
    co_return fail(ErrorKind::unavailable, "the connection is gone");
  Call call;
  call.method = std::move(request.method);
  call.route = parse_route(request.target);
  call.target = std::move(request.target);
  call.user = std::move(user);
  auto header = [&](std::string_view name) { return std::string(request.headers.find(name).value_or("")); };
  call.accept = header("Accept");
  call.content_type = header("Content-Type");
  call.user_agent = header("User-Agent");
  call.body = std::move(request.body);
  Outcome<User> acting = acting_user(std::move(call.user), request);
  if (acting) call.user = *acting;
  Reply reply = acting ? co_await serve(call) : Reply::refused(acting.error());
  http::Answer answer = to_answer(std::move(reply), call.warnings);
  answer.connection = connection_;
  co_return answer;
}

Task<Reply> ApiServer::serve(Call& call) {
  call.deadline = core_.loop.now() + timeout_of(call);
  Outcome<Reply> reply = co_await dispatch(call);
  if (!reply) co_return Reply::refused(reply.error());
  co_return *std::move(reply);
}

Task<Outcome<Reply>> ApiServer::dispatch(Call& call) {
  if (down_) {
    Status status{503, "ServiceUnavailable", "apiserver is shutting down", {}};
    status.retry_after = 1;
    co_return refuse(std::move(status));
  }
  Route& route = call.route;
  if (!route.is_resource) {
    if (std::optional<Outcome<Reply>> found = discover(core_, call)) co_return *std::move(found);
    if (route.path == "/metrics") co_return Reply::plain(counters_.text());
    if (std::optional<Reply> found = plain_path(core_, call)) co_return *std::move(found);
  }
  const Kind* kind = route.is_resource ? core_.kinds.find(route.group, route.version, route.resource) : nullptr;
  bool custom_group = !Kinds::is_builtin_group(route.group);
  bool wrong_scope = kind && !kind->namespaced && !route.ns.empty();
  if (kind && kind->namespaced && route.ns.empty() && !route.name.empty()) wrong_scope = true;
  if (!kind || wrong_scope) {
    for (const ServedElsewhere& other : served_elsewhere(core_))
      if (route.steps.size() > 2 && other.group == route.steps[1] && other.version == route.steps[2])
        co_return co_await pass_on(core_, other, call);
    if (route.is_resource && !custom_group) co_return refuse(unknown_resource());
    co_return refuse(page_not_found());
  }
  co_return co_await dispatch_resource(call, *kind);
}

Task<Outcome<Reply>> ApiServer::dispatch_resource(Call& call, const Kind& known) {
  // A copy: a custom kind may go away while webhooks are asked.
  Kind kind = known;
  const Route& route = call.route;
  std::string_view verb = verb_of(call);
  if (core_.options.forbids &&
      core_.options.forbids(call.user.name, verb, route.group, route.resource, route.ns, route.name))
    co_return refuse(access_refused(call, verb));
  if (std::optional<Deprecation> deprecation = deprecation_of(kind)) {
    call.warn(deprecation->warning);
    // The controllers of the sandbox are inside, and have no target.
    if (!call.target.empty())
      counters_.note_deprecated(kind.group, kind.version, kind.resource, route.subresource, deprecation->removed_in);
  }
  if (!route.subresource.empty()) {
    const Subresource* sub = kind.find_subresource(route.subresource);
    bool known_elsewhere = route.subresource == "status" || route.subresource == "scale";
    if (!sub && kind.custom && known_elsewhere) co_return refuse(not_found(kind.id(), route.name));
    if (!sub) co_return refuse(kind.custom ? page_not_found() : unknown_resource());
    co_return co_await serve_subresource(*this, call, kind, *sub);
  }
  bool all_namespaces = kind.namespaced && route.ns.empty();
  bool on_collection = route.name.empty();
  bool allowed = kind.allows(verb);
  if (verb == "create" && (!on_collection || all_namespaces)) allowed = false;
  if ((verb == "update" || verb == "patch") && on_collection) allowed = false;
  if (verb == "deletecollection" && all_namespaces) allowed = false;
  if (!allowed) co_return refuse(method_not_allowed());

  if (verb == "create" && is_review(kind)) co_return co_await answer_review(*this, call, kind);
  if (kind.resource == "bindings" || kind.resource == "componentstatuses")
    co_return refuse(not_implemented(fmt::format("{} {}", call.method, kind.resource)));
  if (verb == "get") co_return co_await get_object(*this, call, kind);
  if (verb == "list") co_return co_await list_objects(*this, call, kind);
  if (verb == "watch") {
    // The old way to watch one object.
    if (!on_collection) call.route.query.set("fieldSelector", "metadata.name=" + route.name);
    co_return co_await watch_objects(*this, call, kind);
  }
  if (verb == "create") co_return co_await create_object(*this, call, kind);
  if (verb == "update") co_return co_await update_object(*this, call, kind);
  if (verb == "patch") co_return co_await patch_object(*this, call, kind);
  if (verb == "delete") co_return co_await delete_object(*this, call, kind);
  co_return co_await delete_collection(*this, call, kind);
}

}  // namespace fairlead::sandbox
