#include <cstdlib>
#include <random>

#include "async/scope.h"
#include "base/base64.h"
#include "cli/commands/gate.h"
#include "cli/commands/serving.h"
#include "cli/commands/webhook_certificates.h"
#include "cli/commands/webhook_coordination.h"
#include "cli/core/connect.h"
#include "cli/core/error_report.h"
#include "cli/core/exit_code.h"
#include "cli/core/run.h"
#include "cli/output/run_journal.h"
#include "cli/runs/timeouts.h"
#include "gate/server/registrations.h"
#include "http/url.h"
#include "lease/holder.h"
#include "webhook/server/server.h"

namespace fairlead::cli {
namespace {

struct GateServeFlags {
  std::string name = "fairlead-gate";
  std::string service;
  std::string url;
  ListenFlags listen;
  std::string patience = "5m";
  std::string patience_gone = "30s";
  std::string patience_service_accounts = "30s";
  size_t holds = 300;
  int timeout_seconds = 2;
  int hold_seconds = 8;
  bool warns = false;
  bool shadows = false;
  CertificateFlags certificate;
};

// What the command line asks for.
struct GateSpec {
  webhook::ServeSpec serve;
  gate::GateOptions gate;
};

Result<void> check_url(const std::string& url) {
  if (url.empty()) return {};
  TRY_ASSIGN(http::Url parsed, http::parse_url(url));
  if (parsed.scheme != "https" || url.ends_with('/'))
    return fail(Error(ErrorKind::invalid, fmt::format("--url {} cannot be called by API servers", url))
                    .next("give --url https://HOST:PORT, without a path"));
  return {};
}

Result<GateSpec> gate_spec_of(const GateServeFlags& flags) {
  TRY(check(flags.certificate, flags.service));
  TRY(check_url(flags.url));
  if (flags.service.empty() == flags.url.empty())
    return fail(Error(ErrorKind::invalid, "API servers must know one way to the gate")
                    .next("give --service NAME in a cluster, or --url https://HOST:PORT"));
  GateSpec spec;
  TRY_ASSIGN(spec.serve, serve_spec_of(flags.listen));
  TRY_ASSIGN(spec.gate.patience.coming_up, read_duration("--patience", flags.patience));
  TRY_ASSIGN(spec.gate.patience.gone, read_duration("--patience-gone", flags.patience_gone));
  TRY_ASSIGN(spec.gate.patience.service_accounts,
             read_duration("--patience-service-accounts", flags.patience_service_accounts));
  spec.gate.holds = flags.holds;
  spec.gate.warns = flags.warns;
  spec.gate.registrar.name = flags.name;
  spec.gate.registrar.url = flags.url;
  spec.gate.registrar.seconds = flags.timeout_seconds;
  spec.gate.registrar.hold_seconds = flags.hold_seconds;
  return spec;
}

std::string ca_bundle_of(certs::CertificateSource& source) {
  std::shared_ptr<const certs::ServingPair> pair = source.current();
  return pair && !pair->ca.empty() ? to_base64(x509::to_pem(pair->ca)) : std::string();
}

// Serves until it is asked to stop, and keeps the configurations while it leads.
class GateServer {
 public:
  GateServer(RealLoop& loop, Cluster& cluster, const GateServeFlags& flags, GateSpec spec)
      : loop_(loop),
        cluster_(cluster),
        log_(loop, write_log_lines),
        caller_(loop),
        witness_(cluster.client(), fmt::format("gate-{:08x}{:08x}", std::random_device()(), std::random_device()())),
        needs_ca_(flags.url.empty() || flags.certificate.folder.empty()),
        gate_(cluster.client(), caller_, with_home(spec.gate, cluster, flags)),
        certificate_(ServedCertificate::make(loop, &cluster, flags.certificate,
                                             {.ns = cluster.default_namespace(),
                                              .service = flags.service,
                                              .configurations = {},
                                              .definitions = {},
                                              .registers_itself = true},
                                             log_)),
        routes_(webhook::Routes::make({.name = "gate", .registrations = {}, .conversions = {}}).value()),
        surroundings_(cluster.client(), {.ns = cluster.default_namespace(), .name = flags.service},
                      {.configurations = {}, .paths = gate_.paths()}, {}, own_address()),
        holder_(cluster.client(), {.ns = cluster.default_namespace(), .name = flags.name, .identity = own_identity()},
                [this](bool holds) {
                  log_.info(holds ? "leading: this replica keeps the configurations" : "not leading");
                }),
        server_(loop, with_host(std::move(spec.serve), cluster, flags), routes_, certificate_->source(),
                flags.service.empty() ? nullptr : &surroundings_, log_) {
    server_.answer_with(gate_);
  }

  Task<Result<void>> run(CancelSource& stop) {
    Scope working(loop_, nullptr);
    if (uses_witness_) working.spawn(witness_.sweep());
    working.spawn(certificate_->run());
    working.spawn(gate_.run());
    // A replica that drains does not lead: another one goes on at once.
    Scope leading(loop_, &stop);
    leading.spawn(certificate_->keep());
    leading.spawn(lead());
    leading.spawn(gate::keep_registrations(
        cluster_.client(), gate_,
        {.leads = [this] { return holder_.holds(); },
         .ca_bundle = [this] { return ca_bundle_of(certificate_->source()); },
         .needs_ca = needs_ca_,
         .say = [this](std::string_view level, const std::string& line) { say(level, line); }}));
    Result<void> served = co_await server_.run(stop);
    // The server also ends without having been asked to, if it cannot listen.
    leading.cancel();
    co_await leading.join();
    working.cancel();
    co_await working.join();
    co_return served;
  }

 private:
  gate::GateOptions with_home(gate::GateOptions options, Cluster& cluster, const GateServeFlags& flags) {
    options.registrar.ns = cluster.default_namespace();
    uses_witness_ = flags.shadows;
    if (uses_witness_) options.witness = &witness_;
    if (!flags.service.empty())
      options.registrar.service =
          admission::ServiceReference{.ns = cluster.default_namespace(), .name = flags.service, .path = {}};
    options.say = [this](std::string_view level, const std::string& line) { say(level, line); };
    return options;
  }

  static webhook::ServeSpec with_host(webhook::ServeSpec spec, Cluster& cluster, const GateServeFlags& flags) {
    if (!flags.service.empty())
      spec.host = webhook::ServiceName{.ns = cluster.default_namespace(), .name = flags.service}.host();
    return spec;
  }

  static std::string own_address() {
    const char* address = std::getenv("POD_IP");
    return address ? address : "";
  }

  Task<void> lead() {
    co_await holder_.run();
    co_await holder_.release().uncancelled();
  }

  void say(std::string_view level, const std::string& line) {
    if (level == "warning") log_.warn(line);
    else log_.info(line);
  }

  RealLoop& loop_;
  Cluster& cluster_;
  webhook::Log log_;
  gate::HttpsCaller caller_;
  gate::ShadowWitness witness_;
  bool uses_witness_ = false;
  // A gate at a URL may have a certificate that API servers trust without a caBundle.
  bool needs_ca_;
  gate::Gate gate_;
  std::unique_ptr<ServedCertificate> certificate_;
  webhook::Routes routes_;
  webhook::ClusterSurroundings surroundings_;
  lease::Holder holder_;
  webhook::AdmissionServer server_;
};

Task<int> serve_gate(RealLoop& loop, CancelSource& stop, const Invocation& invocation, const GateServeFlags& flags,
                     GateSpec spec) {
  auto journal = RunJournal::open(loop.clock(), {});
  if (!journal) co_return report(journal.error());
  auto cluster = Cluster::connect(loop, invocation.globals, (*journal)->journal());
  if (!cluster) co_return report(cluster.error());
  Result<void> served;
  {
    GateServer server(loop, **cluster, flags, std::move(spec));
    served = co_await server.run(stop);
  }
  co_await (*cluster)->close();
  co_return served ? int(kDone) : report(served.error());
}

void add_patience_flags(Command command, GateServeFlags& flags) {
  constexpr const char* kHeading = "Patience";
  command
      .option("--patience", flags.patience,
              "How long requests wait for a webhook that was registered lately and has never worked")
      .value("DURATION")
      .show_default()
      .group(kHeading);
  command.option("--patience-gone", flags.patience_gone, "How long requests wait for a webhook that worked before")
      .value("DURATION")
      .show_default()
      .group(kHeading);
  command
      .option("--patience-service-accounts", flags.patience_service_accounts,
              "How long a request of a service account waits; controllers retry by themselves")
      .value("DURATION")
      .show_default()
      .group(kHeading);
  command.option("--holds", flags.holds, "The most requests that are held at a time; others get a 429 and are retried")
      .between(0, 10'000)
      .value("N")
      .show_default()
      .group(kHeading);
  command
      .option("--timeout-seconds", flags.timeout_seconds,
              "Time-out of the gate's configurations: the most that a request is late if the gate hangs")
      .between(1, 10)
      .value("N")
      .show_default()
      .group(kHeading);
  command
      .option("--hold-seconds", flags.hold_seconds,
              "Time-out of the configuration that exists only while a webhook is coming up")
      .between(1, 25)
      .value("N")
      .show_default()
      .group(kHeading);
  command
      .flag("--shadows", flags.shadows,
            "Where the gate's own calls do not show that a webhook works, let the API server call it, by temporary "
            "webhook configurations (docs/proving.md)")
      .group(kHeading);
  command
      .flag("--warnings", flags.warns,
            "Add a warning to the answers of requests that waited; fails kubectl --warnings-as-errors")
      .group(kHeading);
}

void add_gate_server_flags(Command command, GateServeFlags& flags) {
  command.option("--name", flags.name, "Name of the gate: of its Lease, and in the label of its configurations")
      .value("NAME")
      .show_default();
  Flag service = command.option("--service", flags.service, "The gate's Service, in the namespace -n").value("NAME");
  command
      .option("--url", flags.url, "Where API servers reach the gate if it is behind no Service, as https://HOST:PORT")
      .value("URL")
      .excludes(service);
  add_listen_flags(command, flags.listen, "/healthz, /readyz, /metrics and /status");
  add_drain_flags(command, flags.listen, "the gate");
  add_certificate_flags(command, flags.certificate, service);
}

}  // namespace

void add_gate_serve(Command gate, Invocation& invocation) {
  auto flags = std::make_shared<GateServeFlags>();
  Command command = gate.subcommand("serve", "Serve the gate until it is asked to stop");
  add_gate_server_flags(command, *flags);
  add_patience_flags(command, *flags);
  command.footer(
      "The log goes to standard output, one JSON object per line. One of several replicas makes and deletes the "
      "gate's\n"
      "webhook configurations, whose names begin with 0-fairlead-gate-. They stay when the gate ends.\n\n"
      "Examples:\n"
      "  fairlead gate serve -n fairlead-gate --service fairlead-gate --secret fairlead-gate-cert "
      "--manage-certificates\n"
      "  fairlead gate serve --url https://10.0.0.7:9443 --cert-dir certs/ --patience 2m\n\n"
      "Exit codes: 0 stopped as it was asked to, 1 it cannot listen, 64 invalid command line.");
  command.when_chosen([&invocation, flags] {
    invocation.run = [&invocation, flags] {
      Result<GateSpec> spec = gate_spec_of(*flags);
      if (!spec) return report_usage_error(spec.error());
      return run_interruptibly(
          [&](RealLoop& loop, CancelSource& stop) { return serve_gate(loop, stop, invocation, *flags, *spec); },
          LostReader::is_ignored);
    };
  });
}

}  // namespace fairlead::cli
