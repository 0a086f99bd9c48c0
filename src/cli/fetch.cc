#include "cli/fetch.h"

#include "base/scope.h"
#include "http/client.h"

namespace fairlead::cli {
namespace {

using namespace std::chrono_literals;

constexpr int kMostRedirects = 10;
constexpr Duration kPatience = 1min;

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// "https://host/path?query" as the server and what to ask it for.
struct Address {
  http::Url server;
  std::string target;
};

Result<Address> parse_address(std::string_view text) {
  text = text.substr(0, text.find('#'));
  size_t scheme = text.find("://");
  size_t rest = std::min(text.find_first_of("/?", scheme == std::string_view::npos ? 0 : scheme + 3), text.size());
  TRY_ASSIGN(http::Url server, http::parse_url(text.substr(0, rest)));
  std::string target(text.substr(rest));
  if (!target.starts_with("/")) target.insert(0, "/");
  return Address{.server = std::move(server), .target = std::move(target)};
}

// One request over a client of its own: each address can be another server.
Task<Result<http::Response>> get_once(RealLoop& loop, Address address, size_t max_bytes) {
  CO_TRY_ASSIGN(std::unique_ptr<http::Client> client, http::Client::make(loop, std::move(address.server), {}));
  Result<http::Response> response = co_await http::send(*client, {.target = std::move(address.target)}, max_bytes);
  co_await client->close();
  co_return response;
}

Task<Result<std::string>> get(RealLoop& loop, std::string first, size_t max_bytes) {
  std::string at = first;
  for (int redirects = 0; redirects <= kMostRedirects; ++redirects) {
    CO_TRY_ASSIGN(Address address, parse_address(at));
    CO_TRY_ASSIGN(http::Response response, co_await get_once(loop, address, max_bytes));
    if (response.status == 200) co_return std::move(response.body);
    auto location = response.headers.find("location");
    if (!is_redirect(response.status) || !location)
      co_return fail(ErrorKind::not_found, "{} answered {}", at, response.status);
    std::string next =
        location->starts_with("/") ? address.server.text() + std::string(*location) : std::string(*location);
    if (address.server.is_tls() && !next.starts_with("https://"))
      co_return fail(ErrorKind::untrusted, "{} redirects to an address without TLS", at);
    at = std::move(next);
  }
  co_return fail(ErrorKind::protocol, "{} redirects more than {} times", first, kMostRedirects);
}

}  // namespace

Task<Result<std::string>> fetch(RealLoop& loop, std::string address, size_t max_bytes) {
  return with_deadline(loop, loop.now() + kPatience, fmt::format("{} did not answer within 1m", address),
                       get(loop, address, max_bytes));
}

}  // namespace fairlead::cli
