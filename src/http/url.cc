#include "http/url.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace fairlead::http {
namespace {

uint16_t default_port(std::string_view scheme) {
  if (scheme == "http") return 80;
  if (scheme == "https") return 443;
  if (scheme == "socks5" || scheme == "socks5h") return 1080;
  return 0;
}

std::string lowered(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    if (i + 2 >= text.size() || hex(text[i + 1]) < 0 || hex(text[i + 2]) < 0) return std::nullopt;
    result += static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2]));
    i += 2;
  }
  return result;
}

bool host_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool path_char(char c) { return c > ' ' && c < 0x7f; }

// Errors name no part of the text: it may hold a password.
std::unexpected<Error> bad(std::string_view why) { return fail(ErrorKind::invalid, "the URL {}", why); }

Result<void> take_userinfo(std::string_view& rest, Url& url) {
  size_t at = rest.rfind('@');
  if (at == std::string_view::npos) return {};
  std::string_view info = rest.substr(0, at);
  rest.remove_prefix(at + 1);
  size_t colon = info.find(':');
  auto user = percent_decoded(info.substr(0, colon));
  auto password = percent_decoded(colon == std::string_view::npos ? "" : info.substr(colon + 1));
  if (!user || !password) return bad("has a % in its user or password that is not followed by two hexadecimal digits");
  url.user = std::move(*user);
  url.password = std::move(*password);
  return {};
}

Result<void> take_host(std::string_view& rest, Url& url) {
  if (rest.starts_with('[')) {
    size_t close = rest.find(']');
    if (close == std::string_view::npos) return bad("has an address with [ but no ]");
    url.host = lowered(rest.substr(1, close - 1));
    in6_addr address;
    // A zone (fe80::1%eth0) is for the resolver to judge.
    std::string plain = url.host.substr(0, url.host.find('%'));
    if (inet_pton(AF_INET6, plain.c_str(), &address) != 1) return bad("has no IPv6 address between [ and ]");
    rest.remove_prefix(close + 1);
    return {};
  }
  url.host = lowered(rest.substr(0, rest.find(':')));
  if (url.host.empty()) return bad("has no host");
  if (!std::ranges::all_of(url.host, host_char)) return bad("has a host with characters that no host name has");
  rest.remove_prefix(url.host.size());
  return {};
}

Result<void> take_port(std::string_view rest, Url& url) {
  url.port = default_port(url.scheme);
  if (rest.empty() || rest == ":") return {};
  rest.remove_prefix(1);
  auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), url.port);
  if (problem != std::errc() || end != rest.data() + rest.size() || url.port == 0)
    return bad("has a port that is not a number from 1 to 65535");
  return {};
}

}  // namespace

std::string Url::address() const {
  return host.contains(':') ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::string Url::authority() const {
  if (port != default_port(scheme)) return address();
  return host.contains(':') ? fmt::format("[{}]", host) : host;
}

std::string Url::text() const { return fmt::format("{}://{}{}", scheme, authority(), path); }

Result<Url> parse_url(std::string_view text) {
  size_t colon = text.find("://");
  if (colon == std::string_view::npos) return bad("does not begin with http:// or https://");
  Url url;
  url.scheme = lowered(text.substr(0, colon));
  if (default_port(url.scheme) == 0) return bad("has a scheme other than http, https and socks5");
  std::string_view rest = text.substr(colon + 3);
  if (rest.find_first_of("?#") != std::string_view::npos) return bad("has a query or a fragment");
  size_t slash = rest.find('/');
  if (slash != std::string_view::npos) {
    std::string_view path = rest.substr(slash);
    if (!std::ranges::all_of(path, path_char))
      return bad("has a path with a space, a control or another character to be encoded");
    while (path.ends_with('/')) path.remove_suffix(1);
    url.path = path;
    rest = rest.substr(0, slash);
  }
  TRY(take_userinfo(rest, url));
  TRY(take_host(rest, url));
  if (!rest.empty() && rest.front() != ':') return bad("has something other than a port after its host");
  TRY(take_port(rest, url));
  return url;
}

}  // namespace fairlead::http
