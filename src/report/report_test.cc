#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "report/journal_file.h"
#include "report/removal_report.h"
#include "report/rollout_report.h"

namespace fairlead::report {
namespace {

using journal::Event;
using journal::EventKind;
using testing::HasSubstr;

// A stream that keeps its text.
class Stream {
 public:
  Stream() : file_(::open_memstream(&text_, &size_)) {}
  ~Stream() {
    std::fclose(file_);
    std::free(text_);  // NOLINT: the stream allocates it so
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  std::FILE* file() const { return file_; }
  std::string text() const { return std::string(text_, size_); }

 private:
  char* text_ = nullptr;
  size_t size_ = 0;
  std::FILE* file_;
};

object::Key key_of(std::string kind, std::string name) {
  object::Key key;
  key.kind = std::move(kind);
  key.name = std::move(name);
  return key;
}

Event event_of(EventKind what, std::string state, std::string text) {
  Event event;
  event.kind = what;
  event.key = key_of("Berth", "a");
  event.state = std::move(state);
  event.text = std::move(text);
  return event;
}

rollout::Ending refused_ending(const std::string& message) {
  rollout::Ending ending;
  ending.how = rollout::Ending::How::failed;
  Error error = Error(ErrorKind::denied, "Berth a is refused").because(message).next("fairlead apply");
  rollout::ObjectEnding refused;
  refused.key = key_of("Berth", "a");
  refused.state = rollout::ObjectEnding::State::refused;
  refused.error = error;
  ending.objects.push_back(std::move(refused));
  ending.causes.push_back({.error = error, .blocks = {key_of("Berth", "b")}});
  return ending;
}

class ReportTest : public testing::Test {
 protected:
  Output output(Format format) const { return Output(format, out.file(), err.file()); }

  Stream out;
  Stream err;
};

TEST_F(ReportTest, WhatAServerSaysCannotPlayTricksOnTheTerminal) {
  RolloutReport report(output(Format::text), false);
  report.read(event_of(EventKind::parked, "", "webhook \"\033]0;owned\a\" refuses"));
  report.read(event_of(EventKind::warning, "", "\033[2Jall is well"));
  report.finish(refused_ending("denied: \033[1A\033[2Kdone"));
  EXPECT_THAT(out.text(), HasSubstr(R"(waits: webhook "\x1b]0;owned\x07" refuses)"));
  EXPECT_THAT(err.text(), HasSubstr(R"(\x1b[2Jall is well)"));
  EXPECT_THAT(err.text(), HasSubstr(R"(because   denied: \x1b[1A\x1b[2Kdone)"));
  EXPECT_EQ((out.text() + err.text()).find('\033'), std::string::npos);
}

TEST_F(ReportTest, QuietIsQuietButForWarningsAndCauses) {
  RolloutReport report(output(Format::quiet), false);
  report.read(event_of(EventKind::stored, "created", ""));
  report.read(event_of(EventKind::warning, "server", "berths are deprecated"));
  report.finish(refused_ending("full"));
  EXPECT_EQ(out.text(), "");
  EXPECT_EQ(err.text(),
            "warning: Berth a: berths are deprecated\n"
            "error: Berth a is refused\n"
            "  because   full\n"
            "  next      fairlead apply\n"
            "  blocks    1 object: Berth b\n");
}

TEST_F(ReportTest, WhatIsBlockedIsCountedAndNamedInPart) {
  rollout::Ending ending = refused_ending("no endpoints");
  ending.causes[0].blocks.clear();
  for (int i = 0; i < 50; ++i) {
    ending.causes[0].blocks.push_back(key_of("Berth", "b" + std::to_string(i)));
    rollout::ObjectEnding blocked;
    blocked.state = rollout::ObjectEnding::State::blocked;
    ending.objects.push_back(std::move(blocked));
  }
  RolloutReport(output(Format::text), false).finish(ending);
  EXPECT_THAT(out.text(), HasSubstr("1 refused, 50 blocked in 0.0s"));
  EXPECT_THAT(err.text(), HasSubstr("  blocks    50 objects: Berth b0, Berth b1, Berth b2 and 47 more\n"));
}

TEST_F(ReportTest, AnInterruptionIsNotToldAsAFailureToo) {
  rollout::Ending ending;
  ending.how = rollout::Ending::How::interrupted;
  Error cut = Error(ErrorKind::cancelled, "GET /api failed").because(Error(ErrorKind::cancelled, "cancelled"));
  ending.causes.push_back({.error = cut, .blocks = {}});
  RolloutReport(output(Format::text), false).finish(ending);
  EXPECT_EQ(err.text(), "error: interrupted\n");
}

TEST_F(ReportTest, WhatHoldsManyIsToldOnce) {
  RolloutReport report(output(Format::text), false);
  for (int i = 0; i < 3; ++i) report.read(event_of(EventKind::parked, "", "the webhook does not answer"));
  EXPECT_EQ(out.text(), "Berth a waits: the webhook does not answer\n");
}

TEST_F(ReportTest, MachinesGetEveryEventAndOneSummary) {
  RolloutReport report(output(Format::jsonl), false);
  report.read(event_of(EventKind::stored, "unchanged", ""));
  report.read(event_of(EventKind::ended, "failed", ""));
  report.finish(refused_ending("full"));
  std::string text = out.text();
  EXPECT_EQ(std::ranges::count(text, '\n'), 2);
  EXPECT_THAT(text, HasSubstr(R"("event":"stored")"));
  EXPECT_THAT(text, HasSubstr(R"("type":"summary","outcome":"failed")"));
  EXPECT_THAT(text, HasSubstr(R"("refused":1)"));
  EXPECT_THAT(text, HasSubstr(R"("blocks":["Berth b"])"));
  EXPECT_EQ(err.text(), "");
}

TEST_F(ReportTest, OneDocumentHasTheObjects) {
  RolloutReport(output(Format::json), true).finish(refused_ending("full"));
  Result<Json> document = Json::parse(out.text());
  ASSERT_TRUE(document);
  EXPECT_EQ((*document)["objects"].items().size(), 1U);
  EXPECT_EQ((*document)["summary"]["dryRun"], Json(true));
}

TEST_F(ReportTest, ARemovalSaysWhatBecameOfEach) {
  RemovalReport report(output(Format::text), removal::DryRun::none);
  report.read(event_of(EventKind::removed, "", ""));
  report.read(event_of(EventKind::progress, "stuck", "nobody removes its finalizer"));
  report.read(event_of(EventKind::progress, "slow", "3 of 5 are gone"));
  removal::Ending ending;
  ending.how = removal::Ending::How::interrupted;
  ending.objects.resize(2);
  ending.objects[0].state = removal::ObjectEnding::State::gone;
  ending.objects[1].state = removal::ObjectEnding::State::leaving;
  report.finish(ending);
  EXPECT_EQ(out.text(),
            "Berth a gone\n"
            "Berth a is stuck: nobody removes its finalizer\n"
            "1 gone, 1 on the way out in 0.0s, with 0 requests\n");
  EXPECT_EQ(err.text(), "error: interrupted\n");
}

TEST(JournalFile, AFullDiskIsTold) {
  auto file = JournalFile::open("/dev/full");
  ASSERT_TRUE(file);
  (*file)->read(event_of(EventKind::stored, "created", ""));
  Result<void> closed = (*file)->close();
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().message(), "the journal /dev/full cannot be written: No space left on device");
}

TEST(JournalFile, AFolderThatIsNotThereIsTold) {
  auto file = JournalFile::open("/nowhere/journal.jsonl");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message(), "the journal /nowhere/journal.jsonl cannot be written: No such file or directory");
}

}  // namespace
}  // namespace fairlead::report
