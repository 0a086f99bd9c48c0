#include "sim/dice.h"

namespace fairlead::sim {

Random dice(uint64_t seed, std::string_view source, uint64_t number) {
  // FNV-1a, and then the generator itself as a mixer.
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : source) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  Random mixer(seed ^ hash);
  return Random(mixer.next() ^ (number + 1) * 0x9e3779b97f4a7c15);
}

Duration some_time(Random& random, Duration limit) {
  auto most = limit / std::chrono::microseconds(1);
  if (most <= 0) return Duration::zero();
  return std::chrono::microseconds(random.below(static_cast<uint64_t>(most)));
}

}  // namespace fairlead::sim
