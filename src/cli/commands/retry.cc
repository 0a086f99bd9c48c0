#include "retry/retry.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "async/readable.h"
#include "async/relay.h"
#include "async/scope.h"
#include "async/signals.h"
#include "cli/commands/commands.h"
#include "cli/core/connect.h"
#include "cli/core/error_report.h"
#include "cli/core/exit_code.h"
#include "cli/output/run_journal.h"
#include "cli/runs/timeouts.h"
#include "inventory/holder.h"
#include "report/retry_report.h"

namespace fairlead::cli {
namespace {

using retry::Ending;

// What shells end with if a command cannot be started.
constexpr int kNotFound = 127;
constexpr int kNotStarted = 126;
// The command is killed if it gets so many signals and is still there.
constexpr int kSignalsUntilKilled = 3;
constexpr size_t kMostInput = size_t{64} << 20;

struct RetryFlags {
  std::vector<std::string> words;
  int retries = 3;
  std::string delay = "30s";
  std::string timeout;
  std::string output = "text";
  RunJournal::Files files;
};

Result<retry::Options> options_of(const RetryFlags& flags, const std::vector<std::string>& command) {
  if (!flags.words.empty())
    return fail(Error(ErrorKind::invalid,
                      fmt::format("\"{}\" is before --, and the command has to come after it", flags.words.front()))
                    .next("fairlead retry [FLAGS] -- COMMAND [ARGUMENTS]"));
  if (command.empty())
    return fail(Error(ErrorKind::invalid, "nothing says which command to run")
                    .next("fairlead retry -- helm upgrade --install NAME CHART"));
  retry::Options options{.command = command, .retries = flags.retries};
  TRY_ASSIGN(options.delay, read_duration("--delay", flags.delay));
  if (!flags.timeout.empty()) {
    TRY_ASSIGN(options.timeout, read_duration("--timeout", flags.timeout));
  }
  options.run = inventory::run_of(::getpid());
  options.run_known_dead = inventory::is_gone_run;
  return options;
}

// Standard input can be read once. A command that reads manifests from it ("-f -") must get them again.
bool reads_input(const std::vector<std::string>& command) {
  bool is_named = std::ranges::any_of(command, [](const std::string& word) {
    return word == "-" || word == "-f-" || word.ends_with("=-") || word == "/dev/stdin";
  });
  return is_named && !::isatty(STDIN_FILENO);
}

Task<Result<std::string>> read_input(RealLoop& loop) {
  std::string text;
  while (true) {
    CO_TRY(co_await await_readable(loop, STDIN_FILENO));
    char piece[1 << 16];
    ssize_t size = ::read(STDIN_FILENO, piece, sizeof(piece));
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (size < 0) co_return fail(ErrorKind::invalid, "standard input cannot be read: {}", std::strerror(errno));
    if (size == 0) co_return text;
    text.append(piece, size_t(size));
    if (text.size() > kMostInput)
      co_return fail(ErrorKind::limit, "standard input has more than {} MiB, too much to be kept for a retry",
                     kMostInput >> 20);
  }
}

// Runs the command, and passes on the signals that we get.
class Installer {
 public:
  Installer(RealLoop& loop, std::vector<std::string> argv, CancelSource& stop)
      : loop_(loop), relay_(loop), signals_(loop), argv_(std::move(argv)), stop_(stop) {}

  Task<Result<retry::CommandEnding>> run() {
    if (reads_input(argv_) && !input_) {
      CO_TRY_ASSIGN(input_, co_await read_input(loop_).governed_by(&stop_));
    }
    CO_TRY_ASSIGN(RelayResult result, co_await relay_.run({.argv = argv_, .input = input_}));
    if (lost_.empty()) lost_ = result.lost;
    const std::string& shown = ::isatty(STDOUT_FILENO) ? result.output : result.errors;
    bool is_amid_line = !shown.empty() && shown.back() != '\n';
    if (is_amid_line && ::isatty(STDERR_FILENO)) std::fputc('\n', stderr);
    co_return retry::CommandEnding{
        .exit_status = result.exit_status, .signal = result.signal, .output = result.output + "\n" + result.errors};
  }

  // Until it is cancelled.
  Task<void> heed_signals() {
    int count = 0;
    while (Result<Signals::Received> received = co_await signals_.next()) {
      if (received->number == SIGWINCH) {
        relay_.resize();
        continue;
      }
      // A second one while nothing of others is running: nobody waits for our cleaning up.
      if (++count > 1 && !relay_.is_running()) std::quick_exit(128 + received->number);
      stop_.cancel();
      bool has_it = relay_.shares_terminal() && received->is_from_terminal;
      if (count >= kSignalsUntilKilled) relay_.pass(SIGKILL);
      else if (!has_it) relay_.pass(received->number);
    }
  }

  const std::string& lost() const { return lost_; }

 private:
  RealLoop& loop_;
  Relay relay_;
  Signals signals_;
  std::vector<std::string> argv_;
  CancelSource& stop_;
  std::optional<std::string> input_;
  std::string lost_;
};

int exit_code(const Ending& ending) {
  if (ending.how != Ending::How::failed) return cli::exit_code(ending.how);
  if (!ending.attempts.empty()) return ending.attempts.back().ending.exit_code();
  bool is_missing = !ending.causes.empty() && ending.causes.front().error.kind() == ErrorKind::not_found;
  return is_missing ? kNotFound : kNotStarted;
}

Task<Ending> retry_command(RealLoop& loop, const Invocation& invocation, retry::Options options, Installer& command,
                           journal::Journal& journal, CancelSource& stop) {
  std::unique_ptr<Cluster> cluster;
  auto connect = [&]() -> Result<retry::Cluster> {
    TRY_ASSIGN(cluster, Cluster::connect(loop, invocation.globals, journal));
    return retry::Cluster{.client = &cluster->client(),
                          .discovery = &cluster->discovery(),
                          .default_namespace = cluster->default_namespace(),
                          .text = cluster->text()};
  };
  retry::World world{.loop = loop, .run_command = [&] { return command.run(); }, .connect = connect};
  Ending ending = co_await retry::retry(std::move(world), std::move(options), journal, &stop);
  if (cluster) co_await cluster->close();
  co_return ending;
}

Task<int> run(RealLoop& loop, const Invocation& invocation, const RetryFlags& flags) {
  Result<retry::Options> options = options_of(flags, invocation.behind);
  if (!options) co_return report_usage_error(options.error());
  auto journal = RunJournal::open(loop.clock(), flags.files);
  if (!journal) co_return report(journal.error());
  report::RetryReport shown(flags.output == "quiet");
  (*journal)->journal().read_by([&](const journal::Event& event) { shown.read(event); });
  CancelSource stop;
  Installer command(loop, invocation.behind, stop);
  Scope listening(loop, nullptr);
  listening.spawn(command.heed_signals());
  Ending ending = co_await retry_command(loop, invocation, *std::move(options), command, (*journal)->journal(), stop);
  listening.cancel();
  co_await listening.join();
  shown.finish(ending);
  int code = exit_code(ending);
  if (!command.lost().empty()) {
    report(Error(ErrorKind::unavailable, "the output of the command could not be written completely")
               .because(command.lost()));
    if (code == kDone) code = kFailed;
  }
  co_return (*journal)->close(code);
}

void add_flags(Command command, RetryFlags& flags) {
  command.option("COMMAND", flags.words, "The program to run and its arguments, after --").value("");
  command.option("--retries", flags.retries, "How often the command is run again at most")
      .between(0, 1000)
      .value("N")
      .show_default();
  command.option("--delay", flags.delay, "How long to wait before a retry at most; it goes on as soon as it can work")
      .value("DURATION")
      .show_default();
  command.option("--timeout", flags.timeout, "How long everything may take; then the command is ended")
      .value("DURATION");
  command.option("-o,--output", flags.output, "What is told on standard error: text, or quiet for errors only")
      .one_of({"text", "quiet"});
  command.option("--journal", flags.files.journal, "Write every event to this file, one line of JSON each")
      .value("FILE");
}

}  // namespace

void add_retry(Command app, Invocation& invocation) {
  auto flags = std::make_shared<RetryFlags>();
  Command command =
      app.subcommand("retry", "Run an installer, and again once the webhook, CRD or API that it failed for is there");
  add_flags(command, *flags);
  command.footer(
      "The command after -- has the standard input, and its output passes through as it comes. If it fails because\n"
      "a webhook cannot be called, or a CRD or an aggregated API is not there yet, that is waited for, and the\n"
      "command is run again. A webhook is waited for until the API server was made to call it and it answered.\n"
      "Anything else fails at once, with the cause. A Helm release that is left pending, or whose name is in use,\n"
      "is named with the command that mends it.\n\n"
      "Examples:\n"
      "  fairlead retry -- helm upgrade --install kof ./kof-mothership -n kof\n"
      "  fairlead retry --retries 5 --delay 1m -- kubectl apply -f k8s/\n"
      "  kustomize build overlays/prod | fairlead retry -- kubectl apply -f -\n"
      "  fairlead retry --context prod -- terraform apply -auto-approve\n"
      "  fairlead retry --timeout 20m --journal retry.jsonl -- ./install.sh\n\n"
      "Exit codes: those of the command; 126 or 127 if it cannot be started, 128 and the number of the signal that\n"
      "ended it, 3 timed out, 64 invalid command line, 130 interrupted.");
  command.when_chosen([&invocation, flags] {
    invocation.run = [&invocation, flags] {
      RealLoop loop;
      return loop.run(run(loop, invocation, *flags));
    };
  });
}

}  // namespace fairlead::cli
