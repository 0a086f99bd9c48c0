#include "pipeline/state_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <thread>

#include "base/temp_folder_testing.h"
#include "pipeline/read_testing.h"

namespace fairlead::pipeline {
namespace {

size_t files_in(const TempFolder& folder) {
  return size_t(std::distance(std::filesystem::directory_iterator(folder.path()), {}));
}

TEST(StateFile, IsWrittenAsAWhole) {
  TempFolder folder;
  std::string path = folder.path_of("kof.yaml.state");
  EXPECT_EQ(read_state(path).value(), std::nullopt);
  State state(parsed("phases: [{name: a, steps: [{wait: pod/x}]}]"));
  folder.write("kof.yaml.state", "old");
  ASSERT_TRUE(write_state(state, path));
  EXPECT_EQ(read_state(path).value(), state);
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(files_in(folder), 1u);
}

TEST(StateFile, CannotBeWritten) {
  TempFolder folder;
  Result<void> written = write_state({}, folder.path_of("none/state"));
  ASSERT_FALSE(written);
  EXPECT_EQ(folder.hide_in(written.error().report(), "TEMP"),
            "error: the state TEMP/none/state cannot be written\n"
            "  because   No such file or directory\n"
            "  next      --state FILE keeps it elsewhere\n");
  // A folder is in its place.
  std::filesystem::create_directory(folder.path_of("state"));
  EXPECT_FALSE(write_state({}, folder.path_of("state")));
  EXPECT_EQ(files_in(folder), 1u);
}

TEST(StateFile, ALinkStays) {
  TempFolder folder;
  std::filesystem::create_directory(folder.path_of("kept"));
  std::filesystem::create_symlink("kept/state", folder.path_of("link"));
  ASSERT_TRUE(write_state({}, folder.path_of("link"))) << "the file does not exist yet";
  State state(parsed("phases: [{name: a, steps: [{wait: pod/x}]}]"));
  ASSERT_TRUE(write_state(state, folder.path_of("link")));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path_of("link")));
  EXPECT_EQ(read_state(folder.path_of("kept/state")).value(), state);
  auto lock = StateLock::acquire(folder.path_of("link"), "ann");
  ASSERT_TRUE(lock);
  EXPECT_FALSE(StateLock::acquire(folder.path_of("kept/state"), "bob")) << "it is the same file";
}

TEST(StateFile, WhatCannotBeUsedHasAWayOut) {
  TempFolder folder;
  auto report_of = [&](const std::string& path) {
    auto state = read_state(path);
    return state ? "no error" : folder.hide_in(state.error().front().report(), "TEMP");
  };
  constexpr std::string_view kWayOut =
      "  next      rm TEMP/s begins again from the first phase, --state FILE keeps the state elsewhere\n";
  for (std::string text : {"", "{\"schemaVersion\": 1, \"pipe", "\x01\x02", "[]"}) {
    std::string report = report_of(folder.write("s", text));
    EXPECT_TRUE(report.ends_with(kWayOut)) << report;
  }
  EXPECT_TRUE(report_of(folder.write("s", std::string(size_t{2} << 20, ' '))).ends_with(kWayOut));
  EXPECT_EQ(report_of(folder.path()),
            "error: the state TEMP cannot be read\n"
            "  because   it is a folder\n"
            "  next      --state FILE keeps it elsewhere\n");
  ASSERT_EQ(::mkfifo(folder.path_of("pipe").c_str(), 0600), 0);
  EXPECT_EQ(report_of(folder.path_of("pipe")),
            "error: the state TEMP/pipe is not a regular file\n"
            "  next      --state FILE keeps it elsewhere\n");
}

TEST(StateLock, OnlyOneRunHasIt) {
  TempFolder folder;
  std::string path = folder.path_of("state");
  EXPECT_EQ(StateLock::holder_of(path), std::nullopt);
  {
    auto lock = StateLock::acquire(path, "ann@laptop, process 1");
    ASSERT_TRUE(lock);
    EXPECT_EQ(StateLock::holder_of(path), "ann@laptop, process 1");
    auto other = StateLock::acquire(path, "bob@laptop, process 2");
    ASSERT_FALSE(other);
    EXPECT_EQ(
        folder.hide_in(other.error().report(), "TEMP"),
        "error: another run of this pipeline is active\n"
        "  because   ann@laptop, process 1 holds TEMP/state.lock\n"
        "  next      wait until it and the commands that it has started have ended, or give --state FILE if it is a "
        "run of another kind\n");
  }
  EXPECT_EQ(StateLock::holder_of(path), std::nullopt);
  EXPECT_EQ(files_in(folder), 0u);
  EXPECT_TRUE(StateLock::acquire(path, "bob@laptop, process 2"));
}

// Whoever ends removes the file, which others may have opened by then.
TEST(StateLock, OnlyOneOfManyHasItHoweverFastTheyComeAndGo) {
  TempFolder folder;
  std::string path = folder.path_of("state");
  std::atomic<int> holders = 0, most = 0, times = 0;
  auto come_and_go = [&] {
    while (times < 2000) {
      auto lock = StateLock::acquire(path, "ann");
      if (!lock) continue;
      if (++holders > 1) most = 2;
      ++times;
      std::this_thread::yield();
      --holders;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(come_and_go);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 0);
  EXPECT_EQ(files_in(folder), 0u);
}

TEST(StateLock, WhatAKilledRunLeavesDoesNotHoldIt) {
  TempFolder folder;
  folder.write("state.lock", "ann@laptop, process 1, and more text than the next one has");
  auto lock = StateLock::acquire(folder.path_of("state"), "bob");
  ASSERT_TRUE(lock);
  EXPECT_EQ(StateLock::holder_of(folder.path_of("state")), "bob");
}

}  // namespace
}  // namespace fairlead::pipeline
