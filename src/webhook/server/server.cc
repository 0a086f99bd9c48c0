#include "webhook/server/server.h"

#include <algorithm>

#include "base/duration_text.h"
#include "http/net/peer.h"

namespace fairlead::webhook {
namespace {

// Of all reviews that are being received or answered: a pod has little memory, and anybody may connect to it.
constexpr size_t kAllBodies = size_t{48} << 20;
// Each takes up to 100 KB, with TLS.
constexpr size_t kConnections = 500;

constexpr Duration kHandshake = std::chrono::seconds(5);
constexpr Duration kRefusalPause = std::chrono::seconds(10);
// For the API server to say whether we are still an endpoint.
constexpr Duration kEndpointAnswer = std::chrono::seconds(5);

http::Answer text_answer(int status, std::string text, std::string type = "text/plain; charset=utf-8") {
  return {.status = status, .headers = {{"Content-Type", std::move(type)}}, .body = http::body_of(std::move(text))};
}

// Where the server reaches itself.
std::string own_address(const std::string& address) {
  if (address == "0.0.0.0") return "127.0.0.1";
  if (address == "::") return "::1";
  return address;
}

WallTime earliest_end(const std::vector<x509::Certificate>& certificates) {
  return std::ranges::min(certificates, {}, [](const x509::Certificate& each) { return each.not_after(); }).not_after();
}

}  // namespace

AdmissionServer::AdmissionServer(RealLoop& loop, ServeSpec spec, const Routes& routes,
                                 certs::CertificateSource& certificates, Surroundings* surroundings, Log& log)
    : loop_(loop),
      spec_(std::move(spec)),
      routes_(routes),
      certificates_(certificates),
      surroundings_(surroundings),
      log_(log),
      reviews_(loop, routes_, spec_.reviews, metrics_, log_),
      reviewer_(loop, reviews_),
      listening_failed_(loop),
      look_again_(loop),
      readiness_changed_(loop) {}

AdmissionServer::~AdmissionServer() = default;

Task<Result<void>> AdmissionServer::run(CancelSource& stop) {
  http::ServerSpec spec{.address = spec_.address, .port = spec_.probe_port, .limits = {.connections = 50}};
  auto answer = [this](http::Request request, const http::Peer&) -> Task<http::Answer> { co_return probe(request); };
  CO_TRY_ASSIGN(probes_, http::Server::listen(loop_, std::move(spec), answer));
  Scope scope(loop_, nullptr);
  Result<void> served = co_await serve(stop, scope);
  scope.cancel();
  co_await scope.join();
  if (https_) co_await https_->close();
  co_await probes_->close();
  log_.info("stopped");
  co_return served;
}

Task<Result<void>> AdmissionServer::serve(CancelSource& stop, Scope& scope) {
  log_.info("started",
            {{"probes", fmt::format("{}:{}", spec_.address, probes_->port())}, {"policies", routes_.set().name}});
  scope.spawn(follow_certificates());
  scope.spawn(follow_readiness());
  auto until_stopped = [this]() -> Task<void> {
    while (!cannot_listen_ && co_await listening_failed_.wait()) {
    }
  };
  co_await until_stopped().governed_by(&stop);
  if (cannot_listen_) co_return fail(*cannot_listen_);
  co_await drain();
  co_return Result<void>();
}

Task<void> AdmissionServer::follow_certificates() {
  while (true) {
    if (Result<void> looked = look_at_certificate(); !looked) {
      cannot_listen_ = looked.error();
      listening_failed_.notify_all();
      co_return;
    }
    if (!co_await certificates_.changed().wait()) co_return;
  }
}

std::string AdmissionServer::flaw_of_new(const certs::ServingPair& pair) const {
  Result<void> usable = http::Server::check({.chain = pair.chain, .key = pair.key});
  if (!usable) return usable.error().message();
  WallTime now = loop_.clock().wall_now();
  if (!serving_ || !flaw_of_pair(*serving_, spec_.host, now).empty()) return "";
  return flaw_of_pair(pair, spec_.host, now);
}

Result<void> AdmissionServer::look_at_certificate() {
  std::string trouble = certificates_.trouble();
  if (auto pair = certificates_.current(); pair && pair != serving_) {
    std::string flaw = flaw_of_new(*pair);
    if (!flaw.empty()) {
      trouble = fmt::format("{} cannot be used: {}", pair->origin, flaw);
    } else {
      TRY(take_up(pair));
    }
  }
  if (trouble == certificate_trouble_) return {};
  certificate_trouble_ = std::move(trouble);
  metrics_.keeps_earlier_certificate = serving_ && !certificate_trouble_.empty();
  if (certificate_trouble_.empty()) return {};
  if (serving_) metrics_.count_reload(false);
  log_.warn(serving_ ? "the last good certificate is kept" : "there is no certificate yet",
            {{"cause", certificate_trouble_}});
  look_again_.notify_all();
  return {};
}

Result<void> AdmissionServer::take_up(const std::shared_ptr<const certs::ServingPair>& pair) {
  http::Identity identity{.chain = pair->chain, .key = pair->key};
  if (https_) {
    TRY(https_->set_identity(std::move(identity)));
  } else {
    TRY(listen(std::move(identity)));
  }
  bool is_first = !serving_;
  serving_ = pair;
  metrics_.leaf_expiry = pair->chain.front().not_after();
  metrics_.ca_expiry.reset();
  if (!pair->ca.empty()) metrics_.ca_expiry = earliest_end(pair->ca);
  if (!is_first) metrics_.count_reload(true);
  log_.info(is_first ? "serving" : "serving with a new certificate",
            {{"address", fmt::format("{}:{}", spec_.address, https_->port())},
             {"certificate", pair->chain.front().sha256_fingerprint().substr(0, 16)},
             {"from", pair->origin}});
  look_again_.notify_all();
  return {};
}

Result<void> AdmissionServer::listen(http::Identity identity) {
  http::ServerSpec spec{.address = spec_.address,
                        .port = spec_.port,
                        .identity = std::move(identity),
                        .clients = spec_.clients,
                        .limits = {.body_bytes = spec_.body_bytes,
                                   .all_bodies_bytes = kAllBodies,
                                   .small_body_bytes = spec_.reviews.quick_bytes,
                                   .connections = kConnections},
                        .refused = [this](int status, const std::string& peer) { note_refused(status, peer); }};
  auto answer = [this](http::Request request, const http::Peer&) {
    return answerer_ ? answerer_->answer(std::move(request)) : reviewer_.answer(std::move(request));
  };
  TRY_ASSIGN(https_, http::Server::listen(loop_, std::move(spec), answer, start_helpers()));
  if (metrics_.draining) https_->announce_drain();
  return {};
}

std::vector<http::Server::Helper> AdmissionServer::start_helpers() {
  size_t wanted = answerer_ ? 0 : std::max<size_t>(1, spec_.serving_threads) - 1;
  while (helpers_.size() < wanted) {
    std::unique_ptr<BackgroundLoop> thread = BackgroundLoop::start();
    // Where there can be no more threads, those that are there serve.
    if (!thread) break;
    Reviewer reviewer(thread->loop(), reviews_);
    helpers_.push_back(std::make_unique<Helper>(std::move(thread), reviewer));
  }
  std::vector<http::Server::Helper> helpers;
  for (const std::unique_ptr<Helper>& helper : helpers_)
    helpers.push_back(
        {&helper->thread->loop(), [reviewer = &helper->reviewer](http::Request request, const http::Peer&) {
           return reviewer->answer(std::move(request));
         }});
  return helpers;
}

void AdmissionServer::note_refused(int status, const std::string& peer) {
  metrics_.count_refused(status);
  // A line per status and pause, so that nobody fills the log.
  TimePoint& next = next_refusal_line_[status];
  if (loop_.now() < next) return;
  next = loop_.now() + kRefusalPause;
  if (status == 0) log_.warn("a TLS handshake failed", {{"peer", peer}});
  else log_.warn("a request was refused", {{"status", status}, {"peer", peer}});
}

Task<Assessment> AdmissionServer::look() {
  if (!https_) {
    co_return Assessment{
        .not_ready = "there is no certificate yet" + (certificate_trouble_.empty() ? "" : ": " + certificate_trouble_),
        .is_registered = false,
        .is_reachable = true,
        .warnings = {}};
  }
  if (surroundings_) {
    Result<Callers> callers = co_await surroundings_->callers();
    // While the API server is away, what is known stays true.
    if (callers || !callers_ || !*callers_) callers_ = std::move(callers);
  }
  Evidence evidence{.served = co_await http::read_peer_chain(loop_, own_address(spec_.address), https_->port(),
                                                             spec_.host.empty() ? "localhost" : spec_.host, kHandshake),
                    .stored = serving_,
                    .host = spec_.host,
                    .callers = callers_};
  Assessment assessment = assess(evidence, loop_.clock().wall_now());
  if (answerer_ && assessment.ready()) assessment.not_ready = answerer_->not_ready();
  co_return assessment;
}

void AdmissionServer::look_at_troubles() {
  std::string now = territory_ ? territory_->coordination().trouble : "";
  if (trouble_source_) {
    std::string other = trouble_source_();
    if (!now.empty() && !other.empty()) now += "; ";
    now += other;
  }
  if (now == trouble_) return;
  trouble_ = std::move(now);
  if (!trouble_.empty()) log_.warn("trouble", {{"cause", trouble_}});
}

bool AdmissionServer::may_pass(const Assessment& assessment) {
  failed_handshakes_ = assessment.is_reachable ? 0 : failed_handshakes_ + 1;
  return is_doubtful(failed_handshakes_, not_ready_.empty());
}

void AdmissionServer::set_readiness(Assessment assessment) {
  for (const std::string& warning : assessment.warnings)
    if (std::ranges::find(warned_, warning) == warned_.end()) log_.warn(warning);
  warned_ = std::move(assessment.warnings);
  bool is_same = not_ready_ == assessment.not_ready && is_registered_ == assessment.is_registered;
  if (metrics_.ready == assessment.ready() && is_same) return;
  is_registered_ = assessment.is_registered;
  not_ready_ = std::move(assessment.not_ready);
  metrics_.ready = not_ready_.empty();
  if (not_ready_.empty()) log_.info("ready");
  else log_.warn("not ready", {{"cause", not_ready_}});
  readiness_changed_.notify_all();
}

Task<void> AdmissionServer::follow_readiness() {
  while (true) {
    // What is served may have expired, and what is stored may be valid by now. A failure to listen ends the server.
    if (https_) (void)look_at_certificate();
    std::shared_ptr<const certs::ServingPair> looked_at = serving_;
    look_at_troubles();
    Assessment assessment = co_await look();
    // A handshake that the end has cut off says nothing.
    if (is_closing_) co_return;
    // Nor does one with a certificate that was replaced meanwhile: look again at once.
    if (looked_at != serving_) continue;
    bool is_doubtful = may_pass(assessment);
    if (is_doubtful) log_.warn("the server did not reach itself", {{"cause", assessment.not_ready}});
    else set_readiness(std::move(assessment));
    auto changed = [this]() -> Task<Result<void>> { co_return co_await look_again_.wait(); };
    // While it drains, its configurations may be deleted with it.
    bool is_calm = not_ready_.empty() && !is_doubtful && !metrics_.draining;
    Duration pause = is_calm ? spec_.check : spec_.check_unready;
    Result<void> waited = co_await with_deadline(loop_, loop_.now() + pause, "time to look", changed());
    if (!waited && waited.error().kind() == ErrorKind::cancelled) co_return;
  }
}

http::Answer AdmissionServer::probe(const http::Request& request) const {
  std::string_view path = std::string_view(request.target).substr(0, request.target.find('?'));
  if (request.method != "GET" && request.method != "HEAD") return text_answer(405, "use GET\n");
  if (path == "/healthz" || path == "/livez") return text_answer(200, "ok\n");
  if (path == "/metrics") {
    std::string text = metrics_.text() + text_of(territory_ ? territory_->coordination() : Coordination());
    if (answerer_) text += answerer_->metrics();
    if (more_metrics_) text += more_metrics_();
    return text_answer(200, std::move(text), "text/plain; version=0.0.4; charset=utf-8");
  }
  if (answerer_)
    if (std::optional<std::string> page = answerer_->page(path))
      return text_answer(200, *std::move(page), "application/json");
  if (path != "/readyz") return text_answer(404, "there are /healthz, /readyz and /metrics\n");
  if (metrics_.draining) return text_answer(503, "the server is stopping\n");
  if (!not_ready_.empty()) return text_answer(503, not_ready_ + "\n");
  std::string text = "ok";
  if (!certificate_trouble_.empty()) text += ", with the last good certificate: " + certificate_trouble_;
  text += '\n';
  if (!trouble_.empty()) text += "warning: " + trouble_ + '\n';
  return text_answer(200, std::move(text));
}

Task<void> AdmissionServer::drain() {
  metrics_.draining = true;
  readiness_changed_.notify_all();
  look_again_.notify_all();
  TimePoint start = loop_.now();
  log_.info("stopping", {{"accepting", short_text(spec_.drain)}});
  if (https_) https_->announce_drain();
  if (answerer_) answerer_->drain();
  (void)co_await sleep_until(loop_, start + spec_.drain);
  // API servers and kube-proxies may learn later than that.
  TimePoint limit = start + spec_.drain_limit;
  while (surroundings_ && loop_.now() < limit) {
    Result<bool> is_endpoint = co_await with_deadline(loop_, std::min(limit, loop_.now() + kEndpointAnswer),
                                                      "no answer", surroundings_->is_endpoint());
    // A failure that may pass says nothing. Where it may not be asked, nothing will ever be known.
    bool is_over = is_endpoint ? !*is_endpoint : is_endpoint.error().kind() == ErrorKind::denied;
    if (is_over) break;
    (void)co_await sleep_until(loop_, std::min(limit, loop_.now() + spec_.check_unready));
  }
  is_closing_ = true;
  if (!https_) co_return;
  Result<void> drained = co_await https_->drain(loop_.now() + spec_.last_requests);
  if (!drained) log_.error("requests were cut off", {{"cause", drained.error().message()}});
}

}  // namespace fairlead::webhook
