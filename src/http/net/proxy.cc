#include "http/net/proxy.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace fairlead::http {
namespace {

// IPv4 as an IPv6 address that maps it, so that both compare alike.
using Ip = std::array<uint8_t, 16>;
constexpr Ip kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

std::optional<Ip> parse_ip(std::string_view text) {
  std::string copy(text);
  Ip ip = kMapped;
  if (inet_pton(AF_INET, copy.c_str(), ip.data() + 12) == 1) return ip;
  if (inet_pton(AF_INET6, copy.c_str(), ip.data()) == 1) return ip;
  return std::nullopt;
}

bool is_v4(const Ip& ip) { return std::memcmp(ip.data(), kMapped.data(), 12) == 0; }

bool is_loopback(const Ip& ip) {
  if (is_v4(ip)) return ip[12] == 127;
  return std::all_of(ip.begin(), ip.end() - 1, [](uint8_t byte) { return byte == 0; }) && ip[15] == 1;
}

bool same_bits(const Ip& a, const Ip& b, size_t bits) {
  for (size_t i = 0; i < bits; ++i)
    if (((a[i / 8] ^ b[i / 8]) >> (7 - i % 8)) & 1) return false;
  return true;
}

struct Network {
  Ip ip;
  size_t bits;
};

std::optional<Network> parse_network(std::string_view text) {
  size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  auto ip = parse_ip(text.substr(0, slash));
  std::string_view length = text.substr(slash + 1);
  size_t bits = 0;
  auto [end, problem] = std::from_chars(length.data(), length.data() + length.size(), bits);
  if (!ip || problem != std::errc() || end != length.data() + length.size()) return std::nullopt;
  bool v4 = !text.substr(0, slash).contains(':');
  if (bits > (v4 ? 32u : 128u)) return std::nullopt;
  return Network{*ip, v4 ? bits + 96 : bits};
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

struct HostPort {
  std::string_view host;
  std::string_view port;
};

HostPort split(std::string_view entry) {
  size_t colon = entry.rfind(':');
  if (entry.starts_with('[')) {
    size_t close = entry.find(']');
    if (close == std::string_view::npos) return {entry, ""};
    return {entry.substr(1, close - 1), close + 1 == colon ? entry.substr(colon + 1) : ""};
  }
  bool one_colon = colon != std::string_view::npos && entry.find(':') == colon;
  return one_colon ? HostPort{entry.substr(0, colon), entry.substr(colon + 1)} : HostPort{entry, ""};
}

bool excludes(std::string_view entry, const Url& server, const std::optional<Ip>& server_ip) {
  if (entry.empty()) return false;
  if (entry == "*") return true;
  if (auto network = parse_network(entry)) return server_ip && same_bits(*server_ip, network->ip, network->bits);
  auto [host, port] = split(entry);
  if (host.empty()) return false;
  if (!port.empty() && port != std::to_string(server.port)) return false;
  if (auto ip = parse_ip(host)) return server_ip == ip;
  if (host.starts_with("*.")) host.remove_prefix(1);
  if (host.starts_with('.')) return server.host.ends_with(host);
  return server.host == host || server.host.ends_with(fmt::format(".{}", host));
}

bool goes_direct(std::string_view no_proxy, const Url& server) {
  auto ip = parse_ip(server.host);
  if (server.host == "localhost" || (ip && is_loopback(*ip))) return true;
  std::string lowered(no_proxy);
  std::ranges::transform(lowered, lowered.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::string_view rest = lowered;
  while (true) {
    size_t comma = rest.find(',');
    if (excludes(trimmed(rest.substr(0, comma)), server, ip)) return true;
    if (comma == std::string_view::npos) return false;
    rest.remove_prefix(comma + 1);
  }
}

std::string from_environment(const char* upper, const char* lower) {
  for (const char* name : {upper, lower})
    if (const char* value = std::getenv(name); value && *value) return value;
  return "";
}

}  // namespace

ProxySettings ProxySettings::from_environment() {
  return {.http_proxy = http::from_environment("HTTP_PROXY", "http_proxy"),
          .https_proxy = http::from_environment("HTTPS_PROXY", "https_proxy"),
          .no_proxy = http::from_environment("NO_PROXY", "no_proxy")};
}

Result<std::optional<Url>> choose_proxy(const ProxySettings& settings, const Url& server) {
  const std::string& text = server.is_tls() ? settings.https_proxy : settings.http_proxy;
  if (text.empty() || goes_direct(settings.no_proxy, server)) return std::nullopt;
  Result<Url> proxy = parse_url(text.contains("://") ? text : "http://" + text);
  if (!proxy)
    return fail(std::move(proxy).error().in(
        fmt::format("the environment variable {} is no proxy", server.is_tls() ? "HTTPS_PROXY" : "HTTP_PROXY")));
  return std::optional(*std::move(proxy));
}

}  // namespace fairlead::http
