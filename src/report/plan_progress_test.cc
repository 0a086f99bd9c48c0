#include "report/plan_progress.h"

#include <gtest/gtest.h>

#include "async/scope.h"
#include "report/report_testing.h"

namespace fairlead::report {
namespace {

using journal::EventKind;
using std::chrono::seconds;

class PlanProgressTest : public testing::Test {
 protected:
  void check(PlanProgress& progress, EventKind kind, std::string state = "") {
    progress.read(event_at({}, kind, key_of("ConfigMap", "default", "a"), std::move(state)));
  }
  void start(PlanProgress& progress, int64_t objects) {
    journal::Event event = event_at({}, EventKind::started, {});
    event.details = Json(Json::Object{{"objects", objects}});
    progress.read(event);
  }

  VirtualLoop loop_;
  Stream stream_;
};

TEST_F(PlanProgressTest, EveryObjectIsCountedOnce) {
  PlanProgress progress(loop_, stream_.file());
  start(progress, 1200);
  check(progress, EventKind::stored, "created");
  check(progress, EventKind::failed);
  check(progress, EventKind::warning, "unchecked");
  check(progress, EventKind::warning, "server");
  EXPECT_EQ(progress.text(), "checked 3 of 1,200 objects");
}

TEST_F(PlanProgressTest, WithoutATerminalThereIsALineEveryHalfMinute) {
  PlanProgress progress(loop_, stream_.file());
  start(progress, 1);
  loop_.run(sleep_for(loop_, seconds(29)));
  EXPECT_EQ(stream_.text(), "");
  loop_.run(sleep_for(loop_, seconds(32)));
  EXPECT_EQ(stream_.text(), "checked 0 of 1 object\nchecked 0 of 1 object\n");
  progress.stop();
  loop_.run(sleep_for(loop_, seconds(60)));
  EXPECT_EQ(stream_.text(), "checked 0 of 1 object\nchecked 0 of 1 object\n");
}

}  // namespace
}  // namespace fairlead::report
