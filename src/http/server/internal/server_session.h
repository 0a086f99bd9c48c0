// One connection of the server: reads requests, has them answered, writes the answers, one after another.
//
// A single timer watches over whatever the session waits for at the moment, and is moved lazily: setting it again for
// every request would cost more than the request. While a handler or a body waits, the session reads ahead, and so
// learns that the peer has gone.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <string>

#include "async/cancel.h"
#include "async/signal.h"
#include "http/server/internal/server_answer.h"
#include "http/server/internal/server_started.h"
#include "http/server/internal/server_wire.h"
#include "http/server/server.h"

namespace fairlead::http {

class Session;

// What the sessions of one loop share.
struct ServerCore {
  ServerCore(RealLoop& on, ServerSpec with, Server::Handler handle)
      : loop(on), spec(std::move(with)), handler(std::move(handle)), session_changed(on) {}

  RealLoop& loop;
  ServerSpec spec;
  Server::Handler handler;
  // Set by the server's own loop. Answers ask the peer to go elsewhere.
  std::atomic<bool> draining = false;
  // No new connections.
  std::atomic<bool> stopped = false;
  size_t all_bodies_bytes = 0;
  std::list<Session*> sessions;
  // A session has ended, or become idle.
  Signal session_changed;

  std::string_view date();

 private:
  int64_t date_second_ = -1;
  std::string date_text_;
};

class Session {
 public:
  Session(ServerCore& core, std::unique_ptr<Wire> wire, std::string peer_address);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // To the end of the connection. Cancelling it ends it at once, with whatever it is at.
  Task<void> run();

  // Since when it has waited for a request of which no byte has come; nothing if it does something else.
  std::optional<TimePoint> idle_since() const;
  // Since when it has waited for the rest of a handshake or a request; nothing if it does something else.
  std::optional<TimePoint> incomplete_since() const;
  bool request_in_flight() const { return phase_ == Phase::answering || phase_ == Phase::reading; }
  // Closes an idle connection, unless a request is on its way already.
  void close_if_idle();
  // Ends the connection at once, with whatever it is at.
  void abort();

 private:
  enum class Phase { handshake, idle, reading, answering, closing };
  // What becomes of the connection after a request.
  enum class Next { request, close, drop };
  struct Incoming;
  using Piece = Result<std::optional<std::string>>;
  using StartedPiece = Started<Piece>;

  Task<bool> handshake();
  Task<Next> serve_one();
  // An error: the status to refuse the request with, or 0 to say nothing.
  Task<std::expected<void, int>> read_request(Incoming& incoming);
  Task<std::expected<void, int>> check_head(Incoming& incoming);
  // Has others drop their bodies where all of them are too large together. False if this one has to.
  bool make_room_for_body();
  Task<Next> refuse(int status);
  Task<Next> send_answer(const Incoming& incoming, Answer answer);
  // `out` is what goes out first, `sent` what it has of the body, `piece` what comes next. Whether all of it was sent.
  Task<bool> send_body(std::string out, Framing framing, uint64_t sent, Body& body, StartedPiece piece);
  Task<bool> write(std::string_view text);
  Task<void> finish(bool politely);

  // Reading. At most one read is under way; it may outlast what it was started for.
  void start_read();
  Task<bool> read_more();
  void on_read(boost::system::error_code error, size_t size);
  void watch_peer();

  void allow(Duration time);
  void allow_any_time() { deadline_ = TimePoint::max(); }
  void on_timer();

  ServerCore& core_;
  std::unique_ptr<Wire> wire_;
  Peer peer_;
  std::list<Session*>::iterator place_;

  Phase phase_ = Phase::handshake;
  TimePoint idle_since_{};
  TimePoint incomplete_since_{};
  // The request at hand.
  Incoming* incoming_ = nullptr;
  bool made_room_ = false;  // its body was dropped for another one's
  bool stop_ = false;       // asked to close while idle
  bool aborted_ = false;    // the server ends
  bool gone_ = false;       // the peer has gone
  bool expired_ = false;    // the time allowed is over

  std::string input_;  // what was read and not parsed yet
  std::string piece_;  // where reads go
  bool reading_ = false;
  std::coroutine_handle<> reader_;

  // Governs the handler of the request at hand and the body of its answer.
  CancelSource* work_ = nullptr;

  TimePoint deadline_ = TimePoint::max();
  std::optional<Loop::TimerId> timer_;
};

}  // namespace fairlead::http
