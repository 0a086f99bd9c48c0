#include "doctor/doctor.h"

#include <algorithm>
#include <ranges>

#include "cli/commands/commands.h"
#include "cli/commands/query.h"
#include "cli/core/connect.h"
#include "cli/core/error_report.h"
#include "cli/core/exit_code.h"
#include "cli/core/run.h"
#include "cli/input/sources.h"
#include "cli/output/run_journal.h"
#include "doctor/show.h"
#include "report/output.h"

namespace fairlead::cli {
namespace {

struct DoctorFlags {
  std::vector<std::string> what;
  SourceFlags sources;
  std::vector<std::string> ignored;
  std::string fail_on = "warning";
  std::string output = "text";
  bool whole_cluster = false;
};

bool is_word(const std::string& word, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, word) != names.end();
}

// The codes of --ignore, each of which may be a list.
std::vector<std::string> ignored_codes(const DoctorFlags& flags) {
  std::vector<std::string> codes;
  for (const std::string& list : flags.ignored)
    for (const auto& part : std::views::split(list, ',')) codes.emplace_back(part.begin(), part.end());
  return codes;
}

// Reads the words behind `doctor`. "webhook/x" is the same as "webhook x".
Result<doctor::Subject> read_subject(const DoctorFlags& flags, const Globals& globals) {
  doctor::Subject subject;
  std::vector<std::string> words = flags.what;
  if (flags.whole_cluster && (!words.empty() || !flags.sources.empty()))
    return fail(Error(ErrorKind::invalid, "-A examines the whole cluster, not an object of it").next("leave out -A"));
  if (words.empty()) {
    if (flags.sources.empty() && !flags.whole_cluster) subject.ns = globals.namespace_name;
    return subject;
  }
  if (!flags.sources.empty())
    return fail(Error(ErrorKind::invalid, "manifests and an object cannot be examined at the same time")
                    .next("leave out one of the two"));
  size_t slash = words[0].find('/');
  if (words.size() == 1 && slash != std::string::npos) words = {words[0].substr(0, slash), words[0].substr(slash + 1)};
  bool is_whole = words.size() == 2 && !words[0].empty() && !words[1].empty() && !words[1].contains('/');
  if (!is_whole)
    return fail(Error(ErrorKind::invalid, fmt::format("\"{}\" names nothing to examine", fmt::join(flags.what, " ")))
                    .next("write webhook NAME, namespace NAME or KIND/NAME, or nothing for the whole cluster"));
  if (is_word(words[0], {"webhook", "webhooks"})) subject.webhook = words[1];
  else if (is_word(words[0], {"namespace", "namespaces", "ns"})) subject.ns = words[1];
  else subject.object = words[0] + "/" + words[1];
  return subject;
}

Result<doctor::Subject> check(const DoctorFlags& flags, const Globals& globals) {
  for (const std::string& code : ignored_codes(flags)) TRY(doctor::check_code(code));
  return read_subject(flags, globals);
}

int show(doctor::Report report, const DoctorFlags& flags) {
  std::vector<std::string> ignored = ignored_codes(flags);
  std::erase_if(report.findings, [&](const doctor::Finding& finding) {
    return std::ranges::find(ignored, finding.code) != ignored.end();
  });
  print_result(flags.output, doctor::text_of(report, report::can_paint(stdout)), doctor::json_of(report),
               doctor::notes_of(report));
  if (report.is_blind) return kFailed;
  std::optional<doctor::Severity> limit = doctor::severity_named(flags.fail_on);
  return limit && report.has(*limit) ? kFailed : kDone;
}

Task<int> examine(RealLoop& loop, const Invocation& invocation, const DoctorFlags& flags, doctor::Subject subject,
                  CancelSource& stop) {
  auto journal = RunJournal::open(loop.clock(), {});
  if (!journal) co_return report(journal.error());
  if (!flags.sources.empty()) {
    auto bundle = co_await read_sources(loop, invocation, flags.sources, {.stop = &stop});
    if (!bundle) co_return bundle.error();
    subject.bundle = std::move(bundle->objects);
  }
  Result<std::unique_ptr<Cluster>> cluster = Cluster::connect(loop, invocation.globals, (*journal)->journal());
  if (!cluster) co_return report(cluster.error());
  subject.default_ns = (*cluster)->default_namespace();
  auto found =
      co_await doctor::examine((*cluster)->client(), (*cluster)->discovery(), std::move(subject)).governed_by(&stop);
  co_await (*cluster)->close();
  if (stop.cancelled()) co_return report(cancelled_error());
  co_return found ? show(*std::move(found), flags) : report(found.error());
}

int doctor_command(const Invocation& invocation, const DoctorFlags& flags) {
  Result<doctor::Subject> subject = check(flags, invocation.globals);
  if (!subject) return report_usage_error(subject.error());
  return run_interruptibly(
      [&](RealLoop& loop, CancelSource& stop) { return examine(loop, invocation, flags, *subject, stop); });
}

}  // namespace

void add_doctor(Command app, Invocation& invocation) {
  auto flags = std::make_shared<DoctorFlags>();
  Command command = app.subcommand("doctor", "Find what is wrong in the cluster, and say what to do about it");
  command
      .option("subject", flags->what,
              "webhook NAME, namespace NAME or KIND/NAME; without it, the whole cluster is examined")
      .value("WHAT");
  add_source_flags(command, flags->sources);
  command.flag("-A,--all-namespaces", flags->whole_cluster, "Examine the whole cluster, also with -n");
  command.option("--ignore", flags->ignored, "Leave out findings with these codes; may be repeated")
      .value("CODE[,CODE...]")
      .repeatable();
  command
      .option("--fail-on", flags->fail_on,
              "The least severity that makes the exit code 1: error, warning, info or never (default warning)")
      .one_of({"error", "warning", "info", "never"});
  command.option("-o,--output", flags->output, "What to print: text, json or yaml").one_of({"text", "json", "yaml"});
  command.footer(
      "Examples:\n"
      "  fairlead doctor\n"
      "  fairlead doctor webhook cert-manager-webhook\n"
      "  fairlead doctor namespace team-a\n"
      "  fairlead doctor deployment/web -n team-a\n"
      "  fairlead doctor -f k8s/\n"
      "  fairlead doctor --ignore webhook-single-replica --fail-on error -o json\n\n"
      "Nothing is written to the cluster. What may not be read is named on standard error, and not judged.\n\n"
      "Exit codes: 0 healthy, 1 there are findings at or above --fail-on, or it failed, 64 invalid command line, "
      "130 interrupted.");
  command.when_chosen(
      [&invocation, flags] { invocation.run = [&invocation, flags] { return doctor_command(invocation, *flags); }; });
}

}  // namespace fairlead::cli
