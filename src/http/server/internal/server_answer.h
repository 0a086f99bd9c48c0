// The head of an answer as it goes over the wire, and the pieces of its body: pure text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/message.h"

namespace fairlead::http {

// How the peer learns where the body ends.
struct Framing {
  enum class Kind { none, length, chunked, until_close };
  Kind kind = Kind::none;
  uint64_t length = 0;
};

// What the version, the method and the status leave room for. `length` is that of the whole body, where it is known.
Framing framing_of(int status, bool http_1_0, std::optional<uint64_t> length);

// The length that the handler itself promises for a body, if it says so in a header that makes sense.
std::optional<uint64_t> promised_length(const Headers& headers);

// Connection, length and encoding are the server's own; a header of the answer's that would break out of its line is
// left out. `connection` is the value of that header, or empty.
void append_head(std::string& out, int status, const Headers& headers, Framing framing, std::string_view connection,
                 std::string_view date);

void append_piece(std::string& out, Framing framing, std::string_view piece);
void append_end(std::string& out, Framing framing);

// "Sun, 06 Nov 1994 08:49:37 GMT"
std::string date_header(int64_t seconds_since_1970);

}  // namespace fairlead::http
