#include "gate/rules/health.h"

namespace fairlead::gate {

std::string_view name_of(Phase phase) {
  switch (phase) {
    case Phase::unseen: return "not looked at yet";
    case Phase::works: return "works";
    case Phase::coming_up: return "coming up";
    case Phase::gone: return "gone";
    case Phase::broken: return "broken";
    case Phase::unproved: return "not proved";
  }
  return "";
}

void Health::see(Finding finding, TimePoint now) {
  if (finding.kind != finding_.kind) changed_ = now;
  if (finding.kind == Finding::Kind::works) worked_ = true;
  finding_ = std::move(finding);
}

Phase Health::phase(const Patience& patience, TimePoint now) const {
  switch (finding_.kind) {
    case Finding::Kind::works: return Phase::works;
    case Finding::Kind::unproved: return Phase::unproved;
    case Finding::Kind::unseen: return now < awaited_until(patience) ? Phase::unseen : Phase::unproved;
    case Finding::Kind::doubtful: return !worked_ && now < awaited_until(patience) ? Phase::coming_up : Phase::unproved;
    case Finding::Kind::failing: break;
  }
  if (now >= awaited_until(patience)) return Phase::broken;
  return worked_ ? Phase::gone : Phase::coming_up;
}

bool Health::is_awaited(const Patience& patience, TimePoint now) const {
  Phase now_in = phase(patience, now);
  return now_in == Phase::unseen || now_in == Phase::coming_up || now_in == Phase::gone;
}

TimePoint Health::awaited_until(const Patience& patience) const {
  if (finding_.kind == Finding::Kind::unseen) return seen_ + patience.unseen;
  if (finding_.kind == Finding::Kind::doubtful) return registered_ + patience.doubtful;
  return worked_ ? changed_ + patience.gone : registered_ + patience.coming_up;
}

TimePoint Health::since() const {
  bool is_proved = finding_.kind == Finding::Kind::works || finding_.kind == Finding::Kind::unproved;
  bool never_worked = !is_proved && !worked_;
  return never_worked ? registered_ : changed_;
}

}  // namespace fairlead::gate
