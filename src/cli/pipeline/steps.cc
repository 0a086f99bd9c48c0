#include "cli/pipeline/steps.h"

#include <unistd.h>

#include <algorithm>

#include "async/process_listening.h"
#include "async/scope.h"
#include "base/duration_text.h"
#include "base/printable.h"
#include "cli/core/connect.h"
#include "cli/input/sources.h"
#include "cli/pipeline/lines.h"
#include "inventory/holder.h"
#include "inventory/inventory.h"
#include "render/program.h"
#include "report/rollout_report.h"
#include "report/wait_report.h"
#include "rollout/rollout.h"
#include "wait/wait.h"

namespace fairlead::cli {
namespace {

using pipeline::Apply;
using pipeline::How;
using pipeline::Step;
using pipeline::StepEnding;
using pipeline::Wait;

const std::string& bundle_of(const Apply& apply) { return apply.name.empty() ? apply.release : apply.name; }

Sources sources_of(const Apply& apply) {
  Sources sources{.files = apply.files, .recursive = apply.recursive, .kustomizations = apply.kustomizations};
  if (!apply.chart.empty())
    sources.charts.push_back({.chart = apply.chart, .release = apply.release, .flags = apply.helm_flags});
  return sources;
}

rollout::Options options_of(const Apply& apply, const pipeline::Phase& phase) {
  rollout::Options options;
  options.name = bundle_of(apply);
  options.create_namespace = phase.create_namespace;
  options.prune = apply.prune;
  options.timeout = apply.timeout.value_or(options.timeout);
  options.timeout_for = apply.timeout_for;
  inventory::sign(options);
  return options;
}

Result<wait::Options> options_of(const Wait& wait) {
  wait::Options options{
      .any = wait.any, .existence_timeout = wait.existence_timeout, .timeout = wait.timeout, .allow_short = true};
  TRY_ASSIGN(options.form, wait::Form::parse(wait.form));
  options.run = inventory::run_of(::getpid());
  options.run_known_dead = inventory::is_gone_run;
  return options;
}

Result<std::vector<wait::Target>> targets_of(const Wait& wait) {
  return wait::read_targets(wait.objects, {.selector = wait.selector, .all = wait.all});
}

Result<void> check(const Step& step) {
  if (const Apply* apply = std::get_if<Apply>(&step.work)) {
    if (const std::string& name = bundle_of(*apply); !name.empty()) TRY(inventory::check_name(name));
  }
  if (const Wait* wait = std::get_if<Wait>(&step.work)) {
    TRY_ASSIGN(wait::Options options, options_of(*wait));
    TRY_ASSIGN(std::vector<wait::Target> targets, targets_of(*wait));
    TRY(wait::check(targets, options));
  }
  return {};
}

// Errors of running a program begin with "exec:", which is kubectl's word for credential plugins.
Error without_exec(const Error& error) {
  constexpr std::string_view kExec = "exec: ";
  if (!error.what().starts_with(kExec)) return error;
  Error plain(error.kind(), error.what().substr(kExec.size()));
  if (error.cause()) plain = std::move(plain).because(*error.cause());
  return error.next().empty() ? plain : std::move(plain).next(error.next());
}

// Returns one line: what was achieved, or the first cause.
template <class Ending>
StepEnding ending_of(const Ending& ending) {
  StepEnding result{.how = ending.how};
  bool has_failed = result.how != How::done && !ending.causes.empty();
  if (!has_failed)
    result.message = fmt::format("{} in {:.1f}s", report::totals_text(ending), report::seconds(ending.took));
  else result.message = printable_line(ending.causes.front().error.message());
  if (has_failed && ending.causes.size() > 1) result.message += fmt::format("; and {} more", ending.causes.size() - 1);
  return result;
}

// Shows the journal of a step for as long as it lives.
class Shown {
 public:
  Shown(RealLoop& loop, journal::Journal& journal, report::Settings settings,
        std::unique_ptr<report::Narrator> narrator, report::Board::Run run)
      : display_(loop, journal, std::move(settings), std::move(narrator), run) {
    journal.read_by([this](const journal::Event& event) { display_.read(event); });
  }

 private:
  report::Display display_;
};

}  // namespace

std::vector<Error> check_steps(const pipeline::Pipeline& pipeline) {
  std::vector<Error> errors;
  for (const pipeline::Phase& phase : pipeline.phases)
    for (const Step& step : phase.steps)
      if (Result<void> checked = check(step); !checked) errors.push_back(std::move(checked).error().at(step.at));
  return errors;
}

std::vector<Error> find_places(pipeline::Pipeline& pipeline, const Globals& globals) {
  std::vector<Error> errors;
  bool may_change = false;
  for (pipeline::Phase& phase : pipeline.phases) {
    Result<std::string> place = place_of(globals_of(globals, phase));
    for (const Step& step : phase.steps)
      may_change = may_change || (phase.is_wanted && std::holds_alternative<pipeline::Command>(step.work));
    if (place) phase.place = *std::move(place);
    else if (!phase.context.empty() && phase.is_wanted && !may_change)
      errors.push_back(std::move(place).error().in(fmt::format("phase {} cannot run", phase.name)).at(phase.at));
  }
  return errors;
}

Globals globals_of(const Globals& globals, const pipeline::Phase& phase) {
  Globals own = globals;
  if (!phase.context.empty()) own.context = phase.context;
  if (!phase.ns.empty()) own.namespace_name = phase.ns;
  return own;
}

StepRun::StepRun(RealLoop& loop, Globals globals, const pipeline::Pipeline& pipeline, const pipeline::Phase& phase,
                 report::Settings settings, journal::Journal& journal, CancelSource& stop, int lock)
    : loop_(loop),
      globals_(std::move(globals)),
      pipeline_(pipeline),
      phase_(phase),
      settings_(std::move(settings)),
      journal_(journal),
      stop_(stop),
      lock_(lock) {}

void StepRun::pass_on(journal::Journal& own) {
  if (!journal_.is_detailed()) return;
  own.read_by(
      [this](const journal::Event& event) {
        journal::Event copy = event;
        copy.details.make("phase") = phase_.name;
        copy.details.make("step") = step_;
        journal_.add(std::move(copy));
      },
      journal::Detail::full);
}

Task<StepEnding> StepRun::run(const Step& step) {
  step_ = step.text;
  if (const Apply* apply = std::get_if<Apply>(&step.work)) return run(*apply);
  if (const pipeline::Command* command = std::get_if<pipeline::Command>(&step.work)) return run(*command);
  return run(std::get<Wait>(step.work));
}

StepEnding StepRun::failed(std::vector<Error> errors) {
  if (stop_.cancelled()) return {.how = How::interrupted, .message = "interrupted"};
  auto is_late = [](const Error& error) { return error.kind() == ErrorKind::timeout; };
  StepEnding ending{.how = std::ranges::all_of(errors, is_late) ? How::timed_out : How::failed,
                    .message = printable_line(errors.front().message())};
  if (errors.size() > 1) ending.message += fmt::format("; and {} more", errors.size() - 1);
  for (Error& error : errors) causes_.push_back({.error = std::move(error), .blocks = {}});
  return ending;
}

Task<StepEnding> StepRun::run(const Apply& apply) {
  rollout::Options options = options_of(apply, phase_);
  auto bundle = co_await read_bundle(loop_, globals_, sources_of(apply),
                                     {.name = options.name, .timeout = options.timeout, .stop = &stop_});
  if (!bundle) co_return failed(bundle.error());
  journal::Journal journal(loop_.clock());
  pass_on(journal);
  Result<std::unique_ptr<Cluster>> cluster = Cluster::connect(loop_, globals_, journal);
  if (!cluster) co_return failed({cluster.error()});
  options.default_namespace = (*cluster)->default_namespace();
  options.namespace_is_chosen = !globals_.namespace_name.empty();
  std::optional<Shown> shown;
  shown.emplace(loop_, journal, settings_, std::make_unique<report::RolloutNarrator>(report::NarratorOptions{}),
                report::Board::Run::rollout);
  rollout::Ending ending = co_await rollout::roll_out((*cluster)->client(), (*cluster)->discovery(), *std::move(bundle),
                                                      std::move(options), journal, &stop_);
  shown.reset();
  co_await (*cluster)->close();
  causes_ = ending.causes;
  co_return ending_of(ending);
}

Task<StepEnding> StepRun::run(const Wait& wait) {
  Result<wait::Options> options = options_of(wait);
  Result<std::vector<wait::Target>> targets = targets_of(wait);
  if (!options) co_return failed({options.error()});
  if (!targets) co_return failed({targets.error()});
  journal::Journal journal(loop_.clock());
  pass_on(journal);
  Result<std::unique_ptr<Cluster>> cluster = Cluster::connect(loop_, globals_, journal);
  if (!cluster) co_return failed({cluster.error()});
  options->default_namespace = (*cluster)->default_namespace();
  std::optional<Shown> shown;
  shown.emplace(loop_, journal, settings_, std::make_unique<report::WaitNarrator>(report::NarratorOptions{.all = true}),
                report::Board::Run::wait);
  wait::Ending ending = co_await wait::wait_for((*cluster)->client(), (*cluster)->discovery(), *std::move(targets),
                                                *std::move(options), journal, &stop_);
  shown.reset();
  co_await (*cluster)->close();
  causes_ = ending.causes;
  co_return ending_of(ending);
}

void StepRun::print(std::string_view line) const {
  bool is_shown = settings_.progress == report::Progress::plain;
  std::FILE* stream = settings_.format == report::Format::text ? settings_.out : settings_.err;
  if (is_shown) report::print(stream, fmt::format("{}| {}\n", settings_.prefix, printable_line(line)));
}

Task<StepEnding> StepRun::run(const pipeline::Command& command) {
  TimePoint begun = loop_.now();
  Lines output([this](std::string_view line) { print(line); }), errors([this](std::string_view line) { print(line); });
  ProcessSpec spec{.argv = command.argv,
                   .environment = command.environment,
                   .directory = command.directory,
                   .kept_descriptor = lock_};
  auto add = [&](const char* name, const std::string& value) {
    bool is_given = std::ranges::any_of(command.environment, [&](const auto& own) { return own.first == name; });
    if (!is_given && !value.empty()) spec.environment.emplace_back(name, value);
  };
  add("FAIRLEAD_PIPELINE", pipeline_.name);
  add("FAIRLEAD_PHASE", phase_.name);
  add("FAIRLEAD_CONTEXT", globals_.context);
  add("FAIRLEAD_NAMESPACE", globals_.namespace_name);
  add("HELM_KUBECONTEXT", globals_.context);
  add("HELM_NAMESPACE", globals_.namespace_name);
  add("KUBECONFIG", globals_.kubeconfig);
  ProcessListener listener{.on_output = [&](std::string_view piece) { output.add(piece); },
                           .on_errors = [&](std::string_view piece) { errors.add(piece); }};
  std::string what = printable_line(command.argv.front());
  TimePoint deadline = command.timeout ? begun + *command.timeout : TimePoint::max();
  std::string late = fmt::format("{} took longer than {}", what, short_text(command.timeout.value_or(Duration{})));
  auto result =
      co_await with_deadline(loop_, deadline, late, run_listening(loop_, std::move(spec), std::move(listener)))
          .governed_by(&stop_);
  output.finish();
  errors.finish();
  if (!result) co_return failed({without_exec(result.error())});
  double seconds = report::seconds(loop_.now() - begun);
  if (result->ok()) co_return StepEnding{.message = fmt::format("exit status 0 in {:.1f}s", seconds)};
  // What it wrote has been seen, or is part of the error.
  bool was_shown = settings_.progress == report::Progress::plain;
  std::string text = fmt::format("{} failed", what);
  Error error = was_shown ? Error(ErrorKind::invalid, text).because(result->ending()) : render::failed(text, *result);
  StepEnding ending = failed({std::move(error)});
  ending.message = fmt::format("{} failed: {}", what, result->ending());
  co_return ending;
}

}  // namespace fairlead::cli
