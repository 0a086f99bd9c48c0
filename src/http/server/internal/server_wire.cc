#include "http/server/internal/server_wire.h"

#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

namespace fairlead::http {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

class PlainWire final : public Wire {
 public:
  explicit PlainWire(tcp::socket socket) : socket_(std::move(socket)) {}

  void handshake(Completion done) override {
    asio::post(socket_.get_executor(), [done] { done({}); });
  }
  void read_some(asio::mutable_buffer into, Completion done) override { socket_.async_read_some(into, done); }
  void write(asio::const_buffer from, Completion done) override { asio::async_write(socket_, from, done); }
  void shutdown(Completion done) override {
    asio::post(socket_.get_executor(), [done] { done({}); });
  }
  tcp::socket& socket() override { return socket_; }
  std::optional<x509::Certificate> peer_certificate() override { return std::nullopt; }

 private:
  tcp::socket socket_;
};

// Asio wants a context of its own type; ours is shared with it for the moment in which the stream is made.
asio::ssl::context asio_context(SSL_CTX* context) {
  SSL_CTX_up_ref(context);
  return asio::ssl::context(context);
}

class TlsWire final : public Wire {
 public:
  TlsWire(tcp::socket socket, std::shared_ptr<TlsContext> tls)
      : tls_(std::move(tls)), context_(asio_context(tls_->context.get())), stream_(std::move(socket), context_) {}

  void handshake(Completion done) override { stream_.async_handshake(asio::ssl::stream_base::server, done); }
  void read_some(asio::mutable_buffer into, Completion done) override { stream_.async_read_some(into, done); }
  void write(asio::const_buffer from, Completion done) override { asio::async_write(stream_, from, done); }
  void shutdown(Completion done) override { stream_.async_shutdown(done); }
  tcp::socket& socket() override { return stream_.next_layer(); }
  std::optional<x509::Certificate> peer_certificate() override {
    X509* certificate = SSL_get0_peer_certificate(stream_.native_handle());
    if (!certificate) return std::nullopt;
    return x509::Certificate::share(certificate);
  }

 private:
  std::shared_ptr<TlsContext> tls_;
  asio::ssl::context context_;
  asio::ssl::stream<tcp::socket> stream_;
};

}  // namespace

std::unique_ptr<Wire> make_plain_wire(tcp::socket socket) { return std::make_unique<PlainWire>(std::move(socket)); }

std::unique_ptr<Wire> make_tls_wire(tcp::socket socket, std::shared_ptr<TlsContext> tls) {
  return std::make_unique<TlsWire>(std::move(socket), std::move(tls));
}

}  // namespace fairlead::http
