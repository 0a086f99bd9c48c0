// What comes of asking an API server: an answer that says yes, an answer that says no, or no answer.
//
//   Outcome<Reply> outcome = co_await client.get(...);
//   if (outcome) use(outcome->value);
//   else if (const Fault* fault = outcome.error().fault()) ...   // the server answered: wait, give up, tell
//   else return outcome.error().error();                          // nobody answered
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.h"
#include "kube/faults/fault.h"

namespace fairlead::kube {

class Failure {
 public:
  Failure(Error error) : what_(std::move(error)) {}
  Failure(Fault fault, std::vector<std::string> warnings = {}, uint64_t connection = 0)
      : what_(std::move(fault)), warnings_(std::move(warnings)), connection_(connection) {}

  // The server's answer; null if there was none.
  const Fault* fault() const { return std::get_if<Fault>(&what_); }
  bool is(FaultKind kind) const { return fault() && fault()->kind == kind; }
  // For people, and for whoever does not care which of the two it is.
  Error error() const { return fault() ? as_error(*fault()) : std::get<Error>(what_); }
  // Those that came with the answer.
  const std::vector<std::string>& warnings() const { return warnings_; }
  // Over which connection, and so from which server, the answer came; 0 if there was none.
  uint64_t connection() const { return connection_; }

 private:
  std::variant<Error, Fault> what_;
  std::vector<std::string> warnings_;
  uint64_t connection_ = 0;
};

template <class T>
using Outcome = std::expected<T, Failure>;

// A success.
struct Reply {
  Json value;
  // What the server warns of, in its own words.
  std::vector<std::string> warnings;
  int status = 200;
  // Over which connection, and so from which server, it came.
  uint64_t connection = 0;
  // Bytes of the answer's text.
  size_t size = 0;

  bool created() const { return status == 201; }
};

}  // namespace fairlead::kube
