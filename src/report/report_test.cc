#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "async/scope.h"
#include "report/journal_file.h"
#include "report/plan_report.h"
#include "report/removal_report.h"
#include "report/report_testing.h"
#include "report/rollout_report.h"

namespace fairlead::report {
namespace {

using journal::Event;
using journal::EventKind;
using testing::HasSubstr;

object::Key key_of(std::string kind, std::string name) { return report::key_of(std::move(kind), "", std::move(name)); }

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
  Settings settings(Format format) const {
    Progress progress = format == Format::text ? Progress::plain : Progress::quiet;
    return {.format = format, .progress = progress, .out = out.file(), .err = err.file(), .terminal = out.file()};
  }
  RolloutReport rollout(Format format, bool dry_run = false) {
    return RolloutReport(loop, journal, settings(format), dry_run);
  }

  Stream out;
  Stream err;
  VirtualLoop loop;
  journal::Journal journal{loop.clock()};
};

TEST_F(ReportTest, WhatAServerSaysCannotPlayTricksOnTheTerminal) {
  RolloutReport report = rollout(Format::text);
  report.read(event_of(EventKind::parked, "", "webhook \"\033]0;owned\a\" refuses"));
  report.read(event_of(EventKind::warning, "", "\033[2Jall is well"));
  report.finish(refused_ending("denied: \033[1A\033[2Kdone"));
  EXPECT_THAT(out.text(), HasSubstr(R"(waits: webhook "\x1b]0;owned\x07" refuses)"));
  EXPECT_THAT(err.text(), HasSubstr(R"(\x1b[2Jall is well)"));
  EXPECT_THAT(err.text(), HasSubstr(R"(because   denied: \x1b[1A\x1b[2Kdone)"));
  EXPECT_EQ((out.text() + err.text()).find('\033'), std::string::npos);
}

TEST_F(ReportTest, QuietIsQuietButForWarningsAndCauses) {
  RolloutReport report = rollout(Format::quiet);
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
  rollout(Format::text).finish(ending);
  EXPECT_EQ(out.text(), "51 objects: 1 failed (refused), 50 not tried (blocked) in 0.0s\n");
  EXPECT_THAT(err.text(), HasSubstr("  blocks    50 objects: Berth b0, Berth b1, Berth b2 and 47 more\n"));
}

TEST_F(ReportTest, EveryObjectIsInOneCount) {
  using State = rollout::ObjectEnding::State;
  rollout::Ending ending;
  for (State state : {State::created, State::created, State::changed, State::unchanged, State::refused,
                      State::not_ready, State::blocked, State::not_sent, State::left_out, State::removed}) {
    ending.objects.emplace_back();
    ending.objects.back().state = state;
  }
  ending.requests = 12;
  ending.left = {key_of("Berth", "east"), key_of("Berth", "west")};
  Settings with_requests = settings(Format::text);
  with_requests.requests = true;
  RolloutReport(loop, journal, with_requests, false).finish(ending);
  EXPECT_EQ(out.text(),
            "9 objects: 2 created, 1 changed, 1 unchanged, 2 failed (1 refused, 1 not ready), "
            "3 not tried (1 blocked, 1 not sent, 1 left out) in 0.0s, with 12 requests; 1 pruned; 2 no longer in the "
            "manifests\n");
}

TEST_F(ReportTest, AnInterruptionIsNotToldAsAFailureToo) {
  rollout::Ending ending;
  ending.how = rollout::Ending::How::interrupted;
  Error cut = Error(ErrorKind::cancelled, "GET /api failed").because(Error(ErrorKind::cancelled, "cancelled"));
  ending.causes.push_back({.error = cut, .blocks = {}});
  rollout(Format::text).finish(ending);
  EXPECT_EQ(err.text(), "error: interrupted\n");
}

TEST_F(ReportTest, MachinesGetEveryEventAndOneSummary) {
  RolloutReport report = rollout(Format::jsonl);
  report.read(event_of(EventKind::started, "", ""));
  report.read(event_of(EventKind::stored, "unchanged", ""));
  report.read(event_of(EventKind::ended, "failed", ""));
  report.finish(refused_ending("full"));
  std::string text = out.text();
  EXPECT_EQ(std::ranges::count(text, '\n'), 3);
  EXPECT_THAT(text, HasSubstr(R"({"event":"started","seconds":0.0,"schemaVersion":1)"));
  EXPECT_THAT(text, HasSubstr(R"("event":"stored")"));
  EXPECT_THAT(text, HasSubstr(R"("type":"summary","outcome":"failed","dryRun":false,"schemaVersion":1)"));
  EXPECT_THAT(text, HasSubstr(R"("refused":1)"));
  EXPECT_THAT(text, HasSubstr(R"("objects":1,"failed":1,"notTried":0)"));
  EXPECT_THAT(text, HasSubstr(R"("blocks":["Berth b"])"));
  EXPECT_EQ(err.text(), "");
}

TEST_F(ReportTest, ProgressCanBeJsonBesideTheText) {
  Settings both = settings(Format::text);
  both.progress = Progress::json;
  RolloutReport report(loop, journal, both, false);
  report.read(event_of(EventKind::stored, "created", ""));
  report.finish({});
  EXPECT_EQ(out.text(), "nothing to do in 0.0s\n");
  EXPECT_EQ(err.text(),
            R"({"event":"stored","seconds":0.0,"object":{"group":"","kind":"Berth","name":"a"},"state":"created"})"
            "\n");
}

TEST_F(ReportTest, PlainProgressGoesToStandardErrorBesideADocument) {
  Settings both = settings(Format::json);
  both.progress = Progress::plain;
  RolloutReport report(loop, journal, both, false);
  report.read(event_of(EventKind::stored, "created", ""));
  report.finish({});
  EXPECT_EQ(err.text(), "Berth a created\n");
  EXPECT_TRUE(Json::parse(out.text()));
}

TEST_F(ReportTest, LinesThatWereHeldBackComeInTheEndOrWhenTheirTimeHasCome) {
  RolloutReport report = rollout(Format::text);
  report.read(event_of(EventKind::stored, "created", ""));
  EXPECT_EQ(out.text(), "");
  (void)loop.run(sleep_for(loop, std::chrono::seconds(2)));
  EXPECT_EQ(out.text(), "Berth a created\n");
}

TEST_F(ReportTest, OneDocumentHasTheObjects) {
  rollout(Format::json, true).finish(refused_ending("full"));
  Result<Json> document = Json::parse(out.text());
  ASSERT_TRUE(document);
  EXPECT_EQ((*document)["schemaVersion"], Json(1));
  EXPECT_EQ((*document)["objects"].items().size(), 1U);
  EXPECT_EQ((*document)["summary"]["dryRun"], Json(true));
}

TEST(ErrorText, AnErrorBeforeTheRunIsADocumentToo) {
  std::vector<Error> errors{Error(ErrorKind::not_found, "k8s/ does not exist").next("ls")};
  EXPECT_EQ(error_text(Format::jsonl, errors, "failed"),
            R"({"type":"summary","outcome":"failed","schemaVersion":1,)"
            R"("errors":[{"what":"k8s/ does not exist","because":[],"next":"ls"}]})"
            "\n");
  Result<Json> document = Json::parse(error_text(Format::json, errors, "failed"));
  ASSERT_TRUE(document);
  EXPECT_EQ((*document)["schemaVersion"], Json(1));
  EXPECT_EQ((*document)["summary"]["errors"].item(0)["what"], Json("k8s/ does not exist"));
}

TEST_F(ReportTest, ARemovalSaysWhatBecameOfEach) {
  RemovalReport report(loop, journal, settings(Format::text), removal::DryRun::none);
  report.read(event_of(EventKind::removed, "", ""));
  report.read(event_of(EventKind::progress, "stuck", "nobody removes its finalizer"));
  report.read(event_of(EventKind::progress, "slow", "3 of 5 are gone"));
  removal::Ending ending;
  ending.how = removal::Ending::How::interrupted;
  ending.objects.resize(3);
  ending.objects[0].state = removal::ObjectEnding::State::gone;
  ending.objects[1].state = removal::ObjectEnding::State::leaving;
  ending.objects[2].state = removal::ObjectEnding::State::remains;
  report.finish(ending);
  EXPECT_EQ(out.text(),
            "Berth a is stuck: nobody removes its finalizer\n"
            "Berth a deleted\n"
            "3 objects: 1 deleted, 1 being deleted, 1 failed (still there) in 0.0s\n");
  EXPECT_EQ(err.text(), "error: interrupted\n");
}

TEST_F(ReportTest, ARemovalThatCouldNotBeginDeletedNothing) {
  RemovalReport report(loop, journal, settings(Format::text), removal::DryRun::none);
  removal::Ending ending;
  ending.how = removal::Ending::How::failed;
  ending.causes.push_back({.error = Error(ErrorKind::unavailable, "the cluster cannot be reached"), .blocks = {}});
  report.finish(ending);
  EXPECT_EQ(out.text(), "nothing was deleted in 0.0s\n");
  EXPECT_EQ(err.text(), "error: the cluster cannot be reached\n");
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

// What is pruned has no step of its own.
TEST(PlanReport, ObjectsComeInTheOrderOfTheirStepsAndThoseToDeleteLast) {
  using Action = rollout::Forecast::Action;
  rollout::Ending ending;
  auto add = [&](std::string name, Action action, uint32_t step) {
    auto forecast = std::make_shared<rollout::Forecast>();
    forecast->action = action;
    forecast->step = step;
    rollout::ObjectEnding object;
    object.key = {"", "ConfigMap", "a", std::move(name)};
    object.forecast = std::move(forecast);
    ending.objects.push_back(std::move(object));
  };
  add("old", Action::remove, 0);
  add("second", Action::create, 2);
  add("first", Action::create, 1);
  add("also-first", Action::none, 1);
  std::vector<std::string> names;
  for (const rollout::ObjectEnding* object : planned(ending)) names.push_back(object->key.name);
  EXPECT_EQ(names, (std::vector<std::string>{"first", "also-first", "second", "old"}));
}

}  // namespace
}  // namespace fairlead::report
