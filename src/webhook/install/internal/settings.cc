#include "webhook/install/internal/settings.h"

#include <charconv>
#include <cmath>

#include "base/base64.h"
#include "base/printable.h"
#include "object/name.h"
#include "webhook/install/internal/labels.h"
#include "webhook/install/internal/objects.h"
#include "x509/x509.h"

namespace fairlead::webhook::install {
namespace {

using namespace std::chrono_literals;

bool is_name(std::string_view text) {
  auto is_end = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  auto fits = [&](char c) { return is_end(c) || c == '-' || c == '.'; };
  return !text.empty() && text.size() <= 253 && is_end(text.front()) && is_end(text.back()) &&
         std::ranges::all_of(text, fits);
}

// "1h30m", "500ms": as the schema of the chart's values has it. Nothing for another text, or more than 200
// years.
std::optional<Duration> parse_duration(std::string_view text) {
  constexpr double kMost = 200.0 * 365 * 24;
  double hours = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    double number = 0;
    auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc() || text.front() == '-' || text.front() == '.') return std::nullopt;
    text.remove_prefix(size_t(rest - text.data()));
    std::string_view unit = text.substr(0, text.starts_with("ms") ? 2 : 1);
    double per_hour = unit == "h" ? 1 : unit == "m" ? 60 : unit == "s" ? 3600 : unit == "ms" ? 3'600'000 : 0;
    if (per_hour == 0 || !((hours += number / per_hour) < kMost)) return std::nullopt;
    text.remove_prefix(unit.size());
  }
  return std::chrono::milliseconds(std::llround(hours * 3'600'000));
}

// Collects what is wrong, each with the place of the value that has to be changed.
class Checker {
 public:
  explicit Checker(const Values& values) : values_(values) {}

  void add(std::string_view path, std::string what, std::string next = {}) {
    Error error(ErrorKind::invalid, std::move(what));
    if (std::string origin = values_.origin(path); !origin.empty()) error = std::move(error).at(std::move(origin));
    errors_.push_back(next.empty() ? std::move(error) : std::move(error).next(std::move(next)));
  }

  void check_one_of(std::string_view path, const std::vector<std::string>& allowed) {
    std::string value = values_.text(path);
    if (std::ranges::find(allowed, value) != allowed.end()) return;
    add(path, fmt::format("{} must be {}, not \"{}\"", path, fmt::join(allowed, " or "), shown(value)));
  }

  void check_between(std::string_view path, int64_t least, int64_t most) {
    int64_t value = values_.at(path).int_or(0);
    if (value >= least && value <= most) return;
    add(path, fmt::format("{} must be {} to {}, not {}", path, least, most, value));
  }

  // An empty one is not given.
  void check_name(std::string_view path) {
    std::string value = values_.text(path);
    if (value.empty() || is_name(value)) return;
    add(path,
        fmt::format("{} must be a name of lower-case letters, digits, '-' and '.', not \"{}\"", path, shown(value)));
  }

  Duration duration(std::string_view path) {
    std::string value = values_.text(path);
    if (std::optional<Duration> read = parse_duration(value)) return *read;
    add(path, fmt::format("{} must be a duration such as 8760h or 30s, not \"{}\"", path, shown(value)));
    return Duration::zero();
  }

  void check_flaws(std::string_view path, Flaws (*flaws_of)(std::string_view path, const Json& value)) {
    for (std::string& flaw : flaws_of(path, values_.at(path))) add(path, std::move(flaw));
  }

  // An image as container runtimes read it: the tag may end with a digest.
  void check_image(const std::string& path) {
    auto is_plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
    auto has_only = [&](std::string_view text, std::string_view others) {
      return std::ranges::all_of(text, [&](char c) { return is_plain(c) || others.contains(c); });
    };
    std::string repository = values_.text(path + ".repository"), tag = values_.text(path + ".tag");
    if (!repository.empty() && (!is_plain(repository.front()) || !has_only(repository, "._-/:")))
      add(path + ".repository",
          fmt::format("{}.repository must be the name of an image without its tag, such as registry:5000/fairlead, "
                      "not \"{}\"",
                      path, shown(repository)));
    if (!tag.empty() && (tag.front() == '.' || tag.front() == '-' || !has_only(tag, "._-@:")))
      add(path + ".tag", fmt::format("{}.tag must be the tag of an image, not \"{}\"", path, shown(tag)));
  }

  static std::string shown(const std::string& value) { return printable_line(value.substr(0, 100)); }
  bool failed() const { return !errors_.empty(); }
  std::vector<Error> take_errors() { return std::move(errors_); }

 private:
  const Values& values_;
  std::vector<Error> errors_;
};

bool is_bundle(const std::string& text) {
  return x509::Certificate::parse_pem(from_base64(text).value_or("")).has_value();
}

// The hooks run `fairlead certs`. The example of Dynamo's own chart has kubectl there.
void check_generator(Checker& checker, const Values& values, bool makes_own) {
  if (!values.flag("webhook.certGenerator.enabled")) return;
  if (!makes_own)
    checker.add("webhook.certGenerator.enabled",
                "webhook.certGenerator.enabled is only for certificates that Fairlead makes itself");
  std::string repository = values.text("webhook.certGenerator.image.repository");
  if (repository == "kubectl" || repository.ends_with("/kubectl"))
    checker.add("webhook.certGenerator.image.repository",
                "webhook.certGenerator.image must have fairlead in it, which the hooks run, and not kubectl",
                "leave webhook.certGenerator.image out: the image of the server is used then");
}

void check_issuer(Checker& checker, const Values& values) {
  if (!values.text("webhook.certManager.issuerRef.name").empty()) return;
  for (auto [path, own] :
       {std::pair<std::string_view, std::string_view>("webhook.certManager.issuerRef.kind", "Issuer"),
        {"webhook.certManager.issuerRef.group", "cert-manager.io"}})
    if (values.text(path) != own)
      checker.add(path, fmt::format("{} needs a webhook.certManager.issuerRef.name", path),
                  "without a name, an Issuer of its own is made");
}

void check_certificates(Checker& checker, const Release& release, const Values& values) {
  bool is_external = values.flag("webhook.certificateSecret.external");
  bool has_bundle = !values.text("webhook.caBundle").empty();
  if (is_external && values.flag("webhook.certManager.enabled"))
    checker.add("webhook.certificateSecret.external",
                "webhook.certificateSecret.external and webhook.certManager.enabled contradict each other",
                "set one of them to false");
  if (is_external && !has_bundle)
    checker.add("webhook.certificateSecret.external",
                "webhook.caBundle is required when webhook.certificateSecret.external is true", "base64 -w0 < ca.crt");
  if (!is_external && has_bundle)
    checker.add("webhook.caBundle", "webhook.caBundle is only for webhook.certificateSecret.external",
                "remove it: the CA is registered by who makes the certificate");
  if (is_external && has_bundle && !is_bundle(values.text("webhook.caBundle")))
    checker.add("webhook.caBundle", "webhook.caBundle must be the base64 of certificates in PEM",
                "base64 -w0 < ca.crt");
  check_generator(checker, values, !is_external && !values.flag("webhook.certManager.enabled"));
  check_issuer(checker, values);
  bool makes_ca =
      values.flag("webhook.certManager.enabled") && values.text("webhook.certManager.issuerRef.name").empty();
  std::string ca_secret = Settings{.release = release}.name() + "-ca";
  if (makes_ca && values.text("webhook.certificateSecret.name") == ca_secret)
    checker.add("webhook.certificateSecret.name",
                fmt::format("webhook.certificateSecret.name must not be {}: the CA is in that Secret", ca_secret));
}

void check_lifetimes(Checker& checker) {
  const std::string_view path = "webhook.certManager.certificate.duration";
  Duration leaf = checker.duration(path);
  Duration leaf_renew = checker.duration("webhook.certManager.certificate.renewBefore");
  Duration root = checker.duration("webhook.certManager.certificate.rootCA.duration");
  Duration root_renew = checker.duration("webhook.certManager.certificate.rootCA.renewBefore");
  if (checker.failed()) return;
  if (leaf < 1h) checker.add(path, fmt::format("{} must be at least 1h", path));
  if (leaf_renew >= leaf)
    checker.add("webhook.certManager.certificate.renewBefore",
                "webhook.certManager.certificate.renewBefore must be shorter than the duration");
  if (root_renew >= root)
    checker.add("webhook.certManager.certificate.rootCA.renewBefore",
                "webhook.certManager.certificate.rootCA.renewBefore must be shorter than the duration");
  if (leaf > root - root_renew)
    checker.add(path, fmt::format("{} must not be longer than the CA lasts after it should have been renewed: "
                                  "rootCA.duration - rootCA.renewBefore",
                                  path));
}

void check_restriction(Checker& checker, const Values& values) {
  std::string ns = values.text("namespaceRestriction.namespace");
  std::string target = values.text("namespaceRestriction.targetNamespace");
  if (!ns.empty() && !target.empty() && ns != target)
    checker.add("namespaceRestriction.targetNamespace",
                "namespaceRestriction.namespace and namespaceRestriction.targetNamespace contradict each other",
                "remove one of them");
  if (!values.flag("namespaceRestriction.enabled") && !(ns + target).empty())
    checker.add(ns.empty() ? "namespaceRestriction.targetNamespace" : "namespaceRestriction.namespace",
                "a namespace is given, and namespaceRestriction.enabled is false",
                "set namespaceRestriction.enabled to true, or remove the namespace");
  if (values.flag("namespaceRestriction.enabled") && values.text("namespaceRestriction.lease.name").empty())
    checker.add("namespaceRestriction.lease.name",
                "namespaceRestriction.lease.name is empty, and an operator for one namespace has to hold that Lease");
  Duration lasts = checker.duration("namespaceRestriction.lease.duration");
  Duration renewed = checker.duration("namespaceRestriction.lease.renewInterval");
  if (checker.failed()) return;
  if (lasts < 3s || lasts % 1s != Duration::zero())
    checker.add("namespaceRestriction.lease.duration",
                "namespaceRestriction.lease.duration must be whole seconds, and at least 3s");
  if (renewed < 500ms || renewed > lasts / 2)
    checker.add("namespaceRestriction.lease.renewInterval",
                "namespaceRestriction.lease.renewInterval must be at least 500ms, and at most half of the duration");
}

void check_account(Checker& checker, const Values& values) {
  std::string account = values.text("webhook.operatorServiceAccount");
  size_t colon = account.find(':');
  bool is_account = colon != std::string::npos && object::check_namespace(account.substr(0, colon)).has_value() &&
                    is_name(account.substr(colon + 1));
  if (account.empty() || is_account) return;
  checker.add(
      "webhook.operatorServiceAccount",
      fmt::format("webhook.operatorServiceAccount must be NAMESPACE:NAME, not \"{}\"", Checker::shown(account)));
}

// An operator for the whole cluster takes every Lease of the lock's name for the lock of a namespace.
void check_leader(Checker& checker, const Release& release, const Values& values) {
  std::string id = values.text("leaderElection.id");
  if (id.empty()) id = Settings{.release = release}.name();
  if (id != values.text("namespaceRestriction.lease.name")) return;
  checker.add("leaderElection.id",
              "leaderElection.id and namespaceRestriction.lease.name must not be the same: its own namespace would "
              "count as one with an operator of its own");
}

void check_serving(Checker& checker, const Values& values) {
  checker.check_one_of("webhook.logReviews", {"all", "not-allowed", "none"});
  checker.check_between("webhook.maxInFlight", 1, 100000);
  checker.check_name("webhook.clientCA.configMap");
  std::string key = values.text("webhook.clientCA.key");
  if (!object::check_label_key(key) || key.contains('/'))
    checker.add("webhook.clientCA.key",
                fmt::format("webhook.clientCA.key must be a key of a ConfigMap, not \"{}\"", Checker::shown(key)));
  Duration drain = checker.duration("webhook.drain.duration"), limit = checker.duration("webhook.drain.limit");
  if (checker.failed()) return;
  if (limit < drain || limit > 1h)
    checker.add("webhook.drain.limit", "webhook.drain.limit must be at least webhook.drain.duration, and at most 1h");
}

void check_pods(Checker& checker, const Values& values) {
  checker.check_image("webhook.image");
  checker.check_image("webhook.certGenerator.image");
  checker.check_flaws("webhook.namespaceSelector", selector_flaws);
  checker.check_flaws("webhook.nodeSelector", label_flaws);
  checker.check_flaws("webhook.podLabels", label_flaws);
  checker.check_flaws("webhook.podAnnotations", annotation_flaws);
  checker.check_flaws("webhook.serviceAccount.annotations", annotation_flaws);
  for (const Json::Member& label : selector_labels({}))
    if (values.at("webhook.podLabels").contains(label.key))
      checker.add("webhook.podLabels",
                  fmt::format("webhook.podLabels must not have {}: the Service selects by it", label.key));
  for (std::string_view path : {"webhook.imagePullSecrets", "webhook.tolerations", "webhook.topologySpreadConstraints"})
    for (const Json& item : values.at(path).items())
      if (!item.is_object())
        checker.add(path, fmt::format("{} must be a list of mappings, not of {}", path, item.type_name()));
  for (const Json& item : values.at("webhook.extraArgs").items())
    if (!item.is_string())
      checker.add("webhook.extraArgs",
                  fmt::format("webhook.extraArgs must be a list of strings, not of {}", item.type_name()));
}

void check(Checker& checker, const Release& release, const Values& values) {
  checker.check_one_of("webhook.failurePolicy", {"Fail", "Ignore"});
  checker.check_one_of("webhook.certManager.issuerRef.kind", {"Issuer", "ClusterIssuer"});
  for (std::string_view path : {"webhook.image.pullPolicy", "webhook.certGenerator.image.pullPolicy"})
    checker.check_one_of(path, {"Always", "IfNotPresent", "Never"});
  checker.check_between("webhook.timeoutSeconds", 1, 30);
  checker.check_between("webhook.certificateValidity", 31, 36500);
  checker.check_between("webhook.replicas", 1, 100);
  for (std::string_view path :
       {"webhook.certificateSecret.name", "namespaceRestriction.namespace", "namespaceRestriction.targetNamespace",
        "namespaceRestriction.lease.name", "leaderElection.id", "leaderElection.namespace",
        "webhook.plannerServiceAccount", "webhook.certManager.issuerRef.name", "kubernetesClusterDomain",
        "webhook.priorityClassName"})
    checker.check_name(path);
  for (std::string_view path : {"kubernetesClusterDomain", "webhook.image.repository"})
    if (values.text(path).empty()) checker.add(path, fmt::format("{} is empty", path));
  check_account(checker, values);
  check_pods(checker, values);
  check_certificates(checker, release, values);
  check_leader(checker, release, values);
  check_lifetimes(checker);
  check_restriction(checker, values);
  check_serving(checker, values);
}

std::string or_else(std::string value, const std::string& fallback) { return value.empty() ? fallback : value; }

Image image_at(const Values& values, const std::string& path, const Image& fallback, const std::string& version) {
  std::string repository = values.text(path + ".repository");
  Image image{.name = fallback.name, .pull_policy = values.text(path + ".pullPolicy")};
  if (!repository.empty()) image.name = repository + ":" + or_else(values.text(path + ".tag"), version);
  return image;
}

void fill_certificates(Settings& settings, const Values& values) {
  if (values.flag("webhook.certManager.enabled")) settings.certificates = Certificates::cert_manager;
  if (values.flag("webhook.certificateSecret.external")) settings.certificates = Certificates::external;
  settings.secret =
      or_else(values.text("webhook.certificateSecret.name"), settings.release.name + "-webhook-server-cert");
  settings.ca_bundle = values.text("webhook.caBundle");
  settings.validity_days = values.at("webhook.certificateValidity").int_or(0);
  settings.issuer_group = values.text("webhook.certManager.issuerRef.group");
  settings.issuer_kind = values.text("webhook.certManager.issuerRef.kind");
  settings.issuer = values.text("webhook.certManager.issuerRef.name");
  settings.duration = values.text("webhook.certManager.certificate.duration");
  settings.renew_before = values.text("webhook.certManager.certificate.renewBefore");
  settings.root_duration = values.text("webhook.certManager.certificate.rootCA.duration");
  settings.root_renew_before = values.text("webhook.certManager.certificate.rootCA.renewBefore");
  settings.has_hooks = settings.has_webhook && values.flag("webhook.certGenerator.enabled");
}

void fill_scope(Settings& settings, const Values& values) {
  settings.failure_policy = values.text("webhook.failurePolicy");
  settings.timeout_seconds = values.at("webhook.timeoutSeconds").int_or(0);
  settings.namespace_selector = values.at("webhook.namespaceSelector");
  if (settings.namespace_selector.members().empty()) settings.namespace_selector = nullptr;
  settings.lock_name = values.text("namespaceRestriction.lease.name");
  settings.lock_duration = values.text("namespaceRestriction.lease.duration");
  settings.lock_renew = values.text("namespaceRestriction.lease.renewInterval");
  settings.leader_lease = or_else(values.text("leaderElection.id"), settings.name());
  settings.leader_namespace = or_else(values.text("leaderElection.namespace"), settings.release.ns);
  settings.cluster_domain = values.text("kubernetesClusterDomain");
  if (!values.flag("namespaceRestriction.enabled")) return;
  std::string given =
      or_else(values.text("namespaceRestriction.namespace"), values.text("namespaceRestriction.targetNamespace"));
  settings.only_namespace = or_else(given, settings.release.ns);
  if (!settings.namespace_selector.is_null())
    settings.warnings.push_back(
        fmt::format("webhook.namespaceSelector is ignored: with namespaceRestriction, only namespace {} is checked",
                    settings.only_namespace));
  settings.namespace_selector =
      Json::Object{{"matchLabels", Json::Object{{"kubernetes.io/metadata.name", settings.only_namespace}}}};
}

void fill_serving(Settings& settings, const Values& values) {
  settings.client_ca = values.text("webhook.clientCA.configMap");
  settings.client_ca_key = values.text("webhook.clientCA.key");
  settings.drain = values.text("webhook.drain.duration");
  settings.drain_limit = values.text("webhook.drain.limit");
  // After that, it ends what is in flight.
  Duration limit = parse_duration(settings.drain_limit).value_or(Duration::zero());
  settings.grace_seconds = std::chrono::ceil<std::chrono::seconds>(limit).count() + 45;
  settings.max_in_flight = values.at("webhook.maxInFlight").int_or(0);
  settings.log_reviews = values.text("webhook.logReviews");
}

void fill_workload(Settings& settings, const Values& values) {
  if (std::string account = values.text("webhook.operatorServiceAccount"); !account.empty())
    settings.operator_account = "system:serviceaccount:" + account;
  settings.planner_account = values.text("webhook.plannerServiceAccount");
  settings.image = image_at(values, "webhook.image", {}, settings.release.version);
  settings.hook_image = image_at(values, "webhook.certGenerator.image", settings.image, settings.release.version);
  settings.replicas = settings.has_webhook ? values.at("webhook.replicas").int_or(1) : 1;
  settings.has_budget = settings.replicas > 1 && values.flag("webhook.podDisruptionBudget.enabled");
  settings.has_network_policy = values.flag("webhook.networkPolicy.enabled");
  settings.pull_secrets = values.at("webhook.imagePullSecrets");
  settings.resources = values.at("webhook.resources");
  settings.node_selector = values.at("webhook.nodeSelector");
  settings.tolerations = values.at("webhook.tolerations");
  settings.affinity = values.at("webhook.affinity");
  settings.spread = values.at("webhook.topologySpreadConstraints");
  settings.priority_class = values.text("webhook.priorityClassName");
  settings.pod_labels = values.at("webhook.podLabels");
  settings.pod_annotations = values.at("webhook.podAnnotations");
  for (const Json& argument : values.at("webhook.extraArgs").items())
    settings.extra_arguments.emplace_back(argument.string_or(""));
  settings.account_annotations = values.at("webhook.serviceAccount.annotations");
}

}  // namespace

std::string Settings::configuration() const {
  return release.name + "-validating" + (only_namespace.empty() ? "" : "-" + only_namespace);
}

std::expected<Settings, std::vector<Error>> settings_of(const Release& release, const Values& values) {
  Checker checker(values);
  check(checker, release, values);
  if (checker.failed()) return std::unexpected(checker.take_errors());
  Settings settings{.release = release, .has_webhook = values.flag("webhook.enabled")};
  fill_certificates(settings, values);
  fill_scope(settings, values);
  fill_serving(settings, values);
  fill_workload(settings, values);
  return settings;
}

}  // namespace fairlead::webhook::install
