// For the server's tests: a server whose handler does what the path of a request says.
#pragma once

#include "http/server/blocking_client_testing.h"

namespace fairlead::http {

using namespace std::literals;

// Says its pieces; an empty one is a wait until the test lets it go on.
class SlowBody final : public Body {
 public:
  SlowBody(Signal& go_on, std::vector<std::string> pieces, std::shared_ptr<std::promise<void>> cancelled)
      : go_on_(go_on), pieces_(std::move(pieces)), cancelled_(std::move(cancelled)) {}

  Task<Result<std::optional<std::string>>> read() override {
    if (next_ == pieces_.size()) co_return std::nullopt;
    std::string piece = pieces_[next_++];
    if (piece == "!") co_return fail(ErrorKind::unavailable, "the rest is lost");
    if (!piece.empty()) co_return std::optional(piece);
    if (Result<void> waited = co_await go_on_.wait(); !waited) {
      cancelled_->set_value();
      co_return fail(std::move(waited).error());
    }
    co_return co_await read();
  }

 private:
  Signal& go_on_;
  std::vector<std::string> pieces_;
  size_t next_ = 0;
  std::shared_ptr<std::promise<void>> cancelled_;
};

inline x509::KeyPair make_ca(std::string_view name = "CA") {
  return x509::make_ca(name, 24h, RealClock().wall_now()).value();
}

inline Identity make_identity(const x509::KeyPair& ca, x509::LeafSpec spec = {.dns_names = {"localhost"}}) {
  x509::KeyPair leaf = x509::make_leaf(ca, spec, RealClock().wall_now()).value();
  return {{leaf.certificate}, leaf.key};
}

class ServerTest : public testing::Test {
 protected:
  ~ServerTest() override {
    if (!server_) return;
    thread_.run([this]() -> Task<void> {
      co_await server_->close();
      server_.reset();
    });
  }

  void serve(ServerSpec spec = {}) {
    thread_.run([&]() -> Task<void> {
      server_ = Server::listen(thread_.loop, std::move(spec), [this](Request request, const Peer& peer) {
                  return handle(std::move(request), peer);
                }).value();
      co_return;
    });
  }
  void serve_tls(ServerSpec spec = {}) {
    spec.identity = make_identity(ca_);
    serve(std::move(spec));
  }
  ClientTls trusting() const { return {.roots = {ca_.certificate}}; }

  Task<Answer> handle(Request request, const Peer& peer) {
    if (request.target == "/echo") {
      std::string text = request.method + " " + request.body;
      co_return Answer{.headers = {{"Content-Type", "text/plain"}}, .body = body_of(text)};
    }
    if (request.target == "/who") {
      std::string name = peer.certificate ? peer.certificate->subject().common_name : "nobody";
      co_return Answer{.body = body_of(name + " " + peer.address.substr(0, peer.address.find(':')))};
    }
    if (request.target == "/wait") {
      if (!co_await go_on_.wait()) cancelled_->set_value();
      co_return Answer{.body = body_of("waited")};
    }
    if (request.target == "/big") co_return Answer{.body = body_of(std::string(3 << 20, 'x'))};
    if (request.target == "/none") co_return Answer{.status = 204};
    if (request.target == "/odd") co_return Answer{.status = 42};
    if (request.target.starts_with("/stream?")) {
      Answer answer{.body = {}};
      std::vector<std::string> pieces;
      std::string rest = request.target.substr(8);
      for (size_t comma; (comma = rest.find(',')) != rest.npos; rest.erase(0, comma + 1))
        pieces.push_back(rest.substr(0, comma));
      pieces.push_back(rest);
      answer.body = std::make_unique<SlowBody>(go_on_, std::move(pieces), cancelled_);
      if (auto length = request.headers.find("X-Promise")) answer.headers.add("Content-Length", std::string(*length));
      co_return answer;
    }
    co_return Answer{.status = 404};
  }

  // Once something waits for it.
  void go_on() {
    thread_.run([this]() -> Task<void> {
      while (go_on_.waiting() == 0) (void)co_await sleep_for(thread_.loop, 1ms);
      go_on_.notify_all();
    });
  }
  void until_waiting(size_t count = 1) {
    thread_.run([this, count]() -> Task<void> {
      while (go_on_.waiting() < count) (void)co_await sleep_for(thread_.loop, 1ms);
    });
  }
  void until_connections(size_t count) {
    thread_.run([this, count]() -> Task<void> {
      while (server_->connections() != count) (void)co_await sleep_for(thread_.loop, 1ms);
    });
  }
  bool was_cancelled() { return cancelled_->get_future().wait_for(30s) == std::future_status::ready; }
  uint16_t port() const { return server_->port(); }

  x509::KeyPair ca_ = make_ca();
  LoopThread thread_;
  Signal go_on_{thread_.loop};
  std::shared_ptr<std::promise<void>> cancelled_ = std::make_shared<std::promise<void>>();
  std::unique_ptr<Server> server_;
};

inline std::string get(std::string_view target) { return fmt::format("GET {} HTTP/1.1\r\nHost: a\r\n\r\n", target); }
inline std::string post(std::string_view target, std::string_view body) {
  return fmt::format("POST {} HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{}", target, body.size(), body);
}

}  // namespace fairlead::http
