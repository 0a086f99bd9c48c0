#include <fcntl.h>
#include <nss.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <new>
#include <string_view>

#include "cli/commands/commands.h"
#include "cli/core/error_report.h"
#include "cli/core/exit_code.h"
#include "cli/input/config_file.h"
#include "cli/internal/usage.h"
#include "report/program_name.h"

namespace {

using namespace fairlead::cli;

// Otherwise the next file or connection would take the place of a descriptor that is closed, and be written on. Nothing
// can be written to what stands in for standard output: that is noticed at the end.
void open_standard_descriptors() {
  for (int descriptor : {0, 1, 2}) {
    bool is_closed = ::fcntl(descriptor, F_GETFD) == -1 && errno == EBADF;
    if (is_closed) (void)::open("/dev/null", descriptor == 2 ? O_WRONLY : O_RDONLY);
  }
}

// The binary is static: a module of the C library that the machine's nsswitch.conf names, such as nss_resolve, would be
// of another version and could end the process. What looks up files and asks DNS servers is inside.
void look_hosts_up_without_modules() { (void)::__nss_configure_lookup("hosts", "files dns"); }

// Output that nobody gets is a failure, whatever came of the run.
int checked_output(int code) {
  bool is_lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (!is_lost) return code;
  std::fputs(
      "error: the output could not be written completely\n"
      "  because   the disk is full, or standard output was closed\n",
      stderr);
  return code == kDone ? int(kFailed) : code;
}

int run(int argc, char** argv) {
  std::string name = fairlead::report::program_name(argc > 0 ? argv[0] : "");
  fairlead::report::set_program_name(name);
  Parser parser("Fairlead applies and deletes Kubernetes manifests in the order that the cluster needs.", name);
  parser.expect_subcommand();
  Command app = parser.root();
  Invocation invocation;
  std::vector<fairlead::Error> config_errors;
  add_globals(app, invocation.globals);
  add_config(parser, invocation, config_errors);
  add_apply(app, invocation);
  add_certs(app, invocation);
  add_completion(app, invocation);
  add_delete(app, invocation);
  add_diff(app, invocation);
  add_doctor(app, invocation);
  add_gate(app, invocation);
  add_graph(app, invocation);
  add_history(app, invocation);
  add_list(app, invocation);
  add_logs(app, invocation);
  add_plan(app, invocation);
  add_retry(app, invocation);
  add_rollback(app, invocation);
  add_run(app, invocation);
  add_sandbox(app, invocation);
  add_shell_functions(app, invocation);
  add_status(app, invocation);
  add_timeline(app, invocation);
  add_trace(app, invocation);
  add_version(app, invocation);
  add_wait(app, invocation);
  add_webhook(app, invocation);
  std::vector<std::string> words(argv + 1, argv + argc);
  set_error_format(words);
  // As kubectl and helm do, the name alone prints the help.
  if (words.empty()) words = {"--help"};
  if (std::optional<int> code = report_unknown_topic(app, words)) return *code;
  words = without_help_command(std::move(words));
  // Before the parser: what is being typed is no valid command line yet.
  if (words.size() >= 2 && words[0] == "__complete" && words[1] == "--")
    return print_candidates(app, std::span(words).subspan(2));
  // What is behind -- is somebody else's command line: the parser would look for our own commands in it.
  auto separator = std::ranges::find(words, "--");
  if (separator != words.end()) {
    invocation.behind.assign(separator + 1, words.end());
    words.erase(separator, words.end());
  }
  if (std::optional<ParseFailure> failure = parser.parse(std::move(words))) {
    // What the parser misses may be in the file.
    if (config_errors.empty() || failure->is_wish) return report_usage(app, *failure);
  }
  for (const fairlead::Error& error : config_errors) report(error);
  return config_errors.empty() ? invocation.run() : int(kFailed);
}

// Called when there is no memory left. Nothing can be cleaned up then: that would need some. A claim that is held runs
// out by itself.
[[noreturn]] void end_without_memory() {
  constexpr std::string_view kText =
      "error: not enough memory for this bundle\n"
      "  next      split the manifests, or run Fairlead with more memory\n";
  (void)!::write(STDERR_FILENO, kText.data(), kText.size());
  ::_exit(kFailed);
}

}  // namespace

int main(int argc, char** argv) {
  std::set_new_handler(end_without_memory);
  open_standard_descriptors();
  look_hosts_up_without_modules();
  int code = run(argc, argv);
  print_errors_for_programs(code);
  return checked_output(code);
}
