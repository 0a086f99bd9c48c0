#include "rpc/grpc_peer_testing.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>

namespace fairlead::rpc {

struct GrpcPeer::Impl {
  struct Body {
    std::string bytes;
    size_t sent = 0;
    bool ends = true;
  };
  nghttp2_session* session = nullptr;
  std::map<int32_t, Body> bodies;

  static GrpcPeer& of(void* self) { return *static_cast<GrpcPeer*>(self); }

  static int header(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
                    const uint8_t* value, size_t value_size, uint8_t, void* self) {
    of(self).replies[frame->hd.stream_id].fields.insert_or_assign(
        std::string(reinterpret_cast<const char*>(name), name_size),
        std::string(reinterpret_cast<const char*>(value), value_size));
    return 0;
  }
  static int data(nghttp2_session*, uint8_t, int32_t id, const uint8_t* bytes, size_t size, void* self) {
    of(self).replies[id].bytes.append(reinterpret_cast<const char*>(bytes), size);
    return 0;
  }
  static int received(nghttp2_session*, const nghttp2_frame* frame, void* self) {
    if (frame->hd.type == NGHTTP2_GOAWAY) of(self).goodbye = true;
    bool has_end = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    if (has_end && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)) of(self).replies[frame->hd.stream_id].ended = true;
    return 0;
  }
  static ssize_t read(nghttp2_session*, int32_t id, uint8_t* into, size_t size, uint32_t* flags, nghttp2_data_source*,
                      void* self) {
    Body& body = of(self).impl_->bodies[id];
    size_t n = std::min(size, body.bytes.size() - body.sent);
    if (n == 0 && !body.ends) return NGHTTP2_ERR_DEFERRED;
    std::memcpy(into, body.bytes.data() + body.sent, n);
    body.sent += n;
    if (body.sent == body.bytes.size() && body.ends) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return ssize_t(n);
  }
};

GrpcPeer::GrpcPeer() : impl_(std::make_unique<Impl>()) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Impl::header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Impl::data);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Impl::received);
  nghttp2_session_client_new(&impl_->session, callbacks, this);
  nghttp2_session_callbacks_del(callbacks);
  nghttp2_submit_settings(impl_->session, NGHTTP2_FLAG_NONE, nullptr, 0);
}

GrpcPeer::~GrpcPeer() { nghttp2_session_del(impl_->session); }

int32_t GrpcPeer::call(std::string_view path, std::string body, bool ends, std::string_view content_type) {
  auto field = [](std::string_view name, std::string_view value) {
    auto bytes = [](std::string_view text) { return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data())); };
    return nghttp2_nv{bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
  };
  nghttp2_nv fields[] = {field(":method", "POST"),
                         field(":scheme", "http"),
                         field(":path", path),
                         field(":authority", "localhost"),
                         field("content-type", content_type),
                         field("te", "trailers")};
  nghttp2_data_provider provider{.source = {}, .read_callback = Impl::read};
  int32_t id = nghttp2_submit_request(impl_->session, nullptr, fields, std::size(fields), &provider, nullptr);
  impl_->bodies[id] = {.bytes = std::move(body), .sent = 0, .ends = ends};
  return id;
}

void GrpcPeer::reset(int32_t stream) {
  nghttp2_submit_rst_stream(impl_->session, NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL);
}

std::string GrpcPeer::take_output() {
  std::string output;
  const uint8_t* bytes = nullptr;
  ssize_t n = 0;
  while ((n = nghttp2_session_mem_send(impl_->session, &bytes)) > 0)
    output.append(reinterpret_cast<const char*>(bytes), size_t(n));
  return output;
}

void GrpcPeer::feed(std::string_view bytes) {
  nghttp2_session_mem_recv(impl_->session, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

void GrpcPeer::exchange_with(GrpcSession& session) {
  for (bool moved = true; moved;) {
    std::string there = take_output();
    if (!there.empty()) (void)session.feed(there);
    std::string back;
    session.take_output(back, size_t{1} << 30);
    if (!back.empty()) feed(back);
    moved = !there.empty() || !back.empty();
  }
}

std::string framed(std::string_view message, bool compressed) {
  std::string bytes(1, compressed ? '\1' : '\0');
  for (int shift = 24; shift >= 0; shift -= 8) bytes += char(message.size() >> shift);
  return bytes += message;
}

}  // namespace fairlead::rpc
