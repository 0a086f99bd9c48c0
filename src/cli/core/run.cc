#include "cli/core/run.h"

namespace fairlead::cli {

int run_interruptibly(const Work& work, LostReader lost_reader) {
  RealLoop loop;
  CancelSource stop;
  Interrupt interrupt(loop, stop, lost_reader);
  return loop.run(work(loop, stop));
}

void run_when_chosen(Command command, Invocation& invocation, Work work) {
  command.when_chosen(
      [&invocation, work = std::move(work)] { invocation.run = [work] { return run_interruptibly(work); }; });
}

}  // namespace fairlead::cli
