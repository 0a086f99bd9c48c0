#include "http/client/bad_server_testing.h"

#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>

#include <boost/asio/ip/tcp.hpp>
#include <cstring>

#include "http/net/tcp_stream.h"
#include "http/net/tls_stream.h"

namespace fairlead::http {

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace std::chrono_literals;

struct TestServer::Impl {
  tcp::acceptor acceptor;
  x509::KeyPair ca;
  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context;
  uint16_t port;
};

namespace {

int select_alpn(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* in, unsigned in_size,
                void* wanted) {
  const auto& protocol = *static_cast<std::string*>(wanted);
  for (unsigned i = 0; i < in_size; i += 1u + in[i]) {
    if (std::string_view(reinterpret_cast<const char*>(in + i + 1), in[i]) != protocol) continue;
    *out = in + i + 1;
    *out_size = in[i];
    return SSL_TLSEXT_ERR_OK;
  }
  return SSL_TLSEXT_ERR_NOACK;
}

nghttp2_nv nv(std::string_view name, std::string_view value) {
  auto bytes = [](std::string_view text) { return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data())); };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

std::vector<nghttp2_nv> fields_of(const Headers& headers) {
  std::vector<nghttp2_nv> fields;
  for (const auto& [name, value] : headers) fields.push_back(nv(name, value));
  return fields;
}

}  // namespace

TestServer::TestServer(RealLoop& loop, std::optional<Tls> tls, Serve serve)
    : loop_(loop), tls_(std::move(tls)), serve_(std::move(serve)), scope_(loop, nullptr) {
  WallTime made_at = tls_ ? tls_->made_at : RealClock().wall_now();
  impl_ = std::make_unique<Impl>(Impl{.acceptor = tcp::acceptor(loop.io(), {asio::ip::make_address("127.0.0.1"), 0}),
                                      .ca = x509::make_ca("test authority", 24h * 365, made_at).value(),
                                      .context = {nullptr, SSL_CTX_free},
                                      .port = 0});
  impl_->port = impl_->acceptor.local_endpoint().port();
  if (tls_) {
    x509::KeyPair leaf = x509::make_leaf(impl_->ca, tls_->leaf, made_at).value();
    impl_->context.reset(SSL_CTX_new(TLS_server_method()));
    SSL_CTX* context = impl_->context.get();
    SSL_CTX_use_certificate(context, leaf.certificate.handle());
    SSL_CTX_use_PrivateKey(context, leaf.key.handle());
    if (!tls_->alpn.empty()) SSL_CTX_set_alpn_select_cb(context, select_alpn, &tls_->alpn);
    if (tls_->wants_client_certificate) {
      SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
      X509_STORE_add_cert(SSL_CTX_get_cert_store(context), impl_->ca.certificate.handle());
    }
  }
  scope_.spawn(accept());
}

TestServer::~TestServer() = default;

std::string TestServer::url() const { return fmt::format("{}://127.0.0.1:{}", tls_ ? "https" : "http", impl_->port); }
uint16_t TestServer::port() const { return impl_->port; }
std::string TestServer::ca_pem() const { return impl_->ca.certificate.to_pem(); }
const x509::KeyPair& TestServer::ca() const { return impl_->ca; }

void TestServer::stop_listening() {
  boost::system::error_code ignored;
  impl_->acceptor.close(ignored);
}

Task<void> TestServer::close() {
  stop_listening();
  scope_.cancel();
  co_await scope_.join();
}

Task<void> TestServer::accept() {
  while (impl_->acceptor.is_open()) {
    tcp::socket socket(loop_.io());
    auto code = co_await await_callback<boost::system::error_code>(
        [&](auto finish) { impl_->acceptor.async_accept(socket, [finish](auto done) mutable { finish(done); }); },
        [&] { stop_listening(); });
    if (code) continue;
    ++accepted_;
    scope_.spawn(serve_one(adopt_socket(loop_, socket.release())));
  }
}

Task<void> TestServer::serve_one(std::unique_ptr<Stream> stream) {
  if (!tls_) co_return co_await serve_(std::move(stream));
  TlsSession session{.context = {}, .verification = {}, .ssl = {SSL_new(impl_->context.get()), SSL_free}};
  SSL* ssl = session.ssl.get();
  SSL_set_accept_state(ssl);
  auto tls = std::make_unique<TlsStream>(std::move(stream), std::move(session));
  if (!co_await tls->handshake()) co_return;
  if (tls_->wants_client_certificate) {
    X509* shown = SSL_get0_peer_certificate(ssl);
    clients_.push_back(shown ? x509::Certificate::share(shown).subject().common_name : "");
  }
  co_await serve_(std::move(tls));
}

struct H2Peer::Callbacks {
  static H2Peer& of(void* self) { return *static_cast<H2Peer*>(self); }

  static int begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* self) {
    H2Peer& peer = of(self);
    peer.requests_[frame->hd.stream_id].stream = frame->hd.stream_id;
    peer.most_open_ = std::max(peer.most_open_, ++peer.open_);
    return 0;
  }
  static int header(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
                    const uint8_t* value, size_t value_size, uint8_t, void* self) {
    PeerRequest& request = of(self).requests_[frame->hd.stream_id];
    std::string key(reinterpret_cast<const char*>(name), name_size);
    std::string text(reinterpret_cast<const char*>(value), value_size);
    if (key == ":method") {
      request.method = text;
    } else if (key == ":path") {
      request.path = text;
    } else if (key == ":authority") {
      request.authority = text;
    } else if (key != ":scheme") {
      request.headers.add(key, text);
    }
    return 0;
  }
  static int data(nghttp2_session*, uint8_t, int32_t id, const uint8_t* bytes, size_t size, void* self) {
    of(self).requests_[id].body.append(reinterpret_cast<const char*>(bytes), size);
    return 0;
  }
  static int frame_received(nghttp2_session*, const nghttp2_frame* frame, void* self) {
    H2Peer& peer = of(self);
    if (frame->hd.type == NGHTTP2_PING && !(frame->hd.flags & NGHTTP2_FLAG_ACK)) ++peer.pings;
    if (frame->hd.type == NGHTTP2_RST_STREAM) peer.resets[frame->hd.stream_id] = frame->rst_stream.error_code;
    bool ends = (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
                (frame->hd.flags & NGHTTP2_FLAG_END_STREAM);
    if (!ends) return 0;
    auto request = peer.requests_.extract(frame->hd.stream_id);
    if (request) peer.on_request_(peer, request.mapped());
    return 0;
  }
  static int closed(nghttp2_session*, int32_t, uint32_t, void* self) {
    --of(self).open_;
    return 0;
  }
  static ssize_t read_body(nghttp2_session* session, int32_t id, uint8_t* into, size_t size, uint32_t* flags,
                           nghttp2_data_source*, void* self) {
    Outgoing& outgoing = of(self).outgoing_[id];
    size_t n = std::min(size, outgoing.body.size() - outgoing.sent);
    if (n == 0 && !outgoing.finished) return NGHTTP2_ERR_DEFERRED;
    std::memcpy(into, outgoing.body.data() + outgoing.sent, n);
    outgoing.sent += n;
    if (outgoing.finished && outgoing.sent == outgoing.body.size()) {
      *flags |= NGHTTP2_DATA_FLAG_EOF;
      if (outgoing.trailers.size() > 0) {
        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        auto fields = fields_of(outgoing.trailers);
        nghttp2_submit_trailer(session, id, fields.data(), fields.size());
      }
    }
    return static_cast<ssize_t>(n);
  }
};

H2Peer::H2Peer(RealLoop& loop, std::unique_ptr<Stream> stream, Options options, OnRequest on_request)
    : changed(loop), loop_(loop), stream_(std::move(stream)), on_request_(std::move(on_request)), output_(loop) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, Callbacks::begin_headers);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Callbacks::header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Callbacks::data);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Callbacks::frame_received);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Callbacks::closed);
  nghttp2_session_server_new(&session_, callbacks, this);
  nghttp2_session_callbacks_del(callbacks);
  const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, options.max_streams},
                                             {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, options.window}};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, 2);
}

H2Peer::~H2Peer() { nghttp2_session_del(session_); }

Task<void> H2Peer::run() {
  Scope scope(loop_, co_await current_cancel());
  scope.spawn(write());
  std::string buffer(65536, '\0');
  while (!over_) {
    auto n = co_await stream_->read(buffer.data(), buffer.size());
    if (!n || *n == 0) break;
    ++reads;
    if (!deaf) nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(buffer.data()), *n);
    output_.notify_all();
    changed.notify_all();
  }
  cut();
  changed.notify_all();
  scope.cancel();
  co_await scope.join();
}

Task<void> H2Peer::write() {
  while (!over_) {
    std::string output;
    const uint8_t* bytes = nullptr;
    ssize_t n = 0;
    while (!deaf && (n = nghttp2_session_mem_send(session_, &bytes)) > 0)
      output.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(n));
    if (!output.empty()) {
      if (!co_await stream_->write(output)) break;
      continue;
    }
    changed.notify_all();
    if (!co_await output_.wait()) break;
  }
}

void H2Peer::answer(int32_t stream, int status, std::string body, Headers headers, Headers trailers) {
  Headers all{{":status", std::to_string(status)}};
  for (const auto& [name, value] : headers) all.add(name, value);
  auto fields = fields_of(all);
  bool has_body = !body.empty() || trailers.size() > 0;
  outgoing_[stream] = {.body = std::move(body), .finished = true, .trailers = std::move(trailers)};
  nghttp2_data_provider provider{.source = {}, .read_callback = Callbacks::read_body};
  nghttp2_submit_response(session_, stream, fields.data(), fields.size(), has_body ? &provider : nullptr);
  output_.notify_all();
}

void H2Peer::begin(int32_t stream, int status) {
  std::string text = std::to_string(status);
  nghttp2_nv field = nv(":status", text);
  outgoing_[stream] = {};
  nghttp2_data_provider provider{.source = {}, .read_callback = Callbacks::read_body};
  nghttp2_submit_response(session_, stream, &field, 1, &provider);
  output_.notify_all();
}

void H2Peer::more(int32_t stream, std::string piece) {
  outgoing_[stream].body += piece;
  nghttp2_session_resume_data(session_, stream);
  output_.notify_all();
}

void H2Peer::finish(int32_t stream) {
  outgoing_[stream].finished = true;
  nghttp2_session_resume_data(session_, stream);
  output_.notify_all();
}

void H2Peer::inform(int32_t stream, int status) {
  std::string text = std::to_string(status);
  nghttp2_nv field = nv(":status", text);
  nghttp2_submit_headers(session_, NGHTTP2_FLAG_NONE, stream, nullptr, &field, 1, nullptr);
  output_.notify_all();
}

void H2Peer::reset(int32_t stream, uint32_t code) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream, code);
  output_.notify_all();
}

void H2Peer::go_away(int32_t last_stream) {
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, last_stream, NGHTTP2_NO_ERROR, nullptr, 0);
  output_.notify_all();
}

void H2Peer::cut() {
  over_ = true;
  stream_->shut();
  output_.notify_all();
}

size_t H2Peer::sent_of_body(int32_t stream) const {
  auto found = outgoing_.find(stream);
  return found == outgoing_.end() ? 0 : found->second.sent;
}

H2TestServer::H2TestServer(RealLoop& loop, H2Peer::OnRequest on_request, H2Peer::Options options,
                           std::optional<TestServer::Tls> tls)
    : server_(loop, std::move(tls), [this, &loop, on_request, options](std::unique_ptr<Stream> stream) {
        peers_.push_back(std::make_unique<H2Peer>(loop, std::move(stream), options, on_request));
        return peers_.back()->run();
      }) {}

}  // namespace fairlead::http
