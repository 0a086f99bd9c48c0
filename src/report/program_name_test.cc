#include "report/program_name.h"

#include <gtest/gtest.h>

namespace fairlead::report {
namespace {

TEST(ProgramName, IsThatOfThePluginIfKubectlStartsIt) {
  EXPECT_EQ(program_name("fairlead"), "fairlead");
  EXPECT_EQ(program_name("/usr/bin/fairlead"), "fairlead");
  EXPECT_EQ(program_name("/root/.krew/bin/kubectl-fairlead"), "kubectl fairlead");
  EXPECT_EQ(program_name("kubectl-fairlead"), "kubectl fairlead");
  EXPECT_EQ(program_name("/opt/kubectl-fairlead/other"), "fairlead");
  EXPECT_EQ(program_name(""), "fairlead");
}

std::string named(std::string text) { return with_program_name(std::move(text), "kubectl fairlead"); }

TEST(ProgramName, StandsInCommandsOnly) {
  EXPECT_EQ(named("Examples:\n  fairlead apply -f k8s/\n  fairlead apply  # what fairlead.yaml says"),
            "Examples:\n  kubectl fairlead apply -f k8s/\n  kubectl fairlead apply  # what fairlead.yaml says");
  EXPECT_EQ(named("what `fairlead plan --out` has written"), "what `kubectl fairlead plan --out` has written");
  EXPECT_EQ(named("source <(fairlead completion bash)"), "source <(kubectl fairlead completion bash)");
  EXPECT_EQ(named("Global flags: fairlead --help"), "Global flags: kubectl fairlead --help");
  EXPECT_EQ(named("Usage: kubectl fairlead apply [OPTIONS]"), "Usage: kubectl fairlead apply [OPTIONS]");
  EXPECT_EQ(named("--field-manager NAME=fairlead   Name of the field manager"),
            "--field-manager NAME=fairlead   Name of the field manager");
  EXPECT_EQ(named("an annotation fairlead.dev/ready-when"), "an annotation fairlead.dev/ready-when");
}

TEST(ProgramName, LeavesTheTextAloneIfItIsTheUsualOne) {
  EXPECT_EQ(with_program_name("fairlead apply -f k8s/", "fairlead"), "fairlead apply -f k8s/");
}

TEST(ProgramName, StandsInWhatToDoNext) {
  std::string text =
      "error: nothing is there; fairlead is right\n  because   fairlead apply was not run\n  next      fairlead list "
      "-A";
  EXPECT_EQ(with_next_commands_named(text), text);
  set_program_name("kubectl fairlead");
  EXPECT_EQ(with_next_commands_named(text),
            "error: nothing is there; fairlead is right\n  because   fairlead apply was not run\n"
            "  next      kubectl fairlead list -A");
  EXPECT_EQ(with_next_commands_named("  next      kubectl get pods\n"), "  next      kubectl get pods\n");
  EXPECT_EQ(with_next_commands_named(""), "");
  set_program_name("fairlead");
}

}  // namespace
}  // namespace fairlead::report
