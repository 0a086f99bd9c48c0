#include "rpc/internal/grpc_session.h"

#include <fmt/format.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>

#include "base/base64.h"

namespace fairlead::rpc {
namespace {

// A flag for compression, and the size.
constexpr size_t kPrefix = 5;
// What may arrive unread: the peer is on this machine, and large messages should not wait for it.
constexpr int32_t kWindow = 16 << 20;
// Errors quote what others said; a status is sent in a header.
constexpr size_t kMaxStatusMessage = 4000;
// The details of a status hold the state of a whole resource, and are sent in a header too.
constexpr size_t kMaxHeaderBlock = size_t{16} << 20;

nghttp2_nv grpc_field(std::string_view name, std::string_view value) {
  auto bytes = [](std::string_view text) { return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data())); };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

std::string_view view_of(const uint8_t* data, size_t size) { return {reinterpret_cast<const char*>(data), size}; }

std::string with_prefix(std::string_view message) {
  std::string bytes(1, '\0');
  bytes.reserve(kPrefix + message.size());
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(message.size() >> shift);
  return bytes += message;
}

size_t size_in_prefix(std::string_view bytes) {
  size_t size = 0;
  for (size_t i = 1; i < kPrefix; ++i) size = size << 8 | static_cast<unsigned char>(bytes[i]);
  return size;
}

// The fields that say how a call ended.
class StatusFields {
 public:
  explicit StatusFields(const Status& status)
      : code_(std::to_string(int(status.code))),
        message_(percent_encoded(std::string_view(status.message).substr(0, kMaxStatusMessage))),
        details_(to_base64(status.details)) {
    details_.erase(details_.find_last_not_of('=') + 1);
  }

  void add_to(std::vector<nghttp2_nv>& fields) const {
    fields.push_back(grpc_field("grpc-status", code_));
    if (!message_.empty()) fields.push_back(grpc_field("grpc-message", message_));
    if (!details_.empty()) fields.push_back(grpc_field("grpc-status-details-bin", details_));
  }

 private:
  std::string code_;
  std::string message_;
  std::string details_;
};

}  // namespace

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c >= ' ' && c <= '~' && c != '%') {
      out += c;
    } else {
      fmt::format_to(std::back_inserter(out), "%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

struct GrpcSession::Callbacks {
  static GrpcSession& of(void* self) { return *static_cast<GrpcSession*>(self); }

  static Call* call_of(GrpcSession& session, int32_t id) {
    auto found = session.calls_.find(id);
    return found == session.calls_.end() ? nullptr : &found->second;
  }

  static int begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* self) {
    if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) of(self).calls_.try_emplace(frame->hd.stream_id);
    return 0;
  }

  static int header(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
                    const uint8_t* value, size_t value_size, uint8_t, void* self) {
    GrpcSession& session = of(self);
    Call* call = call_of(session, frame->hd.stream_id);
    if (!call) return 0;
    call->header_bytes += name_size + value_size + 32;
    if (call->header_bytes > session.limits_.header_bytes) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    std::string_view key = view_of(name, name_size);
    std::string_view text = view_of(value, value_size);
    if (key == ":path") call->path = text;
    if (key == "content-type") call->is_grpc = text.starts_with("application/grpc");
    return 0;
  }

  static int data(nghttp2_session*, uint8_t, int32_t id, const uint8_t* bytes, size_t size, void* self) {
    GrpcSession& session = of(self);
    Call* call = call_of(session, id);
    if (!call || call->answered || call->arrived) return 0;
    if (call->bytes.size() + size > session.limits_.message_bytes + kPrefix) {
      session.refuse(id, *call,
                     {Code::resource_exhausted,
                      fmt::format("the message is larger than {} MiB", session.limits_.message_bytes >> 20)});
      return 0;
    }
    call->bytes += view_of(bytes, size);
    return 0;
  }

  static int frame_received(nghttp2_session*, const nghttp2_frame* frame, void* self) {
    GrpcSession& session = of(self);
    bool is_head = frame->hd.type == NGHTTP2_HEADERS;
    if (!is_head && frame->hd.type != NGHTTP2_DATA) return 0;
    int32_t id = frame->hd.stream_id;
    Call* call = call_of(session, id);
    if (!call || call->answered || call->arrived) return 0;
    // A method that is not there may be one of streams: its client does not wait to the end before it reads.
    if (is_head && !call->is_grpc) {
      session.refuse(id, *call, {Code::internal, "the content type is not application/grpc"});
    } else if (is_head && !session.events_.is_known(call->path)) {
      session.refuse(id, *call, {Code::unimplemented, fmt::format("there is no method {}", call->path)});
    } else if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) {
      session.read_call(id, *call);
    }
    return 0;
  }

  static int stream_closed(nghttp2_session*, int32_t id, uint32_t, void* self) {
    GrpcSession& session = of(self);
    auto call = session.calls_.extract(id);
    if (call && call.mapped().arrived && !call.mapped().answered) session.events_.cancelled(id);
    return 0;
  }

  static ssize_t read_answer(nghttp2_session* native, int32_t id, uint8_t* into, size_t size, uint32_t* flags,
                             nghttp2_data_source*, void* self) {
    Call* call = call_of(of(self), id);
    if (!call) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    size_t n = std::min(size, call->bytes.size() - call->sent);
    std::memcpy(into, call->bytes.data() + call->sent, n);
    call->sent += n;
    if (call->sent < call->bytes.size()) return ssize_t(n);
    *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
    std::vector<nghttp2_nv> fields;
    StatusFields status(call->status);
    status.add_to(fields);
    nghttp2_submit_trailer(native, id, fields.data(), fields.size());
    return ssize_t(n);
  }

  static nghttp2_session_callbacks* all() {
    static const std::unique_ptr<nghttp2_session_callbacks, void (*)(nghttp2_session_callbacks*)> made = [] {
      nghttp2_session_callbacks* callbacks = nullptr;
      nghttp2_session_callbacks_new(&callbacks);
      nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, begin_headers);
      nghttp2_session_callbacks_set_on_header_callback(callbacks, header);
      nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, data);
      nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, frame_received);
      nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, stream_closed);
      return std::unique_ptr<nghttp2_session_callbacks, void (*)(nghttp2_session_callbacks*)>(
          callbacks, nghttp2_session_callbacks_del);
    }();
    return made.get();
  }
};

GrpcSession::GrpcSession(Limits limits, Events events) : limits_(limits), events_(std::move(events)) {
  nghttp2_option* option = nullptr;
  nghttp2_option_new(&option);
  nghttp2_option_set_no_closed_streams(option, 1);
  nghttp2_option_set_max_send_header_block_length(option, kMaxHeaderBlock);
  nghttp2_session_server_new2(&session_, Callbacks::all(), this, option);
  nghttp2_option_del(option);
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits_.calls},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, uint32_t{kWindow}},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, uint32_t(limits_.header_bytes)},
  };
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings));
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kWindow);
}

GrpcSession::~GrpcSession() { nghttp2_session_del(session_); }

Result<void> GrpcSession::feed(std::string_view bytes) {
  ssize_t taken = nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  if (taken < 0)
    return fail(ErrorKind::protocol, "the client does not keep to HTTP/2: {}", nghttp2_strerror(int(taken)));
  bool is_over = !nghttp2_session_want_read(session_) && !nghttp2_session_want_write(session_);
  if (is_over) return fail(ErrorKind::unavailable, "the connection is over");
  return {};
}

void GrpcSession::take_output(std::string& into, size_t size) {
  while (into.size() < size) {
    const uint8_t* bytes = nullptr;
    ssize_t n = nghttp2_session_mem_send(session_, &bytes);
    if (n <= 0) return;
    into += view_of(bytes, size_t(n));
  }
}

void GrpcSession::read_call(int32_t id, Call& call) {
  std::string_view bytes = call.bytes;
  if (bytes.size() < kPrefix || size_in_prefix(bytes) != bytes.size() - kPrefix)
    return refuse(id, call, {Code::internal, "the call has not exactly one message"});
  if (bytes[0] != 0) return refuse(id, call, {Code::unimplemented, "the message is compressed"});
  call.arrived = true;
  std::string message = std::exchange(call.bytes, {});
  message.erase(0, kPrefix);
  events_.arrived(id, call.path, std::move(message));
}

void GrpcSession::refuse(int32_t id, Call& call, Status status) {
  call.bytes = {};
  answer(id, std::unexpected(std::move(status)));
}

void GrpcSession::answer(int32_t id, Answer answer) {
  auto found = calls_.find(id);
  if (found == calls_.end() || found->second.answered) return;
  Call& call = found->second;
  call.answered = true;
  std::vector<nghttp2_nv> fields{grpc_field(":status", "200"), grpc_field("content-type", "application/grpc")};
  if (answer) {
    call.bytes = with_prefix(*answer);
    call.sent = 0;
    nghttp2_data_provider body{.source = {}, .read_callback = Callbacks::read_answer};
    nghttp2_submit_response(session_, id, fields.data(), fields.size(), &body);
    return;
  }
  StatusFields status(answer.error());
  status.add_to(fields);
  nghttp2_submit_response(session_, id, fields.data(), fields.size(), nullptr);
}

}  // namespace fairlead::rpc
