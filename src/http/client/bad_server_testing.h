// Servers for tests, in the same process and on the same loop, that can be as bad as a test wants.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "async/real_loop.h"
#include "async/scope.h"
#include "http/message.h"
#include "http/net/stream.h"
#include "x509/x509.h"

struct nghttp2_session;
struct ssl_ctx_st;

namespace fairlead::http {

// Accepts connections on a port of 127.0.0.1, and has each served by `serve`.
class TestServer {
 public:
  struct Tls {
    x509::LeafSpec leaf = {.dns_names = {"localhost"}, .ip_addresses = {"127.0.0.1"}};
    WallTime made_at = RealClock().wall_now();
    std::string alpn = "h2";  // "": none
    bool wants_client_certificate = false;
  };
  using Serve = std::function<Task<void>(std::unique_ptr<Stream>)>;

  TestServer(RealLoop& loop, std::optional<Tls> tls, Serve serve);
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  // "https://127.0.0.1:PORT"
  std::string url() const;
  uint16_t port() const;
  std::string ca_pem() const;
  const x509::KeyPair& ca() const;
  int accepted() const { return accepted_; }
  // The common names of the client certificates that were shown, in order; "" for none.
  const std::vector<std::string>& clients() const { return clients_; }

  // No further connections from here on: they are refused.
  void stop_listening();
  // Ends everything. To be awaited before it is destroyed.
  Task<void> close();

 private:
  struct Impl;
  Task<void> accept();
  Task<void> serve_one(std::unique_ptr<Stream> stream);

  RealLoop& loop_;
  std::optional<Tls> tls_;
  Serve serve_;
  std::unique_ptr<Impl> impl_;
  Scope scope_;
  int accepted_ = 0;
  std::vector<std::string> clients_;
};

struct PeerRequest {
  int32_t stream = 0;
  std::string method;
  std::string path;
  std::string authority;
  Headers headers;
  std::string body;
};

// The server's side of an HTTP/2 connection.
class H2Peer {
 public:
  struct Options {
    uint32_t max_streams = 100;
    uint32_t window = 65535;
  };
  // Called when a request has arrived as a whole.
  using OnRequest = std::function<void(H2Peer&, const PeerRequest&)>;

  H2Peer(RealLoop& loop, std::unique_ptr<Stream> stream, Options options, OnRequest on_request);
  ~H2Peer();
  H2Peer(const H2Peer&) = delete;
  H2Peer& operator=(const H2Peer&) = delete;

  Task<void> run();

  void answer(int32_t stream, int status, std::string body, Headers headers = {}, Headers trailers = {});
  // In pieces: begin, more and more, finish.
  void begin(int32_t stream, int status);
  void more(int32_t stream, std::string piece);
  void finish(int32_t stream);
  // A provisional answer, before the real one.
  void inform(int32_t stream, int status);

  void reset(int32_t stream, uint32_t code);
  // Says that nothing above that stream was or will be processed.
  void go_away(int32_t last_stream);
  // Closes the socket.
  void cut();

  // What the client has done.
  size_t open_streams() const { return open_; }
  size_t most_open_streams() const { return most_open_; }
  size_t sent_of_body(int32_t stream) const;
  std::map<int32_t, uint32_t> resets;  // stream to code
  int pings = 0;
  int reads = 0;
  // Something happened that one of these shows.
  Signal changed;
  // Does nothing with what arrives any more.
  bool deaf = false;

 private:
  struct Callbacks;
  struct Outgoing {
    std::string body;
    size_t sent = 0;
    bool finished = false;
    Headers trailers;
  };

  Task<void> write();

  RealLoop& loop_;
  std::unique_ptr<Stream> stream_;
  OnRequest on_request_;
  nghttp2_session* session_ = nullptr;
  std::map<int32_t, PeerRequest> requests_;
  std::map<int32_t, Outgoing> outgoing_;
  Signal output_;
  size_t open_ = 0;
  size_t most_open_ = 0;
  bool over_ = false;
};

// A server of that kind for each connection; the peers can be found in the order in which their connections came.
class H2TestServer {
 public:
  H2TestServer(RealLoop& loop, H2Peer::OnRequest on_request, H2Peer::Options options = {},
               std::optional<TestServer::Tls> tls = TestServer::Tls());

  TestServer& server() { return server_; }
  H2Peer& peer(size_t i) { return *peers_[i]; }
  size_t peers() const { return peers_.size(); }

 private:
  std::vector<std::unique_ptr<H2Peer>> peers_;
  TestServer server_;
};

}  // namespace fairlead::http
