#include "inventory/holder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fairlead::inventory {
namespace {

// A child that does nothing until it is killed.
class Child {
 public:
  Child() : process_(::fork()) {
    if (process_ != 0) return;
    ::pause();
    ::_exit(0);
  }
  ~Child() { end(); }
  void end() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = 0;
  }
  pid_t process() const { return process_; }

 private:
  pid_t process_;
};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << text;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

TEST(Holder, AProcessOfThisKernelThatEndedIsGone) {
  Child child;
  std::string origin = origin_of(child.process());
  ASSERT_FALSE(origin.empty());
  EXPECT_FALSE(is_gone(origin));
  child.end();
  EXPECT_TRUE(is_gone(origin));
}

TEST(Holder, ANumberThatIsUsedAgainIsAnotherProcess) {
  std::string own = origin_of(::getpid());
  EXPECT_FALSE(is_gone(own));
  size_t start = own.rfind(' ');
  EXPECT_TRUE(is_gone(own.substr(0, start) + " 1"));
}

TEST(Holder, NothingIsKnownAboutOtherMachinesAndContainers) {
  Child child;
  std::string ended = origin_of(child.process());
  child.end();
  std::string boot = ended.substr(0, ended.find(' '));
  EXPECT_FALSE(is_gone(replaced(ended, boot, "11111111-2222-3333-4444-555555555555")));
  EXPECT_FALSE(is_gone(replaced(ended, "pid:[", "pid:[9")));
  for (std::string_view odd : {"", "x", "ann@laptop, process 4711"}) EXPECT_FALSE(is_gone(odd)) << odd;
  EXPECT_FALSE(is_gone(boot));
  EXPECT_FALSE(is_gone(ended.substr(0, ended.rfind(' '))));
}

TEST(Holder, ARunsNameTellsWhetherItsProcessHasEnded) {
  Child child;
  std::string run = run_of(child.process());
  EXPECT_LE(run.size(), 30u) << run;
  EXPECT_EQ(run.find_first_not_of("0123456789abcdef-"), std::string::npos) << run;
  EXPECT_FALSE(is_gone_run(run));
  child.end();
  EXPECT_TRUE(is_gone_run(run));
  EXPECT_FALSE(is_gone_run(run_of(::getpid())));

  size_t place = run.find('-', run.find('-') + 1) + 1;
  std::string elsewhere = run;
  elsewhere[place] = elsewhere[place] == '0' ? '1' : '0';
  EXPECT_FALSE(is_gone_run(elsewhere)) << "nothing is known about other machines";
  for (std::string_view odd : {"", "-", "---", "x-1-2-3", "558f1c23634432ea", "ffffffffffffffff-1-2-3"})
    EXPECT_FALSE(is_gone_run(odd)) << odd;
  EXPECT_FALSE(is_gone_run(run.substr(0, place + 8))) << "cut off";
}

}  // namespace
}  // namespace fairlead::inventory
