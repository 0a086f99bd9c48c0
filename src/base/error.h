// What can be expected to go wrong, as a value.
//
// An Error says what happened, why (a chain of causes, outermost first), where (file:line, where it came from a
// manifest) and what to do next. Result<T> carries either a value or an Error; nothing here throws.
// Errors are immutable and cheap to copy. They never hold secrets: whoever makes one leaves those out.
#pragma once

#include <fmt/core.h>

#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace fairlead {

enum class ErrorKind {
  invalid,      // input that can never work: bad syntax, bad flags, a bad file
  not_found,    // a file, a context, a kind that is not there
  unavailable,  // the other side cannot be reached, or went away
  untrusted,    // certificates that do not verify
  denied,       // credentials that are missing, expired or refused
  protocol,     // the other side does not keep to the protocol
  timeout,      // a deadline passed
  cancelled,    // somebody asked to stop
  limit,        // larger or deeper than we are willing to take
  internal,     // an error of our own
};

std::string_view name_of(ErrorKind kind);

class Error {
 public:
  Error(ErrorKind kind, std::string what);

  // Builders, for use on a fresh error: `return Error(...).because(std::move(cause)).next("kubectl ...");`
  Error because(Error cause) &&;
  Error because(std::string cause) &&;
  Error at(std::string where) &&;
  Error next(std::string next) &&;
  // The same error with another cause-and-effect layer above it, of the same kind.
  Error in(std::string what) &&;

  ErrorKind kind() const;
  const std::string& what() const;
  const std::string& where() const;
  // The nearest advice in the chain, outermost first; empty when nobody gave any.
  const std::string& next() const;
  const Error* cause() const;
  const Error& root() const;

  // "what: cause: cause", on one line.
  std::string message() const;
  // Several lines, as people read them: what, because, from, next.
  std::string report() const;

 private:
  struct Rep;
  std::shared_ptr<Rep> rep_;
};

template <class T>
using Result = std::expected<T, Error>;

template <class... Args>
std::unexpected<Error> fail(ErrorKind kind, fmt::format_string<Args...> text, Args&&... args) {
  return std::unexpected(Error(kind, fmt::format(text, std::forward<Args>(args)...)));
}
inline std::unexpected<Error> fail(Error error) { return std::unexpected(std::move(error)); }

}  // namespace fairlead

// TRY(expr): leaves the function with the error of a Result<void>, or of any Result whose value is not wanted.
// TRY_ASSIGN(auto x, expr): the same, and otherwise takes the value. CO_ versions are for coroutines.
#define FAIRLEAD_CONCAT_(a, b) a##b
#define FAIRLEAD_CONCAT(a, b) FAIRLEAD_CONCAT_(a, b)
#define FAIRLEAD_LEAVE(leave, result) leave std::unexpected(std::move(result).error())
#define FAIRLEAD_TRY(result, leave, ...)                   \
  if (auto&& result = (__VA_ARGS__); !result) [[unlikely]] \
  FAIRLEAD_LEAVE(leave, result)
#define FAIRLEAD_TRY_ASSIGN(result, leave, target, ...) \
  auto&& result = (__VA_ARGS__);                        \
  if (!result) [[unlikely]]                             \
    FAIRLEAD_LEAVE(leave, result);                      \
  target = *std::move(result)
#define TRY(...) FAIRLEAD_TRY(FAIRLEAD_CONCAT(result_, __LINE__), return, __VA_ARGS__)
#define CO_TRY(...) FAIRLEAD_TRY(FAIRLEAD_CONCAT(result_, __LINE__), co_return, __VA_ARGS__)
#define TRY_ASSIGN(target, ...) FAIRLEAD_TRY_ASSIGN(FAIRLEAD_CONCAT(result_, __LINE__), return, target, __VA_ARGS__)
#define CO_TRY_ASSIGN(target, ...) \
  FAIRLEAD_TRY_ASSIGN(FAIRLEAD_CONCAT(result_, __LINE__), co_return, target, __VA_ARGS__)
