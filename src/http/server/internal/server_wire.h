// The bytes of one connection, with TLS or without: what a session reads from and writes to.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <coroutine>
#include <memory>
#include <optional>

#include "http/net/server_tls.h"
#include "x509/x509.h"

namespace fairlead::http {

// Called once, from the loop, never from within the call that started the operation. Small and plain, so that Asio's
// operations are compiled once for a wire and not once for every use.
struct Completion {
  void* who;
  void (*call)(void* who, boost::system::error_code error, size_t size);
  void operator()(boost::system::error_code error, size_t size = 0) const { call(who, error, size); }
};

class Wire {
 public:
  virtual ~Wire() = default;
  // One of these at a time, except that a read and a write may run side by side.
  virtual void handshake(Completion done) = 0;
  virtual void read_some(boost::asio::mutable_buffer into, Completion done) = 0;
  virtual void write(boost::asio::const_buffer from, Completion done) = 0;
  // Says that nothing more will come.
  virtual void shutdown(Completion done) = 0;

  virtual boost::asio::ip::tcp::socket& socket() = 0;
  virtual std::optional<x509::Certificate> peer_certificate() = 0;
};

std::unique_ptr<Wire> make_plain_wire(boost::asio::ip::tcp::socket socket);
std::unique_ptr<Wire> make_tls_wire(boost::asio::ip::tcp::socket socket, std::shared_ptr<TlsContext> tls);

struct Transferred {
  boost::system::error_code error;
  size_t size = 0;
};

// `Transferred done = co_await transfer([&](Completion done) { wire.write(buffer, done); });`
template <class Start>
class Transfer {
 public:
  explicit Transfer(Start start) : start_(std::move(start)) {}
  bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> self) {
    self_ = self;
    start_(Completion{this, [](void* who, boost::system::error_code error, size_t size) {
                        auto* transfer = static_cast<Transfer*>(who);
                        transfer->result_ = {error, size};
                        transfer->self_.resume();
                      }});
  }
  Transferred await_resume() { return result_; }

 private:
  Start start_;
  std::coroutine_handle<> self_;
  Transferred result_;
};

template <class Start>
Transfer<Start> transfer(Start start) {
  return Transfer<Start>(std::move(start));
}

}  // namespace fairlead::http
