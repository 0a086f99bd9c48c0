#include "removal/internal/cleanup_reminder.h"

#include <gmock/gmock.h>

#include "removal/removal_testing.h"

namespace fairlead::removal {
namespace {

using journal::EventKind;
using std::chrono::seconds;
using How = Ending::How;

class CleanupReminderTest : public RemovalTest {
 protected:
  explicit CleanupReminderTest(double lost = 1)
      : RemovalTest([lost] {
          sandbox::Options options;
          options.lost_crd_cleanup = lost;
          return options;
        }()) {}

  static bool is_reminder(const http::Request& request) {
    return request.method == "PATCH" &&
           request.target.find("/customresourcedefinitions/widgets.example.com") != std::string::npos;
  }
};

class ApiServerThatForgetsNothing : public CleanupReminderTest {
 protected:
  ApiServerThatForgetsNothing() : CleanupReminderTest(0) {}
};

TEST_F(CleanupReminderTest, ACrdThatTheApiServerForgotIsGoneAfterOneReminder) {
  put(std::string(kWidgets) + widget("one", ""));
  Ending ending = remove(std::string(kWidgets));
  EXPECT_EQ(ending.how, How::done) << reports(ending) << events();
  EXPECT_EQ(count_events(EventKind::note, "reminded"), 1U) << events();
  EXPECT_EQ(count_events(EventKind::progress, "stuck"), 0U) << events();
  EXPECT_LT(ending.took, seconds(10));
}

TEST_F(CleanupReminderTest, WithoutTheRightToChangeItTheCrdOnlyTakesLonger) {
  put(std::string(kWidgets));
  size_t reminders = 0;
  network_.forbids = [&](const http::Request& request) { return is_reminder(request) && ++reminders > 0; };
  Ending ending = remove(std::string(kWidgets));
  EXPECT_EQ(ending.how, How::done) << reports(ending) << events();
  EXPECT_EQ(count_events(EventKind::note, "reminded"), 0U) << events();
  EXPECT_GT(reminders, 1U);
  EXPECT_GT(ending.took, seconds(60));
}

// Its instances are still being deleted, so there is nothing to remind the API server of.
TEST_F(ApiServerThatForgetsNothing, ACrdWithInstancesIsLeftAlone) {
  put(std::string(kWidgets) + widget("one") + widget("two"));
  start_operator(seconds(20));
  size_t reminders = 0;
  network_.forbids = [&](const http::Request& request) { return is_reminder(request) && ++reminders > 0; };
  Ending ending = remove(std::string(kWidgets));
  EXPECT_EQ(ending.how, How::done) << reports(ending) << events();
  EXPECT_EQ(reminders, 0U) << events();
}

}  // namespace
}  // namespace fairlead::removal
