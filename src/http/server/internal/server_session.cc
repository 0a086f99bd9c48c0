#include "http/server/internal/server_session.h"

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

namespace fairlead::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast::http;
using boost::system::error_code;

// A TLS record.
constexpr size_t kPiece = size_t{16} << 10;
// While a request is being answered, a peer sends nothing more, as a rule.
constexpr size_t kPieceAhead = 512;
// What a peer may send ahead while its request is being answered.
constexpr size_t kMaxAhead = size_t{64} << 10;
// Pieces of a body that are there already are written together up to this size.
constexpr size_t kMaxTogether = size_t{64} << 10;

int status_for(error_code error) {
  if (error == beast::error::header_limit) return 431;
  if (error == beast::error::body_limit) return 413;
  return 400;
}

std::string_view words_for(int status) {
  switch (status) {
    case 408: return "the request did not come in time\n";
    case 413: return "the body of the request is too large\n";
    case 417: return "the expectation of the request cannot be met\n";
    case 431: return "the head of the request is too large\n";
    case 500: return "the request could not be answered\n";
    case 503: return "too many large requests at once\n";
    default: return "the request is malformed\n";
  }
}

}  // namespace

struct Session::Incoming {
  explicit Incoming(ServerCore& of) : core(of) {}
  ~Incoming() { core.all_bodies_bytes -= counted; }
  Incoming(const Incoming&) = delete;
  Incoming& operator=(const Incoming&) = delete;

  ServerCore& core;
  beast::request_parser<beast::string_body> parser;
  bool head_checked = false;
  // What of it is in all_bodies_bytes.
  size_t counted = 0;

  // What has come counts, and not what was announced.
  void count() {
    size_t size = parser.get().body().size();
    if (size <= core.spec.limits.small_body_bytes) size = 0;
    core.all_bodies_bytes += size - counted;
    counted = size;
  }
  // Frees what has come of the body. Nothing may be parsed afterwards.
  void drop() {
    std::string().swap(parser.get().body());
    core.all_bodies_bytes -= counted;
    counted = 0;
  }

  bool http_1_0() const { return parser.get().version() < 11; }
  bool is_head() const { return parser.get().method() == beast::verb::head; }

  Request take() {
    auto& message = parser.get();
    Request request{.method = std::string(message.method_string()), .target = std::string(message.target())};
    for (const auto& field : message) request.headers.add(std::string(field.name_string()), std::string(field.value()));
    request.body = std::move(message.body());
    return request;
  }
};

std::string_view ServerCore::date() {
  int64_t second = std::chrono::floor<std::chrono::seconds>(loop.clock().wall_now()).time_since_epoch().count();
  if (second != date_second_) {
    date_second_ = second;
    date_text_ = date_header(second);
  }
  return date_text_;
}

Session::Session(ServerCore& core, std::unique_ptr<Wire> wire, std::string peer_address)
    : core_(core),
      wire_(std::move(wire)),
      peer_{.address = std::move(peer_address)},
      place_(core.sessions.insert(core.sessions.end(), this)),
      incomplete_since_(core.loop.now()) {}

Session::~Session() {
  if (timer_) core_.loop.cancel_timer(*timer_);
  core_.sessions.erase(place_);
  core_.session_changed.notify_all();
}

Task<void> Session::run() {
  CancelSource* governor = co_await current_cancel();
  CancelHook hook;
  if (governor && governor->cancelled()) co_return;
  hook.set(governor, [this] { abort(); });

  Next next = co_await handshake() ? Next::request : Next::drop;
  while (next == Next::request) next = co_await serve_one();
  co_await finish(next == Next::close);
}

Task<bool> Session::handshake() {
  allow(core_.spec.limits.handshake);
  Transferred done = co_await transfer([&](Completion completion) { wire_->handshake(completion); });
  allow_any_time();
  if (done.error && !aborted_ && core_.spec.refused) core_.spec.refused(0, peer_.address);
  if (done.error || aborted_) co_return false;
  peer_.certificate = wire_->peer_certificate();
  co_return true;
}

Task<Session::Next> Session::serve_one() {
  Incoming incoming(core_);
  phase_ = Phase::idle;
  idle_since_ = core_.loop.now();
  // With no new connections to come, one that has not asked for anything yet need not be waited for as long.
  allow(core_.stopped ? core_.spec.limits.header : core_.spec.limits.idle);
  if (core_.session_changed.waiting() > 0) core_.session_changed.notify_all();
  incoming_ = &incoming;
  std::expected<void, int> read = co_await read_request(incoming);
  if (aborted_) co_return Next::drop;
  if (!read) {
    if (read.error() == 0) co_return gone_ ? Next::drop : Next::close;
    co_return co_await refuse(read.error());
  }

  phase_ = Phase::answering;
  allow_any_time();
  CancelSource work;
  work_ = &work;
  Next next = Next::drop;
  {
    auto answer = Started<Answer>::start(core_.handler(incoming.take(), peer_), &work);
    if (!answer.done()) {
      // It may take long: the buffers of what was read are not needed meanwhile.
      if (input_.empty()) std::string().swap(input_);
      watch_peer();
    }
    next = co_await send_answer(incoming, co_await answer);
  }
  work_ = nullptr;
  co_return next;
}

Task<std::expected<void, int>> Session::read_request(Incoming& incoming) {
  auto& parser = incoming.parser;
  parser.eager(true);
  parser.header_limit(static_cast<uint32_t>(core_.spec.limits.header_bytes));
  parser.body_limit(core_.spec.limits.body_bytes);
  while (true) {
    if (made_room_) co_return std::unexpected(503);
    if (!input_.empty()) {
      if (phase_ == Phase::idle) {
        phase_ = Phase::reading;
        incomplete_since_ = core_.loop.now();
        allow(core_.spec.limits.header);
      }
      error_code error;
      size_t parsed = parser.put(asio::buffer(input_), error);
      input_.erase(0, parsed);
      if (error && error != beast::error::need_more) co_return std::unexpected(status_for(error));
      if (parser.is_header_done() && !incoming.head_checked) {
        incoming.head_checked = true;
        std::expected<void, int> checked = co_await check_head(incoming);
        if (!checked) co_return checked;
        allow(core_.spec.limits.body);
      }
      incoming.count();
      if (!make_room_for_body()) {
        incoming.drop();
        co_return std::unexpected(503);
      }
      if (parser.is_done()) co_return std::expected<void, int>();
      if (parsed > 0 && !input_.empty()) continue;
    }
    if (stop_ && phase_ == Phase::idle) co_return std::unexpected(0);
    if (!co_await read_more()) {
      if (made_room_) co_return std::unexpected(503);
      if (expired_ && phase_ == Phase::reading) co_return std::unexpected(408);
      co_return std::unexpected(0);
    }
  }
}

bool Session::make_room_for_body() {
  while (core_.all_bodies_bytes > core_.spec.limits.all_bodies_bytes) {
    Session* oldest = nullptr;
    for (Session* session : core_.sessions) {
      bool is_candidate = session != this && session->phase_ == Phase::reading && session->incoming_->counted > 0;
      if (is_candidate && (!oldest || session->incomplete_since_ < oldest->incomplete_since_)) oldest = session;
    }
    if (!oldest) return incoming_->counted == 0;
    oldest->incoming_->drop();
    oldest->made_room_ = true;
    error_code ignored;
    oldest->wire_->socket().cancel(ignored);
  }
  return true;
}

Task<std::expected<void, int>> Session::check_head(Incoming& incoming) {
  const auto& message = incoming.parser.get();
  if (message.version() >= 11 && message.count(beast::field::host) != 1) co_return std::unexpected(400);
  auto expect = message.find(beast::field::expect);
  if (expect == message.end() || message.version() < 11) co_return std::expected<void, int>();
  if (!same_name(expect->value(), "100-continue")) co_return std::unexpected(417);
  // Where the body is on its way already, nobody waits for a word.
  if (incoming.parser.is_done() || !input_.empty()) co_return std::expected<void, int>();
  if (!co_await write("HTTP/1.1 100 Continue\r\n\r\n")) co_return std::unexpected(0);
  co_return std::expected<void, int>();
}

Task<Session::Next> Session::refuse(int status) {
  if (core_.spec.refused) core_.spec.refused(status, peer_.address);
  std::string_view words = words_for(status);
  std::string out;
  Headers headers{{"Content-Type", "text/plain; charset=utf-8"}};
  if (status == 503) headers.add("Retry-After", "1");
  append_head(out, status, headers, {Framing::Kind::length, words.size()}, "close", core_.date());
  out.append(words);
  co_return co_await write(out) ? Next::close : Next::drop;
}

Task<Session::Next> Session::send_answer(const Incoming& incoming, Answer answer) {
  if (gone_ || aborted_) co_return Next::drop;
  if (answer.status < 200 || answer.status > 999) answer.status = 500;
  if (!answer.body) answer.body = body_of("");

  // A body that ends without a wait is sent with its length; the others piece by piece.
  std::string ready;
  bool whole = false;
  StartedPiece piece = StartedPiece::start(answer.body->read(), work_);
  if (piece.done()) {
    Piece first = co_await piece;
    if (!first) co_return co_await refuse(500);
    whole = !*first;
    if (!whole) {
      ready = std::move(**first);
      piece = StartedPiece::start(answer.body->read(), work_);
      whole = piece.done() && piece.value() && !*piece.value();
    }
  }

  std::optional<uint64_t> length = promised_length(answer.headers);
  // Handlers that know about HEAD may leave the body out.
  bool left_out = incoming.is_head() && whole && ready.empty();
  if (whole && !left_out) length = ready.size();
  Framing framing = framing_of(answer.status, incoming.http_1_0(), length);
  if (left_out && !length) framing.kind = Framing::Kind::none;
  bool keep = incoming.parser.get().keep_alive() && !core_.draining && framing.kind != Framing::Kind::until_close;
  std::string_view connection = !keep ? "close" : incoming.http_1_0() ? "keep-alive" : "";
  std::string out;
  out.reserve(ready.size() + 512);
  append_head(out, answer.status, answer.headers, framing, connection, core_.date());

  bool sent = false;
  if (incoming.is_head() || framing.kind == Framing::Kind::none) {
    sent = co_await write(out);
    work_->cancel();
    if (!whole) (void)co_await piece;
  } else {
    append_piece(out, framing, ready);
    sent = whole ? co_await write(out)
                 : co_await send_body(std::move(out), framing, ready.size(), *answer.body, std::move(piece));
  }
  if (!sent || gone_ || aborted_) co_return Next::drop;
  co_return keep ? Next::request : Next::close;
}

Task<bool> Session::send_body(std::string out, Framing framing, uint64_t sent, Body& body, StartedPiece piece) {
  bool has_length = framing.kind == Framing::Kind::length;
  while (true) {
    bool good = true;
    if (!piece.done() || out.size() >= kMaxTogether) {
      good = co_await write(out);
      out.clear();
      if (!good) work_->cancel();
      if (!piece.done()) watch_peer();
    }
    Piece next = co_await piece;
    if (!good || gone_ || aborted_) co_return false;
    if (!next || !*next) {
      if (next) append_end(out, framing);
      bool all = next && (!has_length || sent == framing.length);
      co_return co_await write(out) && all;
    }
    sent += (*next)->size();
    if (has_length && sent > framing.length) co_return false;
    append_piece(out, framing, **next);
    piece = StartedPiece::start(body.read(), work_);
  }
}

Task<bool> Session::write(std::string_view text) {
  if (text.empty()) co_return true;
  TimePoint before = deadline_;
  allow(core_.spec.limits.write);
  Transferred done = co_await transfer([&](Completion completion) { wire_->write(asio::buffer(text), completion); });
  deadline_ = before;
  if (done.error) gone_ = true;
  co_return !done.error;
}

Task<void> Session::finish(bool politely) {
  phase_ = Phase::closing;
  auto& socket = wire_->socket();
  error_code ignored;
  expired_ = false;
  allow(core_.spec.limits.linger);
  if (reading_) {
    socket.cancel(ignored);
    (void)co_await read_more();
  }
  if (politely && !aborted_ && !gone_) {
    // A connection closed with something unread in it is reset, and the peer might lose our last words.
    (void)co_await transfer([&](Completion completion) { wire_->shutdown(completion); });
    socket.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    piece_.resize(kPiece);
    size_t most = std::max(size_t{1} << 20, 4 * core_.spec.limits.body_bytes);
    for (size_t total = 0; total < most && !expired_ && !aborted_;) {
      Transferred rest =
          co_await transfer([&](Completion completion) { socket.async_read_some(asio::buffer(piece_), completion); });
      if (rest.error) break;
      total += rest.size;
    }
  }
  socket.close(ignored);
}

void Session::start_read() {
  reading_ = true;
  size_t size = phase_ == Phase::answering ? kPieceAhead : kPiece;
  if (piece_.size() != size) piece_ = std::string(size, '\0');
  wire_->read_some(asio::buffer(piece_), Completion{this, [](void* who, error_code error, size_t size) {
                                                      static_cast<Session*>(who)->on_read(error, size);
                                                    }});
}

// False when the connection has ended, or whatever else ends the wait.
Task<bool> Session::read_more() {
  struct Wait {
    Session& session;
    bool await_ready() noexcept { return false; }
    void await_suspend(std::coroutine_handle<> self) { session.reader_ = self; }
    void await_resume() noexcept {}
  };
  if (gone_ || aborted_ || expired_) {
    if (!reading_) co_return false;
  } else if (!reading_) {
    start_read();
  }
  size_t before = input_.size();
  co_await Wait{*this};
  co_return input_.size() > before;
}

void Session::on_read(error_code error, size_t size) {
  reading_ = false;
  input_.append(piece_, 0, size);
  // A read that we ended ourselves says nothing about the peer.
  if (error && error != asio::error::operation_aborted) gone_ = true;
  if (reader_) return std::exchange(reader_, nullptr).resume();
  if (gone_ && work_) work_->cancel();
  if (!error && phase_ == Phase::answering) watch_peer();
}

void Session::watch_peer() {
  if (gone_ && work_) work_->cancel();
  if (!reading_ && !gone_ && !aborted_ && input_.size() < kMaxAhead) start_read();
}

std::optional<TimePoint> Session::incomplete_since() const {
  if (phase_ != Phase::handshake && phase_ != Phase::reading) return std::nullopt;
  return incomplete_since_;
}

std::optional<TimePoint> Session::idle_since() const {
  if (phase_ != Phase::idle || stop_) return std::nullopt;
  return idle_since_;
}

void Session::close_if_idle() {
  error_code error;
  if (!idle_since() || !input_.empty() || wire_->socket().available(error) > 0) return;
  stop_ = true;
  wire_->socket().cancel(error);
}

void Session::allow(Duration time) {
  deadline_ = core_.loop.now() + time;
  if (timer_ && timer_->first <= deadline_) return;
  if (timer_) core_.loop.cancel_timer(*timer_);
  timer_ = core_.loop.call_at(deadline_, [this] { on_timer(); });
}

void Session::on_timer() {
  timer_.reset();
  if (deadline_ == TimePoint::max()) return;
  if (core_.loop.now() < deadline_) {
    timer_ = core_.loop.call_at(deadline_, [this] { on_timer(); });
    return;
  }
  expired_ = true;
  error_code ignored;
  wire_->socket().cancel(ignored);
}

void Session::abort() {
  aborted_ = true;
  if (work_) work_->cancel();
  error_code ignored;
  wire_->socket().close(ignored);
}

}  // namespace fairlead::http
