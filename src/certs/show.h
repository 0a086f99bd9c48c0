// What the commands print, as text and as JSON (docs/certs.md). Pure. Nothing of a private key is in it.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "certs/engine.h"
#include "certs/verify.h"

namespace fairlead::certs {

// What a command has found and done; what does not apply is empty.
struct Summary {
  Spec spec;
  Material material;
  Judgement next;
  std::vector<Taken> taken;
  std::vector<std::string> evidence;
  std::vector<Injection> places;
  std::vector<std::string> notes;
  std::vector<Finding> findings;
};

// The certificates, and what would happen next.
std::string certificates_text(const Summary& summary);
// One line per place.
std::string places_text(const std::vector<Injection>& places, bool dry_run);
// One line per finding, and a last one that sums them up.
std::string findings_text(const std::vector<Finding>& findings);

Json json_of(const Summary& summary);

}  // namespace fairlead::certs
