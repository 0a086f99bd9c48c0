#include "pipeline/read.h"

#include <gmock/gmock.h>
#include <rapidcheck.h>

#include "base/temp_folder_testing.h"
#include "pipeline/read_testing.h"

namespace fairlead::pipeline {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(ReadPipeline, Everything) {
  Pipeline pipeline = parsed(R"(name: install
kubernetesEvents: false
phases:
- name: operators
  context: mothership
  namespace: kof
  createNamespace: true
  events: {started: kof_started, skipped: kof_skipped}
  steps:
  - manifests: [k8s/, https://example.com/x.yaml]
    recursive: true
    name: operators
    prune: true
    timeout: 5m
    timeoutFor: {Job: 90}
  - kustomize: overlays/prod
  - chart: ./charts/x
    release: x
    values: [x.yaml]
    set: {a.b: 3, c: "x,{y}"}
    flags: [--skip-tests]
    retries: 3
    retryDelay: 10
    events: {retry: kof_retry}
  - command: [echo, 3, true]
    env: {A: 1, B: null, C: text}
    directory: scripts
    timeout: 10s
  - wait: webhook/x
    for: functional
    timeout: 60
    existenceTimeout: 1m
  - wait: [pods]
    selector: app=web
    any: true
)",
                             {}, "deploy/kof.yaml");
  EXPECT_EQ(pipeline.name, "install");
  EXPECT_FALSE(pipeline.kubernetes_events);
  ASSERT_EQ(pipeline.phases.size(), 1u);
  const Phase& phase = pipeline.phases[0];
  EXPECT_EQ(phase.name, "operators");
  EXPECT_EQ(phase.context, "mothership");
  EXPECT_EQ(phase.ns, "kof");
  EXPECT_TRUE(phase.create_namespace);
  EXPECT_EQ(phase.at, "deploy/kof.yaml:4:3");
  EXPECT_THAT(phase.events, ElementsAre(Pair(Action::started, "kof_started"), Pair(Action::skipped, "kof_skipped")));
  ASSERT_EQ(phase.steps.size(), 6u);

  EXPECT_EQ(phase.steps[0].text, "manifests k8s/ and 1 more");
  const Apply& manifests = std::get<Apply>(phase.steps[0].work);
  EXPECT_THAT(manifests.files, ElementsAre("deploy/k8s/", "https://example.com/x.yaml"));
  EXPECT_TRUE(manifests.recursive);
  EXPECT_TRUE(manifests.prune);
  EXPECT_EQ(manifests.name, "operators");
  EXPECT_EQ(manifests.timeout, minutes(5));
  EXPECT_THAT(manifests.timeout_for, ElementsAre(Pair("Job", seconds(90))));
  EXPECT_THAT(std::get<Apply>(phase.steps[1].work).kustomizations, ElementsAre("deploy/overlays/prod"));

  EXPECT_EQ(phase.steps[2].text, "chart ./charts/x");
  const Apply& chart = std::get<Apply>(phase.steps[2].work);
  EXPECT_EQ(chart.chart, "./deploy/charts/x");
  EXPECT_EQ(chart.release, "x");
  EXPECT_THAT(chart.helm_flags,
              ElementsAre("--values=deploy/x.yaml", "--set-json=a.b=3", "--set-json=c=\"x,{y}\"", "--skip-tests"));
  EXPECT_EQ(phase.steps[2].retries, 3);
  EXPECT_EQ(phase.steps[2].retry_delay, seconds(10));
  EXPECT_THAT(phase.steps[2].events, ElementsAre(Pair(Action::retry, "kof_retry")));

  EXPECT_EQ(phase.steps[3].text, "command echo");
  const Command& command = std::get<Command>(phase.steps[3].work);
  EXPECT_THAT(command.argv, ElementsAre("echo", "3", "true"));
  EXPECT_THAT(command.environment, ElementsAre(Pair("A", "1"), Pair("B", ""), Pair("C", "text")));
  EXPECT_EQ(command.directory, "deploy/scripts");

  const Wait& wait = std::get<Wait>(phase.steps[4].work);
  EXPECT_THAT(wait.objects, ElementsAre("webhook/x"));
  EXPECT_EQ(wait.form, "functional");
  EXPECT_EQ(wait.timeout, seconds(60));
  EXPECT_EQ(wait.existence_timeout, minutes(1));
  EXPECT_EQ(std::get<Wait>(phase.steps[5].work).selector, "app=web");
}

constexpr const char* kThree = R"(phases:
- {name: a, steps: [{wait: pod/x}]}
- {name: b, steps: [{wait: pod/x}]}
- {name: c, needs: [a], steps: [{wait: pod/x}]}
- {name: d, needs: [], steps: [{wait: pod/x}]}
- {name: e, needs: [b, c], steps: [{wait: pod/x}]}
)";

TEST(ReadPipeline, APhaseNeedsTheOneBeforeUnlessItSaysOtherwise) {
  Pipeline pipeline = parsed(kThree);
  EXPECT_EQ(pipeline.name, "kof");
  EXPECT_THAT(pipeline.phases[0].needs, IsEmpty());
  EXPECT_THAT(pipeline.phases[1].needs, ElementsAre(0u));
  EXPECT_THAT(pipeline.phases[2].needs, ElementsAre(0u));
  EXPECT_THAT(pipeline.phases[3].needs, IsEmpty());
  EXPECT_THAT(pipeline.phases[4].needs, ElementsAre(1u, 2u));
  EXPECT_THAT(pipeline.with_dependents(2), ElementsAre(2u, 4u));
  EXPECT_THAT(pipeline.with_dependents(0), ElementsAre(0u, 1u, 2u, 4u));
  EXPECT_THAT(pipeline.with_dependents(3), ElementsAre(3u));
}

TEST(ReadPipeline, ValuesComeFromFilesTheCommandLineAndDefaults) {
  constexpr const char* kText = R"(values: [default.yaml]
phases:
- name: mothership
  namespace: ${kof.mothership.namespace:kof}
  context: ${kof.mothership.context:}
  when: ${kof.mothership.enabled:true}
  steps:
  - chart: oci://example.com/kof
    release: kof-${kof.mothership.namespace:x}
    retries: ${kof.mothership.install_retries:3}
    retryDelay: ${kof.mothership.retry_delay_seconds:30}
    set: {storageClass: "${kof.storage_class:standard}", list: "${kof.list}", plain: "$${HOME}"}
  - wait: webhook/x
    timeout: ${kof.operators.webhook_timeout_seconds:180}
)";
  auto read = [](const std::string& path) -> Result<std::string> {
    if (path == "deploy/default.yaml") return "kof: {mothership: {install_retries: 5, namespace: a}, list: [1, 2]}";
    if (path == "prod.yaml") return "kof: {mothership: {namespace: b, enabled: 'false'}}";
    return fail(ErrorKind::not_found, "{}", path);
  };
  auto pipeline = parse(kText, "deploy/kof.yaml", {.files = {"prod.yaml"}, .sets = {"kof.storage_class=fast"}}, read);
  ASSERT_TRUE(pipeline) << pipeline.error().front().report();
  const Phase& phase = pipeline->phases[0];
  EXPECT_EQ(phase.ns, "b");
  EXPECT_EQ(phase.context, "");
  EXPECT_FALSE(phase.is_wanted);
  const Apply& chart = std::get<Apply>(phase.steps[0].work);
  EXPECT_EQ(chart.release, "kof-b");
  EXPECT_EQ(phase.steps[0].retries, 5);
  EXPECT_EQ(phase.steps[0].retry_delay, seconds(30));
  EXPECT_THAT(chart.helm_flags,
              ElementsAre("--set-json=storageClass=\"fast\"", "--set-json=list=[1,2]", "--set-json=plain=\"${HOME}\""));
  EXPECT_EQ(std::get<Wait>(phase.steps[1].work).timeout, seconds(180));
}

TEST(ReadPipeline, TheHashIsOfWhatAPhaseDoes) {
  auto hash = [](std::string_view step, std::string_view phase = "") {
    return parsed(fmt::format("phases: [{{name: a, {} steps: [{{{}}}]}}]", phase, step)).phases[0].hash;
  };
  std::string before = hash("wait: pod/x");
  EXPECT_EQ(before.size(), 16u);
  EXPECT_EQ(hash("wait: pod/x, timeout: 5m, retries: 3, events: {started: x}"), before);
  EXPECT_EQ(hash("wait: pod/x", "when: false, events: {started: x},"), before);
  EXPECT_NE(hash("wait: pod/y"), before);
  EXPECT_NE(hash("wait: pod/x, for: delete"), before);
  EXPECT_NE(hash("wait: pod/x", "context: other,"), before);
}

TEST(ReadPipeline, UnknownKeysAndWrongTypesAreErrorsWithTheirPosition) {
  EXPECT_EQ(errors_of(R"(nam: kof
phases:
- name: a
  contexts: x
  when: maybe
  steps:
  - manifests: k8s/
    prun: true
  - command: echo
  - {wait: pod/x, timeout: soon, retries: -1}
  - {}
)"),
            R"(error: unknown key nam; did you mean name?
  from      kof.yaml:1:1
  next      the keys here are name, values, kubernetesEvents, phases
error: unknown key contexts; did you mean context?
  from      kof.yaml:4:3
  next      the keys here are name, context, namespace, createNamespace, when, needs, events, steps
error: phases[0].when must be true or false
  from      kof.yaml:5:3
error: unknown key prun; did you mean prune?
  from      kof.yaml:8:5
  next      the keys here are manifests, name, prune, timeoutFor, recursive, timeout, retries, retryDelay, events
error: phases[0].steps[1].command must be a list: the program and its arguments
  from      kof.yaml:9:5
  next      command: [kubectl, get, pods]
error: phases[0].steps[2].timeout is not a duration
  from      kof.yaml:10:19
  next      write it like 30s, 5m or 1h30m, or as a number of seconds
error: phases[0].steps[2].retries must be a number from 0 to 1000
  from      kof.yaml:10:34
error: phases[0].steps[3] must have exactly one of manifests, kustomize, chart, command, wait
  from      kof.yaml:11:5
)");
}

TEST(ReadPipeline, PhasesThatMakeNoSense) {
  EXPECT_EQ(errors_of("phases: {}\n"),
            "error: phases must be a list of phases\n"
            "  from      kof.yaml:1:1\n"
            "  next      phases: [{name: operators, steps: [{manifests: k8s/}]}]\n");
  EXPECT_EQ(errors_of("- a\n"),
            "error: a pipeline must be a mapping of keys such as name and phases, not a list\n"
            "  from      kof.yaml:1:1\n");
  EXPECT_EQ(errors_of(R"(phases:
- {name: a, steps: [{wait: pod/x}]}
- {name: b, steps: []}
- {name: a, steps: [{wait: pod/x}]}
- {name: "a b", steps: [{wait: pod/x}]}
- {steps: [{wait: pod/x}]}
)"),
            R"(error: phases[1].steps must be a list of steps
  from      kof.yaml:3:13
  next      steps: [{manifests: k8s/}]
error: there are two phases with the name a
  from      kof.yaml:4:4
  next      the other one is at kof.yaml:2:3
error: "a b" is not a name
  from      kof.yaml:5:4
  next      a name has letters, digits, '-', '_' and '.', begins with a letter or digit, and has at most 63 of them
error: phases[4] has no name
  from      kof.yaml:6:3
)");
}

TEST(ReadPipeline, NeedsThatCanNeverBeMet) {
  EXPECT_EQ(errors_of(R"(phases:
- {name: a, steps: [{wait: pod/x}]}
- {name: b, needs: [aa], steps: [{wait: pod/x}]}
)"),
            "error: there is no phase aa; did you mean a?\n"
            "  from      kof.yaml:3:21\n");
  EXPECT_EQ(errors_of(R"(phases:
- {name: a, steps: [{wait: pod/x}]}
- {name: b, needs: [a, d], steps: [{wait: pod/x}]}
- {name: c, steps: [{wait: pod/x}]}
- {name: d, needs: [c], steps: [{wait: pod/x}]}
)"),
            "error: phases need each other in a loop: b needs d needs c needs b\n"
            "  from      kof.yaml:3:13\n");
  EXPECT_EQ(errors_of("phases: [{name: a, needs: [a], steps: [{wait: pod/x}]}]"),
            "error: phases need each other in a loop: a needs a\n"
            "  from      kof.yaml:1:20\n");
}

TEST(ReadPipeline, MissingValues) {
  EXPECT_EQ(errors_of(R"(phases:
- name: a
  namespace: ${kof.namespace}
  steps:
  - wait: pod/${x y}
  - wait: pod/${open
)"),
            R"(error: the value kof.namespace is missing
  because   no file of values has it, and it has no default here
  from      kof.yaml:3:3
  next      add it to a file of values, give --set kof.namespace=VALUE, or write ${kof.namespace:DEFAULT}
error: ${x y} is not the path of a value
  from      kof.yaml:5:5
  next      write it like ${kof.mothership.namespace:kof}, and $${ for a plain ${
error: ${ is not closed by }
  from      kof.yaml:6:5
  next      write $${ for a plain ${
)");
  EXPECT_EQ(errors_of("values: [a.yaml]\nphases: []\n", {.files = {"b.yaml"}, .sets = {"x"}}),
            "error: a.yaml cannot be read\n"
            "  from      kof.yaml:1:10\n"
            "error: b.yaml cannot be read\n"
            "error: --set: \"x\" is not PATH=VALUE\n"
            "  next      write it like kof.storage_class=fast; \\, is a comma in a value, and \\. a dot in a key\n");
}

TEST(ReadPipeline, ADefaultMayHaveValuesOfItsOwn) {
  auto context_of = [](std::string_view text, std::vector<std::string> sets = {}) {
    return parsed(fmt::format("phases: [{{name: a, context: '{}', steps: [{{wait: pod/x}}]}}]", text),
                  {.sets = std::move(sets)})
        .phases[0]
        .context;
  };
  EXPECT_EQ(context_of("${ns:${other:prod}}"), "prod");
  EXPECT_EQ(context_of("${ns:${other:prod}}", {"other=x"}), "x");
  EXPECT_EQ(context_of("${ns:${other:prod}}", {"other=x", "ns=zed"}), "zed");
  EXPECT_EQ(context_of("in-${ns:a-${other:b}-c}-d"), "in-a-b-c-d");
  EXPECT_EQ(context_of("${ns:$${x}"), "${x") << "an escape does not open anything";
  EXPECT_EQ(errors_of("phases: [{name: a, context: '${ns:${other}}', steps: [{wait: pod/x}]}]"),
            "error: the value other is missing\n"
            "  because   no file of values has it, and it has no default here\n"
            "  from      kof.yaml:1:20\n"
            "  next      add it to a file of values, give --set other=VALUE, or write ${other:DEFAULT}\n");
  EXPECT_TRUE(errors_of("phases: [{name: a, context: '${ns:${other:x}', steps: [{wait: pod/x}]}]")
                  .starts_with("error: ${ is not closed by }\n"));
  std::string deep;
  for (int i = 0; i < 20'000; ++i) deep += "${a:";
  deep += std::string(20'000, '}');
  EXPECT_TRUE(errors_of(fmt::format("phases: [{{name: a, context: '{}', steps: [{{wait: pod/x}}]}}]", deep))
                  .starts_with("error: more than 10 defaults are inside one another\n"));
}

TEST(ReadPipeline, AFileOfValuesMayBeEmpty) {
  TempFolder folder;
  std::string pipeline = folder.write("p.yaml", "phases: [{name: a, context: '${x:yes-it}', steps: [{wait: pod/x}]}]");
  std::string empty = folder.write("empty.yaml", "# kof:\n#   x: 1\n"), list = folder.write("list.yaml", "[a]");
  auto read = load(pipeline, {.files = {empty}});
  ASSERT_TRUE(read) << read.error().front().report();
  EXPECT_EQ(read->phases[0].context, "yes-it");
  EXPECT_EQ(folder.hide_in(load(pipeline, {.files = {list}}).error().front().what(), "TEMP"),
            "TEMP/list.yaml must be a mapping, not a list");
}

TEST(ReadPipeline, AMisspeltKindOfAStepIsNamed) {
  EXPECT_EQ(errors_of("phases: [{name: a, steps: [{comand: [true], timeout: 3s}]}]"),
            "error: unknown key comand; did you mean command?\n"
            "  from      kof.yaml:1:29\n"
            "  next      a step has exactly one of manifests, kustomize, chart, command, wait\n");
  EXPECT_TRUE(errors_of("phases: [{name: a, steps: [{timeout: 3s}]}]")
                  .starts_with("error: phases[0].steps[0] must have exactly one of manifests"));
}

TEST(ReadPipeline, ACommandHasAProgram) {
  EXPECT_EQ(errors_of("phases: [{name: a, steps: [{command: ['', x]}]}]"),
            "error: phases[0].steps[0].command is empty: it names no program\n"
            "  from      kof.yaml:1:39\n"
            "  next      command: [kubectl, get, pods]\n");
}

TEST(ReadPipeline, FilesThatCannotBeRead) {
  TempFolder folder;
  auto pipeline = load(folder.path_of("none.yaml"), {});
  ASSERT_FALSE(pipeline);
  EXPECT_EQ(folder.hide_in(pipeline.error().front().report(), "TEMP"),
            "error: TEMP/none.yaml cannot be read\n"
            "  because   No such file or directory\n"
            "  next      ls -l TEMP\n");
  EXPECT_EQ(folder.hide_in(load(folder.path(), {}).error().front().report(), "TEMP"),
            fmt::format("error: TEMP cannot be read\n"
                        "  because   it is a folder\n"
                        "  next      ls -l {}\n",
                        std::filesystem::path(folder.path()).parent_path().string()));
  std::string large = folder.write("large.yaml", std::string((size_t{1} << 20) + 1, ' '));
  EXPECT_EQ(folder.hide_in(load(large, {}).error().front().report(), "TEMP"),
            "error: TEMP/large.yaml is larger than 1 MiB\n");
}

TEST(ReadPipeline, AnyTextIsAPipelineOrHasErrors) {
  EXPECT_TRUE(rc::check("any text is either a pipeline or has errors", [](const std::string& text) {
    auto pipeline = parse(text, "kof.yaml", {}, no_files);
    RC_ASSERT(pipeline || !pipeline.error().empty());
  }));
}

}  // namespace
}  // namespace fairlead::pipeline
