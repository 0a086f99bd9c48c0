// TLS over another stream. OpenSSL works on memory: one system call carries many records. For the rooms of http, and
// rpc.
#pragma once

#include <memory>
#include <string>

#include "http/net/stream.h"
#include "http/net/tls.h"

namespace fairlead::http {

class TlsStream final : public Stream {
 public:
  TlsStream(std::unique_ptr<Stream> under, TlsSession session);
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;
  ~TlsStream() override;

  // Before anything else. The errors are causes: of kind `untrusted` where the other side's certificate is not trusted,
  // `denied` where the other side does not take ours.
  Task<Result<void>> handshake();
  // What both sides agreed on, or "".
  std::string protocol() const;
  // What the other side has presented, the leaf first.
  std::vector<x509::Certificate> peer_chain() const;

  Task<Result<size_t>> read(char* into, size_t size) override;
  std::optional<size_t> try_read(char* into, size_t size) override;
  Task<Result<void>> write(std::string_view bytes) override;
  void shut() override { under_->shut(); }

 private:
  class Wire;

  // Decrypts what has arrived, as much as fits.
  size_t take(char* into, size_t size);
  Error failure(int outcome);
  Task<Result<void>> flush();

  std::unique_ptr<Stream> under_;
  TlsSession session_;
  std::unique_ptr<Wire> wire_;
  bool ended_ = false;
  bool flushing_ = false;
  // Why the last take() had nothing, where that was not for want of bytes.
  std::optional<Error> broken_;
};

}  // namespace fairlead::http
