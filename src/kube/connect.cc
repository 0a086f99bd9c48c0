#include "kube/connect.h"

namespace fairlead::kube {
namespace {

Client::Options client_options(const ClusterConfig& config, Client::Options options) {
  if (config.request_timeout) options.request_timeout = *config.request_timeout;
  options.compression = config.compression;
  return options;
}

}  // namespace

Connection::Connection(RealLoop& loop, ClusterConfig config, std::unique_ptr<http::Client> http,
                       const ConnectOptions& options)
    : config_(std::move(config)),
      http_(std::move(http)),
      credentials_(
          loop, config_.credentials, Surroundings::real(), process_runner(loop),
          {.has_terminal = options.has_terminal,
           .on_certificate = [this](const std::string& certificate,
                                    const std::string& key) { return http_->set_client_certificate(certificate, key); },
           .on_secret = options.on_secret}),
      client_(loop, *http_, &credentials_, client_options(config_, options.client)) {}

Connection::~Connection() = default;

Task<void> Connection::close() { co_await http_->close(); }

Result<std::unique_ptr<Connection>> connect(RealLoop& loop, ClusterConfig config, ConnectOptions options) {
  if (options.on_secret) {
    options.on_secret(config.tls.key_pem);
    if (config.proxy) options.on_secret(config.proxy->password);
  }
  options.http.tls = config.tls;
  options.http.user_agent = options.client.user_agent;
  if (config.proxy) options.http.proxy = config.proxy;
  Result<std::unique_ptr<http::Client>> http = http::Client::make(loop, config.server, options.http);
  if (!http) return fail(std::move(http).error().in(fmt::format("{} cannot be connected to", config.server.text())));
  return std::unique_ptr<Connection>(new Connection(loop, std::move(config), *std::move(http), options));
}

}  // namespace fairlead::kube
