#include "journal/outcome.h"

namespace fairlead::journal {

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::done: return "done";
    case Outcome::failed: return "failed";
    case Outcome::timed_out: return "timed out";
    case Outcome::conflicts: return "conflicts";
    case Outcome::interrupted: return "interrupted";
    case Outcome::declined: return "declined";
  }
  return "";
}

}  // namespace fairlead::journal
