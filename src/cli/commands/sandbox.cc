#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "async/interrupt.h"
#include "async/process.h"
#include "async/real_loop.h"
#include "async/scope.h"
#include "base/nearest.h"
#include "cli/commands/commands.h"
#include "cli/core/error_report.h"
#include "cli/core/exit_code.h"
#include "cli/runs/timeouts.h"
#include "sandbox/network.h"

namespace fairlead::cli {
namespace {

struct SandboxFlags {
  uint16_t port = 0;
  std::string kubeconfig_file;
  size_t nodes = 1;
  size_t api_servers = 1;
  uint64_t seed = 1;
  bool control_plane_only = false;
  std::vector<std::string> delays;
  std::string api_server_skew = "1ms";
  double stale_configurations = 0;
  bool allow_outside_calls = false;
  std::vector<std::string> command;
};

Result<void> read_delay(const std::string& text, sandbox::Delays& delays) {
  size_t equals = text.find('=');
  std::string name = text.substr(0, equals);
  if (equals == std::string::npos)
    return fail(Error(ErrorKind::invalid, fmt::format("--delay: \"{}\" is not NAME=DURATION", text))
                    .next("fairlead sandbox --delay pod-ready=2s"));
  TRY_ASSIGN(Duration value, read_duration("--delay " + text, text.substr(equals + 1)));
  if (sandbox::set_delay(delays, name, value)) return {};
  std::vector<std::string> names;
  for (std::string_view known : sandbox::delay_names()) names.emplace_back(known);
  std::optional<std::string> meant = nearest(name, names);
  return fail(Error(ErrorKind::invalid, fmt::format("--delay: unknown delay {}{}", name,
                                                    meant ? fmt::format("; did you mean {}?", *meant) : ""))
                  .next(fmt::format("use one of {}", fmt::join(names, ", "))));
}

Result<sandbox::Options> options_of(const SandboxFlags& flags) {
  sandbox::Options options;
  options.seed = flags.seed;
  options.nodes = flags.nodes;
  options.api_servers = flags.api_servers;
  options.controllers = !flags.control_plane_only;
  options.stale_configuration = flags.stale_configurations;
  for (const std::string& delay : flags.delays) TRY(read_delay(delay, options.delays));
  TRY_ASSIGN(options.api_server_skew, read_duration("--api-server-skew", flags.api_server_skew));
  return options;
}

// A file that only its owner can read: it holds a key. Gone at the end.
class KubeconfigFile {
 public:
  static Result<KubeconfigFile> write(std::string path, const std::string& text) {
    bool is_chosen = !path.empty();
    int fd = -1;
    if (path.empty()) {
      const char* folder = std::getenv("TMPDIR");
      path = std::string(folder && *folder ? folder : "/tmp") + "/fairlead-sandbox-XXXXXX";
      fd = mkostemp(path.data(), O_CLOEXEC);
    } else {
      // Never a file that is there already, nor what a link points to.
      fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    }
    if (fd < 0 && is_chosen && errno == EEXIST)
      return fail(Error(ErrorKind::invalid, fmt::format("the kubeconfig {} was not written", path))
                      .because("the file already exists")
                      .next("choose another --kubeconfig-file, or delete that file first"));
    if (fd < 0) return fail(ErrorKind::unavailable, "cannot write the kubeconfig {}: {}", path, std::strerror(errno));
    bool whole = ::write(fd, text.data(), text.size()) == ssize_t(text.size());
    KubeconfigFile file(path, fd);
    if (!whole) return fail(ErrorKind::unavailable, "cannot write the kubeconfig {}: {}", path, std::strerror(errno));
    return file;
  }
  KubeconfigFile(KubeconfigFile&& other) noexcept
      : path_(std::exchange(other.path_, {})), fd_(std::exchange(other.fd_, -1)) {}
  KubeconfigFile& operator=(KubeconfigFile&&) = delete;
  ~KubeconfigFile() {
    // Somebody may have put another file in its place. It cannot have the same number while ours is open.
    struct stat made{}, now{};
    bool is_there = !path_.empty() && fstat(fd_, &made) == 0 && lstat(path_.c_str(), &now) == 0;
    if (is_there && now.st_dev == made.st_dev && now.st_ino == made.st_ino) unlink(path_.c_str());
    if (fd_ >= 0) close(fd_);
  }
  const std::string& path() const { return path_; }

 private:
  KubeconfigFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  std::string path_;
  int fd_;
};

Task<Result<int>> run_command(RealLoop& loop, std::vector<std::string> command, std::string kubeconfig) {
  ProcessSpec spec;
  spec.argv = std::move(command);
  spec.environment = {{"KUBECONFIG", std::move(kubeconfig)}};
  spec.input = ProcessSpec::Input::inherit;
  spec.inherit_output = true;
  spec.inherit_errors = true;
  CO_TRY_ASSIGN(ProcessResult result, co_await run_process(loop, std::move(spec)));
  co_return result.exit_status.value_or(128 + result.signal);
}

Task<Result<int>> wait_for_interrupt(RealLoop& loop) {
  Signal never(loop);
  (void)co_await never.wait();
  co_return int(kDone);
}

Task<int> serve(RealLoop& loop, SandboxFlags flags) {
  CancelSource stop;
  Interrupt interrupt(loop, stop);
  Result<sandbox::Options> options = options_of(flags);
  if (!options) co_return report_usage_error(options.error());
  auto front = sandbox::NetworkFront::start(loop, *std::move(options),
                                            {.port = flags.port, .allow_outside_calls = flags.allow_outside_calls});
  if (!front) co_return report(front.error());
  int code = kDone;
  {
    Result<KubeconfigFile> file = KubeconfigFile::write(flags.kubeconfig_file, (*front)->kubeconfig());
    if (!file) {
      code = report(file.error());
    } else {
      Result<int> ended = kDone;
      if (flags.command.empty()) {
        std::printf("sandbox at %s until Ctrl-C\n  export KUBECONFIG=%s\n", (*front)->server().c_str(),
                    file->path().c_str());
        std::fflush(stdout);
        ended = co_await wait_for_interrupt(loop).governed_by(&stop);
      } else {
        ended = co_await run_command(loop, flags.command, file->path()).governed_by(&stop);
      }
      if (ended) code = *ended;
      else code = interrupt.happened() ? int(kInterrupted) : report(ended.error());
    }
  }
  co_await (*front)->stop();
  co_return code;
}

}  // namespace

void add_sandbox(Command app, Invocation& invocation) {
  auto flags = std::make_shared<SandboxFlags>();
  Command command =
      app.subcommand("sandbox", "Run an in-memory Kubernetes API until Ctrl-C, or while COMMAND of `-- COMMAND` runs");
  command.option("--port", flags->port, "Port on 127.0.0.1; default: any free port").between(0, 65535).value("PORT");
  command.option("--kubeconfig-file", flags->kubeconfig_file, "Where to write the kubeconfig; deleted at the end");
  command.option("--nodes", flags->nodes, "Number of nodes").between(0, 200);
  command.option("--api-servers", flags->api_servers, "Number of API servers").between(1, 5);
  command.option("--seed", flags->seed, "Seed for generated names and UIDs");
  command.flag("--control-plane-only", flags->control_plane_only,
               "Run no controllers: nothing changes objects but requests");
  command.option("--delay", flags->delays, "Delay something, such as pod-ready=2s; may be repeated")
      .value("NAME=DURATION")
      .repeatable();
  command
      .option("--api-server-skew", flags->api_server_skew,
              "Delay after which each further API server uses a new webhook configuration")
      .value("DURATION")
      .show_default();
  command
      .option("--stale-configurations", flags->stale_configurations,
              "Probability that an updated webhook configuration stays in its old form until its next change")
      .between(0.0, 1.0);
  command.flag("--allow-outside-calls", flags->allow_outside_calls,
               "Also call webhooks on other machines; by default only those on this machine");
  command.footer(
      "Examples:\n"
      "  fairlead sandbox                              # until Ctrl-C\n"
      "  fairlead sandbox -- kubectl get namespaces    # run a command with KUBECONFIG set\n"
      "  fairlead sandbox --delay pod-ready=5s -- fairlead apply -f k8s/");
  command.when_chosen([&invocation, flags] {
    flags->command = invocation.behind;
    invocation.run = [flags] {
      RealLoop loop;
      return loop.run(serve(loop, *flags));
    };
  });
}

}  // namespace fairlead::cli
