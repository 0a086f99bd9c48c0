#include "report/github.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "base/temp_folder_testing.h"
#include "report/report_testing.h"

namespace fairlead::report {
namespace {

journal::Cause cause() {
  Error error =
      Error(ErrorKind::denied, "Berth shop/a was not accepted").because("no ```room``` left").at("k8s/a.yaml:3");
  return {.error = std::move(error), .blocks = {{.group = "", .kind = "Berth", .ns = "shop", .name = "b"}}};
}

TEST(Github, AnAnnotationCannotBeEndedByItsText) {
  EXPECT_EQ(annotation("error", "k8s/a.yaml:3", "no\n::add-path::/tmp"),
            "::error file=k8s/a.yaml,line=3::no%0A::add-path::/tmp\n");
  EXPECT_EQ(annotation("warning", "odd,line=7:x%.yaml:12", "100%"),
            "::warning file=odd%2Cline=7%3Ax%25.yaml,line=12::100%25\n");
  EXPECT_EQ(annotation("error", "", "\033[2J"), "::error::\\x1b[2J\n");
  EXPECT_EQ(annotation("error", "https://example.com/a.yaml:3", "x"), "::error::x\n");
}

TEST(Github, ASummaryShowsTextsAsTheyAre) {
  EXPECT_EQ(summary_markdown("fairlead apply: failed", "1 failed (refused)", {cause()}),
            "### fairlead apply: failed\n"
            "\n"
            "```text\n"
            "1 failed (refused)\n"
            "```\n"
            "\n"
            "\n"
            "````text\n"
            "error: Berth shop/a was not accepted\n"
            "  because   no ```room``` left\n"
            "  from      k8s/a.yaml:3\n"
            "  blocks    1 object: Berth shop/b\n"
            "````\n"
            "\n");
}

TEST(Github, NoLineOfATextIsACommand) {
  EXPECT_EQ(without_commands("a\n  ::add-mask::x\n##[group]y\nz::w\n"), "a\n  \\::add-mask::x\n\\##[group]y\nz::w\n");
  EXPECT_EQ(without_commands("::x"), "\\::x");
  EXPECT_EQ(without_commands(""), "");
}

TEST(Github, TheSummaryIsAddedToItsFile) {
  TempFolder folder;
  std::string path = folder.path_of("summary.md");
  Stream stream;
  Github(stream.file(), path).finish("one", "1 created", {});
  Github(stream.file(), path).finish("two", "1 failed", {cause()});
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), summary_markdown("one", "1 created", {}) + summary_markdown("two", "1 failed", {cause()}));
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  EXPECT_EQ(
      stream.text(),
      "::error file=k8s/a.yaml,line=3::Berth shop/a was not accepted: no ```room``` left%0Ablocks Berth shop/b\n");
}

TEST(Github, ASummaryThatCannotBeWrittenIsToldAndNoMore) {
  Stream stream;
  Github(stream.file(), "/nowhere/summary.md").finish("one", "1 created", {});
  EXPECT_EQ(stream.text(), "warning: the summary /nowhere/summary.md cannot be written: No such file or directory\n");
}

}  // namespace
}  // namespace fairlead::report
