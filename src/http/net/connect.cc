#include "http/net/connect.h"

#include <arpa/inet.h>
#include <openssl/evp.h>

#include <charconv>

#include "async/real_loop.h"
#include "async/scope.h"
#include "http/net/tcp_stream.h"
#include "http/net/tls_stream.h"

namespace fairlead::http {
namespace {

constexpr size_t kMaxProxyHead = size_t{64} << 10;

// Exactly that many bytes.
Task<Result<std::string>> read_exactly(Stream& stream, size_t size) {
  std::string bytes(size, '\0');
  size_t have = 0;
  while (have < size) {
    CO_TRY_ASSIGN(size_t n, co_await stream.read(bytes.data() + have, size - have));
    if (n == 0) co_return fail(ErrorKind::unavailable, "it closed the connection");
    have += n;
  }
  co_return bytes;
}

// The head of the proxy's answer, byte by byte: what follows belongs to the server.
Task<Result<std::string>> read_head(Stream& stream) {
  std::string head;
  while (!head.ends_with("\r\n\r\n")) {
    if (head.size() >= kMaxProxyHead) co_return fail(ErrorKind::limit, "the head of its answer has no end");
    CO_TRY_ASSIGN(std::string byte, co_await read_exactly(stream, 1));
    head += byte;
  }
  co_return head;
}

Task<Result<void>> ask_http_proxy(Stream& stream, const Url& server, const Url& proxy) {
  std::string request = fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n", server.address());
  if (std::string value = proxy_authorization(proxy); !value.empty())
    request += fmt::format("Proxy-Authorization: {}\r\n", value);
  request += "\r\n";
  CO_TRY(co_await stream.write(request));
  CO_TRY_ASSIGN(std::string head, co_await read_head(stream));
  std::string_view line = std::string_view(head).substr(0, head.find("\r\n"));
  int status = 0;
  bool is_http = line.size() >= 12 && line.starts_with("HTTP/1.") && line[8] == ' ';
  if (is_http) std::from_chars(line.data() + 9, line.data() + 12, status);
  if (status < 100) co_return fail(ErrorKind::protocol, "it does not answer as an HTTP proxy does");
  if (status / 100 == 2) co_return Result<void>();
  co_return fail(status == 407 || status == 403 ? ErrorKind::denied : ErrorKind::unavailable,
                 "it refused to connect to {}: {}", server.address(), line.substr(9));
}

std::string_view socks_refusal(char code) {
  switch (code) {
    case 1: return "general failure";
    case 2: return "not allowed by its rules";
    case 3: return "network unreachable";
    case 4: return "host unreachable";
    case 5: return "connection refused";
    case 6: return "time to live expired";
    case 7: return "command not supported";
    case 8: return "address type not supported";
    default: return "unknown reason";
  }
}

std::string with_length(std::string_view text) { return static_cast<char>(text.size()) + std::string(text); }

std::string socks_address(const std::string& host) {
  char bytes[16];
  if (inet_pton(AF_INET, host.c_str(), bytes) == 1) return '\x01' + std::string(bytes, 4);
  if (inet_pton(AF_INET6, host.c_str(), bytes) == 1) return '\x04' + std::string(bytes, 16);
  return '\x03' + with_length(host);
}

// RFC 1928, with user and password as in RFC 1929. The proxy looks names up.
Task<Result<void>> ask_socks_proxy(Stream& stream, const Url& server, const Url& proxy) {
  if (server.host.size() > 255 || proxy.user.size() > 255 || proxy.password.size() > 255)
    co_return fail(ErrorKind::invalid, "the server's name, the user or the password is too long for SOCKS");
  bool has_user = !proxy.user.empty();
  CO_TRY(
      co_await stream.write(has_user ? std::string_view("\x05\x02\x00\x02", 4) : std::string_view("\x05\x01\x00", 3)));
  CO_TRY_ASSIGN(std::string method, co_await read_exactly(stream, 2));
  if (method[0] != 5) co_return fail(ErrorKind::protocol, "it does not answer as a SOCKS 5 proxy does");
  if (method[1] == 2 && has_user) {
    std::string login = '\x01' + with_length(proxy.user) + with_length(proxy.password);
    CO_TRY(co_await stream.write(login));
    CO_TRY_ASSIGN(std::string verdict, co_await read_exactly(stream, 2));
    if (verdict[1] != 0) co_return fail(ErrorKind::denied, "it does not accept the user and password");
  } else if (method[1] != 0) {
    co_return fail(ErrorKind::denied, "it wants a login other than {}", has_user ? "user and password" : "none");
  }
  std::string request = std::string("\x05\x01\x00", 3) + socks_address(server.host);
  request += static_cast<char>(server.port >> 8);
  request += static_cast<char>(server.port & 0xff);
  CO_TRY(co_await stream.write(request));
  CO_TRY_ASSIGN(std::string answer, co_await read_exactly(stream, 4));
  if (answer[1] != 0)
    co_return fail(ErrorKind::unavailable, "it refused to connect to {}: {}", server.address(),
                   socks_refusal(answer[1]));
  size_t rest = answer[3] == 1 ? 4 : 16;
  if (answer[3] == 3) {
    CO_TRY_ASSIGN(std::string length, co_await read_exactly(stream, 1));
    rest = static_cast<unsigned char>(length[0]);
  }
  CO_TRY(co_await read_exactly(stream, rest + 2));
  co_return Result<void>();
}

Task<Result<void>> ask_proxy(Stream& stream, const Url& server, const Url& proxy) {
  if (proxy.scheme.starts_with("socks5")) return ask_socks_proxy(stream, server, proxy);
  return ask_http_proxy(stream, server, proxy);
}

std::string advice(const Error& error, const std::string& host) {
  if (!error.next().empty()) return error.next();
  if (error.kind() == ErrorKind::untrusted)
    return fmt::format("trust the authority that signed the certificate of {}, or use a name that it is valid for",
                       host);
  return "";
}

Task<Result<std::unique_ptr<TlsStream>>> start_tls(RealLoop& loop, std::unique_ptr<Stream> under,
                                                   const ClientTlsContext& context, const std::string& name,
                                                   const Url& peer, Duration timeout) {
  CO_TRY_ASSIGN(TlsSession session, context.session(name));
  auto stream = std::make_unique<TlsStream>(std::move(under), std::move(session));
  Result<void> done =
      co_await with_deadline(loop, loop.now() + timeout, "no answer to the TLS handshake", stream->handshake());
  if (done) co_return stream;
  if (done.error().kind() == ErrorKind::cancelled) co_return fail(done.error());
  Error error = std::move(done).error();
  std::string next = advice(error, peer.host);
  std::string what = error.kind() == ErrorKind::untrusted ? fmt::format("cannot trust {}", peer.address())
                                                          : fmt::format("cannot set up TLS with {}", peer.address());
  error = std::move(error).in(std::move(what));
  co_return fail(next.empty() ? std::move(error) : std::move(error).next(std::move(next)));
}

}  // namespace

std::string proxy_authorization(const Url& proxy) {
  if (proxy.user.empty() && proxy.password.empty()) return "";
  std::string plain = fmt::format("{}:{}", proxy.user, proxy.password);
  std::string encoded(4 * (plain.size() / 3 + 1) + 1, '\0');
  int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()),
                             reinterpret_cast<const unsigned char*>(plain.data()), static_cast<int>(plain.size()));
  encoded.resize(static_cast<size_t>(size));
  return "Basic " + encoded;
}

Task<Result<Connected>> connect(RealLoop& loop, Route route) {
  const Url& first = route.proxy ? *route.proxy : route.server;
  std::string whom = route.proxy ? fmt::format("the proxy {}", first.address()) : first.address();
  auto tcp = co_await connect_tcp(loop, first.host, first.port, route.connect_timeout);
  if (!tcp && tcp.error().kind() == ErrorKind::cancelled) co_return fail(tcp.error());
  if (!tcp) co_return fail(std::move(tcp).error().in(fmt::format("cannot connect to {}", whom)));
  std::unique_ptr<Stream> stream = *std::move(tcp);
  std::optional<Duration> round_trip = route.proxy ? std::nullopt : stream->round_trip();
  if (route.proxy && route.proxy->is_tls()) {
    auto tls =
        co_await start_tls(loop, std::move(stream), *route.proxy_tls, first.host, first, route.handshake_timeout);
    if (!tls) co_return fail(std::move(tls).error());
    stream = *std::move(tls);
  }
  if (route.proxy && !route.asks_proxy()) {
    Result<void> agreed = co_await with_deadline(loop, loop.now() + route.connect_timeout, "it does not answer",
                                                 ask_proxy(*stream, route.server, *route.proxy));
    if (!agreed && agreed.error().kind() == ErrorKind::cancelled) co_return fail(agreed.error());
    if (!agreed)
      co_return fail(std::move(agreed).error().in(
          fmt::format("cannot connect to {} through the proxy {}", route.server.address(), first.address())));
  }
  if (!route.server.is_tls()) co_return Connected{.stream = std::move(stream), .round_trip = round_trip};
  auto tls =
      co_await start_tls(loop, std::move(stream), *route.tls, route.server_name, route.server, route.handshake_timeout);
  if (!tls) co_return fail(std::move(tls).error());
  bool http2 = (*tls)->protocol() == "h2";
  co_return Connected{.stream = *std::move(tls), .http2 = http2, .round_trip = round_trip};
}

}  // namespace fairlead::http
