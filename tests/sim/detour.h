// What stands between a client and its network, and changes what goes through.
#pragma once

#include "http/message.h"

namespace fairlead::sim {

// Subclasses pass requests on to `network_`.
class Detour : public http::Transport {
 public:
  explicit Detour(http::Transport& network) : network_(network) {}

 protected:
  http::Transport& network_;
};

// Reads an answer to its end.
inline Task<Result<std::string>> text_of(http::Answer& answer) {
  std::string text;
  while (true) {
    CO_TRY_ASSIGN(std::optional<std::string> piece, co_await answer.body->read());
    if (!piece) co_return text;
    text += *piece;
  }
}

}  // namespace fairlead::sim
