#include "certs/proofs.h"

#include <algorithm>

#include "async/scope.h"
#include "base/base64.h"
#include "readiness/shadow.h"

namespace fairlead::certs {
namespace {

using readiness::Proof;
using readiness::Prover;
using readiness::Rung;
using Verdict = Evidence::Verdict;

object::Resource endpoint_slices() {
  return {.group = "discovery.k8s.io",
          .version = "v1",
          .kind = "EndpointSlice",
          .plural = "endpointslices",
          .singular = {},
          .namespaced = true};
}

object::Resource services() {
  return {.group = {}, .version = "v1", .kind = "Service", .plural = "services", .singular = {}, .namespaced = true};
}

bool is_unreachable(const Error& error) {
  return error.kind() == ErrorKind::unavailable || error.kind() == ErrorKind::timeout;
}

readiness::Target mirror_target(const std::vector<x509::Certificate>& roots,
                                const admission::ServiceReference& service) {
  Json config = Json::Object{{"caBundle", to_base64(x509::to_pem(roots))}};
  Json& reference = config.make("service");
  reference.make("namespace") = service.ns;
  reference.make("name") = service.name;
  reference.make("port") = service.port;
  if (!service.path.empty()) reference.make("path") = service.path;
  return {.name = fmt::format("service {}/{}", service.ns, service.name), .client_config = std::move(config)};
}

// The Service; null if it may not be read, or does not exist.
Task<Json> read_service(kube::Client& client, const admission::ServiceReference& service) {
  auto reply = co_await client.get(services(), service.ns, service.name);
  co_return reply ? std::move(reply->value) : Json();
}

// The name of the Service's port; empty if it is not known.
std::string port_name(const Json& service, int number) {
  for (const Json& port : service["spec"]["ports"].items())
    if (port["port"].int_or(0) == number) return std::string(port["name"].string_or(""));
  return "";
}

}  // namespace

std::string ClusterProofs::Endpoint::text() const {
  return address.contains(':') ? fmt::format("[{}]:{}", address, port) : fmt::format("{}:{}", address, port);
}

std::string ClusterProofs::next_run() { return fmt::format("{}-{}", options_.run, ++runs_); }

Task<Result<Evidence>> ClusterProofs::in_use(std::vector<object::Key> objects) {
  Prover prover(client_, {.run = next_run(), .known_dead = options_.run_known_dead, .namespaces = {spec_.ns}});
  Evidence evidence{Verdict::proved, "the API server was seen to use it"};
  std::optional<Error> failed;
  for (const object::Key& key : objects) {
    if (!key.kind.ends_with("WebhookConfiguration")) {
      evidence = {Verdict::unknown, fmt::format("there is no proof for an object of kind {}", key.kind)};
      continue;
    }
    kube::Outcome<Proof> proof = co_await prover.updated_in_effect(key, 0);
    if (!proof) failed = proof.error().error();
    if (!proof) break;
    if (!proof->reached(Rung::in_effect)) evidence = {Verdict::unknown, proof->why_not};
  }
  co_await prover.clean_up();
  if (failed) co_return fail(*failed);
  if (evidence.verdict == Verdict::proved) CO_TRY(co_await sleep_for(client_.loop(), options_.propagation));
  co_return evidence;
}

Task<Result<std::optional<std::vector<ClusterProofs::Endpoint>>>> ClusterProofs::ready_endpoints(
    admission::ServiceReference service) {
  using Endpoints = std::optional<std::vector<Endpoint>>;
  auto listed = co_await client_.list(
      endpoint_slices(), {.ns = service.ns, .label_selector = "kubernetes.io/service-name=" + service.name});
  if (!listed && listed.error().fault()) co_return Endpoints();
  if (!listed) co_return fail(listed.error().error());
  std::vector<Endpoint> endpoints;
  std::optional<std::string> wanted;
  for (const Json& slice : listed->items) {
    const Json::Array& ports = slice["ports"].items();
    if (ports.size() > 1 && !wanted) wanted = port_name(co_await read_service(client_, service), service.port);
    for (const Json& port : ports) {
      if (ports.size() > 1 && port["name"].string_or("") != *wanted) continue;
      for (const Json& endpoint : slice["endpoints"].items())
        if (endpoint["conditions"]["ready"].bool_or(true))
          for (const Json& address : endpoint["addresses"].items())
            endpoints.push_back({std::string(address.string_or("")), int(port["port"].int_or(0))});
    }
  }
  // Who serves behind a name outside of the cluster is not known.
  if (endpoints.empty() && (co_await read_service(client_, service))["spec"]["type"].string_or("") == "ExternalName")
    co_return Endpoints();
  co_return Endpoints(std::move(endpoints));
}

Task<Result<Evidence>> ClusterProofs::shake_hands(std::vector<Endpoint> endpoints,
                                                  const std::vector<x509::Certificate>& roots) {
  for (const Endpoint& endpoint : endpoints) {
    auto presented = co_await options_.handshake(endpoint.address, endpoint.port, spec_.host());
    if (!presented && presented.error().kind() == ErrorKind::cancelled) co_return fail(presented.error());
    if (!presented && is_unreachable(presented.error()))
      co_return Evidence{Verdict::unknown, fmt::format("endpoint {} cannot be reached from here", endpoint.text())};
    Result<void> verified = presented ? x509::verify(*presented, roots, spec_.host(), client_.loop().clock().wall_now())
                                      : Result<void>(fail(presented.error()));
    if (!verified)
      co_return Evidence{Verdict::refuted, fmt::format("endpoint {}: {}", endpoint.text(), verified.error().message())};
  }
  co_return Evidence{Verdict::proved, fmt::format("{} {} it", endpoints.size(),
                                                  endpoints.size() == 1 ? "endpoint serves" : "endpoints serve")};
}

Task<Result<Evidence>> ClusterProofs::ask_api_server(const std::vector<x509::Certificate>& roots,
                                                     const admission::ServiceReference& service,
                                                     std::optional<size_t> endpoints) {
  Prover prover(client_, {.run = next_run(), .known_dead = options_.run_known_dead, .namespaces = {spec_.ns}});
  kube::Outcome<Proof> proof = co_await prover.mirror(mirror_target(roots, service), 0);
  co_await prover.clean_up();
  if (!proof) co_return fail(proof.error().error());
  if (!proof->proved) co_return Evidence{Verdict::unknown, proof->why_not};
  if (proof->rung < Rung::trusted) {
    bool is_untrusted = proof->fault && (proof->fault->kind == kube::FaultKind::webhook_untrusted ||
                                         proof->fault->kind == kube::FaultKind::webhook_wrong_certificate);
    co_return Evidence{is_untrusted ? Verdict::refuted : Verdict::unknown, proof->evidence};
  }
  if (endpoints == 1) co_return Evidence{Verdict::proved, "the API server verified the endpoint with it"};
  co_return Evidence{Verdict::unknown,
                     "the API server verified one endpoint with it; others cannot be reached from here"};
}

Task<Result<Evidence>> ClusterProofs::look(const std::vector<x509::Certificate>& roots,
                                           const admission::ServiceReference& service) {
  CO_TRY_ASSIGN(std::optional<std::vector<Endpoint>> endpoints, co_await ready_endpoints(service));
  if (endpoints && endpoints->empty())
    co_return Evidence{Verdict::proved, fmt::format("service {}/{} has no ready endpoint", service.ns, service.name),
                       true};
  if (endpoints && options_.handshake) {
    CO_TRY_ASSIGN(Evidence evidence, co_await shake_hands(*endpoints, roots));
    if (evidence.verdict != Verdict::unknown) co_return evidence;
  }
  co_return co_await ask_api_server(roots, service, endpoints ? std::optional(endpoints->size()) : std::nullopt);
}

Task<Result<Evidence>> ClusterProofs::served(std::vector<x509::Certificate> roots, admission::ServiceReference service,
                                             Duration patience) {
  TimePoint end = client_.loop().now() + patience;
  while (true) {
    CO_TRY_ASSIGN(Evidence evidence, co_await look(roots, service));
    if (evidence.verdict != Verdict::refuted || client_.loop().now() + options_.pause > end) co_return evidence;
    CO_TRY(co_await sleep_for(client_.loop(), options_.pause));
  }
}

}  // namespace fairlead::certs
