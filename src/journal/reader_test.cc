#include "journal/reader.h"

#include <gtest/gtest.h>

#include "journal/ending_details.h"
#include "journal/graph_details.h"

namespace fairlead::journal {
namespace {

std::string report_of(std::string_view text) {
  Result<Recording> read = read_journal(text, "run.jsonl");
  return read ? "" : read.error().report();
}

TEST(Reader, AnEventSurvivesBeingWrittenAndRead) {
  Event event{.kind = EventKind::failed,
              .at = std::chrono::milliseconds(1500),
              .key = {.group = "apps", .kind = "Deployment", .ns = "team-a", .name = "web"},
              .source = "web.yaml:3",
              .state = "failed",
              .text = "no",
              .error = Error(ErrorKind::internal, "not accepted")
                           .because(Error(ErrorKind::internal, "no colour").because("no paint"))
                           .at("web.yaml:7")
                           .next("kubectl get x"),
              .details = Json(Json::Object{{"sent", 0.5}})};
  std::string line = to_json(event).dump();
  Result<Event> read = event_of(*Json::parse(line));
  ASSERT_TRUE(read);
  EXPECT_EQ(to_json(*read).dump(), line);
  EXPECT_EQ(read->kind, EventKind::failed);
}

TEST(Reader, TheSummaryOfStandardOutputIsTheEnd) {
  Result<Recording> read = read_journal(
      "{\"event\":\"started\",\"seconds\":0}\n{\"type\":\"summary\",\"outcome\":\"done\",\"seconds\":2}\n", "x");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->events.size(), 2U);
  EXPECT_EQ(read->events[1].kind, EventKind::ended);
  EXPECT_EQ(read->events[1].state, "done");
  EXPECT_TRUE(read->has_ended);
}

TEST(Reader, ALineThatWasNotWrittenToItsEndIsLeftOut) {
  Result<Recording> read = read_journal("{\"event\":\"started\",\"seconds\":0}\n{\"event\":\"sto", "x");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->events.size(), 1U);
  EXPECT_TRUE(read->is_cut_off);
  EXPECT_FALSE(read->has_ended);
}

TEST(Reader, AnEventOfALaterVersionIsANote) {
  Result<Event> read = event_of(*Json::parse(R"({"event":"dreamt","seconds":1,"text":"of sheep"})"));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->kind, EventKind::note);
  EXPECT_EQ(read->state, "dreamt");
}

TEST(Reader, WhatIsNoJournalIsAnErrorWithItsLine) {
  EXPECT_EQ(report_of("{\"event\":\"started\",\"seconds\":0}\n{\"kind\":\"Pod\"}\n"),
            "error: run.jsonl is not a journal of Fairlead\n"
            "  because   line 2 is no event: it has no member `event`\n"
            "  from      run.jsonl:2\n"
            "  next      fairlead apply … --journal FILE writes one\n");
  EXPECT_EQ(report_of("{\"event\":\"started\",\"seconds\":-1}\n"),
            "error: run.jsonl is not a journal of Fairlead\n"
            "  because   line 1 is no event: its member `seconds` is no time since the beginning of a run\n"
            "  from      run.jsonl:1\n"
            "  next      fairlead apply … --journal FILE writes one\n");
  EXPECT_EQ(report_of(""),
            "error: run.jsonl holds no events\n"
            "  because   it is empty\n"
            "  next      fairlead apply … --journal FILE writes one\n");
  EXPECT_EQ(report_of("apiVersion: v1"),
            "error: run.jsonl holds no events\n"
            "  because   its first line is not complete\n"
            "  next      fairlead apply … --journal FILE writes one\n");
}

TEST(GraphDetails, WritesEachReasonOnceAndNoSecrets) {
  Secrets secrets;
  secrets.hide("hunter22");
  GraphDetails details(secrets);
  details.add_object({.group = "", .kind = "Namespace", .ns = "", .name = "a"}, "a.yaml:1");
  details.add_object({.group = "apps", .kind = "Deployment", .ns = "a", .name = "web"}, "a.yaml:5");
  details.add_other("guard", "webhook x");
  details.add_need(plan::NodeId(1), plan::NodeId(0), NeedLevel::stored, "its namespace");
  details.add_need(plan::NodeId(2), plan::NodeId(0), NeedLevel::stored, "its namespace");
  details.add_need(plan::NodeId(1), plan::NodeId(2), NeedLevel::ready, "hunter22 guards it");
  EXPECT_EQ(std::move(details).json().dump(),
            R"({"objects":[["","Namespace","","a","a.yaml:1"],["apps","Deployment","a","web","a.yaml:5"]],)"
            R"("others":[["guard","webhook x"]],"reasons":["its namespace","*** guards it"],)"
            R"("needs":[[1,0,0,0],[2,0,0,0],[1,2,1,1]]})");
}

TEST(EndingDetails, TellsThePathTheErrorsAndTheSilentObjects) {
  Secrets secrets;
  secrets.hide("hunter22");
  EndingDetails details(secrets);
  details.set_requests(7);
  details.add_step("webhook x", "", Duration::zero(), std::chrono::seconds(1));
  details.add_error({.error = Error(ErrorKind::denied, "refused: hunter22"),
                     .blocks = {{.group = "", .kind = "Pod", .ns = "a", .name = "p"}}});
  details.add_outcome({.group = "", .kind = "Pod", .ns = "a", .name = "p"}, "blocked");
  EXPECT_EQ(std::move(details).json().dump(),
            R"({"requests":7,"criticalPath":[{"what":"webhook x","reason":"","from":0.0,"to":1.0}],)"
            R"("errors":[{"what":"refused: ***","because":[],"blocks":["Pod a/p"]}],)"
            R"("outcomes":{"blocked":[["","Pod","a","p"]]}})");
}

TEST(Journal, OnlyReadersOfEveryDetailGetTheGraph) {
  VirtualClock clock;
  Journal journal(clock);
  int usual = 0, full = 0;
  journal.read_by([&](const Event&) { ++usual; });
  EXPECT_FALSE(journal.is_detailed());
  journal.read_by([&](const Event&) { ++full; }, Detail::full);
  EXPECT_TRUE(journal.is_detailed());
  journal.add({.kind = EventKind::graph});
  journal.add({.kind = EventKind::ended});
  EXPECT_EQ(usual, 1);
  EXPECT_EQ(full, 2);
  EXPECT_EQ(journal.time_text(), "2030-01-01T00:00:00Z");
}

}  // namespace
}  // namespace fairlead::journal
