#include "render/program.h"

#include <algorithm>

#include "async/scope.h"
#include "base/printable.h"
#include "render/render.h"

namespace fairlead::render {
namespace {

// Lines of a failure that are shown. Programs say what is wrong at the end.
constexpr size_t kShown = 20;
constexpr size_t kLongest = 2000;

}  // namespace

Task<Result<ProcessResult>> run(RealLoop& loop, Program program) {
  std::string what = fmt::format("{} took longer than 5 minutes", program.argv[0]);
  ProcessSpec spec{
      .argv = std::move(program.argv), .environment = std::move(program.environment), .max_output = program.max_output};
  return with_deadline(loop, loop.now() + kRenderTime, std::move(what), run_process(loop, std::move(spec)));
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string line = printable_line(text.substr(0, std::min(end, kLongest)));
    if (line.find_first_not_of(" \r") != std::string::npos) lines.push_back(std::move(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

Error failed(std::string what, const ProcessResult& result) {
  std::vector<std::string> lines = lines_of(result.errors);
  if (lines.empty()) return Error(ErrorKind::invalid, std::move(what)).because(result.ending());
  size_t first = lines.size() > kShown ? lines.size() - kShown : 0;
  // The first line of the program says what is wrong; the others explain it.
  std::optional<Error> cause;
  for (size_t i = lines.size(); i > first; --i) {
    std::string_view line = lines[i - 1];
    for (std::string_view prefix : {"Error: ", "error: "})
      if (line.starts_with(prefix)) line.remove_prefix(prefix.size());
    Error outer(ErrorKind::invalid, std::string(line));
    cause = cause ? std::move(outer).because(*std::move(cause)) : std::move(outer);
  }
  return Error(ErrorKind::invalid, std::move(what)).because(*std::move(cause));
}

}  // namespace fairlead::render
