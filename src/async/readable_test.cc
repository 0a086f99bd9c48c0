#include "async/readable.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "async/scope.h"

namespace fairlead {
namespace {

class Readable : public testing::Test {
 protected:
  Readable() { EXPECT_EQ(::pipe2(ends_, O_CLOEXEC), 0); }
  ~Readable() override {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }

  bool blocks() const { return (::fcntl(ends_[0], F_GETFL) & O_NONBLOCK) == 0; }

  // Waits for the pipe. What is done meanwhile gets the chance when the wait has begun.
  template <class Meanwhile>
  Result<void> wait(Meanwhile meanwhile, CancelSource& stop) {
    return loop_.run([](Readable& self, Meanwhile meanwhile, CancelSource& stop) -> Task<Result<void>> {
      auto act = [](Readable& self, Meanwhile& meanwhile) -> Task<void> {
        (void)co_await sleep_for(self.loop_, Duration::zero());
        EXPECT_TRUE(self.blocks()) << "others may be reading the same pipe";
        meanwhile();
      };
      Scope scope(self.loop_, nullptr);
      scope.spawn(act(self, meanwhile));
      Result<void> waited = co_await await_readable(self.loop_, self.ends_[0]).governed_by(&stop);
      co_await scope.join();
      co_return waited;
    }(*this, std::move(meanwhile), stop));
  }

  RealLoop loop_;
  int ends_[2] = {-1, -1};
};

TEST_F(Readable, TheWaitEndsWithTheFirstByteAndTheDescriptorStaysBlocking) {
  CancelSource stop;
  EXPECT_TRUE(wait([&] { EXPECT_EQ(::write(ends_[1], "x", 1), 1); }, stop));
  EXPECT_TRUE(blocks());
  char byte = 0;
  EXPECT_EQ(::read(ends_[0], &byte, 1), 1);
}

TEST_F(Readable, TheWaitEndsAtTheEndOfTheInput) {
  CancelSource stop;
  EXPECT_TRUE(wait([&] { ::close(std::exchange(ends_[1], -1)); }, stop));
}

TEST_F(Readable, TheWaitCanBeCancelled) {
  CancelSource stop;
  Result<void> waited = wait([&] { stop.cancel(); }, stop);
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().kind(), ErrorKind::cancelled);
  EXPECT_TRUE(blocks());
}

TEST_F(Readable, AFileIsAlwaysReadable) {
  int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  EXPECT_TRUE(loop_.run(await_readable(loop_, file)));
  ::close(file);
}

}  // namespace
}  // namespace fairlead
