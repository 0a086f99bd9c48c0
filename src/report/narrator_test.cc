#include "report/narrator.h"

#include <gtest/gtest.h>

#include "report/report_testing.h"

namespace fairlead::report {
namespace {

using journal::Event;
using journal::EventKind;
using namespace std::chrono_literals;

std::string text_of(const std::vector<Line>& lines) {
  std::string text;
  for (const Line& line : lines) text += line.text + "\n";
  return text;
}

std::string told(Narrator& narrator, const std::vector<Event>& events) {
  std::string text;
  for (const Event& event : events) text += text_of(narrator.read(event));
  return text + text_of(narrator.finish());
}

const object::Key kWeb = key_of("Deployment", "shop", "web");

TEST(Narrator, TwoThousandObjectsAreAFewLines) {
  RolloutNarrator narrator({});
  std::vector<Event> events;
  for (int i = 0; i < 1990; ++i) {
    object::Key key = key_of("ConfigMap", "shop", std::to_string(i));
    events.push_back(event_at(1s, EventKind::stored, key, "created"));
    events.push_back(event_at(1s, EventKind::ready, key, "ready"));
  }
  for (int i = 0; i < 10; ++i)
    events.push_back(event_at(1s, EventKind::stored, key_of("Secret", "shop", std::to_string(i)), "unchanged"));
  EXPECT_EQ(told(narrator, events), "created 1,990 ConfigMaps in shop\n");
}

TEST(Narrator, AHealthyStartIsToldOnceAndReadyWithItsTime) {
  RolloutNarrator narrator({});
  EXPECT_EQ(told(narrator, {event_at(1s, EventKind::stored, kWeb, "created"),
                            event_at(1s, EventKind::progress, kWeb, "in progress", "0 of 1 replica is ready"),
                            event_at(4s, EventKind::progress, kWeb, "starting", "pod web-1 is starting"),
                            event_at(5s, EventKind::progress, kWeb, "starting", "pod web-1 is not ready"),
                            event_at(6s, EventKind::ready, kWeb, "ready")}),
            "Deployment shop/web created\n"
            "Deployment shop/web is not ready yet: pod web-1 is starting\n"
            "Deployment shop/web ready after 5.0s\n");
}

TEST(Narrator, TroubleIsToldWhenItChanges) {
  RolloutNarrator narrator({});
  EXPECT_EQ(
      told(narrator, {event_at(4s, EventKind::progress, kWeb, "trouble", "pod web-1 is waiting: ImagePullBackOff"),
                      event_at(9s, EventKind::progress, kWeb, "trouble", "pod web-1 is waiting: ErrImagePull")}),
      "Deployment shop/web is not ready: pod web-1 is waiting: ImagePullBackOff\n"
      "Deployment shop/web is not ready: pod web-1 is waiting: ErrImagePull\n");
}

TEST(Narrator, OneCauseIsToldOnce) {
  RolloutNarrator narrator({});
  std::vector<Event> events;
  for (int i = 0; i < 50; ++i) {
    object::Key key = key_of("Berth", "shop", std::to_string(i));
    events.push_back(event_at(1s, EventKind::parked, key, "webhook_unreachable", "webhook v refuses connections"));
  }
  for (int i = 0; i < 50; ++i) {
    object::Key key = key_of("Berth", "shop", std::to_string(i));
    Event failed = event_at(9s, EventKind::failed, key, "failed");
    failed.error = Error(ErrorKind::timeout, key.text() + " was not accepted").because("webhook v refuses connections");
    events.push_back(failed);
  }
  EXPECT_EQ(told(narrator, events),
            "Berth shop/0 waits: webhook v refuses connections\n"
            "Berth shop/0 was not accepted: webhook v refuses connections\n");
}

TEST(Narrator, TheSummaryInBetweenCounts) {
  RolloutNarrator narrator({});
  Event started = event_at(0s, EventKind::started, {});
  started.details = Json(Json::Object{{"objects", uint64_t{2}}});
  EXPECT_EQ(told(narrator, {started, event_at(1s, EventKind::stored, key_of("ConfigMap", "shop", "a"), "unchanged"),
                            event_at(30s, EventKind::waiting, {}, "", "Deployment shop/web: 0 of 1 replica is ready")}),
            "after 30s: 1 of 2 ready; still waiting: Deployment shop/web: 0 of 1 replica is ready\n");
}

TEST(Narrator, BesideALiveViewOnlyWhatHasHappenedIsTold) {
  RolloutNarrator narrator({.is_beside_live_view = true});
  EXPECT_EQ(told(narrator, {event_at(1s, EventKind::parked, kWeb, "x", "webhook v refuses connections"),
                            event_at(2s, EventKind::stored, kWeb, "created"),
                            event_at(4s, EventKind::progress, kWeb, "starting", "pod web-1 is starting"),
                            event_at(30s, EventKind::waiting, {}, "", "Deployment shop/web"),
                            event_at(31s, EventKind::ready, kWeb, "ready")}),
            "Deployment shop/web created\n"
            "Deployment shop/web ready after 29s\n");
}

TEST(Narrator, LinesOfPodsNameTheirContainer) {
  RolloutNarrator narrator({});
  Event line = event_at(1s, EventKind::log, kWeb, "", "listening");
  line.details = Json(Json::Object{{"pod", "web-1"}, {"container", "app"}});
  EXPECT_EQ(told(narrator, {line}), "web-1 app | listening\n");
}

TEST(Narrator, ADeletionIsGatheredToo) {
  RemovalNarrator narrator({});
  std::vector<Event> events;
  for (int i = 0; i < 5; ++i)
    events.push_back(event_at(1s, EventKind::removed, key_of("ConfigMap", "shop", std::to_string(i)), "gone"));
  events.push_back(
      event_at(2s, EventKind::removed, kWeb, "gone", "another object has its name now and is not touched"));
  EXPECT_EQ(told(narrator, events),
            "deleted 5 ConfigMaps in shop\n"
            "Deployment shop/web deleted: another object has its name now and is not touched\n");
}

}  // namespace
}  // namespace fairlead::report
