// Connects the runner of a pipeline with the clusters, the files and the terminal.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/core/globals.h"
#include "cli/pipeline/cluster_events.h"
#include "journal/journal.h"
#include "pipeline/runner.h"
#include "report/display.h"

namespace fairlead::cli {

class PipelineHost final : public pipeline::Host {
 public:
  // What the references point to must outlive the host.
  PipelineHost(RealLoop& loop, const Globals& globals, const pipeline::Pipeline& pipeline, std::string state_path,
               pipeline::EventFile& events, journal::Journal& journal, report::Settings settings, int lock);

  Task<pipeline::StepEnding> run_step(const pipeline::Phase& phase, const pipeline::Step& step,
                                      CancelSource& stop) override;
  Task<void> tell(pipeline::Event event) override;
  Result<void> save(const pipeline::State& state) override;

  // Always call it before the host is destroyed.
  Task<void> close();
  // Returns why phases failed, in the order of the pipeline. Each error names its phase.
  std::vector<journal::Cause> causes() const;
  // The first event that could not be written to the file.
  const std::optional<Error>& lost_event() const { return lost_event_; }

 private:
  void show(const pipeline::Event& event) const;
  Task<void> write_to_cluster(pipeline::Event event);

  RealLoop& loop_;
  const Globals& globals_;
  const pipeline::Pipeline& pipeline_;
  std::string state_path_;
  pipeline::EventFile& events_;
  journal::Journal& journal_;
  report::Settings settings_;
  int lock_;
  // By phase.
  std::map<std::string, std::unique_ptr<ClusterEvents>> cluster_events_;
  std::map<std::string, std::vector<journal::Cause>> causes_;
  std::optional<Error> lost_event_;
};

}  // namespace fairlead::cli
