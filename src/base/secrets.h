// Values that must not reach any text: those of the Secrets of a run.
//
// API servers, webhooks and policies quote what they refuse. Nobody can tell from their words what is secret; but the
// values are known, so that they can be taken out of every text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"

namespace fairlead {

class Secrets {
 public:
  // Hides the value as it is and in the forms in which servers quote it: base64, escaped as in JSON and in Go, without
  // white space around it, and line by line. Values of fewer than four bytes are in every text, and are not hidden.
  void hide(std::string_view value);
  // All that the others hide as well.
  void hide(const Secrets& others);
  // Takes a value out again, in all its forms: it is no secret, but the name of something.
  void show(std::string_view value);
  bool empty() const { return forms_.empty(); }

  // With *** in place of every hidden value.
  std::string without(std::string_view text) const;
  Error without(const Error& error) const;

 private:
  void add(std::string form);

  // By their first four bytes, the longest first.
  std::unordered_map<uint32_t, std::vector<std::string>> forms_;
};

}  // namespace fairlead
