#include "async/interrupt.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "async/scope.h"

namespace fairlead {
namespace {

using namespace std::chrono_literals;

TEST(Interrupt, TheFirstCancels) {
  RealLoop loop;
  CancelSource stop;
  Interrupt interrupt(loop, stop);
  loop.post([] { ::kill(::getpid(), SIGINT); });
  Result<void> slept = loop.run(sleep_for(loop, 1h).governed_by(&stop));
  EXPECT_EQ(slept.error().kind(), ErrorKind::cancelled);
  EXPECT_TRUE(interrupt.happened());
}

TEST(Interrupt, ALogThatNobodyReadsMayBeIgnored) {
  RealLoop loop;
  CancelSource stop;
  Interrupt interrupt(loop, stop, LostReader::is_ignored);
  ::kill(::getpid(), SIGPIPE);
  (void)loop.run(sleep_for(loop, 1ms));
  EXPECT_FALSE(interrupt.happened());
  loop.post([] { ::kill(::getpid(), SIGTERM); });
  (void)loop.run(sleep_for(loop, 1h).governed_by(&stop));
  EXPECT_TRUE(interrupt.happened());
  std::signal(SIGPIPE, SIG_DFL);
}

TEST(Interrupt, TheSecondEndsTheProcess) {
  pid_t child = ::fork();
  if (child == 0) {
    RealLoop loop;
    CancelSource stop;
    Interrupt interrupt(loop, stop);
    loop.call_after(1ms, [] { ::kill(::getpid(), SIGINT); });
    loop.call_after(20ms, [] { ::kill(::getpid(), SIGTERM); });
    (void)loop.run(sleep_for(loop, 1h));  // does not listen to the source, like work that hangs
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGTERM);
}

}  // namespace
}  // namespace fairlead
