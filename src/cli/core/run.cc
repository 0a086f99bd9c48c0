#include "cli/core/run.h"

#include "async/interrupt.h"

namespace fairlead::cli {

int run_interruptibly(const std::function<Task<int>(RealLoop& loop, CancelSource& stop)>& work) {
  RealLoop loop;
  CancelSource stop;
  Interrupt interrupt(loop, stop);
  return loop.run(work(loop, stop));
}

}  // namespace fairlead::cli
