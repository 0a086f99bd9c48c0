#include "http/client/internal/h2_session.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace fairlead::http {
namespace {

// Until the server has said how many streams it takes, and the most that we open whatever it says.
constexpr size_t kStreamsBeforeSettings = 100;
constexpr size_t kMostStreams = 1000;

// The connection's own business in HTTP/1.1; HTTP/2 forbids them, or says it in another way.
bool belongs_to_http1(std::string_view name) {
  return same_name(name, "host") || same_name(name, "connection") || same_name(name, "keep-alive") ||
         same_name(name, "proxy-connection") || same_name(name, "transfer-encoding") || same_name(name, "upgrade") ||
         same_name(name, "te");
}

uint8_t* bytes_of(std::string_view text) { return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data())); }

nghttp2_nv field(std::string_view name, std::string_view value) {
  return {bytes_of(name), bytes_of(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

std::string_view text_of(const uint8_t* data, size_t size) { return {reinterpret_cast<const char*>(data), size}; }

H2Stream* stream_of(nghttp2_session* session, int32_t id) {
  return static_cast<H2Stream*>(nghttp2_session_get_stream_user_data(session, id));
}

ssize_t read_body(nghttp2_session*, int32_t, uint8_t* into, size_t size, uint32_t* flags, nghttp2_data_source* source,
                  void*) {
  auto* stream = static_cast<H2Stream*>(source->ptr);
  std::string_view rest = std::string_view(stream->request->body).substr(stream->body_sent);
  size_t n = std::min(size, rest.size());
  std::memcpy(into, rest.data(), n);
  stream->body_sent += n;
  if (n == rest.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(n);
}

}  // namespace

struct H2Session::Callbacks {
  static H2Session& of(void* self) { return *static_cast<H2Session*>(self); }

  static int begin_headers(nghttp2_session* session, const nghttp2_frame* frame, void*) {
    H2Stream* stream = stream_of(session, frame->hd.stream_id);
    if (!stream || stream->has_head) return 0;
    // What came before was a provisional answer (1xx).
    stream->status = 0;
    stream->headers = Headers();
    stream->header_bytes = 0;
    return 0;
  }

  static int header(nghttp2_session* session, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
                    const uint8_t* value, size_t value_size, uint8_t, void* self) {
    H2Stream* stream = stream_of(session, frame->hd.stream_id);
    if (!stream) return 0;
    stream->header_bytes += name_size + value_size + 32;
    if (stream->header_bytes > kMaxHeaderBytes) {
      of(self).end(*stream,
                   Failure{Error(ErrorKind::limit,
                                 fmt::format("the headers of the answer have more than {} bytes", kMaxHeaderBytes)),
                           Delivery::unknown});
      return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    if (stream->has_head) return 0;  // trailers: nobody asks for them
    std::string_view name_text = text_of(name, name_size), value_text = text_of(value, value_size);
    if (name_text == ":status") {
      std::from_chars(value_text.data(), value_text.data() + value_text.size(), stream->status);
    } else {
      stream->headers.add(std::string(name_text), std::string(value_text));
    }
    return 0;
  }

  static int frame_received(nghttp2_session* session, const nghttp2_frame* frame, void* self) {
    H2Session& ours = of(self);
    switch (frame->hd.type) {
      case NGHTTP2_SETTINGS:
        if (!(frame->hd.flags & NGHTTP2_FLAG_ACK)) ours.has_settings_ = true;
        return 0;
      case NGHTTP2_GOAWAY: ours.draining_ = true; return 0;
      case NGHTTP2_RST_STREAM: ours.reset_by_server_ = true; return 0;
      case NGHTTP2_HEADERS:
      case NGHTTP2_DATA: break;
      default: return 0;
    }
    H2Stream* stream = stream_of(session, frame->hd.stream_id);
    if (!stream) return 0;
    if (frame->hd.type == NGHTTP2_HEADERS && stream->status >= 200) stream->has_head = true;
    if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) {
      if (stream->has_head) ours.end(*stream, std::nullopt);
    } else if (stream->has_head) {
      stream->changed.notify_all();
    }
    return 0;
  }

  static int data(nghttp2_session* session, uint8_t, int32_t id, const uint8_t* bytes, size_t size, void*) {
    // The connection's window is for all streams: a reader that is slow must not hold up the others.
    nghttp2_session_consume_connection(session, size);
    H2Stream* stream = stream_of(session, id);
    if (!stream || stream->ended) return 0;
    // The library is about to reset a stream that overruns its window, but hands over the bytes all the same.
    if (stream->data.size() + size <= size_t{kStreamWindow}) stream->data.append(text_of(bytes, size));
    return 0;
  }

  static int frame_sent(nghttp2_session* session, const nghttp2_frame* frame, void* self) {
    // Only the library says goodbye, and only to a server that does something wrong.
    if (frame->hd.type == NGHTTP2_GOAWAY) {
      H2Session& ours = of(self);
      ours.violated_ = true;
      if (ours.complaint_.empty()) ours.complaint_ = text_of(frame->goaway.opaque_data, frame->goaway.opaque_data_len);
    }
    if (frame->hd.type != NGHTTP2_HEADERS) return 0;
    if (H2Stream* stream = stream_of(session, frame->hd.stream_id)) stream->written = true;
    return 0;
  }

  static int stream_closed(nghttp2_session*, int32_t id, uint32_t code, void* self) {
    H2Session& ours = of(self);
    // Even numbers are pushed streams, which are none of ours.
    if (id % 2 == 1) --ours.open_;
    auto found = ours.streams_.find(id);
    if (found != ours.streams_.end()) {
      std::shared_ptr<H2Stream> stream = std::move(found->second);
      ours.streams_.erase(found);
      if (!stream->ended) ours.end(*stream, ours.failure_of(code));
    }
    ours.reset_by_server_ = false;
    return 0;
  }

  static int complaint(nghttp2_session*, int, const char* text, size_t size, void* self) {
    of(self).complaint_.assign(text, std::min(size, size_t{200}));
    return 0;
  }

  static nghttp2_session_callbacks* all() {
    static const std::unique_ptr<nghttp2_session_callbacks, void (*)(nghttp2_session_callbacks*)> made = [] {
      nghttp2_session_callbacks* callbacks = nullptr;
      nghttp2_session_callbacks_new(&callbacks);
      nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, begin_headers);
      nghttp2_session_callbacks_set_on_header_callback(callbacks, header);
      nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, frame_received);
      nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, data);
      nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, frame_sent);
      nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, stream_closed);
      nghttp2_session_callbacks_set_error_callback2(callbacks, complaint);
      return std::unique_ptr<nghttp2_session_callbacks, void (*)(nghttp2_session_callbacks*)>(
          callbacks, nghttp2_session_callbacks_del);
    }();
    return made.get();
  }
};

H2Session::H2Session(Loop& loop, Names names) : loop_(loop), names_(std::move(names)) {
  nghttp2_option* option = nullptr;
  nghttp2_option_new(&option);
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_option_set_peer_max_concurrent_streams(option, kStreamsBeforeSettings);
  // Streams that are over are of no use: no priorities are kept.
  nghttp2_option_set_no_closed_streams(option, 1);
  // Pushed streams are refused, even those that come before the server knows that we want none.
  nghttp2_option_set_max_reserved_remote_streams(option, 0);
  nghttp2_session_client_new2(&session_, Callbacks::all(), this, option);
  nghttp2_option_del(option);
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, uint32_t{kStreamWindow}},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, uint32_t{kMaxHeaderBytes}},
  };
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings));
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
}

H2Session::~H2Session() { nghttp2_session_del(session_); }

Result<void> H2Session::feed(std::string_view bytes) {
  ssize_t taken = nghttp2_session_mem_recv(session_, bytes_of(bytes), bytes.size());
  if (taken == NGHTTP2_ERR_FLOODED)
    return fail(ErrorKind::protocol, "{} floods the connection with frames that want an answer", names_.peer);
  if (taken >= 0) return {};
  if (complaint_.empty()) complaint_ = nghttp2_strerror(static_cast<int>(taken));
  violated_ = true;
  return fail(*violation());
}

std::optional<Error> H2Session::violation() const {
  if (!violated_) return std::nullopt;
  Error error(ErrorKind::protocol, fmt::format("{} does not keep to HTTP/2", names_.peer));
  return complaint_.empty() ? std::move(error) : std::move(error).because(complaint_);
}

void H2Session::take_output(std::string& into, size_t size) {
  while (into.size() < size) {
    const uint8_t* bytes = nullptr;
    ssize_t n = nghttp2_session_mem_send(session_, &bytes);
    if (n <= 0) return;
    into.append(text_of(bytes, static_cast<size_t>(n)));
  }
}

size_t H2Session::room() const {
  if (draining_ || violated_ || !nghttp2_session_check_request_allowed(session_)) return 0;
  size_t allowed = kStreamsBeforeSettings;
  if (has_settings_)
    allowed = std::min<size_t>(nghttp2_session_get_remote_settings(session_, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS),
                               kMostStreams);
  return allowed > open_ ? allowed - open_ : 0;
}

std::shared_ptr<H2Stream> H2Session::submit(std::shared_ptr<const Request> request) {
  auto stream = std::make_shared<H2Stream>(loop_, std::move(request));
  const Request& what = *stream->request;
  std::string path = names_.prefix + what.target;
  std::string length = what.body.empty() ? "" : std::to_string(what.body.size());
  std::vector<nghttp2_nv> fields;
  fields.reserve(what.headers.size() + 5);
  fields.push_back(field(":method", what.method));
  fields.push_back(field(":scheme", names_.scheme));
  fields.push_back(field(":authority", names_.authority));
  fields.push_back(field(":path", path));
  for (const auto& [name, value] : what.headers) {
    if (belongs_to_http1(name) || same_name(name, "content-length")) continue;
    fields.push_back(field(name, value));
    // Kept out of the header table, as nobody else should be able to guess at it.
    if (same_name(name, "authorization")) fields.back().flags = NGHTTP2_NV_FLAG_NO_INDEX;
  }
  if (!length.empty()) fields.push_back(field("content-length", length));
  nghttp2_data_provider body{.source = {.ptr = stream.get()}, .read_callback = read_body};
  int32_t id = nghttp2_submit_request(session_, nullptr, fields.data(), fields.size(),
                                      what.body.empty() ? nullptr : &body, stream.get());
  if (id < 0) {
    end(*stream, Failure{Error(ErrorKind::internal, fmt::format("cannot send the request: {}", nghttp2_strerror(id))),
                         Delivery::never});
    return stream;
  }
  stream->id = id;
  ++open_;
  streams_.emplace(id, stream);
  return stream;
}

std::string H2Session::take_data(H2Stream& stream) {
  std::string data = std::exchange(stream.data, {});
  if (!stream.ended) nghttp2_session_consume_stream(session_, stream.id, data.size());
  return data;
}

void H2Session::cancel(H2Stream& stream) {
  if (stream.ended) return;
  stream.ended = true;
  stream.data.clear();
  // Its request has to stay until the library has let go of the stream, which streams_ sees to.
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id, NGHTTP2_CANCEL);
}

void H2Session::ping() { nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr); }

void H2Session::end(H2Stream& stream, std::optional<Failure> failure) {
  if (stream.ended) return;
  stream.ended = true;
  stream.failure = std::move(failure);
  stream.changed.notify_all();
}

Failure H2Session::failure_of(uint32_t code) const {
  // The library closes a stream with this code as well if it could not write the request.
  if (code == NGHTTP2_REFUSED_STREAM)
    return {Error(ErrorKind::unavailable, fmt::format("{} did not take the request", names_.peer)), Delivery::never};
  if (reset_by_server_)
    return {Error(ErrorKind::unavailable,
                  fmt::format("{} broke the answer off ({})", names_.peer, nghttp2_http2_strerror(code))),
            Delivery::unknown};
  Error error(ErrorKind::protocol, fmt::format("the answer of {} does not keep to HTTP/2", names_.peer));
  return {complaint_.empty() ? std::move(error) : std::move(error).because(complaint_), Delivery::unknown};
}

void H2Session::fail_all(const Error& error) {
  draining_ = true;
  for (auto& [id, stream] : streams_)
    end(*stream, Failure{error, stream->written ? Delivery::unknown : Delivery::never});
}

}  // namespace fairlead::http
