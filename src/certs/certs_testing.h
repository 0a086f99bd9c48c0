// Helpers for the tests of this room: what a Service needs, and certificates for it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "certs/judge.h"

namespace fairlead::certs {

using namespace std::chrono_literals;

inline Spec hook_spec() {
  Spec spec;
  spec.ns = "shop";
  spec.service = "hook";
  spec.secret = "hook-cert";
  return spec;
}

// A CA and a leaf of it, as they are stored after a first run.
inline Material fresh(const Spec& spec, WallTime now) { return take_step(Step::create, {}, spec, now)->after; }

// What another tool left there: a pair without the key of its CA.
inline Material adopted(const Spec& spec, WallTime now) {
  Material material = fresh(spec, now);
  material.ca.reset();
  return material;
}

// "keep: the certificate is valid until …"
inline std::string judged(const Material& material, const Spec& spec, WallTime now) {
  Judgement judgement = judge(material, spec, now);
  return fmt::format("{}: {}", name_of(judgement.step), judgement.reason);
}

}  // namespace fairlead::certs
