#include "cli/core/run.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "base/nearest.h"
#include "base/printable.h"
#include "cli/commands/commands.h"
#include "cli/core/error_report.h"
#include "cli/core/exit_code.h"
#include "cli/output/output_flags.h"
#include "cli/output/run_journal.h"
#include "cli/pipeline/host.h"
#include "cli/pipeline/show.h"
#include "cli/pipeline/steps.h"
#include "inventory/holder.h"
#include "pipeline/read.h"
#include "pipeline/state_file.h"
#include "pipeline/values.h"
#include "report/github.h"
#include "report/output.h"

namespace fairlead::cli {
namespace {

using pipeline::How;
using pipeline::Pipeline;
using pipeline::State;
using pipeline::StateLock;

struct RunFlags {
  std::string file;
  pipeline::Overrides overrides;
  std::string state;
  std::string events;
  std::string phase;
  bool dry_run = false;
  OutputFlags output;
  RunJournal::Files files;

  std::string state_path() const { return state.empty() ? file + ".state" : state; }
  std::string events_path() const {
    std::string path = state_path();
    if (path.ends_with(".state")) path.resize(path.size() - 6);
    return events.empty() ? path + ".events" : events;
  }
};

std::string shell_word(const std::string& text) {
  auto is_plain = [](unsigned char c) { return std::isalnum(c) || std::strchr("-_./=:,@%+", c); };
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return text;
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return printable_line(quoted + "'");
}

// What a person types again to reach the same state: the file and the flags. Values of --set may be secret.
std::string words_of(const RunFlags& flags, const Globals& globals) {
  std::string words = shell_word(flags.file);
  auto add = [&](std::string_view flag, const std::string& value) {
    if (!value.empty()) words += fmt::format(" {} {}", flag, shell_word(value));
  };
  for (const std::string& file : flags.overrides.files) add("--values", file);
  for (const std::string& set : flags.overrides.sets) add("--set", set.substr(0, set.find('=')) + "=VALUE");
  add("--state", flags.state);
  add("--events", flags.events);
  add("--kubeconfig", globals.kubeconfig);
  add("--context", globals.context);
  add("--namespace", globals.namespace_name);
  return words;
}

int report_all(const std::vector<Error>& errors) {
  for (const Error& error : errors) report(error);
  return kFailed;
}

// Reads the pipeline, and checks everything that can be checked without a cluster. Reports what is wrong with it, and
// then returns the exit code.
std::expected<Pipeline, int> load(const RunFlags& flags, const Globals& globals) {
  if (flags.file.empty())
    return std::unexpected(report_usage_error(
        Error(ErrorKind::invalid, "FILE is missing: the pipeline to run").next("fairlead run --help")));
  Json scratch = Json::Object();
  for (const std::string& set : flags.overrides.sets)
    if (Result<void> checked = pipeline::set_values(scratch, set); !checked)
      return std::unexpected(report_usage_error(checked.error()));
  auto pipeline = pipeline::load(flags.file, flags.overrides);
  if (!pipeline) return std::unexpected(report_all(pipeline.error()));
  std::vector<Error> errors = check_steps(*pipeline);
  if (errors.empty()) errors = find_places(*pipeline, globals);
  if (!errors.empty()) return std::unexpected(report_all(errors));
  return *std::move(pipeline);
}

std::expected<size_t, int> find_phase(const Pipeline& pipeline, const std::string& name) {
  if (std::optional<size_t> found = pipeline.find(name)) return *found;
  std::vector<std::string> known;
  for (const pipeline::Phase& phase : pipeline.phases) known.push_back(phase.name);
  std::optional<std::string> meant = nearest(name, known);
  return std::unexpected(
      report_usage_error(Error(ErrorKind::invalid, fmt::format("there is no phase {} in {}{}", name, pipeline.file,
                                                               meant ? fmt::format("; did you mean {}?", *meant) : ""))
                             .next(fmt::format("its phases are {}", fmt::join(known, ", ")))));
}

// Reads the state, and adapts it to the pipeline. People are told what has changed.
std::expected<State, int> read_state(const RunFlags& flags, const Globals& globals, const Pipeline& pipeline) {
  auto kept = pipeline::read_state(flags.state_path());
  if (!kept) return std::unexpected(report_all(kept.error()));
  if (!*kept) return State(pipeline);
  State state = **std::move(kept);
  if (state.pipeline() != pipeline.name)
    return std::unexpected(
        report(Error(ErrorKind::invalid, fmt::format("{} is the state of another pipeline", flags.state_path()))
                   .because(fmt::format("it is of {}, and this pipeline is called {}", state.pipeline(), pipeline.name))
                   .next("--state FILE keeps the state of this one elsewhere")));
  bool is_for_people = flags.output.output == "text" || flags.output.output == "quiet";
  for (const pipeline::Note& note : state.adapt(pipeline)) {
    if (!is_for_people) continue;
    report::print(stderr, fmt::format("warning: {}\n", note.text));
    if (!note.phase.empty())
      report::print(stderr,
                    fmt::format("  next      fairlead run reset {} {}\n", words_of(flags, globals), note.phase));
  }
  return state;
}

// What a completed phase did is not there if it is for another cluster now.
Result<void> check_places(const RunFlags& flags, const Globals& globals, const Pipeline& pipeline, const State& state) {
  std::vector<size_t> moved = state.moved(pipeline);
  if (moved.empty()) return {};
  const pipeline::Phase& phase = pipeline.phases[moved.front()];
  return fail(Error(ErrorKind::invalid,
                    fmt::format("{} is the state of a run in another cluster or namespace", flags.state_path()))
                  .because(fmt::format("phase {} was completed in {}, and is for {} now", phase.name,
                                       state.phase(moved.front()).place, phase.place))
                  .next(fmt::format("--state FILE keeps the state of this one elsewhere; or fairlead run reset {} {}",
                                    words_of(flags, globals), phase.name)));
}

// What `run` and `reset` work with, locked against other runs.
struct Opened {
  Pipeline pipeline;
  std::unique_ptr<StateLock> lock;
  State state;
  std::unique_ptr<pipeline::EventFile> events;
};

std::expected<Opened, int> open(const RunFlags& flags, const Globals& globals) {
  std::expected<Pipeline, int> pipeline = load(flags, globals);
  if (!pipeline) return std::unexpected(pipeline.error());
  auto lock = StateLock::acquire(flags.state_path(), inventory::own_holder());
  if (!lock) return std::unexpected(report(lock.error()));
  std::expected<State, int> state = read_state(flags, globals, *pipeline);
  if (!state) return std::unexpected(state.error());
  auto events = pipeline::EventFile::open(flags.events_path());
  if (!events) return std::unexpected(report(events.error()));
  return Opened{.pipeline = *std::move(pipeline),
                .lock = *std::move(lock),
                .state = *std::move(state),
                .events = *std::move(events)};
}

// Resets the phase and those that need it, and keeps that. Returns the names of those that were not pending.
Result<std::vector<std::string>> reset(Opened& opened, const RunFlags& flags, size_t phase) {
  std::vector<std::string> names;
  for (size_t index : opened.state.reset(opened.pipeline, phase)) names.push_back(opened.pipeline.phases[index].name);
  TRY(pipeline::write_state(opened.state, flags.state_path()));
  std::string now = pipeline::time_text(RealClock().wall_now());
  for (const std::string& name : names)
    TRY(opened.events->add({.time = now,
                            .phase = name,
                            .action = pipeline::Action::reset,
                            .message = "pending again",
                            .name = pipeline::event_name({}, pipeline::Action::reset, false)}));
  return names;
}

int write_jsonl(const PipelineView& view) {
  for (const Json& phase : document_json(view)["phases"].items()) {
    Json line = Json::Object{{"type", "phase"}};
    for (const Json::Member& member : phase.members()) line.make(member.key) = member.value;
    std::fputs((line.dump() + "\n").c_str(), stdout);
  }
  return std::fputs((summary_json(view).dump() + "\n").c_str(), stdout);
}

void show(const PipelineView& view, const report::Settings& settings) {
  if (settings.format == report::Format::json) std::fputs(document_json(view).pretty().c_str(), settings.out);
  if (settings.format == report::Format::jsonl) std::fputs((summary_json(view).dump() + "\n").c_str(), settings.out);
  if (settings.format != report::Format::text && settings.format != report::Format::quiet) return;
  std::string totals = totals_text(view.pipeline, view.state);
  if (settings.format == report::Format::text)
    report::print(settings.out,
                  fmt::format("{} in {:.1f}s\n", totals, report::seconds(view.took.value_or(Duration{}))));
  std::fflush(settings.out);
  for (const journal::Cause& cause : view.causes) report::print(settings.err, report::cause_text(cause));
  if (view.outcome == "interrupted")
    report::print(settings.err,
                  fmt::format("error: interrupted\n  next      fairlead run {} goes on where it was\n", view.words));
  if (std::optional<report::Github> github = report::Github::from_environment())
    github->finish(fmt::format("fairlead run: {}", view.outcome), totals, view.causes);
}

Task<int> run(RealLoop& loop, const Globals& globals, const RunFlags& flags, Opened& opened, report::Settings settings,
              CancelSource& stop) {
  auto files = RunJournal::open(loop.clock(), flags.files);
  if (!files) co_return report(files.error());
  journal::Journal& journal = (*files)->journal();
  journal.add({.kind = journal::EventKind::started,
               .details = Json(
                   Json::Object{{"command", "run"}, {"time", journal.time_text()}, {"bundle", opened.pipeline.name}})});
  PipelineHost host(loop, globals, opened.pipeline, flags.state_path(), *opened.events, journal, settings,
                    opened.lock->descriptor());
  pipeline::Ending ending = co_await pipeline::run(loop, opened.pipeline, opened.state, host, stop);
  co_await host.close();
  journal.add({.kind = journal::EventKind::ended, .state = std::string(name_of(ending.how))});
  PipelineView view{.pipeline = opened.pipeline,
                    .state = opened.state,
                    .state_path = flags.state_path(),
                    .words = words_of(flags, globals),
                    .outcome = std::string(name_of(ending.how)),
                    .took = ending.took,
                    .causes = host.causes()};
  for (const std::optional<Error>& error : {ending.error, host.lost_event()})
    if (error) view.causes.push_back({.error = *error, .blocks = {}});
  show(view, settings);
  bool is_lost = ending.how == How::done && host.lost_event();
  co_return (*files)->close(is_lost ? int(kFailed) : exit_code(ending.how));
}

// Checks the pipeline, and says which phases would be run.
int run_dry(const RunFlags& flags, const Globals& globals) {
  std::expected<Pipeline, int> pipeline = load(flags, globals);
  if (!pipeline) return pipeline.error();
  std::expected<State, int> state = read_state(flags, globals, *pipeline);
  if (!state) return state.error();
  if (!flags.phase.empty()) {
    std::expected<size_t, int> phase = find_phase(*pipeline, flags.phase);
    if (!phase) return phase.error();
    state->reset(*pipeline, *phase);
  }
  if (Result<void> checked = check_places(flags, globals, *pipeline, *state); !checked) return report(checked.error());
  report::print(stdout, plan_text(*pipeline, *state));
  return kDone;
}

int run_run(const RunFlags& flags, const Invocation& invocation) {
  Result<report::Settings> settings = output_settings(flags.output, invocation.globals);
  if (!settings) return report_usage_error(settings.error());
  if (flags.dry_run) return run_dry(flags, invocation.globals);
  std::expected<Opened, int> opened = open(flags, invocation.globals);
  if (!opened) return opened.error();
  if (!flags.phase.empty()) {
    std::expected<size_t, int> phase = find_phase(opened->pipeline, flags.phase);
    if (!phase) return phase.error();
    if (auto done = reset(*opened, flags, *phase); !done) return report(done.error());
  }
  if (Result<void> checked = check_places(flags, invocation.globals, opened->pipeline, opened->state); !checked)
    return report(checked.error());
  return run_interruptibly([&](RealLoop& loop, CancelSource& stop) {
    return run(loop, invocation.globals, flags, *opened, *settings, stop);
  });
}

std::string outcome_of(const PipelineView& view) {
  if (view.holder) return "active";
  bool is_open = false;
  for (const pipeline::PhaseState& phase : view.state.phases()) {
    if (phase.status == pipeline::Status::failed) return "failed";
    is_open = is_open || phase.status == pipeline::Status::pending || phase.status == pipeline::Status::in_progress;
  }
  return is_open ? "open" : "done";
}

int run_status(const RunFlags& flags, const Globals& globals) {
  std::expected<Pipeline, int> pipeline = load(flags, globals);
  if (!pipeline) return pipeline.error();
  std::expected<State, int> state = read_state(flags, globals, *pipeline);
  if (!state) return state.error();
  PipelineView view{.pipeline = *pipeline,
                    .state = *state,
                    .state_path = flags.state_path(),
                    .words = words_of(flags, globals),
                    .holder = StateLock::holder_of(flags.state_path())};
  view.outcome = outcome_of(view);
  if (flags.output.output == "json") std::fputs(document_json(view).pretty().c_str(), stdout);
  else if (flags.output.output == "jsonl") write_jsonl(view);
  else report::print(stdout, status_text(view));
  if (view.outcome == "failed") return kFailed;
  return view.outcome == "done" ? kDone : kChanges;
}

int run_reset(const RunFlags& flags, const Globals& globals) {
  std::expected<Opened, int> opened = open(flags, globals);
  if (!opened) return opened.error();
  std::expected<size_t, int> phase = find_phase(opened->pipeline, flags.phase);
  if (!phase) return phase.error();
  Result<std::vector<std::string>> names = reset(*opened, flags, *phase);
  if (!names) return report(names.error());
  if (names->empty()) report::print(stdout, "nothing to reset: the phase and those after it are pending\n");
  for (const std::string& name : *names) report::print(stdout, fmt::format("phase {} is pending again\n", name));
  return kDone;
}

Flag add_common_flags(Command command, RunFlags& flags) {
  Flag file = command.option("FILE", flags.file, "The pipeline").value("FILE");
  command
      .option("--values", flags.overrides.files, "File with values, on top of those of the pipeline; may be repeated")
      .value("FILE")
      .repeatable();
  command
      .option("--set", flags.overrides.sets,
              "A value, such as kof.storage_class=fast; wins over files; may be repeated")
      .value("PATH=VALUE")
      .repeatable();
  command.option("--state", flags.state, "File that keeps the state; FILE.state unless it is given").value("FILE");
  return file;
}

void add_events_flag(Command command, RunFlags& flags) {
  command.option("--events", flags.events, "File that events are added to; beside the state unless it is given")
      .value("FILE");
}

void add_status_of_run(Command run, Invocation& invocation, const std::shared_ptr<RunFlags>& flags) {
  Command command = run.subcommand("status", "Show how far each phase has come");
  add_common_flags(command, *flags).required();
  command.option("-o,--output", flags->output.output, "text, json or jsonl").one_of({"text", "json", "jsonl"});
  command.footer("Exit codes: 0 everything is done, 1 a phase has failed, 2 something is left to do.");
  command.when_chosen([&invocation, flags] {
    invocation.run = [&invocation, flags] { return run_status(*flags, invocation.globals); };
  });
}

void add_reset_of_run(Command run, Invocation& invocation, const std::shared_ptr<RunFlags>& flags) {
  Command command = run.subcommand("reset", "Make a phase pending again, and those that need it");
  add_common_flags(command, *flags).required();
  command.option("PHASE", flags->phase, "The phase").value("PHASE").required();
  add_events_flag(command, *flags);
  command.when_chosen([&invocation, flags] {
    invocation.run = [&invocation, flags] { return run_reset(*flags, invocation.globals); };
  });
}

}  // namespace

void add_run(Command app, Invocation& invocation) {
  auto flags = std::make_shared<RunFlags>();
  Command command = app.subcommand("run", "Run a pipeline: ordered phases of charts, manifests, commands and waits");
  add_common_flags(command, *flags);
  add_events_flag(command, *flags);
  command.option("--from", flags->phase, "Run this phase again, and those that need it").value("PHASE");
  command.flag("--dry-run", flags->dry_run, "Check the pipeline and say which phases would be run; sends nothing");
  add_format_flags(command, flags->output);
  add_journal_flags(command, flags->files);
  add_status_of_run(command, invocation, flags);
  add_reset_of_run(command, invocation, flags);
  command.footer(
      "A run that failed, was interrupted or was killed goes on where it was. Phases that are completed are not\n"
      "run again, unless they are reset.\n\n"
      "Examples:\n"
      "  fairlead run kof.yaml\n"
      "  fairlead run kof.yaml --values prod.yaml --set kof.storage_class=fast\n"
      "  fairlead run kof.yaml --from mothership\n"
      "  fairlead run kof.yaml --dry-run\n"
      "  fairlead run status kof.yaml\n"
      "  fairlead run reset kof.yaml mothership\n\n"
      "Exit codes: 0 done, 1 failed, 3 timed out, 4 conflicts, 64 invalid command line, 130 interrupted.");
  command.when_chosen([&invocation, flags] {
    // The parser calls this for a subcommand as well, after that of the subcommand.
    if (!invocation.run) invocation.run = [&invocation, flags] { return run_run(*flags, invocation); };
  });
}

}  // namespace fairlead::cli
