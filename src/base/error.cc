#include "base/error.h"

#include <iterator>

namespace fairlead {

struct Error::Rep {
  ErrorKind kind;
  std::string what;
  std::string where;
  std::string next;
  std::unique_ptr<Error> cause;
};

std::string_view name_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid: return "invalid";
    case ErrorKind::not_found: return "not found";
    case ErrorKind::unavailable: return "unavailable";
    case ErrorKind::untrusted: return "untrusted";
    case ErrorKind::denied: return "denied";
    case ErrorKind::protocol: return "protocol";
    case ErrorKind::timeout: return "timeout";
    case ErrorKind::cancelled: return "cancelled";
    case ErrorKind::limit: return "limit";
    case ErrorKind::internal: return "internal";
  }
  return "unknown";
}

Error::Error(ErrorKind kind, std::string what)
    : rep_(std::make_shared<Rep>(Rep{.kind = kind, .what = std::move(what), .where = {}, .next = {}, .cause = {}})) {}

Error Error::because(Error cause) && {
  rep_->cause = std::make_unique<Error>(std::move(cause));
  return std::move(*this);
}

Error Error::because(std::string cause) && { return std::move(*this).because(Error(kind(), std::move(cause))); }

Error Error::at(std::string where) && {
  rep_->where = std::move(where);
  return std::move(*this);
}

Error Error::next(std::string next) && {
  rep_->next = std::move(next);
  return std::move(*this);
}

Error Error::in(std::string what) && {
  ErrorKind same = kind();
  return Error(same, std::move(what)).because(std::move(*this));
}

ErrorKind Error::kind() const { return rep_->kind; }
const std::string& Error::what() const { return rep_->what; }
const Error* Error::cause() const { return rep_->cause.get(); }

const std::string& Error::where() const {
  const Error* error = this;
  while (error->rep_->where.empty() && error->cause()) error = error->cause();
  return error->rep_->where;
}

const std::string& Error::next() const {
  const Error* error = this;
  while (error->rep_->next.empty() && error->cause()) error = error->cause();
  return error->rep_->next;
}

const Error& Error::root() const {
  const Error* error = this;
  while (error->cause()) error = error->cause();
  return *error;
}

std::string Error::message() const {
  std::string text = what();
  for (const Error* error = cause(); error; error = error->cause()) text += ": " + error->what();
  return text;
}

namespace {

// With four spaces at least before each line but the first.
std::string indented_below(std::string_view text) {
  constexpr std::string_view kIndent = "    ";
  std::string out;
  text = text.substr(0, text.find_last_not_of('\n') + 1);
  for (size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    out += text.substr(0, end + 1);
    text.remove_prefix(end + 1);
    if (!text.starts_with(kIndent)) out += kIndent;
  }
  return out.append(text);
}

}  // namespace

std::string Error::report() const {
  // Lines of a longer text stay in its column: what a server says cannot look like a line of ours.
  std::string text = "error: " + indented_below(what()) + "\n";
  auto add = [&](std::string_view label, const std::string& words) {
    fmt::format_to(std::back_inserter(text), "  {:<10}", label);
    for (char c : words.substr(0, words.find_last_not_of('\n') + 1))
      text += c == '\n' ? "\n            " : std::string(1, c);
    text += '\n';
  };
  for (const Error* error = cause(); error; error = error->cause()) add("because", error->what());
  if (!where().empty()) add("from", where());
  if (!next().empty()) add("next", next());
  return text;
}

}  // namespace fairlead
