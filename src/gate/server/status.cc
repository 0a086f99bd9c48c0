#include "gate/server/status.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "base/printable.h"

namespace fairlead::gate {
namespace {

object::Resource pods() {
  object::Resource resource;
  resource.version = "v1";
  resource.kind = "Pod";
  resource.plural = "pods";
  resource.namespaced = true;
  return resource;
}

std::string shown(const Json& value) { return printable_line(value.string_or("")); }

// Which state is shown first, and which of two replicas is believed: the worse one.
int rank_of(std::string_view state) {
  constexpr std::string_view kOrder[] = {"broken", "gone", "coming up", "not looked at yet", "not proved", "works"};
  return static_cast<int>(std::ranges::find(kOrder, state) - std::begin(kOrder));
}

std::string webhook_key(const Json& webhook) {
  return fmt::format("{}/{}/{}", webhook["kind"].string_or(""), webhook["configuration"].string_or(""),
                     webhook["webhook"].string_or(""));
}

void append_all(Json::Array& into, const Json& list) {
  for (const Json& item : list.items()) into.push_back(item);
}

void add_webhooks(std::string& out, const Json& status) {
  std::vector<const Json*> webhooks;
  for (const Json& webhook : status["webhooks"].items()) webhooks.push_back(&webhook);
  std::ranges::sort(webhooks, {}, [](const Json* one) {
    return std::pair(rank_of((*one)["state"].string_or("")), webhook_key(*one));
  });
  size_t working = 0;
  for (const Json* webhook : webhooks) {
    std::string_view state = (*webhook)["state"].string_or("");
    if (state == "works") {
      ++working;
      continue;
    }
    fmt::format_to(std::back_inserter(out), "{} ({} {}): {}{}\n", shown((*webhook)["webhook"]),
                   shown((*webhook)["kind"]), shown((*webhook)["configuration"]), state,
                   state == "not proved" ? "" : " since " + shown((*webhook)["since"]));
    if (webhook->contains("cause"))
      fmt::format_to(std::back_inserter(out), "  because   {}\n", shown((*webhook)["cause"]));
    if (webhook->contains("next"))
      fmt::format_to(std::back_inserter(out), "  next      {}\n", shown((*webhook)["next"]));
  }
  fmt::format_to(std::back_inserter(out), "{} of {} webhooks work\n", working, webhooks.size());
}

}  // namespace

Task<Result<std::vector<Json>>> read_status(kube::Client& client, std::string ns, std::string name) {
  kube::ListOptions wanted;
  wanted.ns = ns;
  wanted.label_selector = "app.kubernetes.io/component=gate,app.kubernetes.io/name=" + name;
  auto listed = co_await client.list(pods(), wanted);
  if (!listed)
    co_return fail(listed.error().error().in(fmt::format("the pods of gate {}/{} cannot be listed", ns, name)));
  std::vector<Json> replicas;
  std::optional<Error> trouble;
  for (const Json& pod : listed->items) {
    if (pod["status"]["phase"].string_or("") != "Running") continue;
    std::string_view pod_name = pod["metadata"]["name"].string_or("");
    auto reply = co_await client.request(
        {.target = fmt::format("/api/v1/namespaces/{}/pods/{}:8080/proxy/status", ns, pod_name)});
    if (reply) replicas.push_back(std::move(reply->value));
    else trouble = reply.error().error().in(fmt::format("pod {} cannot be asked", pod_name));
  }
  if (!replicas.empty()) co_return replicas;
  if (trouble) co_return fail(*std::move(trouble));
  co_return fail(Error(ErrorKind::not_found, fmt::format("no replica of gate {}/{} is running", ns, name))
                     .next(fmt::format("fairlead gate install, or kubectl -n {} get pods", ns)));
}

Json merge_status(const std::vector<Json>& replicas) {
  std::map<std::string, Json> webhooks;
  Json::Array waiting;
  int64_t held = 0;
  bool is_ready = false;
  for (const Json& replica : replicas) {
    is_ready = is_ready || replica["ready"].bool_or(false);
    held += replica["held"].int_or(0);
    append_all(waiting, replica["waiting"]);
    for (const Json& webhook : replica["webhooks"].items()) {
      auto [found, is_new] = webhooks.emplace(webhook_key(webhook), webhook);
      if (is_new) continue;
      int64_t together = found->second["waiting"].int_or(0) + webhook["waiting"].int_or(0);
      if (rank_of(webhook["state"].string_or("")) < rank_of(found->second["state"].string_or("")))
        found->second = webhook;
      found->second.make("waiting") = together;
    }
  }
  Json::Array list;
  for (auto& [key, webhook] : webhooks) list.push_back(std::move(webhook));
  const Json none;
  const Json& first = replicas.empty() ? none : replicas.front();
  return Json::Object{{"ready", is_ready},
                      {"trouble", first["trouble"]},
                      {"replicas", static_cast<int64_t>(replicas.size())},
                      {"held", held},
                      {"webhooks", std::move(list)},
                      {"waiting", std::move(waiting)},
                      {"configurations", first["configurations"]},
                      {"before", first["before"]}};
}

std::string status_text(const Json& status) {
  std::string out;
  auto add = std::back_inserter(out);
  if (!status["ready"].bool_or(false)) fmt::format_to(add, "the gate is not ready: {}\n", shown(status["trouble"]));
  add_webhooks(out, status);
  int64_t held = status["held"].int_or(0);
  fmt::format_to(add, "{} {} held\n", held, held == 1 ? "request is" : "requests are");
  for (const Json& one : status["waiting"].items()) {
    double seconds = one["seconds"].if_double() ? *one["seconds"].if_double() : double(one["seconds"].int_or(0));
    fmt::format_to(add, "  {} of {} for {:.1f}s: {}\n", shown(one["object"]), shown(one["user"]), seconds,
                   shown(one["for"]));
  }
  if (!status["before"].items().empty()) {
    out += "called before the gate:\n";
    for (const Json& name : status["before"].items())
      fmt::format_to(add, "  MutatingWebhookConfiguration {}\n", shown(name));
  }
  out +=
      "the gate does not see: MutatingAdmissionPolicies, webhooks in files of the API server, and webhooks that need a "
      "client certificate\n";
  return out;
}

}  // namespace fairlead::gate
