// Everything in a sandbox that looks random, drawn from one seed: the same seed gives the same names and uids.
#pragma once

#include <cstdint>
#include <string>

namespace fairlead::sandbox {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next();
  // From 0 to below `limit`, which is not 0.
  uint64_t below(uint64_t limit) { return next() % limit; }
  bool chance(double probability);

  // A version 4 UUID.
  std::string uid();
  // What generateName and controllers append: letters and digits that spell no words.
  std::string name_suffix(size_t length = 5);

 private:
  uint64_t state_;
};

// The same alphabet for a number, as the pod-template-hash has it.
std::string safe_encode(std::string_view digits);

}  // namespace fairlead::sandbox
