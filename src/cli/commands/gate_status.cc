#include <cstdio>

#include "base/printable.h"
#include "cli/commands/gate.h"
#include "cli/core/connect.h"
#include "cli/core/error_report.h"
#include "cli/core/exit_code.h"
#include "cli/core/run.h"
#include "cli/output/run_journal.h"
#include "gate/server/status.h"
#include "http/client/client.h"

namespace fairlead::cli {
namespace {

struct GateStatusFlags {
  std::string name = "fairlead-gate";
  std::string from;
  std::string output = "text";
};

Result<Json> parsed_status(const http::Response& response) {
  if (response.status != 200)
    return fail(ErrorKind::protocol, "the gate answered {}: {}", response.status,
                printable_line(response.body.substr(0, 200)));
  return Json::parse(response.body);
}

// From one gate that listens at a URL.
Task<Result<std::vector<Json>>> status_from_url(RealLoop& loop, std::string address) {
  CO_TRY_ASSIGN(http::Url url, http::parse_url(address));
  CO_TRY_ASSIGN(auto client, http::Client::make(loop, std::move(url), {}));
  http::Request request;
  request.target = "/status";
  Result<http::Response> response =
      co_await with_deadline(loop, loop.now() + std::chrono::seconds(10), "the gate did not answer in 10s",
                             http::send(*client, std::move(request)));
  co_await client->close();
  if (!response) co_return fail(std::move(response).error().in(fmt::format("{} cannot be asked", address)));
  CO_TRY_ASSIGN(Json status, parsed_status(*response));
  co_return std::vector<Json>{std::move(status)};
}

Task<int> show_status(RealLoop& loop, CancelSource& stop, const Invocation& invocation, const GateStatusFlags& flags) {
  Result<std::vector<Json>> found;
  if (!flags.from.empty()) {
    found = co_await status_from_url(loop, flags.from).governed_by(&stop);
  } else {
    auto journal = RunJournal::open(loop.clock(), {});
    if (!journal) co_return report(journal.error());
    auto cluster = Cluster::connect(loop, invocation.globals, (*journal)->journal());
    if (!cluster) co_return report(cluster.error());
    found = co_await gate::read_status((*cluster)->client(), gate_namespace(invocation), flags.name).governed_by(&stop);
    co_await (*cluster)->close();
  }
  if (!found) co_return report(found.error());
  Json merged = gate::merge_status(*found);
  std::fputs((flags.output == "json" ? merged.pretty() : gate::status_text(merged)).c_str(), stdout);
  co_return int(kDone);
}

}  // namespace

void add_gate_status(Command gate, Invocation& invocation) {
  auto flags = std::make_shared<GateStatusFlags>();
  Command command = gate.subcommand("status", "Show which webhooks work, and what waits for those that do not");
  command.option("--name", flags->name, "Name of the gate").value("NAME").show_default();
  command.option("--from", flags->from, "Ask the gate at this address instead, such as http://127.0.0.1:8080")
      .value("URL");
  command.option("-o,--output", flags->output, "Format: text or json").one_of({"text", "json"}).show_default();
  command.footer(
      "Asks each replica through the API server, for which pods/proxy is needed in the gate's namespace (that of -n,\n"
      "or fairlead-gate).\n\n"
      "Examples:\n"
      "  fairlead gate status\n"
      "  fairlead gate status -o json | jq '.webhooks[] | select(.state != \"works\")'\n\n"
      "Exit codes: 0 shown, 1 the gate cannot be asked, 64 invalid command line.");
  run_when_chosen(command, invocation, [&invocation, flags](RealLoop& loop, CancelSource& stop) {
    return show_status(loop, stop, invocation, *flags);
  });
}

}  // namespace fairlead::cli
