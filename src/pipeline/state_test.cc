#include "pipeline/state.h"

#include <gmock/gmock.h>
#include <rapidcheck.h>

#include "pipeline/read_testing.h"

namespace fairlead::pipeline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// a, then b and c side by side, then d.
constexpr const char* kDiamond = R"(phases:
- {name: a, steps: [{wait: pod/1}, {wait: pod/2}]}
- {name: b, steps: [{wait: pod/x}]}
- {name: c, needs: [a], steps: [{wait: pod/x}]}
- {name: d, needs: [b, c], steps: [{wait: pod/x}]}
)";

TEST(State, PhasesStartWhenTheirNeedsAreDone) {
  Pipeline pipeline = parsed(kDiamond);
  State state(pipeline);
  EXPECT_THAT(state.startable(pipeline), ElementsAre(0u));
  state.begin(pipeline, 0, "t1");
  EXPECT_EQ(state.phase(0).status, Status::in_progress);
  state.complete(0, "t2");
  EXPECT_THAT(state.startable(pipeline), ElementsAre(1u, 2u));
  state.skip(1, "t3", "when is false");
  pipeline.phases[1].is_wanted = false;
  EXPECT_THAT(state.startable(pipeline), ElementsAre(2u));
  state.complete(2, "t4");
  EXPECT_THAT(state.startable(pipeline), ElementsAre(3u));
  state.complete(3, "t5");
  EXPECT_THAT(state.startable(pipeline), IsEmpty());
  // It was skipped, and is wanted now.
  pipeline.phases[1].is_wanted = true;
  EXPECT_THAT(state.startable(pipeline), ElementsAre(1u));
}

TEST(State, APhaseThatWasSkippedAndIsWantedNowRunsBeforeWhatNeedsIt) {
  Pipeline pipeline = parsed(kDiamond);
  State state(pipeline);
  pipeline.phases[1].is_wanted = false;
  state.complete(0, "t1");
  state.skip(1, "t2", "when is false");
  state.complete(2, "t3");
  EXPECT_THAT(state.startable(pipeline), ElementsAre(3u));
  pipeline.phases[1].is_wanted = true;
  EXPECT_THAT(state.startable(pipeline), ElementsAre(1u));
}

TEST(State, AFailedPhaseGoesOnWithTheStepThatFailed) {
  Pipeline pipeline = parsed(kDiamond);
  State state(pipeline);
  state.begin(pipeline, 0, "t1");
  state.step_done(pipeline, 0, 0);
  state.fail(0, "t2", "pod/2 is not ready");
  EXPECT_THAT(state.startable(pipeline), ElementsAre(0u));
  EXPECT_EQ(state.next_step(pipeline, 0), 1u);
  state.begin(pipeline, 0, "t3");
  EXPECT_EQ(state.phase(0).started, "t1");
  EXPECT_EQ(state.phase(0).message, "");
  EXPECT_EQ(state.next_step(pipeline, 0), 1u);
}

TEST(State, AStepThatChangedIsDoneAgain) {
  Pipeline pipeline = parsed(kDiamond);
  State state(pipeline);
  state.begin(pipeline, 0, "t1");
  state.step_done(pipeline, 0, 0);
  Pipeline changed = parsed("phases: [{name: a, steps: [{wait: pod/9}, {wait: pod/2}]}]");
  EXPECT_THAT(state.adapt(changed), IsEmpty());
  EXPECT_EQ(state.next_step(changed, 0), 0u);
  state.begin(changed, 0, "t2");
  EXPECT_THAT(state.phase(0).steps, IsEmpty());
  EXPECT_EQ(state.phase(0).started, "t2");
}

TEST(State, APhaseThatIsForAnotherClusterOrNamespaceNowBeginsAnew) {
  auto pipeline_with = [](std::string_view where) {
    return parsed(fmt::format("phases: [{{name: a, {} steps: [{{wait: pod/1}}, {{wait: pod/2}}]}}]", where));
  };
  Pipeline pipeline = pipeline_with("");
  State state(pipeline);
  state.begin(pipeline, 0, "t1");
  state.step_done(pipeline, 0, 0);
  EXPECT_EQ(state.next_step(pipeline_with(""), 0), 1u);
  EXPECT_EQ(state.next_step(pipeline_with("context: regional,"), 0), 0u);
  EXPECT_EQ(state.next_step(pipeline_with("namespace: kof,"), 0), 0u);
}

TEST(State, AClusterOfTheCommandLineCounts) {
  Pipeline pipeline = parsed("phases: [{name: a, steps: [{wait: pod/1}, {wait: pod/2}]}]");
  auto at = [&](std::string place) {
    pipeline.phases[0].place = std::move(place);
    return pipeline;
  };
  State state(pipeline);
  state.begin(at("context one"), 0, "t1");
  state.step_done(pipeline, 0, 0);
  state = State::parse(state.text(), "s").value();
  EXPECT_EQ(state.next_step(at("context one"), 0), 1u);
  EXPECT_EQ(state.next_step(at("context two"), 0), 0u);
  EXPECT_EQ(state.next_step(at(""), 0), 1u) << "it is not known where it is";
  EXPECT_TRUE(state.moved(at("context two")).empty()) << "it is not completed, and begins anew";
  state.complete(0, "t2");
  EXPECT_EQ(state.moved(at("context two")), std::vector<size_t>{0});
  EXPECT_TRUE(state.moved(at("context one")).empty());
  EXPECT_TRUE(state.moved(at("")).empty());
}

TEST(State, AChangedPipelineIsNoticed) {
  Pipeline pipeline = parsed(kDiamond);
  State state(pipeline);
  for (size_t i : {0u, 1u}) {
    state.begin(pipeline, i, "t1");
    state.complete(i, "t2");
  }
  Pipeline changed = parsed(R"(phases:
- {name: new, steps: [{wait: pod/x}]}
- {name: a, steps: [{wait: pod/1}, {wait: pod/3}]}
- {name: c, steps: [{wait: pod/x}]}
)");
  EXPECT_THAT(state.adapt(changed),
              ElementsAre(Note{"", "phase b is no longer in the pipeline; it was completed"},
                          Note{"a", "phase a has changed since it was completed, and is not run again"}));
  EXPECT_EQ(state.phases().size(), 3u);
  EXPECT_TRUE(state.has_changed(changed, 1));
  EXPECT_THAT(state.startable(changed), ElementsAre(0u, 2u));
}

TEST(State, ResetTakesThoseAfterItAlong) {
  Pipeline pipeline = parsed(kDiamond);
  State state(pipeline);
  for (size_t i : {0u, 1u, 2u}) {
    state.begin(pipeline, i, "t1");
    state.complete(i, "t2");
  }
  EXPECT_THAT(state.reset(pipeline, 1), ElementsAre(1u));
  EXPECT_EQ(state.phase(1), PhaseState{.name = "b"});
  EXPECT_EQ(state.phase(2).status, Status::completed);
  EXPECT_THAT(state.reset(pipeline, 0), ElementsAre(0u, 2u));
  EXPECT_EQ(state, State(pipeline));
}

TEST(State, ItsTextBringsItBack) {
  Pipeline pipeline = parsed(kDiamond);
  State state(pipeline);
  state.begin(pipeline, 0, "2026-05-04T10:20:30Z");
  state.step_done(pipeline, 0, 0);
  state.fail(0, "2026-05-04T10:20:31Z", "it\nbroke");
  EXPECT_EQ(State::parse(state.text(), "kof.yaml.state").value(), state);
  EXPECT_EQ(state.text(), fmt::format(R"({{
  "schemaVersion": 1,
  "pipeline": "kof",
  "phases": [
    {{
      "name": "a",
      "status": "failed",
      "hash": "{}",
      "steps": [
        "{}"
      ],
      "started": "2026-05-04T10:20:30Z",
      "ended": "2026-05-04T10:20:31Z",
      "message": "it\nbroke"
    }},
    {{
      "name": "b",
      "status": "pending"
    }},
    {{
      "name": "c",
      "status": "pending"
    }},
    {{
      "name": "d",
      "status": "pending"
    }}
  ]
}}
)",
                                      pipeline.phases[0].hash, pipeline.phases[0].steps[0].hash));
}

TEST(State, HostileTexts) {
  auto errors = [](std::string_view text) {
    auto state = State::parse(text, "s");
    std::string reports;
    if (!state)
      for (const Error& error : state.error()) reports += error.report();
    return reports;
  };
  EXPECT_EQ(errors("[]"), "error: the state must be a mapping, not a list\n  from      s:1:1\n");
  EXPECT_EQ(errors("{\"schemaVersion\": 2, \"phases\": 3}"),
            "error: schemaVersion must be 1\n"
            "  from      s:1:2\n"
            "  next      another version of Fairlead has written it: use that one\n"
            "error: phases must be a list\n"
            "  from      s:1:22\n");
  EXPECT_EQ(errors(R"({"schemaVersion": 1, "phases": [
  {"name": "a", "status": "done"},
  {"name": "a", "status": "failed", "when": 1},
  {"status": "failed"}]})"),
            "error: phases[0].status must be pending, in progress, completed, skipped or failed\n"
            "  from      s:2:17\n"
            "error: unknown key when\n"
            "  from      s:3:37\n"
            "  next      the keys here are name, status, hash, place, steps, started, ended, message\n"
            "error: the phase a is there twice\n"
            "  from      s:3:4\n"
            "error: phases[2] has no name\n"
            "  from      s:4:3\n");
  EXPECT_NE(errors("{\"schemaVersion\": 1, \"phases\": ["), "");
  EXPECT_NE(errors(""), "");
}

// Whatever happens to the phases, the state can be written and read again, and no phase is startable before its needs.
TEST(State, AnyCourseOfEvents) {
  EXPECT_TRUE(rc::check("any course of events", [] {
    Pipeline pipeline = parsed(kDiamond);
    State state(pipeline);
    for (int step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 6))) {
      std::vector<size_t> startable = state.startable(pipeline);
      for (size_t i : startable)
        for (size_t need : pipeline.phases[i].needs) RC_ASSERT(state.phase(need).status == Status::completed);
      size_t index = startable.empty() ? 0 : startable[*rc::gen::inRange<size_t>(0, startable.size())];
      if (step == 0 && !startable.empty()) state.begin(pipeline, index, "t");
      bool is_begun = state.phase(index).status == Status::in_progress;
      if (step == 1 && is_begun) state.complete(index, "t");
      if (step == 2 && is_begun) state.fail(index, "t", "why");
      if (step == 3 && is_begun) state.interrupt(index, "interrupted");
      if (step == 4 && is_begun && state.next_step(pipeline, index) < pipeline.phases[index].steps.size())
        state.step_done(pipeline, index, state.next_step(pipeline, index));
      if (step == 5) state.reset(pipeline, *rc::gen::inRange<size_t>(0, 4));
      auto again = State::parse(state.text(), "s");
      RC_ASSERT(again && *again == state);
    }
  }));
}

}  // namespace
}  // namespace fairlead::pipeline
