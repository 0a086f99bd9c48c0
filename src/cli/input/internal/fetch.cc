#include "cli/input/internal/fetch.h"

#include "async/scope.h"
#include "base/base64.h"
#include "base/duration_text.h"
#include "http/client/client.h"

namespace fairlead::cli {
namespace {

using namespace std::chrono_literals;

constexpr int kMostRedirects = 10;

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// "https://user:password@host/path?query" as the server and what to ask it for.
struct Address {
  http::Url server;
  std::string target;

  std::string_view path() const { return std::string_view(target).substr(0, target.find('?')); }
  // Fit to be read: without user, password and query.
  std::string text() const { return server.text() + std::string(path()); }
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

bool has_scheme(std::string_view location) {
  size_t colon = location.find(':');
  return colon != std::string_view::npos && colon < location.find_first_of("/?#");
}

// Where a redirect leads, as browsers understand it: an address of its own, or one that is relative to `from`. User and
// password go along only to the same server.
Result<Address> redirected(const Address& from, std::string_view location) {
  std::string origin = from.server.text();
  std::string next(location);
  if (location.starts_with("//")) next = from.server.scheme + ":" + next;
  else if (location.starts_with("/")) next = origin + next;
  else if (location.starts_with("?")) next = origin + std::string(from.path()) + next;
  else if (!has_scheme(location)) next = origin + std::string(from.path().substr(0, from.path().rfind('/') + 1)) + next;
  TRY_ASSIGN(Address address, parse_address(next));
  bool is_same = address.server.scheme == from.server.scheme && address.server.address() == from.server.address();
  if (is_same && address.server.user.empty()) {
    address.server.user = from.server.user;
    address.server.password = from.server.password;
  }
  return address;
}

// One request over a client of its own: each address can be another server.
Task<Result<http::Response>> get_once(RealLoop& loop, Address address, size_t max_bytes) {
  http::Request request{.target = std::move(address.target)};
  if (!address.server.user.empty())
    request.headers.set("Authorization",
                        "Basic " + to_base64(fmt::format("{}:{}", address.server.user, address.server.password)));
  CO_TRY_ASSIGN(std::unique_ptr<http::Client> client, http::Client::make(loop, std::move(address.server), {}));
  Result<http::Response> response = co_await http::send(*client, std::move(request), max_bytes);
  co_await client->close();
  co_return response;
}

Task<Result<std::string>> get(RealLoop& loop, Address at, size_t max_bytes) {
  std::string first = at.text();
  for (int redirects = 0; redirects <= kMostRedirects; ++redirects) {
    CO_TRY_ASSIGN(http::Response response, co_await get_once(loop, at, max_bytes));
    if (response.status == 200) co_return std::move(response.body);
    auto location = response.headers.find("location");
    if (!is_redirect(response.status) || !location)
      co_return fail(ErrorKind::not_found, "{} answered {}", at.text(), response.status);
    Result<Address> next = redirected(at, *location);
    if (!next) co_return fail(std::move(next).error().in(at.text() + " redirects to an invalid address"));
    if (at.server.is_tls() && !next->server.is_tls())
      co_return fail(ErrorKind::untrusted, "{} redirects to an address without TLS", at.text());
    at = *std::move(next);
  }
  co_return fail(ErrorKind::protocol, "{} redirects more than {} times", first, kMostRedirects);
}

}  // namespace

Task<Result<std::string>> fetch(RealLoop& loop, std::string address, size_t max_bytes, Duration limit) {
  CO_TRY_ASSIGN(Address at, parse_address(address));
  std::string late = fmt::format("{} did not answer within {}", at.text(), short_text(limit));
  co_return co_await with_deadline(loop, loop.now() + limit, std::move(late), get(loop, std::move(at), max_bytes));
}

}  // namespace fairlead::cli
