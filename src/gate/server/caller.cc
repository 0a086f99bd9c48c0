#include "gate/server/caller.h"

#include <fmt/format.h>

#include "async/real_loop.h"
#include "async/scope.h"
#include "http/client/client.h"
#include "readiness/shadow_objects.h"

namespace fairlead::gate {
namespace {

using Kind = CallResult::Kind;

constexpr Duration kAnswer = std::chrono::seconds(3);
constexpr size_t kMaxAnswer = size_t{1} << 20;

// What a TCP connection that nobody accepts ends with.
bool is_refused(const Error& error) {
  for (const Error* each = &error; each; each = each->cause())
    if (each->what() == "connection refused") return true;
  return false;
}

CallResult result_of(const Result<http::Response>& answer) {
  if (answer) return {.kind = Kind::answered, .text = {}};
  const Error& error = answer.error();
  Kind kind = error.kind() == ErrorKind::untrusted ? Kind::untrusted : is_refused(error) ? Kind::refused : Kind::unsure;
  return {.kind = kind, .text = error.root().what()};
}

std::string url_of(const Address& address) {
  bool is_ipv6 = address.host.contains(':');
  return is_ipv6 ? fmt::format("https://[{}]:{}", address.host, address.port)
                 : fmt::format("https://{}:{}", address.host, address.port);
}

}  // namespace

// The object of a probe of readiness: most webhooks do not know the kind, and refuse it at once.
std::string probe_review(std::string_view uid) {
  readiness::ProbeObject probe = readiness::probe_object(readiness::ProbeKind::runtime_class);
  const object::Resource& resource = probe.resource;
  Json kind = Json::Object{{"group", resource.group}, {"version", resource.version}, {"kind", resource.kind}};
  Json plural = Json::Object{{"group", resource.group}, {"version", resource.version}, {"resource", resource.plural}};
  Json request = Json::Object{{"uid", uid},
                              {"kind", kind},
                              {"resource", plural},
                              {"requestKind", kind},
                              {"requestResource", plural},
                              {"name", probe.object["metadata"]["name"]},
                              {"operation", "CREATE"},
                              {"userInfo", Json::Object{{"username", "fairlead-gate"}}},
                              {"object", probe.object},
                              {"oldObject", nullptr},
                              {"dryRun", true}};
  return Json(Json::Object{
                  {"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"request", std::move(request)}})
      .dump();
}

Task<CallResult> HttpsCaller::call(CallSpec spec) {
  Result<http::Url> url = http::parse_url(url_of(spec.address));
  if (!url) co_return CallResult{.kind = Kind::unsure, .text = url.error().message()};
  http::ClientOptions options;
  options.tls = {.ca_pem = std::move(spec.ca), .server_name = std::move(spec.server_name)};
  options.http2 = false;
  options.proxy_settings = {};
  options.user_agent = "fairlead-gate";
  options.connect_timeout = spec.connect;
  options.handshake_timeout = std::chrono::seconds(2);
  auto client = http::Client::make(loop_, *std::move(url), std::move(options));
  if (!client) co_return CallResult{.kind = Kind::unsure, .text = client.error().message()};
  http::Request request{.method = "POST",
                        .target = (spec.path.empty() ? "/" : spec.path) + "?timeout=3s",
                        .headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}},
                        .body = probe_review("fairlead-gate-probe")};
  Result<http::Response> answer = co_await with_deadline(loop_, loop_.now() + kAnswer, "there was no answer in time",
                                                         http::send(**client, std::move(request), kMaxAnswer));
  CallResult result = result_of(answer);
  // The answer may be given up because this task was cancelled; the client must be closed in any case.
  co_await (*client)->close();
  co_return result;
}

}  // namespace fairlead::gate
