#include "readiness/ready_when.h"

#include <gtest/gtest.h>

#include "readiness/verdict_testing.h"

namespace fairlead::readiness {
namespace {

const Json& sample() {
  static const Json kSample = json(R"({
      "apiVersion": "v1", "kind": "Pod", "metadata": {"generation": 3, "annotations": {"example.com/x": "y"}},
      "spec": {"ports": [{"name": "http", "port": 80}, {"name": "https", "port": 443}], "ratio": 0.5, "none": null,
               "on": true},
      "status": {"phase": "Running ", "conditions": [
          {"type": "Ready", "status": "True"},
          {"type": "Old", "status": "True", "observedGeneration": 2},
          {"type": "Synced", "status": "False", "reason": "Busy"}]}})");
  return kSample;
}

std::string answer(std::string_view ready_when) {
  Result<ReadyWhen> parsed = ReadyWhen::parse(ready_when);
  if (!parsed) return "error: " + parsed.error().message();
  Result<ReadyWhen::Answer> answer = parsed->ask(sample());
  if (!answer) return "wrong: " + answer.error().message();
  return (answer->met ? "yes: " : "no: ") + answer->text;
}

TEST(ReadyWhen, Conditions) {
  EXPECT_EQ(answer("condition=Ready"), "yes: Ready is True");
  EXPECT_EQ(answer(" condition=ready=TRUE\n"), "yes: Ready is True");
  EXPECT_EQ(answer("condition=Ready=False"), "no: Ready is True");
  EXPECT_EQ(answer("condition=Synced"), "no: Synced is False: Busy");
  EXPECT_EQ(answer("condition=Synced=false"), "yes: Synced is False: Busy");
  EXPECT_EQ(answer("condition=Old"), "no: its condition Old is from an older generation");
  EXPECT_EQ(answer("condition=Gone"), "no: it has no condition Gone yet");
}

TEST(ReadyWhen, Paths) {
  EXPECT_EQ(answer("jsonpath={.status.phase}=Running"), "yes: {.status.phase} is Running ");
  EXPECT_EQ(answer("jsonpath='{.status.phase}'=Running"), "yes: {.status.phase} is Running ");
  EXPECT_EQ(answer("jsonpath={.status.phase}='Running'"), "yes: {.status.phase} is Running ");
  EXPECT_EQ(answer("jsonpath=.status.phase=Pending"), "no: .status.phase is Running , not Pending yet");
  EXPECT_EQ(answer("jsonpath=status.phase"), "yes: status.phase is set");
  EXPECT_EQ(answer("jsonpath={.status.podIP}"), "no: {.status.podIP} is not set yet");
  EXPECT_EQ(answer("jsonpath={.spec.ports[1].port}=443"), "yes: {.spec.ports[1].port} is 443");
  EXPECT_EQ(answer("jsonpath={.spec.ports[-1].name}=https"), "yes: {.spec.ports[-1].name} is https");
  EXPECT_EQ(answer("jsonpath={.spec.ports[2]}"), "no: {.spec.ports[2]} is not set yet");
  EXPECT_EQ(answer("jsonpath={.spec.ports[-3]}"), "no: {.spec.ports[-3]} is not set yet");
  EXPECT_EQ(answer("jsonpath={.spec.ratio}=0.5"), "yes: {.spec.ratio} is 0.5");
  EXPECT_EQ(answer("jsonpath={.spec.on}=true"), "yes: {.spec.on} is true");
  EXPECT_EQ(answer("jsonpath={.spec.none}=<nil>"), "yes: {.spec.none} is <nil>");
  EXPECT_EQ(answer(R"(jsonpath={.metadata.annotations.example\.com/x}=y)"),
            R"(yes: {.metadata.annotations.example\.com/x} is y)");
  EXPECT_EQ(answer("jsonpath={.metadata.annotations['example.com/x']}=y"),
            "yes: {.metadata.annotations['example.com/x']} is y");
  EXPECT_EQ(answer("jsonpath={$.spec.on}"), "yes: {$.spec.on} is set");
}

TEST(ReadyWhen, Filters) {
  EXPECT_EQ(answer(R"(jsonpath={.status.conditions[?(@.type=="Ready")].status}=True)"),
            R"(yes: {.status.conditions[?(@.type=="Ready")].status} is True)");
  EXPECT_EQ(answer(R"(jsonpath={.status.conditions[?(@.type=='Nope')].status}=True)"),
            R"(no: {.status.conditions[?(@.type=='Nope')].status} is not set yet)");
  EXPECT_EQ(answer("jsonpath={.spec.ports[?(@.port > 80)].name}=https"),
            "yes: {.spec.ports[?(@.port > 80)].name} is https");
  EXPECT_EQ(answer("jsonpath={.spec.ports[?(@.port <= 80)].name}=http"),
            "yes: {.spec.ports[?(@.port <= 80)].name} is http");
  EXPECT_EQ(answer("jsonpath={.spec.ports[?(@.port<443)].name}=http"),
            "yes: {.spec.ports[?(@.port<443)].name} is http");
  EXPECT_EQ(answer("jsonpath={.spec.ports[?(@.port>=443)].name}=https"),
            "yes: {.spec.ports[?(@.port>=443)].name} is https");
  EXPECT_EQ(answer(R"(jsonpath={.spec.ports[?(@.name!="http")].port}=443)"),
            R"(yes: {.spec.ports[?(@.name!="http")].port} is 443)");
  EXPECT_EQ(answer("jsonpath={.status.conditions[?(@.reason)].type}=Synced"),
            "yes: {.status.conditions[?(@.reason)].type} is Synced");
  EXPECT_EQ(answer(R"(jsonpath={.status.conditions[?(@["type"]=="Ready}")].status}=True)"),
            R"(no: {.status.conditions[?(@["type"]=="Ready}")].status} is not set yet)");
}

TEST(ReadyWhen, PathsMustLeadToOneValue) {
  EXPECT_EQ(answer("jsonpath={.spec.ports[*].port}=80"),
            "wrong: {.spec.ports[*].port} matches 2 values instead of one");
  EXPECT_EQ(answer("jsonpath={.spec.ports}=80"), "wrong: {.spec.ports} is an array, which cannot be compared");
  EXPECT_EQ(answer("jsonpath={.spec.*}"), "wrong: {.spec.*} matches 4 values instead of one");
}

TEST(ReadyWhen, BadFormsSayWhatIsWrong) {
  EXPECT_EQ(answer(""), R"(error: "" is not a known form)");
  EXPECT_EQ(answer("delete"), R"(error: "delete" is not a known form)");
  EXPECT_EQ(answer("condition="), "error: the condition has no name");
  EXPECT_EQ(answer("condition=Ready="), R"(error: there is no value after "condition=Ready=")");
  EXPECT_EQ(answer("jsonpath="), R"(error: the path cannot be read: the path is empty at character 1 of "")");
  EXPECT_EQ(answer("jsonpath={.a"), "error: the '{' of the path is not closed");
  EXPECT_EQ(answer("jsonpath={.a}="), R"(error: there is no value after "jsonpath={.a}=")");
  EXPECT_EQ(answer("jsonpath={.a}x"), R"(error: expected '=' after the path, not "x")");
  auto bad_path = [](std::string_view path) {
    return answer(fmt::format("jsonpath={{{}}}", path)).substr(sizeof("error: the path cannot be read: ") - 1);
  };
  EXPECT_EQ(bad_path("."), R"(expected a field at character 2 of ".")");
  EXPECT_EQ(bad_path("..name"),
            R"(recursive descent is not supported here: write the whole path at character 3 of "..name")");
  EXPECT_EQ(bad_path(".a[0:2]"), R"(slices are not supported here at character 5 of ".a[0:2]")");
  EXPECT_EQ(bad_path(".a[:2]"), R"(slices are not supported here at character 4 of ".a[:2]")");
  EXPECT_EQ(bad_path(".a[0,1]"), R"(unions are not supported here at character 5 of ".a[0,1]")");
  EXPECT_EQ(bad_path(".a[x]"), R"(expected an index, a quoted field, '*' or a filter at character 4 of ".a[x]")");
  EXPECT_EQ(bad_path(".a[0"), R"(expected ']' at character 5 of ".a[0")");
  EXPECT_EQ(bad_path(".a b"), R"(expected '.' or '[' at character 3 of ".a b")");
  EXPECT_EQ(bad_path(".a[?(.x)]"), R"(expected '@' at character 6 of ".a[?(.x)]")");
  EXPECT_EQ(bad_path(".a[?(@.x = 1)]"), R"(expected ==, !=, <, <=, > or >= at character 10 of ".a[?(@.x = 1)]")");
  EXPECT_EQ(bad_path(".a[?(@.x==1 2)]"), R"(expected ')' at character 13 of ".a[?(@.x==1 2)]")");
  EXPECT_EQ(bad_path(".a[?(@.x==y)]"),
            R"(expected a quoted text, a number, true or false at character 11 of ".a[?(@.x==y)]")");
  // The quote takes the brace in.
  EXPECT_EQ(answer(R"(jsonpath={.a[?(@.x=="y)]})"), "error: the '{' of the path is not closed");
}

TEST(ReadyWhen, SaysWhichFormsThereAre) {
  Result<ReadyWhen> parsed = ReadyWhen::parse("ready");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().report(),
            "error: \"ready\" is not a known form\n"
            "  next      write condition=NAME, condition=NAME=VALUE, jsonpath={.path}, jsonpath={.path}=VALUE or "
            "create\n");
}

TEST(ReadyWhen, OnlyThePresentAnnotationCounts) {
  EXPECT_FALSE(ReadyWhen::of(json(R"({"metadata": {"annotations": {}}})"))->has_value());
  EXPECT_FALSE(ReadyWhen::of(json(R"({"metadata": 7})"))->has_value());
  EXPECT_FALSE(ReadyWhen::of(json(R"({"metadata": {"annotations": {"fairlead.dev/ready-when": 7}}})")));
  EXPECT_TRUE(ReadyWhen::of(json(R"({"metadata": {"annotations": {"fairlead.dev/ready-when": "create"}}})"))
                  ->value()
                  .met_at_once());
}

TEST(ReadyWhen, LongPathsAreRefused) {
  EXPECT_EQ(answer("jsonpath={" + std::string(2000, '.') + "}"),
            "error: the path cannot be read: it is longer than 1000 characters");
}

}  // namespace
}  // namespace fairlead::readiness
