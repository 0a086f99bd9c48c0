#include "cli/commands/query.h"

#include <cstdio>

#include "cli/core/error_report.h"
#include "cli/core/run.h"
#include "cli/output/run_journal.h"
#include "diff/yaml_text.h"
#include "report/output.h"

namespace fairlead::cli {
namespace {

Task<int> query_cluster(RealLoop& loop, const Globals& globals,
                        const std::function<Task<Result<int>>(Cluster& cluster)>& query, CancelSource& stop) {
  auto journal = RunJournal::open(loop.clock(), {});
  if (!journal) co_return report(journal.error());
  Result<std::unique_ptr<Cluster>> cluster = Cluster::connect(loop, globals, (*journal)->journal());
  if (!cluster) co_return report(cluster.error());
  Result<int> code = co_await query(**cluster).governed_by(&stop);
  co_await (*cluster)->close();
  if (stop.cancelled()) co_return report(cancelled_error());
  co_return code ? *code : report(code.error());
}

}  // namespace

void add_query_output(Command command, std::string& output) {
  command.option("-o,--output", output, "What to print: text, wide (with more columns), json or yaml")
      .one_of({"text", "wide", "json", "yaml"});
}

void print_result(const std::string& output, const std::string& text, const Json& json,
                  const std::vector<std::string>& notes) {
  std::string result = output == "json" ? json.pretty() : output == "yaml" ? diff::yaml_text(json) : text;
  std::fwrite(result.data(), 1, result.size(), stdout);
  std::fflush(stdout);
  if (output == "json" || output == "yaml") return;
  for (const std::string& note : notes) report::print(stderr, fmt::format("note: {}\n", note));
}

int run_query(const Globals& globals, const std::function<Task<Result<int>>(Cluster& cluster)>& query) {
  return run_interruptibly(
      [&](RealLoop& loop, CancelSource& stop) { return query_cluster(loop, globals, query, stop); });
}

}  // namespace fairlead::cli
