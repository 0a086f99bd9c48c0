#include "rpc/client.h"

#include <fmt/format.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <utility>

#include "async/scope.h"
#include "async/signal.h"
#include "http/net/tcp_stream.h"

namespace fairlead::rpc {
namespace {

constexpr Duration kConnectTime = std::chrono::seconds(10);
constexpr size_t kReadBuffer = size_t{16} << 10;
constexpr size_t kMostAnswer = size_t{4} << 20;
constexpr size_t kFrame = 5;

std::unexpected<Status> unavailable(std::string why) {
  return std::unexpected(Status{Code::unavailable, std::move(why)});
}

std::string_view view(const uint8_t* data, size_t size) { return {reinterpret_cast<const char*>(data), size}; }

// What is sent and received of one call.
struct Exchange {
  std::string request;
  size_t sent = 0;
  std::string answer;
  std::optional<int> status;
  std::string message;
  bool is_over = false;
};

}  // namespace

struct Client::Impl {
  Impl(RealLoop& loop, std::string address)
      : loop(loop), address(std::move(address)), scope(loop, nullptr), moved(loop) {}
  ~Impl() { nghttp2_session_del(session); }

  RealLoop& loop;
  std::string address;
  Scope scope;
  // Something arrived, was queued, or the connection is over.
  Signal moved;
  std::unique_ptr<http::Stream> stream;
  nghttp2_session* session = nullptr;
  std::map<int32_t, Exchange> exchanges;
  bool is_connecting = false;
  bool is_over = false;

  static Impl& of(void* self) { return *static_cast<Impl*>(self); }

  static int header(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
                    const uint8_t* value, size_t value_size, uint8_t, void* self) {
    auto found = of(self).exchanges.find(frame->hd.stream_id);
    if (found == of(self).exchanges.end()) return 0;
    std::string_view text = view(value, value_size);
    int status = 0;
    if (view(name, name_size) == "grpc-message") found->second.message = text;
    if (view(name, name_size) == "grpc-status" &&
        std::from_chars(text.data(), text.data() + text.size(), status).ec == std::errc())
      found->second.status = status;
    return 0;
  }
  static int data(nghttp2_session*, uint8_t, int32_t id, const uint8_t* bytes, size_t size, void* self) {
    auto found = of(self).exchanges.find(id);
    if (found == of(self).exchanges.end()) return 0;
    if (found->second.answer.size() + size > kMostAnswer) return NGHTTP2_ERR_CALLBACK_FAILURE;
    found->second.answer += view(bytes, size);
    return 0;
  }
  static int closed(nghttp2_session*, int32_t id, uint32_t, void* self) {
    auto found = of(self).exchanges.find(id);
    if (found != of(self).exchanges.end()) found->second.is_over = true;
    return 0;
  }
  static ssize_t read_request(nghttp2_session*, int32_t id, uint8_t* into, size_t size, uint32_t* flags,
                              nghttp2_data_source*, void* self) {
    auto found = of(self).exchanges.find(id);
    if (found == of(self).exchanges.end()) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    Exchange& one = found->second;
    size_t n = std::min(size, one.request.size() - one.sent);
    std::memcpy(into, one.request.data() + one.sent, n);
    one.sent += n;
    if (one.sent == one.request.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return ssize_t(n);
  }

  void make_session() {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, closed);
    nghttp2_session_client_new(&session, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, nullptr, 0);
  }

  Task<void> connect() {
    size_t colon = address.rfind(':');
    uint16_t port = 0;
    std::string host = address.substr(0, colon);
    if (colon != std::string::npos) std::from_chars(address.data() + colon + 1, address.data() + address.size(), port);
    auto connected = co_await http::connect_tcp(loop, host, port, kConnectTime);
    if (!connected || is_over) co_return end();
    stream = *std::move(connected);
    make_session();
    scope.spawn(read());
    scope.spawn(write());
    moved.notify_all();
  }

  Task<void> read() {
    std::string buffer(kReadBuffer, '\0');
    while (!is_over) {
      Result<size_t> n = co_await stream->read(buffer.data(), buffer.size());
      if (!n || *n == 0) break;
      if (nghttp2_session_mem_recv(session, reinterpret_cast<const uint8_t*>(buffer.data()), *n) < 0) break;
      moved.notify_all();
    }
    end();
  }

  Task<void> write() {
    while (!is_over) {
      const uint8_t* bytes = nullptr;
      std::string output;
      for (ssize_t n = nghttp2_session_mem_send(session, &bytes); n > 0; n = nghttp2_session_mem_send(session, &bytes))
        output += view(bytes, size_t(n));
      bool stays = output.empty() ? (co_await moved.wait()).has_value() : (co_await stream->write(output)).has_value();
      if (!stays) break;
    }
    end();
  }

  void end() {
    is_over = true;
    if (stream) stream->shut();
    moved.notify_all();
  }

  int32_t submit(const std::string& path, const std::string& message) {
    auto field = [](std::string_view name, std::string_view value) {
      auto bytes = [](std::string_view text) { return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data())); };
      return nghttp2_nv{bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
    };
    nghttp2_nv fields[] = {field(":method", "POST"), field(":scheme", "http"),
                           field(":path", path),     field(":authority", address),
                           field("te", "trailers"),  field("content-type", "application/grpc")};
    nghttp2_data_provider provider{.source = {}, .read_callback = read_request};
    int32_t id = nghttp2_submit_request(session, nullptr, fields, std::size(fields), &provider, nullptr);
    if (id < 0) return id;
    std::string framed(1, '\0');
    for (int shift = 24; shift >= 0; shift -= 8) framed += char(message.size() >> shift);
    exchanges.insert_or_assign(id, Exchange{.request = framed + message});
    moved.notify_all();
    return id;
  }
};

Client::Client(RealLoop& loop, std::string address) : impl_(std::make_unique<Impl>(loop, std::move(address))) {}
Client::~Client() = default;

Task<Answer> Client::call(std::string path, std::string message) {
  Impl& impl = *impl_;
  std::string gone = fmt::format("the program at {} cannot be reached", impl.address);
  if (!std::exchange(impl.is_connecting, true)) impl.scope.spawn(impl.connect());
  while (!impl.session && !impl.is_over)
    if (!co_await impl.moved.wait()) co_return unavailable("cancelled");
  if (impl.is_over) co_return unavailable(gone);
  int32_t id = impl.submit(path, message);
  if (id < 0) co_return unavailable(gone);
  bool is_waited_for = true;
  while (is_waited_for && !impl.is_over && !impl.exchanges[id].is_over)
    is_waited_for = (co_await impl.moved.wait()).has_value();
  Exchange exchange = std::move(impl.exchanges[id]);
  impl.exchanges.erase(id);
  if (!is_waited_for) co_return unavailable("cancelled");
  if (!exchange.is_over || !exchange.status) co_return unavailable(gone);
  if (*exchange.status != 0) co_return std::unexpected(Status{Code(*exchange.status), exchange.message});
  if (exchange.answer.size() < kFrame) co_return std::unexpected(Status{Code::internal, "the answer has no message"});
  co_return exchange.answer.substr(kFrame);
}

Task<void> Client::close() {
  impl_->end();
  impl_->scope.cancel();
  co_await impl_->scope.join();
}

}  // namespace fairlead::rpc
