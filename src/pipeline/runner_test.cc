#include "pipeline/runner.h"

#include <gmock/gmock.h>

#include "async/scope.h"
#include "base/temp_folder_testing.h"
#include "pipeline/read_testing.h"

namespace fairlead::pipeline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// a, then b and c side by side, then d.
constexpr const char* kDiamond = R"(phases:
- {name: a, steps: [{wait: a/1}, {wait: a/2}]}
- {name: b, events: {completed: kof_b_installed}, steps: [{wait: b/1}]}
- {name: c, needs: [a], steps: [{wait: c/1, retries: 2, retryDelay: 5s, events: {timedOut: kof_c_timeout}}]}
- {name: d, needs: [b, c], steps: [{wait: d/1}]}
)";

// Steps take a second each, and end as the test says.
class FakeHost final : public Host {
 public:
  explicit FakeHost(Loop& loop) : loop_(loop) {}

  Task<StepEnding> run_step(const Phase&, const Step& step, CancelSource& stop) override {
    std::string object = std::get<Wait>(step.work).objects.front();
    log.push_back("begin " + object);
    bool is_over = bool(co_await sleep_for(loop_, std::chrono::seconds(1)).governed_by(&stop));
    if (!is_over) co_return StepEnding{.how = How::interrupted, .message = "interrupted"};
    log.push_back("end " + object);
    std::vector<How>& endings = how[object];
    if (endings.empty()) co_return StepEnding{.message = "ready"};
    StepEnding ending{.how = endings.front(), .message = "it broke"};
    endings.erase(endings.begin());
    co_return ending;
  }

  Task<void> tell(Event event) override {
    events.push_back(fmt::format("{} {}: {}", event.phase, event.name, event.message));
    if (told) told(events.back());
    co_return;
  }

  Result<void> save(const State& state) override {
    if (saves_left == 0) return fail(ErrorKind::invalid, "the disk is full");
    --saves_left;
    saved.push_back(state.text());
    return {};
  }

  std::map<std::string, std::vector<How>> how;
  std::function<void(const std::string&)> told;
  std::vector<std::string> log;
  std::vector<std::string> events;
  std::vector<std::string> saved;
  int saves_left = 1000;

 private:
  Loop& loop_;
};

struct Fixture {
  VirtualLoop loop;
  FakeHost host{loop};
  CancelSource stop;
  Pipeline pipeline = parsed(kDiamond);
  State state{pipeline};

  Ending run() { return loop.run(pipeline::run(loop, pipeline, state, host, stop)); }
  std::string statuses() const {
    std::string text;
    for (const PhaseState& phase : state.phases()) text += fmt::format("{} {}\n", phase.name, name_of(phase.status));
    return text;
  }
};

TEST(Runner, PhasesRunInOrderAndSideBySide) {
  Fixture test;
  Ending ending = test.run();
  EXPECT_EQ(ending.how, How::done);
  EXPECT_EQ(ending.took, std::chrono::seconds(4));
  EXPECT_THAT(test.host.log, ElementsAre("begin a/1", "end a/1", "begin a/2", "end a/2", "begin b/1", "begin c/1",
                                         "end b/1", "end c/1", "begin d/1", "end d/1"));
  EXPECT_THAT(test.host.events,
              ElementsAre("a phase_started: 2 steps", "a step_started: wait a/1", "a step_completed: ready",
                          "a step_started: wait a/2", "a step_completed: ready", "a phase_completed: 2 steps",
                          "b phase_started: 1 step", "b step_started: wait b/1", "c phase_started: 1 step",
                          "c step_started: wait c/1", "b step_completed: ready", "b kof_b_installed: 1 step",
                          "c step_completed: ready", "c phase_completed: 1 step", "d phase_started: 1 step",
                          "d step_started: wait d/1", "d step_completed: ready", "d phase_completed: 1 step"));
  EXPECT_EQ(test.state.phase(3).started, "2030-01-01T00:00:03Z");
  EXPECT_EQ(test.state.phase(3).ended, "2030-01-01T00:00:04Z");

  // Nothing is left to do.
  test.host.log.clear();
  EXPECT_EQ(test.run().how, How::done);
  EXPECT_THAT(test.host.log, IsEmpty());
}

TEST(Runner, AFailureStopsOnlyThosePhasesThatNeedIt) {
  Fixture test;
  test.host.how["b/1"] = {How::failed};
  EXPECT_EQ(test.run().how, How::failed);
  EXPECT_EQ(test.statuses(), "a completed\nb failed\nc completed\nd pending\n");
  EXPECT_EQ(test.state.phase(1).message, "it broke");

  test.host.log.clear();
  EXPECT_EQ(test.run().how, How::done);
  EXPECT_THAT(test.host.log, ElementsAre("begin b/1", "end b/1", "begin d/1", "end d/1"));
}

TEST(Runner, AStepIsTriedAgain) {
  Fixture test;
  test.host.how["c/1"] = {How::timed_out, How::failed};
  Ending ending = test.run();
  EXPECT_EQ(ending.how, How::done);
  EXPECT_EQ(ending.took, std::chrono::seconds(2 + 3 + 2 * 5 + 1));
  EXPECT_THAT(test.host.events, testing::IsSupersetOf({"c step_retry: it broke; retry 1 of 2 in 5s",
                                                       "c step_retry: it broke; retry 2 of 2 in 5s"}));

  Fixture other;
  other.host.how["c/1"] = {How::timed_out, How::timed_out, How::timed_out};
  EXPECT_EQ(other.run().how, How::timed_out);
  EXPECT_THAT(other.host.events, testing::IsSupersetOf({"c kof_c_timeout: it broke", "c phase_failed: it broke"}));
  EXPECT_EQ(other.statuses(), "a completed\nb completed\nc failed\nd pending\n");
}

TEST(Runner, DifferentFailuresAreAFailure) {
  Fixture test;
  test.host.how["b/1"] = {How::conflicts};
  test.host.how["c/1"] = {How::timed_out, How::timed_out, How::timed_out};
  EXPECT_EQ(test.run().how, How::failed);
}

TEST(Runner, PhasesThatAreAllLateAreLate) {
  Fixture test;
  test.host.how["b/1"] = {How::timed_out};
  test.host.how["c/1"] = {How::timed_out, How::timed_out, How::timed_out};
  EXPECT_EQ(test.run().how, How::timed_out);
}

TEST(Runner, PhasesThatAreNotWantedAreSkipped) {
  Fixture test;
  test.pipeline.phases[0].is_wanted = test.pipeline.phases[1].is_wanted = false;
  EXPECT_EQ(test.run().how, How::done);
  EXPECT_EQ(test.statuses(), "a skipped\nb skipped\nc completed\nd completed\n");
  EXPECT_EQ(test.host.events.front(), "a phase_skipped: when is false");
}

TEST(Runner, AnInterruptedRunGoesOn) {
  Fixture test;
  test.loop.call_after(std::chrono::milliseconds(1500), [&] { test.stop.cancel(); });
  EXPECT_EQ(test.run().how, How::interrupted);
  EXPECT_EQ(test.statuses(), "a in progress\nb pending\nc pending\nd pending\n");
  EXPECT_EQ(test.host.events.back(), "a phase_interrupted: interrupted");
  EXPECT_EQ(test.state.phase(0).message, "interrupted");

  CancelSource other;
  test.host.log.clear();
  test.host.events.clear();
  EXPECT_EQ(test.loop.run(run(test.loop, test.pipeline, test.state, test.host, other)).how, How::done);
  EXPECT_EQ(test.host.log.front(), "begin a/2");
  EXPECT_EQ(test.host.events.front(), "a phase_resumed: goes on with step 2 of 2");
}

TEST(Runner, NoPhaseBeginsAfterAnInterruption) {
  Fixture test;
  test.host.told = [&](const std::string& event) {
    if (event.starts_with("a phase_completed")) test.stop.cancel();
  };
  EXPECT_EQ(test.run().how, How::interrupted);
  EXPECT_EQ(test.statuses(), "a completed\nb pending\nc pending\nd pending\n");
  EXPECT_EQ(test.host.events.back(), "a phase_completed: 2 steps");
}

TEST(Runner, AnInterruptionEndsThePauseBeforeARetry) {
  Fixture test;
  test.host.how["c/1"] = {How::failed};
  test.loop.call_after(std::chrono::seconds(4), [&] { test.stop.cancel(); });
  EXPECT_EQ(test.run().how, How::interrupted);
  EXPECT_EQ(test.statuses(), "a completed\nb completed\nc in progress\nd pending\n");
}

TEST(Runner, AStateThatCannotBeKeptEndsTheRun) {
  Fixture test;
  test.host.saves_left = 5;  // a completed, b begun
  Ending ending = test.run();
  EXPECT_EQ(ending.how, How::failed);
  ASSERT_TRUE(ending.error);
  EXPECT_EQ(ending.error->what(), "the disk is full");
  EXPECT_THAT(test.host.log, ElementsAre("begin a/1", "end a/1", "begin a/2", "end a/2", "begin b/1", "end b/1"));
}

// The process may be killed at any moment: what counts is the last state that was kept.
TEST(Runner, ARunGoesOnFromEveryStateThatWasKept) {
  Fixture whole;
  ASSERT_EQ(whole.run().how, How::done);
  ASSERT_EQ(whole.host.saved.size(), 13u);
  for (const std::string& saved : whole.host.saved) {
    Fixture test;
    test.state = State::parse(saved, "state").value();
    size_t done = 0;
    for (const PhaseState& phase : test.state.phases()) done += phase.steps.size();
    EXPECT_THAT(test.state.adapt(test.pipeline), IsEmpty());
    EXPECT_EQ(test.run().how, How::done);
    EXPECT_EQ(test.statuses(), "a completed\nb completed\nc completed\nd completed\n");
    // Nothing that was kept as done is done again, and nothing is left out.
    EXPECT_EQ(test.host.log.size(), 2 * (5 - done)) << saved;
  }
}

TEST(EventFile, LinesAreAdded) {
  TempFolder folder;
  std::string path = folder.path_of("events");
  Event event{.time = "t", .phase = "a", .action = Action::started, .message = "2 steps", .name = "phase_started"};
  ASSERT_TRUE(EventFile::open(path).value()->add(event));
  // A run was killed while it wrote.
  std::ofstream(path, std::ios::app) << "{\"time";
  event.step = "wait pod/x";
  ASSERT_TRUE(EventFile::open(path).value()->add(event));
  std::ifstream stream(path);
  std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  EXPECT_EQ(
      text,
      R"({"time":"t","phase":"a","action":"phase_started","kind":"started","message":"2 steps"})"
      "\n{\"time\n"
      R"({"time":"t","phase":"a","step":"wait pod/x","action":"phase_started","kind":"started","message":"2 steps"})"
      "\n");
}

}  // namespace
}  // namespace fairlead::pipeline
