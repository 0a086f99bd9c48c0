#include "async/halt.h"

namespace fairlead {

void Halt::interrupt() {
  interrupted_ = true;
  land();
}

void Halt::expire() {
  out_of_time_ = true;
  land();
}

void Halt::end_waits() {
  if (!waits_.cancelled()) waits_.cancel();
}

void Halt::land() {
  waits_.cancel();
  if (!landed_) landed_.emplace(loop_, loop_.now() + landing_time_, requests_);
}

}  // namespace fairlead
