#include "http/net/tls_stream.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <cstring>

namespace fairlead::http {
namespace {

constexpr size_t kReadSize = size_t{64} << 10;

// Why the other side ended the connection, if it was over our certificate.
bool is_about_our_certificate(int reason) {
  switch (reason - SSL_AD_REASON_OFFSET) {
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_REVOKED:
    case SSL_AD_CERTIFICATE_EXPIRED:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_UNKNOWN_CA:
    case SSL_AD_ACCESS_DENIED:
    case SSL_AD_CERTIFICATE_REQUIRED: return true;
    default: return false;
  }
}

}  // namespace

// The two ends of OpenSSL's side of the wire, as a BIO: what came from below, and what is to go there.
class TlsStream::Wire {
 public:
  Wire() : incoming_(kReadSize, '\0') {}

  char* room() { return incoming_.data(); }
  void arrived(size_t size) {
    begin_ = 0;
    end_ = size;
  }
  std::string& outgoing() { return outgoing_; }

  BIO* make_bio() {
    BIO* bio = BIO_new(method());
    BIO_set_data(bio, this);
    BIO_set_init(bio, 1);
    return bio;
  }

 private:
  static Wire& of(BIO* bio) { return *static_cast<Wire*>(BIO_get_data(bio)); }

  static int read(BIO* bio, char* into, int size) {
    Wire& wire = of(bio);
    BIO_clear_retry_flags(bio);
    size_t n = std::min(wire.end_ - wire.begin_, static_cast<size_t>(size));
    if (n == 0) {
      BIO_set_retry_read(bio);
      return -1;
    }
    std::memcpy(into, wire.incoming_.data() + wire.begin_, n);
    wire.begin_ += n;
    return static_cast<int>(n);
  }

  static int write(BIO* bio, const char* bytes, int size) {
    BIO_clear_retry_flags(bio);
    of(bio).outgoing_.append(bytes, static_cast<size_t>(size));
    return size;
  }

  static long control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

  static BIO_METHOD* method() {
    static const std::unique_ptr<BIO_METHOD, void (*)(BIO_METHOD*)> made = [] {
      BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "wire");
      BIO_meth_set_read(method, read);
      BIO_meth_set_write(method, write);
      BIO_meth_set_ctrl(method, control);
      return std::unique_ptr<BIO_METHOD, void (*)(BIO_METHOD*)>(method, BIO_meth_free);
    }();
    return made.get();
  }

  std::string incoming_;
  size_t begin_ = 0;
  size_t end_ = 0;
  std::string outgoing_;
};

TlsStream::TlsStream(std::unique_ptr<Stream> under, TlsSession session)
    : under_(std::move(under)), session_(std::move(session)), wire_(std::make_unique<Wire>()) {
  BIO* bio = wire_->make_bio();
  SSL_set_bio(session_.ssl.get(), bio, bio);
}

TlsStream::~TlsStream() = default;

Error TlsStream::failure(int outcome) {
  if (session_.verification && session_.verification->error) return *session_.verification->error;
  unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0 && SSL_get_error(session_.ssl.get(), outcome) == SSL_ERROR_ZERO_RETURN)
    return Error(ErrorKind::unavailable, "the other side closed the connection");
  int reason = ERR_GET_REASON(code);
  const char* words = code == 0 ? nullptr : ERR_reason_error_string(code);
  if (ERR_GET_LIB(code) == ERR_LIB_SSL) {
    if (is_about_our_certificate(reason))
      return Error(ErrorKind::denied, "it does not accept the client certificate")
          .because(words ? words : "no reason given");
    if (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST)
      return Error(ErrorKind::protocol, "it does not speak TLS");
  }
  return Error(ErrorKind::protocol, words ? words : "broken TLS");
}

Task<Result<void>> TlsStream::flush() {
  // Whoever flushes already takes along what has been added.
  if (flushing_) co_return Result<void>();
  flushing_ = true;
  Result<void> result;
  while (result && !wire_->outgoing().empty()) {
    std::string bytes = std::exchange(wire_->outgoing(), {});
    result = co_await under_->write(bytes);
    if (wire_->outgoing().empty()) {
      // Keeps the memory for the next time, unless it has become much.
      bytes.clear();
      if (bytes.capacity() <= 4 * kReadSize) wire_->outgoing().swap(bytes);
    }
  }
  flushing_ = false;
  co_return result;
}

Task<Result<void>> TlsStream::handshake() {
  while (true) {
    ERR_clear_error();
    int outcome = SSL_do_handshake(session_.ssl.get());
    if (outcome == 1) co_return co_await flush();
    int why = SSL_get_error(session_.ssl.get(), outcome);
    if (why != SSL_ERROR_WANT_READ) {
      Error error = failure(outcome);
      // The alert that says why; that it arrives matters less than the error itself.
      (void)co_await flush();
      co_return fail(std::move(error));
    }
    CO_TRY(co_await flush());
    CO_TRY_ASSIGN(size_t n, co_await under_->read(wire_->room(), kReadSize));
    if (n == 0) co_return fail(ErrorKind::unavailable, "the connection was closed during the TLS handshake");
    wire_->arrived(n);
  }
}

std::string TlsStream::protocol() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(session_.ssl.get(), &name, &size);
  return std::string(reinterpret_cast<const char*>(name), size);
}

std::vector<x509::Certificate> TlsStream::peer_chain() const {
  std::vector<x509::Certificate> chain;
  STACK_OF(X509)* sent = SSL_get_peer_cert_chain(session_.ssl.get());
  for (int i = 0; i < sk_X509_num(sent); ++i) chain.push_back(x509::Certificate::share(sk_X509_value(sent, i)));
  return chain;
}

size_t TlsStream::take(char* into, size_t size) {
  size_t total = 0;
  while (total < size && !ended_ && !broken_) {
    ERR_clear_error();
    size_t n = 0;
    int outcome = SSL_read_ex(session_.ssl.get(), into + total, size - total, &n);
    if (outcome == 1) {
      total += n;
      continue;
    }
    int why = SSL_get_error(session_.ssl.get(), outcome);
    if (why == SSL_ERROR_WANT_READ) break;
    if (why == SSL_ERROR_ZERO_RETURN) {
      ended_ = true;
    } else {
      broken_ = failure(outcome);
    }
  }
  return total;
}

Task<Result<size_t>> TlsStream::read(char* into, size_t size) {
  while (true) {
    if (size_t n = take(into, size); n > 0) co_return n;
    if (broken_) co_return fail(*broken_);
    if (ended_) co_return size_t{0};
    // Reading may have things to say, such as an answer to new keys.
    if (!wire_->outgoing().empty()) CO_TRY(co_await flush());
    CO_TRY_ASSIGN(size_t n, co_await under_->read(wire_->room(), kReadSize));
    if (n == 0) ended_ = true;
    wire_->arrived(n);
  }
}

std::optional<size_t> TlsStream::try_read(char* into, size_t size) {
  while (true) {
    if (size_t n = take(into, size); n > 0) return n;
    if (broken_ || ended_) return 0;
    std::optional<size_t> n = under_->try_read(wire_->room(), kReadSize);
    if (!n) return std::nullopt;
    if (*n == 0) ended_ = true;
    wire_->arrived(*n);
  }
}

Task<Result<void>> TlsStream::write(std::string_view bytes) {
  while (!bytes.empty()) {
    ERR_clear_error();
    size_t n = 0;
    int outcome = SSL_write_ex(session_.ssl.get(), bytes.data(), bytes.size(), &n);
    if (outcome != 1) co_return fail(failure(outcome));
    bytes.remove_prefix(n);
  }
  co_return co_await flush();
}

}  // namespace fairlead::http
