// Answers of HTTP/1.1, as they arrive in pieces. No sockets, so that it can be fed anything. Inside this room only.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "http/message.h"

namespace fairlead::http {

class H1Parser {
 public:
  static constexpr uint32_t kMaxHeaderBytes = uint32_t{256} << 10;

  // `peer` names the server in errors. `without_body`: the answer to a HEAD.
  H1Parser(std::string peer, bool without_body);
  ~H1Parser();
  H1Parser(const H1Parser&) = delete;
  H1Parser& operator=(const H1Parser&) = delete;

  // Passes over provisional answers (1xx). After an error it is of no use.
  Result<void> feed(std::string_view bytes);
  // The connection is at its end, which some bodies have for their own.
  Result<void> feed_end();

  bool has_head() const;
  bool ended() const;
  // Whether the connection can take another request, once this answer has ended.
  bool keeps_alive() const;
  int status() const;
  Headers take_headers();
  // What has arrived of the body since the last call.
  std::string take_data();

 private:
  class Beast;

  std::string peer_;
  bool without_body_;
  std::unique_ptr<Beast> beast_;
  // What the parser wants to see again, with more behind it.
  std::string rest_;
};

}  // namespace fairlead::http
