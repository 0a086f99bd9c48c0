#include <cstdlib>
#include <fstream>
#include <thread>

#include "cli/commands/commands.h"
#include "cli/commands/serving.h"
#include "cli/commands/webhook_certificates.h"
#include "cli/commands/webhook_coordination.h"
#include "cli/core/connect.h"
#include "cli/core/error_report.h"
#include "cli/core/exit_code.h"
#include "cli/core/run.h"
#include "cli/output/run_journal.h"
#include "cli/runs/timeouts.h"
#include "webhook/dynamo/dynamo.h"
#include "webhook/server/server.h"

namespace fairlead::cli {
namespace {

struct ServeFlags {
  std::string policies = "dynamo";
  std::string operator_account;
  std::string planner_account = webhook::DynamoOptions().planner_account;
  ListenFlags listen;
  std::string service;
  std::vector<std::string> configurations;
  std::string client_ca_file;
  size_t max_in_flight = 200;
  size_t workers = 0;
  std::string log_reviews = "all";
  CertificateFlags certificate;
  CoordinationFlags coordination;
};

webhook::PolicySet policies_of(const ServeFlags& flags) {
  return webhook::dynamo_policies(
      {.operator_account = flags.operator_account, .planner_account = flags.planner_account});
}

Result<http::ClientTrust> client_trust(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file || text.empty()) return fail(ErrorKind::not_found, "--client-ca-file: {} cannot be read", path);
  Result<std::vector<x509::Certificate>> roots = x509::Certificate::parse_pem(text);
  if (!roots) return fail(std::move(roots).error().in(fmt::format("--client-ca-file: {} cannot be used", path)));
  return http::ClientTrust{.roots = *std::move(roots)};
}

webhook::DefaultThreads usual_threads() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string limit;
  std::getline(file, limit);
  return webhook::default_threads(limit, std::thread::hardware_concurrency());
}

Result<webhook::ServeSpec> spec_of(const ServeFlags& flags) {
  TRY(check(flags.certificate, flags.service));
  TRY(check(flags.coordination));
  TRY_ASSIGN(webhook::ServeSpec spec, serve_spec_of(flags.listen));
  spec.reviews.in_flight = flags.max_in_flight;
  webhook::DefaultThreads threads = usual_threads();
  spec.reviews.workers = flags.workers > 0 ? flags.workers : threads.workers;
  spec.serving_threads = threads.serving;
  if (!flags.client_ca_file.empty()) {
    TRY_ASSIGN(spec.clients, client_trust(flags.client_ca_file));
  }
  return spec;
}

webhook::Log::Reviews reviews_in_log(const std::string& name) {
  using Reviews = webhook::Log::Reviews;
  return name == "all" ? Reviews::all : name == "none" ? Reviews::none : Reviews::not_allowed;
}

std::vector<std::string> converted_definitions(const webhook::PolicySet& set) {
  std::vector<std::string> names;
  for (const webhook::Conversion& conversion : set.conversions)
    names.push_back(conversion.resource + "." + conversion.group);
  return names;
}

// The cluster that the server is in, if it was told the name of its Service.
struct Home {
  std::unique_ptr<RunJournal> journal;
  std::unique_ptr<Cluster> cluster;
  std::unique_ptr<webhook::ClusterSurroundings> surroundings;

  static Result<Home> find(RealLoop& loop, const Invocation& invocation, const ServeFlags& flags,
                           const webhook::Routes& routes, webhook::ServeSpec& spec) {
    Home home;
    if (flags.service.empty()) return home;
    TRY_ASSIGN(home.journal, RunJournal::open(loop.clock(), {}));
    TRY_ASSIGN(home.cluster, Cluster::connect(loop, invocation.globals, home.journal->journal()));
    webhook::ServiceName service{.ns = home.cluster->default_namespace(), .name = flags.service};
    spec.host = service.host();
    const char* address = std::getenv("POD_IP");
    home.surroundings = std::make_unique<webhook::ClusterSurroundings>(
        home.cluster->client(), std::move(service),
        webhook::Own{.configurations = flags.configurations,
                     .paths = routes.paths(),
                     .needs_one = !flags.coordination.restrict_to.empty()},
        converted_definitions(routes.set()), address ? address : "");
    return home;
  }
};

Task<Result<void>> serve(RealLoop& loop, CancelSource& stop, const Invocation& invocation, const ServeFlags& flags,
                         webhook::ServeSpec spec) {
  CO_TRY_ASSIGN(webhook::Routes routes, webhook::Routes::make(policies_of(flags)));
  CO_TRY_ASSIGN(Home home, Home::find(loop, invocation, flags, routes, spec));
  webhook::Log log(loop, write_log_lines, reviews_in_log(flags.log_reviews));
  CertificateUse use{.ns = home.cluster ? home.cluster->default_namespace() : "",
                     .service = flags.service,
                     .configurations = flags.configurations,
                     .definitions = converted_definitions(routes.set())};
  std::unique_ptr<ServedCertificate> certificate =
      ServedCertificate::make(loop, home.cluster.get(), flags.certificate, std::move(use), log);
  Scope following(loop, nullptr);
  following.spawn(certificate->run());
  Scope keeping(loop, &stop);
  keeping.spawn(certificate->keep());
  Result<void> served;
  {
    std::unique_ptr<Coordinator> coordinator;
    if (home.cluster && !flags.coordination.lease_name.empty())
      coordinator = Coordinator::make(home.cluster->client(), flags.coordination, log);
    webhook::AdmissionServer server(loop, std::move(spec), routes, certificate->source(), home.surroundings.get(), log);
    server.tell_also([&certificate] { return certificate->trouble(); },
                     [&certificate] { return certificate->metrics(); });
    Scope coordinating(loop, nullptr);
    if (coordinator) {
      server.limit_to(coordinator->territory());
      coordinating.spawn(coordinator->run(server, stop));
    }
    served = co_await server.run(stop);
    coordinating.cancel();
    co_await coordinating.join();
  }
  // The server also ends without having been asked to, if it cannot listen.
  keeping.cancel();
  co_await keeping.join();
  following.cancel();
  co_await following.join();
  if (home.cluster) co_await home.cluster->close();
  co_return served;
}

int serve_command(const Invocation& invocation, const ServeFlags& flags) {
  Result<webhook::ServeSpec> spec = spec_of(flags);
  if (!spec) return report_usage_error(spec.error());
  auto work = [&](RealLoop& loop, CancelSource& stop) -> Task<int> {
    Result<void> served = co_await serve(loop, stop, invocation, flags, *spec);
    co_return served ? int(kDone) : report(served.error());
  };
  return run_interruptibly(work, LostReader::is_ignored);
}

void add_policy_flags(Command command, ServeFlags& flags) {
  command.option("--policies", flags.policies, "The policy set").one_of({"dynamo"}).show_default();
  command
      .option("--operator-account", flags.operator_account,
              "Account of the Dynamo operator, as system:serviceaccount:NAMESPACE:NAME")
      .value("ACCOUNT");
  command
      .option("--planner-account", flags.planner_account,
              "Service account of the Dynamo planner in the namespace of a deployment")
      .value("NAME")
      .show_default();
}

// Returns the flag --service.
Flag add_trust_flags(Command command, ServeFlags& flags) {
  Flag service = command
                     .option("--service", flags.service,
                             "The server's Service, in the namespace -n: the server is ready only when its certificate "
                             "verifies against the caBundle of each of its webhook configurations")
                     .value("NAME");
  command
      .option("--configuration", flags.configurations,
              "A webhook configuration of this server; without any, those that call one of its paths; may be repeated")
      .value("NAME")
      .repeatable()
      .needs(service);
  add_certificate_flags(command, flags.certificate, service);
  command
      .option("--client-ca-file", flags.client_ca_file,
              "Accept only clients whose certificate verifies against the certificates in this file")
      .value("FILE");
  return service;
}

void add_load_flags(Command command, ServeFlags& flags) {
  add_drain_flags(command, flags.listen, "the server");
  command
      .option("--max-in-flight", flags.max_in_flight,
              "The most reviews that are waiting or being decided on; others are answered with 429")
      .positive()
      .value("N")
      .show_default();
  command
      .option("--workers", flags.workers,
              "Threads for slow reviews, and as many for large ones; 0 for what the CPU limit allows, at most 4")
      .between(0, 256)
      .value("N")
      .show_default();
  command.option("--log-reviews", flags.log_reviews, "Which reviews are logged: all, not-allowed or none")
      .one_of({"all", "not-allowed", "none"})
      .show_default();
}

void add_serve(Command webhook, Invocation& invocation) {
  auto flags = std::make_shared<ServeFlags>();
  Command command = webhook.subcommand("serve", "Serve admission reviews over HTTPS until it is asked to stop");
  add_policy_flags(command, *flags);
  add_listen_flags(command, flags->listen, "/healthz, /readyz and /metrics");
  Flag service = add_trust_flags(command, *flags);
  add_coordination_flags(command, flags->coordination, service);
  add_load_flags(command, *flags);
  command.footer(
      "The log goes to standard output, one JSON object per line. On SIGTERM or Ctrl-C the server stops being ready,\n"
      "goes on answering for the time of --drain, and then ends; a second signal ends it at once.\n\n"
      "Examples:\n"
      "  fairlead webhook serve --cert-dir certs/\n"
      "  fairlead webhook serve --cert-dir /certs --service dynamo-webhook -n dynamo-system\n"
      "  fairlead webhook serve --cert-dir /certs --service team-webhook -n team-a --restrict-to-namespace team-a\n"
      "  fairlead webhook serve --service dynamo-webhook --secret webhook-server-cert --manage-certificates\n"
      "  fairlead webhook serve --cert-dir /certs --client-ca-file /etc/apiserver-ca.crt\n\n"
      "Exit codes: 0 stopped as it was asked to, 1 it cannot listen, 64 invalid command line.");
  command.when_chosen(
      [&invocation, flags] { invocation.run = [&invocation, flags] { return serve_command(invocation, *flags); }; });
}

}  // namespace

void add_webhook(Command app, Invocation& invocation) {
  Command command = app.subcommand("webhook", "Serve and install the admission webhooks of an operator");
  command.requires_subcommand();
  add_serve(command, invocation);
  add_webhook_controller(command, invocation);
  add_webhook_manifests(command, invocation);
}

}  // namespace fairlead::cli
