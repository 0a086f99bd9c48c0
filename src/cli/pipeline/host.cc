#include "cli/pipeline/host.h"

#include "base/colours.h"
#include "base/printable.h"
#include "cli/pipeline/show.h"
#include "cli/pipeline/steps.h"
#include "pipeline/state_file.h"

namespace fairlead::cli {

using pipeline::Phase;
using pipeline::Step;
using pipeline::StepEnding;
using report::Format;
using report::Progress;

PipelineHost::PipelineHost(RealLoop& loop, const Globals& globals, const pipeline::Pipeline& pipeline,
                           std::string state_path, pipeline::EventFile& events, journal::Journal& journal,
                           report::Settings settings, int lock)
    : loop_(loop),
      globals_(globals),
      pipeline_(pipeline),
      state_path_(std::move(state_path)),
      events_(events),
      journal_(journal),
      settings_(std::move(settings)),
      lock_(lock) {
  // Several phases may run side by side, and a live view is of one run.
  if (settings_.progress == Progress::live) settings_.progress = Progress::plain;
}

Task<StepEnding> PipelineHost::run_step(const Phase& phase, const Step& step, CancelSource& stop) {
  report::Settings settings = settings_;
  settings.prefix = fmt::format("[{}] ", phase.name);
  // Programs get the events of the pipeline.
  if (settings.progress == Progress::json) settings.progress = Progress::quiet;
  StepRun run(loop_, globals_of(globals_, phase), pipeline_, phase, std::move(settings), journal_, stop, lock_);
  StepEnding ending = co_await run.run(step);
  causes_.erase(phase.name);
  if (ending.how != pipeline::How::done && ending.how != pipeline::How::interrupted) causes_[phase.name] = run.causes();
  co_return ending;
}

void PipelineHost::show(const pipeline::Event& event) const {
  if (settings_.format == Format::jsonl) {
    std::fputs((to_json(event).dump() + "\n").c_str(), settings_.out);
    std::fflush(settings_.out);
  }
  if (settings_.progress == Progress::json) std::fputs((to_json(event).dump() + "\n").c_str(), settings_.err);
  if (settings_.progress != Progress::plain) return;
  report::Line line = event_line(event);
  std::FILE* stream = settings_.format == Format::text ? settings_.out : settings_.err;
  report::print_line(stream, line);
}

Task<void> PipelineHost::tell(pipeline::Event event) {
  if (Result<void> added = events_.add(event); !added && !lost_event_) lost_event_ = added.error();
  show(event);
  journal_.add({.kind = journal::EventKind::note,
                .state = std::string(name_of(event.action)),
                .text = event.message,
                .details = Json(Json::Object{{"phase", event.phase}, {"step", event.step}, {"action", event.name}})});
  if (pipeline_.kubernetes_events) co_await write_to_cluster(std::move(event));
}

Task<void> PipelineHost::write_to_cluster(pipeline::Event event) {
  std::string name = event.phase;
  const Phase& phase = pipeline_.phases[*pipeline_.find(name)];
  std::unique_ptr<ClusterEvents>& events = cluster_events_[name];
  if (!events) events = std::make_unique<ClusterEvents>(loop_, pipeline_.name, globals_of(globals_, phase));
  Result<void> written = co_await events->write(std::move(event));
  if (written || settings_.progress != Progress::plain) co_return;
  report::print(stderr, fmt::format("[{}] events are not written to the cluster: {}\n", name,
                                    printable_line(written.error().message())));
}

Result<void> PipelineHost::save(const pipeline::State& state) { return pipeline::write_state(state, state_path_); }

Task<void> PipelineHost::close() {
  for (auto& [phase, events] : cluster_events_) co_await events->close();
}

std::vector<journal::Cause> PipelineHost::causes() const {
  std::vector<journal::Cause> all;
  for (const Phase& phase : pipeline_.phases) {
    auto found = causes_.find(phase.name);
    if (found == causes_.end()) continue;
    for (journal::Cause cause : found->second) {
      cause.error = std::move(cause.error).in(fmt::format("phase {} failed", phase.name));
      all.push_back(std::move(cause));
    }
  }
  return all;
}

}  // namespace fairlead::cli
