#include "base/printable.h"
#include "certs/engine.h"
#include "certs/show.h"
#include "certs/verify.h"
#include "cli/commands/certificate_tools.h"
#include "cli/commands/commands.h"
#include "cli/commands/query.h"
#include "cli/core/connect.h"
#include "cli/core/error_report.h"
#include "cli/core/exit_code.h"
#include "manifest/files.h"
#include "report/output.h"

namespace fairlead::cli {
namespace {

constexpr size_t kMaxBundle = size_t{1} << 20;

struct CertsFlags {
  std::string secret;
  std::string service;
  std::string cluster_domain = "cluster.local";
  std::string validity = "3650d";
  std::string renew_before;
  certs::Targets targets;
  std::string ca_bundle_file;
  bool force = false;
  bool finish = false;
  bool dry_run = false;
  std::string output = "text";

  bool is_text() const { return output == "text"; }
};

Result<certs::Spec> spec_of(const CertsFlags& flags, std::string ns) {
  certs::Spec spec;
  spec.ns = std::move(ns);
  spec.service = flags.service;
  spec.secret = flags.secret;
  spec.cluster_domain = flags.cluster_domain;
  TRY_ASSIGN(spec.validity, read_days("--validity", flags.validity));
  spec.renew_before = certs::default_renew_before(spec.validity);
  if (!flags.renew_before.empty()) {
    TRY_ASSIGN(spec.renew_before, read_days("--renew-before", flags.renew_before));
  }
  TRY(certs::check(spec));
  return spec;
}

// What the subcommands work with.
struct Kit {
  certs::Spec spec;
  certs::ClusterProofs proofs;
  certs::Engine engine;

  Kit(Cluster& cluster, certs::Spec what, const CertsFlags& flags)
      : spec(std::move(what)),
        proofs(cluster.client(), spec, proof_options(cluster)),
        engine(cluster.client(), spec, flags.targets, proofs, engine_options(flags)) {}

  static certs::Engine::Options engine_options(const CertsFlags& flags) {
    auto say = [prefix = flags.dry_run ? "dry run: " : ""](const std::string& line) {
      report::print(stdout, fmt::format("{}{}\n", prefix, printable_line(line)));
      std::fflush(stdout);
    };
    certs::Engine::Options options;
    options.dry_run = flags.dry_run;
    if (flags.is_text()) options.say = say;
    return options;
  }
};

int print(const CertsFlags& flags, const certs::Summary& summary, const std::string& text, bool is_good) {
  print_result(flags.output, text, certs::json_of(summary), summary.notes);
  return is_good ? kDone : kFailed;
}

Task<Result<int>> ensure(Cluster& cluster, Kit& kit, const CertsFlags& flags) {
  CO_TRY_ASSIGN(certs::Ensured ensured, co_await kit.engine.ensure());
  certs::Summary summary{
      .spec = kit.spec, .material = ensured.material, .next = ensured.judgement, .taken = ensured.taken};
  std::string text;
  if (ensured.taken.empty())
    text = fmt::format("Secret {}/{} is kept: {}\n", kit.spec.ns, kit.spec.secret, ensured.judgement.reason);
  if (ensured.judgement.step != certs::Step::keep)
    summary.notes.push_back(fmt::format("fairlead certs rotate has to {}: {}", certs::text_of(ensured.judgement.step),
                                        ensured.judgement.reason));
  (void)cluster;
  co_return print(flags, summary, text, true);
}

// What is stored, for commands that need a certificate.
Task<Result<certs::Stored>> read_stored(Cluster& cluster, const certs::Spec& spec) {
  certs::Store store(cluster.client(), spec);
  CO_TRY_ASSIGN(certs::Stored stored, co_await store.read());
  if (!stored.material.is_empty()) co_return stored;
  co_return fail(Error(ErrorKind::not_found, fmt::format("Secret {}/{} has no certificate", spec.ns, spec.secret))
                     .next(fmt::format("fairlead certs ensure -n {} --service {} --secret {}", spec.ns, spec.service,
                                       spec.secret)));
}

Task<Result<int>> inject(Cluster& cluster, Kit& kit, const CertsFlags& flags) {
  CO_TRY_ASSIGN(certs::Stored stored, co_await read_stored(cluster, kit.spec));
  WallTime now = cluster.loop().clock().wall_now();
  if (std::optional<std::string> flaw = certs::flaw_of(stored.material, stored.material.bundle, kit.spec, now))
    co_return fail(Error(ErrorKind::invalid,
                         fmt::format("the certificate in Secret {}/{} cannot be used", kit.spec.ns, kit.spec.secret))
                       .because(*flaw)
                       .next("fairlead certs ensure makes a new one"));
  CO_TRY_ASSIGN(certs::InjectReport report, co_await kit.engine.inject(stored.material, {.force = flags.force}));
  certs::Summary summary{
      .spec = kit.spec, .material = stored.material, .places = report.places, .notes = report.absent};
  summary.next = certs::judge(stored.material, kit.spec, now);
  for (const std::string& one : report.unreadable) summary.notes.push_back(one);
  if (report.has_stale)
    summary.notes.emplace_back("an old CA stays, until it is proved that nobody serves its certificate");
  std::string text;
  for (const certs::Injection& one : report.places)
    if (one.how != certs::Injection::How::injected) text += certs::places_text({one}, false);
  bool has_callers = !report.places.empty();
  if (!has_callers) summary.notes.push_back(certs::no_caller_text(kit.spec));
  co_return print(flags, summary, text, has_callers && report.is_complete() && report.absent.empty());
}

Task<Result<int>> rotate(Cluster& cluster, Kit& kit, const CertsFlags& flags) {
  CO_TRY_ASSIGN(certs::Rotated rotated,
                co_await kit.engine.rotate(flags.finish ? certs::Begin::never : certs::Begin::now));
  certs::Summary summary{.spec = kit.spec,
                         .material = rotated.material,
                         .taken = rotated.taken,
                         .evidence = rotated.evidence,
                         .places = rotated.injected.places,
                         .notes = rotated.injected.unreadable};
  summary.next = certs::judge(rotated.material, kit.spec, cluster.loop().clock().wall_now());
  std::string text;
  if (rotated.taken.empty())
    text = fmt::format("no rotation of Secret {}/{} is under way\n", kit.spec.ns, kit.spec.secret);
  else if (flags.dry_run)
    text = fmt::format("would {}: {}\n", certs::text_of(rotated.taken.back().step), rotated.taken.back().reason);
  else text = fmt::format("rotated: {}\n", summary.next.reason);
  co_return print(flags, summary, text, true);
}

Task<Result<int>> show(Cluster& cluster, Kit& kit, const CertsFlags& flags) {
  certs::Store store(cluster.client(), kit.spec);
  CO_TRY_ASSIGN(certs::Stored stored, co_await store.read());
  WallTime now = cluster.loop().clock().wall_now();
  certs::Summary summary{.spec = kit.spec, .material = stored.material};
  summary.next = certs::judge(stored.material, kit.spec, now);
  bool works = !certs::flaw_of(stored.material, stored.material.bundle, kit.spec, now);
  co_return print(flags, summary, certs::certificates_text(summary), works);
}

Result<std::optional<std::string>> read_bundle_file(const std::string& path) {
  if (path.empty()) return std::nullopt;
  TRY_ASSIGN(std::string text, manifest::read_file(path, kMaxBundle));
  return text;
}

Task<Result<int>> verify(Cluster& cluster, Kit& kit, const CertsFlags& flags) {
  CO_TRY_ASSIGN(std::optional<std::string> bundle, read_bundle_file(flags.ca_bundle_file));
  certs::Store store(cluster.client(), kit.spec);
  CO_TRY_ASSIGN(certs::Stored stored, co_await store.read());
  certs::Summary summary{.spec = kit.spec, .material = stored.material};
  summary.next = certs::judge(stored.material, kit.spec, cluster.loop().clock().wall_now());
  CO_TRY_ASSIGN(summary.findings, co_await certs::verify(cluster.client(), kit.spec, flags.targets, stored.material,
                                                         std::move(bundle), kit.proofs));
  co_return print(flags, summary, certs::findings_text(summary.findings), certs::is_healthy(summary.findings));
}

using Work = Task<Result<int>> (*)(Cluster& cluster, Kit& kit, const CertsFlags& flags);

Task<Result<int>> with_kit(Cluster& cluster, const CertsFlags& flags, Work work) {
  CO_TRY_ASSIGN(certs::Spec spec, spec_of(flags, cluster.default_namespace()));
  Kit kit(cluster, std::move(spec), flags);
  co_return co_await work(cluster, kit, flags);
}

int run(const Invocation& invocation, const CertsFlags& flags, Work work) {
  // What is wrong with the flags is said before a cluster is asked for; the namespace is not known yet.
  if (Result<certs::Spec> spec = spec_of(flags, "default"); !spec) return report_usage_error(spec.error());
  return run_query(invocation.globals, [&](Cluster& cluster) { return with_kit(cluster, flags, work); });
}

void add_common_flags(Command command, CertsFlags& flags) {
  command.option("--service", flags.service, "The Service through which the API server calls the webhook")
      .value("NAME")
      .required();
  command
      .option("--secret", flags.secret, "The Secret with ca.crt, tls.crt and tls.key; the CA's own key is in NAME-ca")
      .value("NAME")
      .required();
  command.option("--cluster-domain", flags.cluster_domain, "The DNS domain of the cluster")
      .value("DOMAIN")
      .show_default();
  command
      .option("--renew-before", flags.renew_before,
              "How long before its end a certificate is renewed, such as 30d; 30 days, or a third of the validity")
      .value("DURATION");
  command.option("-o,--output", flags.output, "What to print: text, json or yaml").one_of({"text", "json", "yaml"});
}

void add_making_flags(Command command, CertsFlags& flags) {
  command.option("--validity", flags.validity, "How long new certificates are valid, such as 90d or 12h")
      .value("DURATION")
      .show_default();
  command.flag("--dry-run", flags.dry_run, "Say what would be done, and do nothing");
}

void add_target_flags(Command command, CertsFlags& flags) {
  std::string rest = "; without any of these flags, all that call the Service; may be repeated";
  command.option("--webhook,--configuration", flags.targets.webhooks, "A validating or mutating configuration" + rest)
      .value("NAME")
      .repeatable();
  command.option("--crd", flags.targets.definitions, "A CRD with a conversion webhook; may be repeated")
      .value("NAME")
      .repeatable();
  command.option("--apiservice", flags.targets.api_services, "An APIService; may be repeated")
      .value("NAME")
      .repeatable();
}

struct Subcommand {
  const char* name;
  const char* description;
  Work work;
  bool makes = false;
  bool has_targets = false;
  const char* footer;
};

void add(Command group, Invocation& invocation, const Subcommand& what) {
  auto flags = std::make_shared<CertsFlags>();
  Command command = group.subcommand(what.name, what.description);
  add_common_flags(command, *flags);
  if (what.makes) add_making_flags(command, *flags);
  if (what.has_targets) add_target_flags(command, *flags);
  if (what.work == inject) {
    command.flag("--dry-run", flags->dry_run, "Say what would be written, and write nothing");
    command.flag("--force", flags->force, "Also write caBundles that somebody else owns");
  }
  if (what.work == rotate) command.flag("--finish", flags->finish, "Only finish a rotation that is under way");
  if (what.work == verify)
    command
        .option("--ca-bundle-file", flags->ca_bundle_file,
                "Also compare with the caBundle in this file, as PEM or in base64")
        .value("FILE");
  command.footer(what.footer);
  command.when_chosen([&invocation, flags, work = what.work] {
    invocation.run = [&invocation, flags, work] { return run(invocation, *flags, work); };
  });
}

}  // namespace

void add_certs(Command app, Invocation& invocation) {
  Command command = app.subcommand("certs", "Make, inject, rotate and check the certificates of a webhook");
  command.requires_subcommand();
  add(command, invocation,
      {.name = "ensure",
       .description = "Make or renew the CA and the certificate, unless those that are stored are good",
       .work = ensure,
       .makes = true,
       .footer =
           "Examples:\n"
           "  fairlead certs ensure -n shop --service hook --secret hook-cert\n"
           "  fairlead certs ensure -n shop --service hook --secret hook-cert --validity 90d --dry-run\n\n"
           "If it runs several times at once, all runs agree on one certificate. A certificate that works is replaced\n"
           "only by one that the same clients trust; if that takes a new CA, fairlead certs rotate is needed.\n\n"
           "Exit codes: 0 there is a good certificate, 1 failed, 64 invalid command line, 130 interrupted."});
  add(command, invocation,
      {.name = "inject",
       .description = "Write the CA into every caBundle through which the Service is called",
       .work = inject,
       .has_targets = true,
       .footer =
           "Examples:\n"
           "  fairlead certs inject -n shop --service hook --secret hook-cert\n"
           "  fairlead certs inject -n shop --service hook --secret hook-cert --webhook shop --crd "
           "berths.example.com\n\n"
           "Only what differs is written. A caBundle that somebody else owns, such as cert-manager, is left and\n"
           "reported. CAs of others in a caBundle stay.\n\n"
           "Exit codes: 0 everything trusts the CA, 1 something does not, nothing calls the Service, or it failed,\n"
           "64 invalid command line, 130 interrupted."});
  add(command, invocation,
      {.name = "rotate",
       .description = "Replace the CA by one with a new key, without a request that fails",
       .work = rotate,
       .makes = true,
       .has_targets = true,
       .footer =
           "Examples:\n"
           "  fairlead certs rotate -n shop --service hook --secret hook-cert\n"
           "  fairlead certs rotate -n shop --service hook --secret hook-cert --finish\n\n"
           "The new CA is added to each caBundle beside the old one; once API servers use it, the certificate is\n"
           "replaced; once every endpoint serves that, the old CA is removed. If it is interrupted at any point, the\n"
           "next rotation goes on from there.\n\n"
           "Exit codes: 0 done, 1 failed, 64 invalid command line, 130 interrupted."});
  add(command, invocation,
      {.name = "show",
       .description = "Show the certificates that are stored, and what happens to them next",
       .work = show,
       .footer = "Example:\n"
                 "  fairlead certs show -n shop --service hook --secret hook-cert\n\n"
                 "Exit codes: 0 the certificate works, 1 it does not, or it failed, 64 invalid command line,\n"
                 "130 interrupted."});
  add(command, invocation,
      {.name = "verify",
       .description = "Check the stored certificate against every caBundle, and against what is served",
       .work = verify,
       .has_targets = true,
       .footer =
           "Examples:\n"
           "  fairlead certs verify -n shop --service hook --secret hook-cert\n"
           "  fairlead certs verify -n shop --service hook --secret hook-cert --ca-bundle-file bundle.pem\n\n"
           "Nothing is changed, except for a moment by proofs (docs/proving.md). Certificates of other tools can\n"
           "be checked as well.\n\n"
           "Exit codes: 0 nothing is wrong, 1 something is, nothing calls the Service, or it failed,\n"
           "64 invalid command line, 130 interrupted."});
}

}  // namespace fairlead::cli
