#include "sandbox/webhooks/https_webhooks.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include "sandbox/core/core.h"
#include "sandbox/webhooks/internal/simulated_webhook.h"

namespace fairlead::sandbox {
namespace {

bool says(const Error& error, std::string_view text) {
  for (const Error* at = &error; at; at = at->cause())
    if (at->what().find(text) != std::string::npos) return true;
  return false;
}

// What follows a text in the layer that has it.
std::string after(const Error& error, std::string_view text) {
  for (const Error* at = &error; at; at = at->cause())
    if (size_t found = at->what().find(text); found != std::string::npos) return at->what().substr(found + text.size());
  return "";
}

bool is_address(const std::string& host) {
  in_addr v4{};
  in6_addr v6{};
  return inet_pton(AF_INET, host.c_str(), &v4) == 1 || inet_pton(AF_INET6, host.c_str(), &v6) == 1;
}

bool is_this_machine(const std::string& host) {
  in_addr v4{};
  in6_addr v6{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  if (inet_pton(AF_INET6, host.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6);
  return host == "localhost";
}

// What a server says to which the address is out of reach, and why it is.
std::string out_of_reach(const http::Url& url) {
  std::string text = is_address(url.host) ? fmt::format("dial tcp {}: connect: no route to host", url.address())
                                          : fmt::format("dial tcp: lookup {}: no such host", url.host);
  return text +
         " (the sandbox calls only this machine; fairlead sandbox --allow-outside-calls lets it call other addresses)";
}

}  // namespace

std::string go_words(const Error& error, const WebhookEndpoint& endpoint, WallTime now) {
  constexpr std::string_view kVerify = "tls: failed to verify certificate: x509: ";
  if (error.kind() == ErrorKind::untrusted) {
    if (says(error, "has expired: it was valid until "))
      return fmt::format("{}certificate has expired or is not yet valid: current time {} is after {}", kVerify,
                         time_text(now), after(error, "it was valid until "));
    if (says(error, "is not yet valid: it will be from "))
      return fmt::format("{}certificate has expired or is not yet valid: current time {} is before {}", kVerify,
                         time_text(now), after(error, "it will be from "));
    if (says(error, "only the common name") || says(error, "has no names"))
      return fmt::format("{}certificate relies on legacy Common Name field, use SANs instead", kVerify);
    if (says(error, "certificate is valid for "))
      return fmt::format("{}certificate is valid for {}", kVerify, after(error, "certificate is valid for "));
    return fmt::format("{}certificate signed by unknown authority", kVerify);
  }
  if (error.kind() == ErrorKind::timeout || error.kind() == ErrorKind::cancelled) return "context deadline exceeded";
  if (says(error, "refused")) return fmt::format("dial tcp {}: connect: connection refused", endpoint.address);
  if (says(error, "no such host"))
    return fmt::format("dial tcp: lookup {}: no such host", endpoint.address.substr(0, endpoint.address.find(':')));
  if (says(error, "o route")) return fmt::format("dial tcp {}: connect: no route to host", endpoint.address);
  if (says(error, "reset")) return "read: connection reset by peer";
  if (error.kind() == ErrorKind::protocol) return "http: server gave HTTP response to HTTPS client";
  return "EOF";
}

Task<Result<http::Response>> HttpsWebhooks::post(const WebhookEndpoint& endpoint, http::Request request) {
  if (endpoint.simulated) co_return simulated_answer(request);
  Result<http::Url> url = http::parse_url("https://" + endpoint.address);
  if (!url) co_return fail(ErrorKind::invalid, "{}", url.error().message());
  if (!allow_outside_ && !is_this_machine(url->host)) co_return fail(ErrorKind::unavailable, "{}", out_of_reach(*url));
  std::unique_ptr<http::Client>& client = clients_[{endpoint.address, endpoint.server_name, endpoint.ca_bundle}];
  if (!client) {
    http::ClientOptions options;
    options.tls.ca_pem = endpoint.ca_bundle;
    options.tls.server_name = endpoint.server_name;
    options.proxy_settings = {};
    // Service webhooks are called over HTTP/1.1.
    options.http2 = endpoint.service.empty();
    Result<std::unique_ptr<http::Client>> made = http::Client::make(loop_, *url, std::move(options));
    if (!made)
      co_return fail(ErrorKind::untrusted,
                     "tls: failed to verify certificate: x509: certificate signed by unknown authority");
    client = *std::move(made);
  }
  Result<http::Response> response = co_await http::send(*client, std::move(request));
  if (!response)
    co_return fail(ErrorKind::unavailable, "{}", go_words(response.error(), endpoint, loop_.clock().wall_now()));
  co_return response;
}

Task<void> HttpsWebhooks::close() {
  for (auto& [key, client] : clients_)
    if (client) co_await client->close();  // There is none for a caBundle that is not a certificate.
  clients_.clear();
}

}  // namespace fairlead::sandbox
