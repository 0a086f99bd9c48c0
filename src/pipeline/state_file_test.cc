#include "pipeline/state_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

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
    EXPECT_EQ(folder.hide_in(other.error().report(), "TEMP"),
              "error: another run of this pipeline is active\n"
              "  because   ann@laptop, process 1 holds TEMP/state.lock\n"
              "  next      wait until it has ended, or give --state FILE if it is a run of another kind\n");
  }
  EXPECT_EQ(StateLock::holder_of(path), std::nullopt);
  EXPECT_EQ(files_in(folder), 0u);
  EXPECT_TRUE(StateLock::acquire(path, "bob@laptop, process 2"));
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
