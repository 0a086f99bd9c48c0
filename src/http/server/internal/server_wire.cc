#include "http/server/internal/server_wire.h"

#include <openssl/bio.h>
#include <openssl/err.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/errc.hpp>
#include <cstring>

namespace fairlead::http {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using boost::system::error_code;

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

// TLS by hand rather than by asio::ssl::stream, which keeps 68 KiB of buffers per connection also while nothing comes:
// hundreds of requests may be held at a time. Here a connection that waits has none.
class TlsWire final : public Wire {
 public:
  TlsWire(tcp::socket socket, TlsSession session) : socket_(std::move(socket)), session_(std::move(session)) {
    error_code ignored;
    socket_.non_blocking(true, ignored);
    BIO* bio = BIO_new(method());
    BIO_set_data(bio, this);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl(), bio, bio);
    SSL_set_mode(ssl(), SSL_MODE_RELEASE_BUFFERS);
  }

  void handshake(Completion done) override {
    ERR_clear_error();
    int outcome = SSL_do_handshake(ssl());
    if (outcome == 1) return flush(done);
    error_code error = why(outcome);
    // What it has to say, which may be why it fails.
    if (error) return flush({this, ends_handshake}, Then{done, error});
    flush({this, goes_on_with_handshake}, Then{done, {}});
  }

  void read_some(asio::mutable_buffer into, Completion done) override {
    if (std::optional<Taken> taken = take(into)) return post(done, taken->error, taken->size);
    await_bytes(into, done);
  }

  void write(asio::const_buffer from, Completion done) override {
    ERR_clear_error();
    size_t n = 0;
    int outcome = from.size() == 0 ? 1 : SSL_write_ex(ssl(), from.data(), from.size(), &n);
    if (outcome != 1) return post(done, why(outcome), 0);
    flush(done);
  }

  // The peer's own word is read by the session, as whatever else comes.
  void shutdown(Completion done) override {
    ERR_clear_error();
    SSL_shutdown(ssl());
    ERR_clear_error();
    flush(done);
  }

  tcp::socket& socket() override { return socket_; }
  std::optional<x509::Certificate> peer_certificate() override {
    X509* certificate = SSL_get0_peer_certificate(ssl());
    if (!certificate) return std::nullopt;
    return x509::Certificate::share(certificate);
  }

 private:
  struct Taken {
    error_code error;
    size_t size = 0;
  };
  // What the handshake does after its bytes are sent.
  struct Then {
    Completion done{};
    error_code error;
  };

  SSL* ssl() const { return session_.ssl.get(); }

  void post(Completion done, error_code error, size_t size) {
    asio::post(socket_.get_executor(), [done, error, size] { done(error, size); });
  }

  // Nothing if it is only for want of bytes.
  error_code why(int outcome) {
    switch (SSL_get_error(ssl(), outcome)) {
      case SSL_ERROR_WANT_READ: return {};
      case SSL_ERROR_ZERO_RETURN: return asio::error::eof;
      default: ERR_clear_error(); return boost::system::errc::make_error_code(boost::system::errc::protocol_error);
    }
  }

  // Decrypts what is there; nothing if more bytes are needed.
  std::optional<Taken> take(asio::mutable_buffer into) {
    ERR_clear_error();
    size_t n = 0;
    int outcome = SSL_read_ex(ssl(), into.data(), into.size(), &n);
    if (outcome == 1) return Taken{.error = {}, .size = n};
    if (error_code error = why(outcome)) return Taken{.error = error};
    return std::nullopt;
  }

  // Waits without a buffer, and then takes what has come.
  void await_bytes(asio::mutable_buffer into, Completion done) {
    socket_.async_wait(tcp::socket::wait_read, [this, into, done](error_code error) {
      if (!error) error = receive();
      if (error) return done(error, 0);
      std::optional<Taken> taken = take(into);
      if (taken) return done(taken->error, taken->size);
      await_bytes(into, done);
    });
  }

  void go_on_with_handshake(Completion done) {
    socket_.async_wait(tcp::socket::wait_read, [this, done](error_code error) {
      if (!error) error = receive();
      if (error) return done(error, 0);
      handshake(done);
    });
  }
  static void goes_on_with_handshake(void* who, error_code error, size_t) {
    auto* self = static_cast<TlsWire*>(who);
    if (error) return self->then_.done(error, 0);
    self->go_on_with_handshake(self->then_.done);
  }
  static void ends_handshake(void* who, error_code, size_t) {
    auto* self = static_cast<TlsWire*>(who);
    self->then_.done(self->then_.error, 0);
  }

  // What has come, as far as it fits into a buffer that all connections of the thread share.
  error_code receive() {
    static thread_local std::array<char, size_t{64} << 10> buffer;
    error_code error;
    size_t n = socket_.read_some(asio::buffer(buffer), error);
    if (error == asio::error::would_block || error == asio::error::try_again) return {};
    incoming_.append(buffer.data(), n);
    return error;
  }

  void flush(Completion done, Then then) {
    then_ = then;
    flush(done);
  }
  void flush(Completion done) {
    sending_ = std::exchange(outgoing_, {});
    if (sending_.empty()) return post(done, {}, 0);
    asio::async_write(socket_, asio::buffer(sending_), [this, done](error_code error, size_t) {
      std::string().swap(sending_);
      done(error, 0);
    });
  }

  static TlsWire& of(BIO* bio) { return *static_cast<TlsWire*>(BIO_get_data(bio)); }
  static int read_bio(BIO* bio, char* into, int size) {
    TlsWire& wire = of(bio);
    BIO_clear_retry_flags(bio);
    size_t n = std::min(wire.incoming_.size() - wire.begin_, static_cast<size_t>(size));
    if (n == 0) {
      BIO_set_retry_read(bio);
      return -1;
    }
    std::memcpy(into, wire.incoming_.data() + wire.begin_, n);
    wire.begin_ += n;
    if (wire.begin_ == wire.incoming_.size()) {
      std::string().swap(wire.incoming_);
      wire.begin_ = 0;
    }
    return static_cast<int>(n);
  }
  static int write_bio(BIO* bio, const char* bytes, int size) {
    BIO_clear_retry_flags(bio);
    of(bio).outgoing_.append(bytes, static_cast<size_t>(size));
    return size;
  }
  static long control_bio(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }
  static BIO_METHOD* method() {
    static const std::unique_ptr<BIO_METHOD, void (*)(BIO_METHOD*)> made = [] {
      BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "server wire");
      BIO_meth_set_read(method, read_bio);
      BIO_meth_set_write(method, write_bio);
      BIO_meth_set_ctrl(method, control_bio);
      return std::unique_ptr<BIO_METHOD, void (*)(BIO_METHOD*)>(method, BIO_meth_free);
    }();
    return made.get();
  }

  tcp::socket socket_;
  TlsSession session_;
  // What came and is not decrypted yet, from `begin_` on.
  std::string incoming_;
  size_t begin_ = 0;
  // What is encrypted, and what of it is on its way.
  std::string outgoing_;
  std::string sending_;
  Then then_;
};

// Where TLS cannot even begin.
class BrokenWire final : public Wire {
 public:
  explicit BrokenWire(tcp::socket socket) : socket_(std::move(socket)) {}
  void handshake(Completion done) override { fail(done); }
  void read_some(asio::mutable_buffer, Completion done) override { fail(done); }
  void write(asio::const_buffer, Completion done) override { fail(done); }
  void shutdown(Completion done) override { fail(done); }
  tcp::socket& socket() override { return socket_; }
  std::optional<x509::Certificate> peer_certificate() override { return std::nullopt; }

 private:
  void fail(Completion done) {
    asio::post(socket_.get_executor(), [done] { done(asio::error::no_memory, 0); });
  }
  tcp::socket socket_;
};

}  // namespace

std::unique_ptr<Wire> make_plain_wire(tcp::socket socket) { return std::make_unique<PlainWire>(std::move(socket)); }

std::unique_ptr<Wire> make_tls_wire(tcp::socket socket, std::shared_ptr<TlsContext> tls) {
  Result<TlsSession> session = server_session(std::move(tls));
  if (!session) return std::make_unique<BrokenWire>(std::move(socket));
  return std::make_unique<TlsWire>(std::move(socket), *std::move(session));
}

}  // namespace fairlead::http
