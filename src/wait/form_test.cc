#include "wait/form.h"

#include <gtest/gtest.h>

namespace fairlead::wait {
namespace {

using State = Form::Answer::State;

Json parsed(std::string_view json) { return Json::parse(json).value(); }

// "met: TEXT", "not yet: TEXT" or "never: TEXT".
std::string asked(std::string_view form, std::string_view object) {
  Result<Form> parsed_form = Form::parse(form);
  if (!parsed_form) return parsed_form.error().message();
  Form::Answer answer = parsed_form->ask(parsed(object), {});
  std::string_view state = answer.state == State::met ? "met" : answer.state == State::never ? "never" : "not yet";
  return fmt::format("{}: {}", state, answer.text);
}

constexpr std::string_view kFailedJob = R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"x","generation":1},
  "status":{"conditions":[{"type":"Failed","status":"True","reason":"BackoffLimitExceeded","message":"it failed"}]}})";

TEST(FormTest, Words) {
  for (std::string_view word : {"ready", "functional", "rollout", "create", "delete"}) {
    EXPECT_EQ(Form::parse(word).value().text(), word);
  }
  EXPECT_EQ(Form::parse("Delete").value().kind(), Form::Kind::removal);
  EXPECT_EQ(Form::parse("happy").error().message(), "--for: \"happy\" is none of the forms");
  EXPECT_EQ(Form::parse("").error().message(), "--for: \"\" is none of the forms");
  EXPECT_EQ(Form::parse("field=").error().message(), "--for: \"field=\" has no path of a field");
  EXPECT_EQ(Form::parse("jsonpath={.a").error().message(),
            "--for: \"jsonpath={.a\" cannot be read: the '{' of the path is not closed");
}

TEST(FormTest, Texts) {
  EXPECT_EQ(Form().met_text(), "ready");
  EXPECT_EQ(Form().unmet_text(), "is not ready");
  EXPECT_EQ(Form::parse("delete").value().unmet_text(), "still exists");
  EXPECT_EQ(Form::parse("condition=Ready").value().met_text(), "meets condition=Ready");
}

TEST(FormTest, ConditionsIgnoreCase) {
  constexpr std::string_view kPod = R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"x"},
    "status":{"conditions":[{"type":"Ready","status":"True"}]}})";
  EXPECT_EQ(asked("condition=ready", kPod), "met: Ready is True");
  EXPECT_EQ(asked("condition=Ready=true", kPod), "met: Ready is True");
  EXPECT_EQ(asked("condition=Ready=False", kPod), "not yet: Ready is True");
  EXPECT_EQ(asked("condition=Other", kPod), "not yet: it has no condition Other yet");
}

TEST(FormTest, AConditionOfAnOlderGenerationDoesNotCount) {
  for (std::string_view status : {R"({"conditions":[{"type":"Ready","status":"True","observedGeneration":1}]})",
                                  R"({"observedGeneration":1,"conditions":[{"type":"Ready","status":"True"}]})"})
    EXPECT_EQ(asked("condition=Ready", fmt::format(R"({{"kind":"W","apiVersion":"a.b/v1","metadata":{{"generation":2}},
                                                      "status":{}}})",
                                                   status)),
              "not yet: its condition Ready is from an older generation");
}

TEST(FormTest, Paths) {
  constexpr std::string_view kPod =
      R"({"kind":"Pod","apiVersion":"v1","status":{"phase":"Running","ips":["a","b"],"none":"","empty":[]}})";
  for (std::string_view form : {"jsonpath={.status.phase}=Running", "jsonpath=.status.phase=Running",
                                "jsonpath=status.phase=Running", "jsonpath='{.status.phase}'=Running"})
    EXPECT_TRUE(asked(form, kPod).starts_with("met: ")) << form;
  EXPECT_EQ(asked("jsonpath={.status.ips[*]}=a", kPod), "never: {.status.ips[*]} matches 2 values instead of one");
  EXPECT_EQ(asked("jsonpath={.status.nowhere}", kPod), "not yet: {.status.nowhere} is not set yet");
  EXPECT_EQ(asked("field=status.phase", kPod), "met: status.phase is there");
  EXPECT_EQ(asked("field=status.none", kPod), "not yet: status.none is empty");
  EXPECT_EQ(asked("field=status.empty", kPod), "not yet: status.empty is empty");
  EXPECT_EQ(asked("field=status.ips[2]", kPod), "not yet: status.ips[2] is not there yet");
}

TEST(FormTest, ValuesOfFields) {
  constexpr std::string_view kPod =
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"labels":{"a=b":"c"}},"status":{"phase":"Running","n":3,"ok":true}})";
  EXPECT_EQ(asked("field=status.phase=Running", kPod), "met: status.phase is Running");
  EXPECT_EQ(asked("field=status.phase=Pending", kPod), "not yet: status.phase is Running, not Pending");
  EXPECT_EQ(asked("field=status.n=3", kPod), "met: status.n is 3");
  EXPECT_EQ(asked("field=status.ok=true", kPod), "met: status.ok is true");
  EXPECT_EQ(asked("field=metadata.labels[\"a=b\"]=c", kPod), "met: metadata.labels[\"a=b\"] is c");
  EXPECT_EQ(asked("field=status.gone=x", kPod), "not yet: status.gone is not there yet");
  EXPECT_EQ(asked("field=status.phase=~Run.*", kPod), "met: status.phase is Running");
  EXPECT_EQ(asked("field=status.phase=~Run", kPod), "not yet: status.phase is Running, which does not match Run");
  EXPECT_EQ(Form::parse("field=status.phase=~(").error().message(),
            "--for: \"field=status.phase=~(\" cannot be read: missing ): (");
}

TEST(FormTest, WhatFailedForGoodNeverMeetsAForm) {
  for (std::string_view form : {"ready", "condition=Complete", "field=status.completionTime"})
    EXPECT_EQ(asked(form, kFailedJob), "never: Job failed: BackoffLimitExceeded: it failed") << form;
  EXPECT_EQ(asked("condition=Failed", kFailedJob), "met: Failed is True: BackoffLimitExceeded: it failed");
}

TEST(FormTest, ARolloutDoesNotCareAboutTheAnnotation) {
  std::string deployment = R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"x","generation":1,
    "annotations":{"fairlead.dev/ready-when":"create"}},"spec":{"replicas":1}})";
  EXPECT_TRUE(asked("ready", deployment).starts_with("met: "));
  EXPECT_TRUE(asked("rollout", deployment).starts_with("not yet: "));
}

}  // namespace
}  // namespace fairlead::wait
