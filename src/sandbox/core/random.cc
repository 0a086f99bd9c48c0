#include "sandbox/core/random.h"

#include <fmt/format.h>

namespace fairlead::sandbox {
namespace {

constexpr std::string_view kSafe = "bcdfghjklmnpqrstvwxz2456789";

}  // namespace

// SplitMix64: small, fast, and the same everywhere, which the standard distributions are not.
uint64_t Random::next() {
  uint64_t z = (state_ += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

bool Random::chance(double probability) { return double(next() >> 11) * 0x1.0p-53 < probability; }

std::string Random::uid() {
  uint64_t a = next();
  uint64_t b = next();
  return fmt::format("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}", a >> 32, (a >> 16) & 0xffff, a & 0xfff,
                     0x8000 | ((b >> 48) & 0x3fff), b & 0xffffffffffff);
}

std::string Random::name_suffix(size_t length) {
  std::string suffix;
  while (suffix.size() < length) suffix += kSafe[below(kSafe.size())];
  return suffix;
}

std::string safe_encode(std::string_view digits) {
  std::string encoded;
  for (char c : digits) encoded += kSafe[static_cast<unsigned char>(c) % kSafe.size()];
  return encoded;
}

}  // namespace fairlead::sandbox
