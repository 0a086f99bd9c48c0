// A server, a client of it, and what a test does with both; all end together. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "http/client/bad_server_testing.h"
#include "http/client/client.h"

namespace fairlead::http {

using Story = std::function<Task<void>(Client&)>;

// Trusts the server's authority unless the options say otherwise; no proxies but those of the options.
inline void tell(RealLoop& loop, TestServer& server, ClientOptions options, Story story, std::string url = "") {
  options.proxy_settings = {};
  if (options.tls.ca_pem.empty()) options.tls.ca_pem = server.ca_pem();
  auto client = Client::make(loop, parse_url(url.empty() ? server.url() : url).value(), std::move(options)).value();
  auto whole = [](Client& of, TestServer& with, Story& what) -> Task<void> {
    co_await what(of);
    co_await of.close();
    co_await with.close();
  };
  loop.run(whole(*client, server, story));
}

// No test takes this long; one that hangs says so instead.
template <class T>
Task<Result<T>> in_time(RealLoop& loop, Task<Result<T>> task) {
  return with_deadline(loop, loop.now() + std::chrono::seconds(60), "the test hangs", std::move(task));
}

inline Task<Result<Response>> get(RealLoop& loop, Client& client, std::string target = "/") {
  return in_time(loop, send(client, Request{.target = std::move(target)}));
}
inline Task<Result<Response>> patch(RealLoop& loop, Client& client, std::string body = "{}") {
  return in_time(loop, send(client, Request{.method = "PATCH", .target = "/", .body = std::move(body)}));
}

inline std::string body_or_error(const Result<Response>& response) {
  return response ? response->body : "error: " + response.error().message();
}
template <class T>
std::string error_text(const Result<T>& result) {
  return result ? "no error" : result.error().message();
}
template <class T>
ErrorKind error_kind(const Result<T>& result) {
  return result ? ErrorKind::internal : result.error().kind();
}

}  // namespace fairlead::http
