#include "report/board.h"

#include <gtest/gtest.h>

#include "report/internal/columns.h"
#include "report/report_testing.h"

namespace fairlead::report {
namespace {

using journal::Event;
using journal::EventKind;
using namespace std::chrono_literals;

Event started(uint64_t objects) {
  Event event = event_at(0s, EventKind::started, {});
  event.details = Json(Json::Object{{"objects", objects}});
  return event;
}

Event guard_at(Duration at, std::string rung, std::string text) {
  Event event = event_at(at, EventKind::guard, {}, std::move(rung), std::move(text));
  event.details =
      Json(Json::Object{{"guard", "webhook v.berths.example.com (ValidatingWebhookConfiguration harbour)"}});
  return event;
}

std::string shown(Board& board, Duration now, Size size) {
  std::string text;
  for (const Line& line : board.lines(now, size)) {
    EXPECT_LT(columns_of(line.text), size.width) << line.text;
    if (line.tone == Tone::trouble) text += "! ";
    text += line.text + "\n";
  }
  return text;
}

// Some objects are ready, a Deployment starts, and Berths wait for their webhook.
Board harbour() {
  Board board(Board::Run::rollout);
  board.read(started(60));
  for (int i = 0; i < 5; ++i) {
    board.read(event_at(100ms, EventKind::stored, key_of("ConfigMap", "shop", std::to_string(i)), "created"));
    board.read(event_at(100ms, EventKind::ready, key_of("ConfigMap", "shop", std::to_string(i)), "ready"));
  }
  object::Key operator_key = key_of("Deployment", "shop", "operator");
  board.read(event_at(200ms, EventKind::stored, operator_key, "created"));
  board.read(event_at(300ms, EventKind::progress, operator_key, "in progress", "0 of 1 replica is ready"));
  board.read(guard_at(400ms, "in effect", "the API server uses it"));
  for (int i = 0; i < 50; ++i)
    board.read(event_at(500ms, EventKind::parked, key_of("Berth", "shop", std::to_string(i)), "webhook_unreachable",
                        "webhook v.berths.example.com refuses connections"));
  return board;
}

TEST(Board, ShowsWhatWaitsForWhat) {
  Board board = harbour();
  EXPECT_EQ(shown(board, 12s, {.width = 100, .height = 24}),
            "12s · 5 of 60 ready · waiting for Deployment shop/operator, 50 Berths in shop\n"
            "  Deployment shop/operator        11s  0 of 1 replica is ready\n"
            "  50 Berths in shop               11s  blocked: webhook v.berths.example.com refuses connections (…\n"
            "  webhook v.berths.example.com    11s  in effect: the API server uses it\n"
            "  4 objects                            not sent yet\n");
}

TEST(Board, FitsIntoSmallWindows) {
  Board board = harbour();
  EXPECT_EQ(shown(board, 12s, {.width = 60, .height = 4}),
            "12s · 5 of 60 ready · waiting for Deployment shop/operator…\n"
            "  Deployment shop/operat…    11s  0 of 1 replica is ready\n"
            "  … and 3 more lines\n");
  EXPECT_EQ(shown(board, 12s, {.width = 30, .height = 24}),
            "12s · 5 of 60 ready · waitin…\n"
            "  Deployment shop/operator\n"
            "  50 Berths in shop\n"
            "  webhook v.berths.example.c…\n"
            "  4 objects\n");
  EXPECT_EQ(shown(board, 12s, {.width = 12, .height = 2}), "12s · 5 of…\n");
  EXPECT_EQ(shown(board, 12s, {.width = 1, .height = 24}), "");
  EXPECT_EQ(shown(board, 12s, {.width = 80, .height = 1}), "");
}

TEST(Board, EverySizeIsKept) {
  Board board = harbour();
  for (size_t width : {2, 3, 10, 20, 39, 40, 41, 60, 79, 80, 120})
    for (size_t height : {2, 3, 4, 6})
      for (const Line& line : board.lines(12s, {.width = width, .height = height}))
        ASSERT_LT(columns_of(line.text), width) << line.text;
  for (size_t height = 2; height < 12; ++height)
    EXPECT_LT(board.lines(12s, {.width = 80, .height = height}).size(), height);
}

TEST(Board, TroubleComesFirstAndIsMarked) {
  Board board = harbour();
  object::Key worker = key_of("Deployment", "shop", "worker");
  board.read(event_at(9s, EventKind::stored, worker, "created"));
  board.read(event_at(10s, EventKind::progress, worker, "trouble", "pod worker-x is waiting: ImagePullBackOff"));
  EXPECT_EQ(shown(board, 12s, {.width = 80, .height = 3}),
            "12s · 5 of 60 ready · waiting for Deployment shop/worker, Deployment shop/oper…\n"
            "  … and 5 more lines\n");
  EXPECT_EQ(shown(board, 12s, {.width = 80, .height = 4}),
            "12s · 5 of 60 ready · waiting for Deployment shop/worker, Deployment shop/oper…\n"
            "!   Deployment shop/worker   3.0s  pod worker-x is waiting: ImagePullBackOff\n"
            "  … and 4 more lines\n");
}

TEST(Board, WhatIsReadyOrFailedGoesAway) {
  Board board = harbour();
  for (int i = 0; i < 50; ++i) {
    object::Key berth = key_of("Berth", "shop", std::to_string(i));
    board.read(event_at(11s, EventKind::stored, berth, "created"));
    board.read(event_at(11s, EventKind::ready, berth, "ready"));
  }
  board.read(event_at(11s, EventKind::failed, key_of("Deployment", "shop", "operator"), "failed"));
  EXPECT_EQ(shown(board, 12s, {.width = 100, .height = 24}),
            "12s · 55 of 60 ready · 1 failed · 25/s\n"
            "  webhook v.berths.example.com    11s  in effect: the API server uses it\n"
            "  4 objects                            not sent yet\n");
  board.read(guard_at(12s, "answering", ""));
  EXPECT_EQ(shown(board, 20s, {.width = 100, .height = 24}),
            "20s · 55 of 60 ready · 1 failed\n"
            "  4 objects         not sent yet\n");
}

TEST(Board, AnUnchangedObjectIsReadyUnlessItIsSaidToBeInProgress) {
  Board board(Board::Run::rollout);
  board.read(started(1));
  object::Key web = key_of("Deployment", "shop", "web");
  board.read(event_at(0s, EventKind::stored, web, "unchanged"));
  EXPECT_EQ(shown(board, 3s, {}), "3.0s · 1 of 1 ready\n");
  board.read(event_at(0s, EventKind::progress, web, "in progress", "0 of 1 replica is ready"));
  EXPECT_EQ(shown(board, 3s, {}),
            "3.0s · 0 of 1 ready · waiting for Deployment shop/web\n"
            "  Deployment shop/web   3.0s  0 of 1 replica is ready\n");
  board.read(event_at(4s, EventKind::ready, web, "ready"));
  EXPECT_EQ(shown(board, 4s, {}), "4.0s · 1 of 1 ready\n");
}

TEST(Board, ADeletionHasTheSame) {
  Board board(Board::Run::removal);
  board.read(started(0));
  EXPECT_EQ(shown(board, 200ms, {}), "0.2s · reading the cluster\n");
  Event counted = event_at(1s, EventKind::note, {}, "counted");
  counted.details = Json(Json::Object{{"objects", uint64_t{4}}});
  board.read(counted);
  board.read(event_at(1s, EventKind::progress, key_of("Namespace", "", "shop"), "leaving", "3 objects are left"));
  board.read(event_at(2s, EventKind::progress, key_of("Berth", "shop", "a"), "stuck", "no progress for 10s"));
  board.read(event_at(2s, EventKind::removed, key_of("ConfigMap", "shop", "c"), "gone"));
  EXPECT_EQ(shown(board, 3s, {}),
            "3.0s · 1 of 4 deleted · waiting for Berth shop/a, Namespace shop\n"
            "!   Berth shop/a     1.0s  no progress for 10s\n"
            "  Namespace shop   2.0s  3 objects are left\n"
            "  1 object               wait for others to be deleted first\n");
}

TEST(Board, TheGraphTellsWhatUnsentObjectsWaitFor) {
  Board board(Board::Run::rollout);
  board.read(started(5));
  Event graph = event_at(0s, EventKind::graph, {});
  graph.details = *Json::parse(R"j({"objects":[["","Namespace","","shop",""],["x","CRD","","berths",""],
      ["x","Berth","shop","a",""],["x","Berth","shop","b",""],["","Secret","shop","s",""]],
      "others":[["guard","webhook v (x)"],["group","all"]],"reasons":["its namespace","its kind","it is guarded"],
      "needs":[[2,0,0,0],[2,1,1,1],[2,6,2,1],[3,0,0,0],[3,1,1,1],[3,6,2,1],[6,5,2,1],[4,0,0,0]]})j");
  board.read(graph);
  board.read(event_at(1s, EventKind::stored, key_of("Namespace", "", "shop"), "created"));
  object::Key crd{.group = "x", .kind = "CRD", .ns = "", .name = "berths"};
  board.read(event_at(1s, EventKind::stored, crd, "created"));
  EXPECT_EQ(shown(board, 5s, {.width = 70, .height = 24}),
            "5.0s · 0 of 5 ready · waiting for Namespace shop, CRD berths\n"
            "  Namespace shop     4.0s\n"
            "  CRD berths         4.0s\n"
            "  2 Berths in shop         wait for CRD berths (its kind)\n"
            "  1 object                 not sent yet\n");
  board.read(event_at(5s, EventKind::ready, crd, "ready"));
  board.read(event_at(5s, EventKind::ready, key_of("Namespace", "", "shop"), "ready"));
  board.read(event_at(5s, EventKind::stored, key_of("Secret", "shop", "s"), "unchanged"));
  EXPECT_EQ(shown(board, 5s, {.width = 70, .height = 24}),
            "5.0s · 3 of 5 ready\n"
            "  2 Berths in shop         wait for webhook v (x) (it is guarded)\n");
}

TEST(Board, HostileTextCannotLeaveItsLine) {
  Board board(Board::Run::rollout);
  board.read(started(1));
  object::Key key = key_of("Deployment", "shop", "\033[2J\nweb");
  board.read(event_at(0s, EventKind::stored, key, "created"));
  board.read(event_at(0s, EventKind::progress, key, "in progress", "\033]0;owned\a港口\n港口"));
  EXPECT_EQ(shown(board, 5s, {}),
            "5.0s · 0 of 1 ready · waiting for Deployment shop/\\x1b[2J\\nweb\n"
            "  Deployment shop/\\x1b[2J\\nweb   5.0s  \\x1b]0;owned\\x07港口\\n港口\n");
}

}  // namespace
}  // namespace fairlead::report
