#include "sandbox/network.h"

#include <fmt/format.h>

#include "base/base64.h"
#include "sandbox/core/core.h"
#include "sandbox/verbs/api_server.h"
#include "sandbox/verbs/tokens.h"
#include "x509/x509.h"

namespace fairlead::sandbox {
namespace {

constexpr Duration kYear = std::chrono::hours(24 * 365);

Json kubeconfig_json(const std::string& server, const x509::KeyPair& ca, const x509::KeyPair& client) {
  Json cluster = Json::Object{{"server", server}, {"certificate-authority-data", to_base64(ca.certificate.to_pem())}};
  Json user = Json::Object{{"client-certificate-data", to_base64(client.certificate.to_pem())},
                           {"client-key-data", to_base64(client.key.to_pem())}};
  return Json::Object{
      {"apiVersion", "v1"},
      {"kind", "Config"},
      {"clusters", Json::Array{Json::Object{{"name", "sandbox"}, {"cluster", std::move(cluster)}}}},
      {"users", Json::Array{Json::Object{{"name", "sandbox"}, {"user", std::move(user)}}}},
      {"contexts", Json::Array{Json::Object{{"name", "sandbox"},
                                            {"context", Json::Object{{"cluster", "sandbox"}, {"user", "sandbox"}}}}}},
      {"current-context", "sandbox"}};
}

http::Answer refused(const Status& status) { return to_answer(Reply::refused(status), {}); }

// What anybody may see without saying who they are.
bool is_open(std::string_view target) {
  for (std::string_view path : {"/healthz", "/livez", "/readyz", "/version"})
    if (target.starts_with(path)) return true;
  return false;
}

}  // namespace

Result<std::unique_ptr<NetworkFront>> NetworkFront::start(RealLoop& loop, Options options, NetworkSpec spec) {
  WallTime now = loop.clock().wall_now();
  TRY_ASSIGN(x509::KeyPair ca, x509::make_ca("sandbox", 10 * kYear, now));
  x509::LeafSpec serving;
  serving.common_name = "kube-apiserver";
  serving.dns_names = {"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
                       "kubernetes.default.svc.cluster.local"};
  serving.ip_addresses = {"127.0.0.1", "10.96.0.1"};
  if (spec.address != "127.0.0.1") serving.ip_addresses.push_back(spec.address);
  TRY_ASSIGN(x509::KeyPair server_pair, x509::make_leaf(ca, serving, now));
  x509::LeafSpec admin;
  admin.common_name = "admin";
  admin.organizations = {"system:masters"};
  admin.usages = {x509::Usage::client};
  TRY_ASSIGN(x509::KeyPair client_pair, x509::make_leaf(ca, admin, now));

  options.root_certificate = ca.certificate.to_pem();
  std::unique_ptr<NetworkFront> front(new NetworkFront(loop, spec.allow_outside_calls));
  front->sandbox_ = std::make_unique<Sandbox>(loop, std::move(options));
  front->sandbox_->set_webhook_caller(front->webhooks_);
  front->address_ = spec.address;
  for (size_t i = 0; i < front->sandbox_->api_servers(); ++i) {
    http::ServerSpec wanted;
    wanted.address = spec.address;
    wanted.port = i == 0 ? spec.port : uint16_t{0};
    wanted.identity = http::Identity{{server_pair.certificate}, server_pair.key};
    wanted.clients = http::ClientTrust{{ca.certificate}, false};
    NetworkFront* self = front.get();
    TRY_ASSIGN(std::unique_ptr<http::Server> listening,
               http::Server::listen(loop, std::move(wanted), [self, i](http::Request request, const http::Peer& peer) {
                 return self->answer(i, std::move(request), peer);
               }));
    front->servers_.push_back(std::move(listening));
  }
  front->sandbox_->core().options.address = fmt::format("{}:{}", spec.address, front->servers_[0]->port());
  front->kubeconfig_ = kubeconfig_json(front->server(), ca, client_pair).pretty();
  return front;
}

std::string NetworkFront::server(size_t index) const {
  return fmt::format("https://{}:{}", address_, servers_[index]->port());
}

Task<http::Answer> NetworkFront::answer(size_t server, http::Request request, const http::Peer& peer) {
  User user{"system:anonymous", {"system:unauthenticated"}};
  if (peer.certificate) {
    x509::Name name = peer.certificate->subject();
    user.name = name.common_name;
    user.groups = name.organizations;
    user.groups.emplace_back("system:authenticated");
  } else if (request.headers.find("Authorization")) {
    std::optional<User> bearer = bearer_of(sandbox_->core(), *request.headers.find("Authorization"));
    if (!bearer) co_return refused(unauthorized());
    user = *std::move(bearer);
  } else if (!is_open(request.target)) {
    Route route = parse_route(request.target);
    Status status =
        forbidden(route.id(), route.name, fmt::format("User \"system:anonymous\" cannot reach \"{}\"", route.path));
    co_return refused(status);
  }
  request.connection = 0;
  Result<http::Answer> answer = co_await sandbox_->server(server).answer(std::move(request), std::move(user));
  if (answer) co_return *std::move(answer);
  co_return refused(internal_error(answer.error().message()));
}

Task<void> NetworkFront::stop() {
  for (const std::unique_ptr<http::Server>& server : servers_) co_await server->close();
  co_await sandbox_->stop();
  co_await webhooks_.close();
}

}  // namespace fairlead::sandbox
