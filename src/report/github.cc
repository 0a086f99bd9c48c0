#include "report/github.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/printable.h"
#include "report/output.h"

namespace fairlead::report {
namespace {

// GitHub shows a few annotations per step. Whatever goes wrong, there is no flood of them.
constexpr size_t kMostAnnotations = 50;
// GitHub refuses summaries of more than 1 MiB.
constexpr size_t kMostCauses = 50;
constexpr size_t kMostBytes = size_t{256} << 10;

std::string escaped(std::string_view text, bool in_property) {
  std::string safe;
  for (char c : text) {
    bool is_special = c == '%' || c == '\r' || c == '\n' || (in_property && (c == ':' || c == ','));
    if (is_special) safe += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else safe += c;
  }
  return safe;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.size() < 10 && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// ` file=k8s/a.yaml,line=3` of "k8s/a.yaml:3". Standard input and addresses are no files.
std::string place_of(std::string_view where) {
  size_t colon = where.rfind(':');
  if (where.empty() || where.contains("://") || where.starts_with("-") || where.starts_with("standard input"))
    return "";
  bool has_line = colon != std::string_view::npos && is_number(where.substr(colon + 1));
  std::string place = " file=" + escaped(has_line ? where.substr(0, colon) : where, true);
  return has_line ? fmt::format("{},line={}", place, where.substr(colon + 1)) : place;
}

// A fence that is longer than any row of backticks in the text.
std::string fenced(std::string_view text) {
  size_t longest = 2, row = 0;
  for (char c : text) longest = std::max(longest, row = c == '`' ? row + 1 : 0);
  std::string fence(longest + 1, '`');
  return fmt::format("{}text\n{}{}{}\n", fence, text, text.ends_with('\n') ? "" : "\n", fence);
}

std::optional<int> append(const std::string& path, std::string_view text) {
  int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) return errno;
  std::optional<int> problem;
  while (!text.empty() && !problem) {
    ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) problem = errno;
    if (written > 0) text.remove_prefix(size_t(written));
  }
  ::close(descriptor);
  return problem;
}

}  // namespace

std::string annotation(std::string_view level, std::string_view where, std::string_view text) {
  return fmt::format("::{}{}::{}\n", level, place_of(where), escaped(printable(text), false));
}

std::string summary_markdown(std::string_view heading, std::string_view totals,
                             const std::vector<journal::Cause>& causes) {
  std::string text = fmt::format("### {}\n\n{}\n", heading, fenced(printable(totals)));
  for (size_t i = 0; i < std::min(causes.size(), kMostCauses) && text.size() < kMostBytes; ++i)
    text += "\n" + fenced(printable(cause_text(causes[i]).substr(0, kMostBytes)));
  if (causes.size() > kMostCauses) text += fmt::format("\nand {} more errors\n", causes.size() - kMostCauses);
  return text + "\n";
}

std::string without_commands(std::string text) {
  std::string safe;
  size_t begin = 0;
  while (begin < text.size()) {
    size_t end = std::min(text.find('\n', begin), text.size() - 1);
    std::string_view line(text.data() + begin, end + 1 - begin);
    size_t word = line.find_first_not_of(" \t");
    bool is_command = word != std::string_view::npos && (line.substr(word).starts_with("::") || line.contains("##["));
    safe += is_command ? fmt::format("{}\\{}", line.substr(0, word), line.substr(word)) : std::string(line);
    begin = end + 1;
  }
  return safe;
}

std::optional<Github> Github::from_environment() {
  const char* is_there = std::getenv("GITHUB_ACTIONS");
  if (!is_there || std::string_view(is_there) != "true") return std::nullopt;
  const char* path = std::getenv("GITHUB_STEP_SUMMARY");
  return Github(stderr, path ? path : "");
}

void Github::annotate(std::string_view level, std::string_view where, std::string_view text) {
  if (++annotations_ > kMostAnnotations) return;
  std::string command = annotation(level, where, text);
  std::fwrite(command.data(), 1, command.size(), stream_);
  std::fflush(stream_);
}

void Github::warn(const journal::Event& event) {
  if (event.kind != journal::EventKind::warning) return;
  std::string where = event.error && !event.error->where().empty() ? event.error->where() : event.source;
  annotate("warning", where, event.key.kind.empty() ? event.text : fmt::format("{}: {}", event.key.text(), event.text));
}

void Github::fail(const Error& error) { annotate("error", error.where(), error.message()); }

void Github::finish(std::string_view heading, std::string_view totals, const std::vector<journal::Cause>& causes) {
  for (const journal::Cause& cause : causes) {
    std::string blocked = cause.blocks.empty() ? "" : fmt::format("\nblocks {}", some_of(cause.blocks));
    annotate("error", cause.error.where(), cause.error.message() + blocked);
  }
  if (summary_path_.empty()) return;
  std::optional<int> problem = append(summary_path_, summary_markdown(heading, totals, causes));
  if (problem)
    print(stream_,
          fmt::format("warning: the summary {} cannot be written: {}\n", summary_path_, std::strerror(*problem)));
}

}  // namespace fairlead::report
