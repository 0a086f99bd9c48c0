#include "cli/core/ask.h"

#include <poll.h>
#include <unistd.h>

#include <cstdio>

#include "async/scope.h"
#include "report/output.h"

namespace fairlead::cli {
namespace {

constexpr Duration kAnswerPoll = std::chrono::milliseconds(50);

}  // namespace

bool can_ask() { return ::isatty(STDIN_FILENO) && ::isatty(STDERR_FILENO); }

Task<bool> ask(Loop& loop, std::string text) {
  report::print(stderr, text + "\nGo on? [y/N] ");
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  char answer[64] = "";
  ssize_t length = 0;
  bool is_asked = true;
  while (is_asked && ::poll(&input, 1, 0) == 0) is_asked = (co_await sleep_for(loop, kAnswerPoll)).has_value();
  if (is_asked) length = ::read(STDIN_FILENO, answer, sizeof answer - 1);
  // Nobody has ended the line.
  if (length <= 0) std::fputc('\n', stderr);
  co_return length > 0 && (answer[0] == 'y' || answer[0] == 'Y');
}

}  // namespace fairlead::cli
