#include "http/net/peer.h"

#include "async/real_loop.h"
#include "async/scope.h"
#include "http/net/tcp_stream.h"
#include "http/net/tls_stream.h"

namespace fairlead::http {

Task<Result<std::vector<x509::Certificate>>> read_peer_chain(RealLoop& loop, std::string host, uint16_t port,
                                                             std::string server_name, Duration timeout) {
  TlsOptions options;
  options.insecure_skip_verify = true;
  CO_TRY_ASSIGN(std::shared_ptr<const ClientTlsContext> context, ClientTlsContext::make(options, {"http/1.1"}));
  CO_TRY_ASSIGN(TlsSession session, context->session(server_name));
  TimePoint end = loop.now() + timeout;
  CO_TRY_ASSIGN(std::unique_ptr<Stream> tcp, co_await connect_tcp(loop, std::move(host), port, timeout));
  TlsStream stream(std::move(tcp), std::move(session));
  CO_TRY(co_await with_deadline(loop, end, "no answer to the TLS handshake", stream.handshake()));
  co_return stream.peer_chain();
}

}  // namespace fairlead::http
