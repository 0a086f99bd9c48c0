#include "async/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "async/process_listening.h"
#include "async/scope.h"
#include "base/temp_folder_testing.h"

namespace fairlead {
namespace {

using namespace std::chrono_literals;

class Process : public testing::Test {
 protected:
  ~Process() override {
    // No process is left behind, dead or alive.
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
  }

  Result<ProcessResult> run(ProcessSpec spec) { return loop_.run(run_process(loop_, std::move(spec))); }
  ProcessResult shell(std::string script, ProcessSpec spec = {}) {
    spec.argv = {"sh", "-c", std::move(script)};
    return run(std::move(spec)).value();
  }
  void write_file(const std::string& name, const std::string& content) {
    chmod(temp_.write(name, content).c_str(), 0700);
  }
  // Waits until a program says by way of a named pipe that it is there.
  Task<void> said(int fd) {
    char c;
    while (read(fd, &c, 1) != 1) (void)co_await sleep_for(loop_, 1ms);
  }

  RealLoop loop_;
  TempFolder temp_;
  std::string folder_ = temp_.path();
};

TEST_F(Process, GivesOutputErrorsAndStatus) {
  ProcessResult result = shell("echo out; echo err >&2; exit 3");
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.errors, "err\n");
  EXPECT_EQ(result.exit_status, 3);
  EXPECT_EQ(result.ending(), "exit status 3");
  EXPECT_FALSE(result.ok());
  EXPECT_TRUE(shell("true").ok());
}

TEST_F(Process, TellsTheSignal) {
  ProcessResult result = shell("kill -KILL $$");
  EXPECT_EQ(result.exit_status, std::nullopt);
  EXPECT_EQ(result.ending(), "signal 9 (Killed)");
  EXPECT_FALSE(result.ok());
}

TEST_F(Process, ReadsNothingOrTheGivenText) {
  EXPECT_EQ(shell("cat").output, "");
  std::string text(1 << 20, 'x');
  EXPECT_EQ(shell("cat", {.input = ProcessSpec::Input::text, .input_text = text}).output, text);
  EXPECT_EQ(shell("cat /dev/stdin", {.input = ProcessSpec::Input::text, .input_text = "abc"}).output, "abc");
  EXPECT_TRUE(shell("exec <&-", {.input = ProcessSpec::Input::text, .input_text = text}).ok());
}

TEST_F(Process, AddsToTheEnvironment) {
  setenv("FAIRLEAD_TEST_A", "ours", 1);
  setenv("FAIRLEAD_TEST_AB", "ours too", 1);
  ProcessResult result = shell("echo $FAIRLEAD_TEST_A, $FAIRLEAD_TEST_AB, $FAIRLEAD_TEST_C",
                               {.environment = {{"FAIRLEAD_TEST_A", "its"}, {"FAIRLEAD_TEST_C", "new=1"}}});
  unsetenv("FAIRLEAD_TEST_A");
  unsetenv("FAIRLEAD_TEST_AB");
  EXPECT_EQ(result.output, "its, ours too, new=1\n");
}

TEST_F(Process, RunsInTheDirectoryAndFindsProgramsThere) {
  write_file("hello", "#!/bin/sh\npwd\n");
  EXPECT_EQ(run({.argv = {"./hello"}, .directory = folder_}).value().output, folder_ + "\n");
  EXPECT_EQ(shell("pwd", {.directory = folder_}).output, folder_ + "\n");
}

TEST_F(Process, SaysWhatCannotBeStarted) {
  auto report = [&](ProcessSpec spec) { return run(std::move(spec)).error().report(); };
  EXPECT_EQ(report({.argv = {"no-such-program"}}),
            "error: exec: executable no-such-program not found\n"
            "  next      install no-such-program, or add the folder that it is in to PATH\n");
  EXPECT_EQ(run({.argv = {"no-such-program"}}).error().kind(), ErrorKind::not_found);
  EXPECT_EQ(report({.argv = {"./gone"}, .directory = folder_}),
            "error: exec: executable " + folder_ + "/./gone not found\n  next      ls -l " + folder_ + "/./gone\n");
  write_file("script", "#!/no/such/shell\n");
  EXPECT_EQ(report({.argv = {folder_ + "/script"}}), "error: exec: executable " + folder_ +
                                                         "/script cannot be started\n"
                                                         "  because   the interpreter in its first line is not there\n"
                                                         "  next      head -1 " +
                                                         folder_ + "/script\n");
  chmod((folder_ + "/script").c_str(), 0600);
  EXPECT_EQ(report({.argv = {folder_ + "/script"}}), "error: exec: executable " + folder_ +
                                                         "/script cannot be started\n"
                                                         "  because   Permission denied\n");
  EXPECT_EQ(report({.argv = {"true"}, .directory = folder_ + "/gone"}),
            "error: exec: true cannot run in " + folder_ + "/gone, which is not a directory\n");
  EXPECT_EQ(report({}), "error: exec: no executable was given\n");
}

TEST_F(Process, KeepsOneDescriptorIfItIsTold) {
  write_file("kept", "abc");
  int descriptor = open((folder_ + "/kept").c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(shell("cat <&3", {.kept_descriptor = descriptor}).output, "abc");
  // Not piped into another program, since the shell has the descriptors of a pipe open for a moment.
  EXPECT_EQ(shell("ls /proc/$$/fd; true", {.kept_descriptor = descriptor}).output, "0\n1\n2\n3\n");
  EXPECT_FALSE(shell("cat <&3").ok());
  close(descriptor);
}

TEST_F(Process, TooMuchOutputEndsIt) {
  Result<ProcessResult> result = run({.argv = {"yes"}, .max_output = 100'000});
  EXPECT_EQ(result.error().message(), "exec: yes wrote more than 100000 bytes to its standard output");
  EXPECT_EQ(result.error().kind(), ErrorKind::limit);
  EXPECT_EQ(shell("printf 12345", {.max_output = 5}).output, "12345");
}

TEST_F(Process, KeepsTheEndOfManyErrors) {
  ProcessResult result = shell("yes | head -c 1000000 >&2; printf done >&2", {.max_errors = 10});
  EXPECT_EQ(result.errors, "y\ny\ny\ndone");
}

TEST_F(Process, TellsWhatItWritesAsItComes) {
  std::string output, errors;
  // The program goes on when its first line has been heard.
  ProcessListener listener{.on_output =
                               [&](std::string_view piece) {
                                 output += piece;
                                 temp_.write("heard", "");
                               },
                           .on_errors = [&](std::string_view piece) { errors += piece; }};
  ProcessSpec spec{
      .argv = {"sh", "-c", "echo one; while [ ! -e heard ]; do sleep 0.01; done; echo two; echo three >&2"},
      .directory = folder_,
      .max_output = 2};
  ProcessResult result = loop_.run(run_listening(loop_, std::move(spec), std::move(listener))).value();
  EXPECT_EQ(output, "one\ntwo\n");
  EXPECT_EQ(errors, "three\n");
  EXPECT_EQ(result.output, "o\n");
  EXPECT_EQ(result.exit_status, 0);
}

TEST_F(Process, DoesNotWaitForWhatItLeavesInTheBackground) {
  ProcessResult result = shell("sleep 1000 & echo $!");
  EXPECT_TRUE(result.ok());
  // It holds the pipe still, and is not ours to end.
  EXPECT_EQ(kill(std::stoi(result.output), SIGKILL), 0);
}

TEST_F(Process, LeaksNoDescriptors) {
  int ours = open("/dev/null", O_RDONLY);  // not close-on-exec, on purpose
  ProcessResult result = shell("ls /proc/self/fd | wc -l");
  close(ours);
  // The three standard ones and the one that ls reads the folder with.
  EXPECT_EQ(std::stoi(result.output), 4);
  auto open_descriptors = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}); };
  auto before = open_descriptors();
  (void)shell("true");
  (void)run({.argv = {"no-such-program"}});
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(Process, SignalsAreAsUsualForIt) {
  std::signal(SIGPIPE, SIG_IGN);
  ProcessResult result = shell("grep SigIgn: /proc/self/status | cut -f 2");
  std::signal(SIGPIPE, SIG_DFL);
  EXPECT_EQ(std::stoull(result.output, nullptr, 16) >> (SIGPIPE - 1) & 1, 0u);
}

TEST_F(Process, ADeadlineEndsTheWholeGroup) {
  std::string fifo = folder_ + "/there";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  int fd = open(fifo.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  // Ignores TERM, and so does its child: both have to be killed.
  ProcessSpec spec{.argv = {"sh", "-c", "trap '' TERM; sh -c 'echo $$ > pid; echo x > there; sleep 1000' & wait"},
                   .directory = folder_,
                   .grace = 1ms};
  auto body = [&]() -> Task<Result<ProcessResult>> {
    CancelSource cancel;
    Scope scope(loop_, nullptr);
    auto stop = [&]() -> Task<void> {
      co_await said(fd);
      cancel.cancel();
    };
    scope.spawn(stop());
    Result<ProcessResult> result = co_await run_process(loop_, spec).governed_by(&cancel);
    co_await scope.join();
    co_return result;
  };
  Result<ProcessResult> result = loop_.run(body());
  EXPECT_EQ(result.error().kind(), ErrorKind::cancelled);
  int grandchild = 0;
  std::ifstream(folder_ + "/pid") >> grandchild;
  ASSERT_GT(grandchild, 0);
  // Not our child, so it is gone only when init has reaped it; a zombie is as good as gone.
  auto gone = [&]() -> Task<bool> {
    for (;;) {
      std::ifstream in(fmt::format("/proc/{}/stat", grandchild));
      std::string line;
      if (!std::getline(in, line) || line.find(") Z ") != line.npos) co_return true;
      (void)co_await sleep_for(loop_, 1ms);
    }
  };
  EXPECT_TRUE(loop_.run(gone()));
  close(fd);
}

TEST_F(Process, ADeadlineSaysItsOwnWords) {
  Result<ProcessResult> result = loop_.run(
      with_deadline(loop_, loop_.now() + 1ms, "sleep took too long", run_process(loop_, {.argv = {"sleep", "1000"}})));
  EXPECT_EQ(result.error().message(), "sleep took too long");
}

TEST_F(Process, ManyRunSideBySide) {
  int good = 0;
  auto one = [&](int i) -> Task<void> {
    Result<ProcessResult> result = co_await run_process(loop_, {.argv = {"echo", std::to_string(i)}});
    if (result && result->output == std::to_string(i) + "\n") ++good;
  };
  auto body = [&]() -> Task<void> {
    Scope scope(loop_, nullptr);
    for (int i = 0; i < 20; ++i) scope.spawn(one(i));
    co_await scope.join();
  };
  loop_.run(body());
  EXPECT_EQ(good, 20);
}

}  // namespace
}  // namespace fairlead
