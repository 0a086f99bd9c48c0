#include "http/client/client.h"

#include <algorithm>

#include "async/real_loop.h"
#include "async/scope.h"
#include "http/client/internal/pool.h"
#include "http/client/internal/request_limiter.h"
#include "http/gzip.h"

namespace fairlead::http {
namespace {

using namespace std::chrono_literals;

// How often a request is sent again: where the server did not take it, and where that is not known.
constexpr int kSentAgainIfNotTaken = 6;
constexpr int kSentAgainIfLost = 2;
constexpr Duration kFirstPause = 10ms;

bool is_safe(const Request& request) { return request.method == "GET" || request.method == "HEAD"; }

bool is_token(std::string_view text) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || kOthers.contains(c);
  });
}

bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; });
}

// Whoever can put a line break into a header can put a second request behind it.
Result<void> check(const Request& request) {
  if (!is_token(request.method))
    return fail(ErrorKind::invalid, "a request's method has characters that no method has");
  if (!request.target.starts_with('/') ||
      !std::ranges::all_of(request.target, [](char c) { return c > ' ' && c < 0x7f && c != '#'; }))
    return fail(ErrorKind::invalid, "a request's target is no encoded path");
  for (const auto& [name, value] : request.headers) {
    if (!is_token(name))
      return fail(ErrorKind::invalid, "a request's header has a name with characters that no name has");
    if (has_control(value))
      return fail(ErrorKind::invalid, "a request's header {} has a control character in its value", name);
  }
  return {};
}

InFlight::Outcome outcome_of(const std::expected<Answer, Failure>& answer) {
  if (!answer) return InFlight::Outcome::lost;
  return answer->status == 429 ? InFlight::Outcome::refused : InFlight::Outcome::answered;
}

bool may_go_again(const Request& request, const Failure& failure, int attempts_before) {
  // A certificate or a protocol that is wrong will be wrong again, and another connection was not asked for.
  if (failure.error.kind() != ErrorKind::unavailable || request.connection != 0) return false;
  if (failure.delivery == Delivery::never) return attempts_before < kSentAgainIfNotTaken;
  return is_safe(request) && attempts_before < kSentAgainIfLost;
}

void unpack(Answer& answer) {
  if (answer.headers.find("content-encoding") != "gzip") return;
  answer.headers.remove("content-encoding");
  answer.headers.remove("content-length");
  answer.body = gunzip(std::move(answer.body));
}

// Gives the request's place back when the body has come to its end.
class CountedBody final : public Body {
 public:
  CountedBody(std::unique_ptr<Body> body, RequestLimiter::Permit permit)
      : body_(std::move(body)), permit_(std::move(permit)) {}
  Task<Result<std::optional<std::string>>> read() override {
    auto piece = co_await body_->read();
    if (!piece || !*piece) permit_.release();
    co_return piece;
  }

 private:
  std::unique_ptr<Body> body_;
  RequestLimiter::Permit permit_;
};

Result<std::optional<Url>> proxy_for(const Url& server, const ClientOptions& options) {
  if (options.proxy) return options.proxy;
  return choose_proxy(options.proxy_settings, server);
}

std::vector<std::string> protocols(const ClientOptions& options) {
  if (options.http2) return {"h2", "http/1.1"};
  return {"http/1.1"};
}

// A proxy may be known to the server's authority or to the system; it is not shown our certificate.
Result<std::shared_ptr<const ClientTlsContext>> tls_for_proxy(const TlsOptions& server) {
  return ClientTlsContext::make({.ca_pem = server.ca_pem, .insecure_skip_verify = server.insecure_skip_verify},
                                {"http/1.1"}, true);
}

}  // namespace

struct Client::Impl {
  Impl(RealLoop& on, Route route, ClientOptions how)
      : loop(on),
        options(std::move(how)),
        gate(std::make_shared<RequestLimiter>(on, options.max_in_flight)),
        pool(on, std::move(route),
             {.ping_times = {.ping_after = options.ping_after, .ping_timeout = options.ping_timeout},
              .max_connections = std::max<size_t>(options.max_connections, 1),
              .max_http1_connections = std::max<size_t>(options.max_http1_connections, 1)}) {}

  RealLoop& loop;
  ClientOptions options;
  std::shared_ptr<RequestLimiter> gate;
  Pool pool;
  uint64_t requests = 0;
  uint64_t sent_again = 0;
};

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;

Result<std::unique_ptr<Client>> Client::make(RealLoop& loop, Url server, ClientOptions options) {
  if (server.scheme != "http" && server.scheme != "https")
    return fail(ErrorKind::invalid, "{} is no server for HTTP: its URL must begin with http:// or https://",
                server.text());
  Route route{.server = std::move(server),
              .proxy = {},
              .server_name = options.tls.server_name,
              .connect_timeout = options.connect_timeout,
              .handshake_timeout = options.handshake_timeout};
  if (route.server_name.empty()) route.server_name = route.server.host;
  TRY_ASSIGN(route.proxy, proxy_for(route.server, options));
  if (route.server.is_tls()) {
    TRY_ASSIGN(route.tls, ClientTlsContext::make(options.tls, protocols(options)));
  }
  if (route.proxy && route.proxy->is_tls()) {
    TRY_ASSIGN(route.proxy_tls, tls_for_proxy(options.tls));
  }
  return std::unique_ptr<Client>(new Client(std::make_unique<Impl>(loop, std::move(route), std::move(options))));
}

Task<Result<Answer>> Client::open(Request request) {
  CO_TRY(check(request));
  Impl& impl = *impl_;
  ++impl.requests;
  bool unpacks = !request.headers.find("accept-encoding");
  if (unpacks) request.headers.add("accept-encoding", "gzip");
  if (!request.headers.find("user-agent")) request.headers.add("user-agent", impl.options.user_agent);
  auto shared = std::make_shared<const Request>(std::move(request));

  RequestLimiter::Permit permit;
  if (!shared->long_lived) {
    CO_TRY_ASSIGN(permit, co_await impl.gate->enter());
  }
  Duration pause{};
  for (int attempt = 0;; ++attempt) {
    CO_TRY_ASSIGN(std::shared_ptr<Connection> connection,
                  co_await impl.pool.find(shared->connection, shared->long_lived));
    TimePoint started = impl.loop.now();
    std::expected<Answer, Failure> answer = co_await connection->open(shared);
    permit.learn(outcome_of(answer), started);
    if (answer) {
      if (unpacks) unpack(*answer);
      if (!shared->long_lived) answer->body = std::make_unique<CountedBody>(std::move(answer->body), std::move(permit));
      co_return std::move(*answer);
    }
    Failure failure = std::move(answer).error();
    if (!may_go_again(*shared, failure, attempt)) {
      bool in_doubt = failure.delivery == Delivery::unknown && failure.error.kind() != ErrorKind::cancelled;
      co_return fail(in_doubt && !is_safe(*shared) ? may_have_been_processed(failure.error) : failure.error);
    }
    ++impl.sent_again;
    if (attempt > 0) {
      pause = pause == Duration() ? kFirstPause : 2 * pause;
      CO_TRY(co_await sleep_for(impl.loop, pause));
    }
  }
}

Result<void> Client::set_client_certificate(std::string certificate_pem, std::string key_pem) {
  TlsOptions changed = impl_->options.tls;
  changed.certificate_pem = std::move(certificate_pem);
  changed.key_pem = std::move(key_pem);
  TRY_ASSIGN(auto tls, ClientTlsContext::make(changed, protocols(impl_->options)));
  impl_->options.tls = std::move(changed);
  impl_->pool.set_tls(std::move(tls));
  return {};
}

ClientCounts Client::counts() const {
  return {.requests = impl_->requests,
          .sent_again = impl_->sent_again,
          .connections = impl_->pool.made(),
          .in_flight = impl_->gate->flight().count(),
          .in_flight_limit = impl_->gate->flight().limit()};
}

const Url& Client::server() const { return impl_->pool.server(); }

Task<void> Client::close() { return impl_->pool.close(); }

}  // namespace fairlead::http
