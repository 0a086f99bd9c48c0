#include "retry/failure.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/json.h"
#include "base/plain_text.h"
#include "retry/internal/output_text.h"

namespace fairlead::retry {
namespace {

using What = Missing::What;

constexpr size_t kMostMissing = 20;
constexpr size_t kMaxText = 600;

// Bytes, not characters: outputs are not always UTF-8.
RE2 pattern(std::string_view text) { return RE2(text, RE2::Latin1); }

bool has(std::string_view text, const RE2& wanted) { return RE2::PartialMatch(text, wanted); }

// Calls `use` with the groups of each place where the pattern matches.
template <size_t Groups>
void each(std::string_view text, const RE2& wanted, auto use) {
  std::array<std::string, Groups> groups;
  re2::StringPiece rest(text.data(), text.size());
  auto next = [&] {
    if constexpr (Groups == 1) return RE2::FindAndConsume(&rest, wanted, &groups[0]);
    else if constexpr (Groups == 2) return RE2::FindAndConsume(&rest, wanted, &groups[0], &groups[1]);
    else return RE2::FindAndConsume(&rest, wanted, &groups[0], &groups[1], &groups[2]);
  };
  while (next()) use(groups);
}

std::string said(std::string_view text) { return plain_text(text, kMaxText); }

// The groups that the API server serves by itself: no CRD adds a kind to them.
bool is_built_in(std::string_view group) {
  if (!group.contains('.')) return true;
  constexpr std::string_view kNames[] = {"admissionregistration",
                                         "apiextensions",
                                         "apiregistration",
                                         "authentication",
                                         "authorization",
                                         "certificates",
                                         "coordination",
                                         "discovery",
                                         "events",
                                         "networking",
                                         "flowcontrol.apiserver",
                                         "internal.apiserver",
                                         "node",
                                         "rbac.authorization",
                                         "resource",
                                         "scheduling",
                                         "storage",
                                         "storagemigration"};
  constexpr std::string_view kDomain = ".k8s.io";
  if (!group.ends_with(kDomain)) return false;
  return std::ranges::find(kNames, group.substr(0, group.size() - kDomain.size())) != std::end(kNames);
}

// Collects what an output tells.
class Reader {
 public:
  explicit Reader(std::string_view output) : text_(unwrapped(output)) {}

  Failure read() {
    read_webhooks("failed calling webhook \"", false);
    read_webhooks("failed calling admission webhook \"", false);
    read_webhooks("conversion webhook for ", true);
    read_kinds();
    read_apis();
    read_refusals();
    read_helm();
    decide();
    return std::move(failure_);
  }

 private:
  void add(Missing missing) {
    if (missing.text.empty() || failure_.missing.size() >= kMostMissing) return;
    bool is_known = std::ranges::any_of(failure_.missing, [&](const Missing& one) { return one.is(missing); });
    if (!is_known) failure_.missing.push_back(std::move(missing));
  }
  void refuse(std::string cause, std::string next = {}) {
    if (!refusal_.empty()) return;
    refusal_ = std::move(cause);
    refusal_next_ = std::move(next);
  }

  void read_webhooks(std::string_view prefix, bool is_conversion);
  void read_webhook(std::string_view message, bool is_conversion);
  void read_kinds();
  void add_kind(std::string_view group, std::string_view version, std::string_view kind);
  void read_apis();
  void read_refusals();
  void read_helm();
  void decide();
  void decide_cut();
  bool decide_other();

  std::string text_;
  Failure failure_;
  // What was refused for good, and what counts only if nothing is missing.
  std::string refusal_;
  std::string refusal_next_;
  std::string remark_;
  std::string remark_next_;
};

// Where a message ends that goes on as another one on the same line.
size_t end_of_message(std::string_view line) {
  static const RE2 ends = pattern(
      R"(^(.*?(?:connect: [a-z ]*(?:refused|permitted|timed out|unreachable|to host)|" not found|)"
      R"(no endpoints available for service "[^"]*"|i/o timeout|no such host|TLS handshake timeout|)"
      R"(context deadline exceeded(?: \(Client\.Timeout exceeded while awaiting headers\))?|)"
      R"(connection reset by peer|: EOF|http2: client connection lost|)"
      R"(certificate signed by unknown authority(?: \(possibly because of "[^"]*"(?: while trying to verify candidate authority certificate "[^"]*")?\))?|)"
      R"(the server could not find the requested resource|the server is currently unable to handle the request)))");
  std::string found;
  if (RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), ends, &found)) return found.size();
  while (!line.empty() && std::string_view("\"'`.,;)]} ").contains(line.back())) line.remove_suffix(1);
  return line.size();
}

void Reader::read_webhooks(std::string_view prefix, bool is_conversion) {
  std::string_view text = text_;
  for (size_t at = text.find(prefix); at != std::string_view::npos; at = text.find(prefix, at)) {
    std::string_view line = text.substr(at, text.find('\n', at) - at);
    // Its own name may have the words in which messages end.
    size_t name_ends = std::min(line.find(is_conversion ? " failed: " : "\": ", prefix.size()), line.size());
    std::string_view message = line.substr(0, name_ends + end_of_message(line.substr(name_ends)));
    read_webhook(message, is_conversion);
    at += std::max(message.size(), prefix.size());
  }
}

void Reader::read_webhook(std::string_view message, bool is_conversion) {
  Json status(Json::Object{{"message", fmt::format("Internal error occurred: {}", message)},
                           {"reason", "InternalError"},
                           {"code", int64_t{500}}});
  kube::Fault fault = kube::classify_status("PATCH", "", status);
  if (!fault.webhook) return;
  if (fault.disposition == kube::Disposition::permanent) {
    refuse(fault.explanation, fault.advice);
    return;
  }
  add({.what = is_conversion ? What::conversion : What::webhook,
       .webhook = *fault.webhook,
       .name = fault.webhook->name,
       .text = fault.explanation});
}

void Reader::add_kind(std::string_view group, std::string_view version, std::string_view kind) {
  std::string place = fmt::format("{}{}{}", group, group.empty() || version.empty() ? "" : "/", version);
  std::string text = fmt::format("the cluster does not serve kind {} of {}", said(kind), said(place));
  if (is_built_in(group)) {
    refuse(std::move(text), "kubectl api-resources");
    return;
  }
  std::string name =
      version.empty() ? fmt::format("{}.{}", kind, group) : fmt::format("{}.{}.{}", kind, version, group);
  add({.what = What::kind, .name = said(name), .text = std::move(text)});
}

void Reader::read_kinds() {
  // kubectl, Helm, Pulumi and Flux; also "in group" of Terraform's kubernetes provider.
  static const RE2 in_group = pattern(R"re(no matches for kind "([\w-]{1,200})" in group "([\w.-]{1,250})")re");
  static const RE2 invalid =
      pattern(R"re(resource \[(?:([\w.-]{1,250})/)?([\w-]{1,60})/([\w-]{1,200})\] isn't valid for cluster)re");
  static const RE2 of_argo = pattern(R"re(The Kubernetes API could not find ([\w.-]{1,250})/([\w-]{1,200}) for)re");
  static const RE2 of_pulumi =
      pattern(R"re(following GVK is namespaced: (?:([\w.-]{1,250})/)?([\w-]{1,60}), Kind=([\w-]{1,200}))re");
  static const RE2 of_version = pattern(R"re(no matches for kind "([\w-]{1,200})" in version "([\w./-]{1,300})")re");
  static const RE2 unknown_type = pattern(R"re(the server doesn't have a resource type "([\w.-]{1,250})")re");
  static const RE2 unserved =
      pattern(R"re(the server could not find the requested resource \(\w+ ([\w-]{1,100}\.[\w.-]{1,250})\))re");
  static const RE2 no_definition =
      pattern(R"re(customresourcedefinitions\.apiextensions\.k8s\.io "([\w.-]{1,250})" not found)re");

  each<2>(text_, of_version, [&](const auto& found) {
    size_t slash = found[1].find('/');
    bool is_core = slash == std::string::npos;
    add_kind(is_core ? "" : found[1].substr(0, slash), is_core ? found[1] : found[1].substr(slash + 1), found[0]);
  });
  each<2>(text_, in_group, [&](const auto& found) { add_kind(found[1], "", found[0]); });
  each<2>(text_, of_argo, [&](const auto& found) { add_kind(found[0], "", found[1]); });
  each<3>(text_, invalid, [&](const auto& found) { add_kind(found[0], found[1], found[2]); });
  each<3>(text_, of_pulumi, [&](const auto& found) { add_kind(found[0], found[1], found[2]); });
  each<1>(text_, unknown_type, [&](const auto& found) {
    add({.what = What::kind,
         .name = found[0],
         .text = fmt::format("the cluster serves no resource type \"{}\"", found[0])});
  });
  each<1>(text_, unserved, [&](const auto& found) {
    if (!is_built_in(found[0].substr(found[0].find('.') + 1)))
      add({.what = What::definition,
           .name = found[0],
           .text = fmt::format("the API server does not serve {}", found[0])});
  });
  each<1>(text_, no_definition, [&](const auto& found) {
    add({.what = What::definition, .name = found[0], .text = fmt::format("CRD {} does not exist", found[0])});
  });
}

void Reader::read_apis() {
  static const RE2 busy = pattern(
      R"re(the server is currently unable to handle the request \(\w+ [\w-]{1,100}\.([\w-]{1,100}\.[\w.-]{1,250})\))re");
  static const RE2 undiscovered = pattern(R"re(complete list of server APIs: ([^\n]*))re");
  static const RE2 version = pattern(
      R"re(([\w.-]{1,250})/([\w-]{1,60}): (?:the server is currently unable to handle the request|stale GroupVersion discovery))re");
  static const RE2 absent = pattern(R"re(apiservices\.apiregistration\.k8s\.io "([\w.-]{1,250})" not found)re");
  auto add_api = [&](const std::string& name) {
    add({.what = What::api, .name = name, .text = fmt::format("the server of API {} does not answer", name)});
  };
  each<1>(text_, undiscovered, [&](const auto& list) {
    each<2>(list[0], version, [&](const auto& found) { add_api(fmt::format("{}.{}", found[1], found[0])); });
  });
  each<1>(text_, busy, [&](const auto& found) {
    auto is_of_group = [&](const Missing& one) { return one.what == What::api && one.name.ends_with("." + found[0]); };
    if (!is_built_in(found[0]) && std::ranges::none_of(failure_.missing, is_of_group)) add_api(found[0]);
  });
  each<1>(text_, absent, [&](const auto& found) {
    add({.what = What::api, .name = found[0], .text = fmt::format("APIService {} does not exist", found[0])});
  });
}

void Reader::read_refusals() {
  static const RE2 verdict =
      pattern(R"re((admission webhook "[^"\n]{1,300}" (?:denied the request[^\n]*|does not support dry run)))re");
  static const RE2 forbidden = pattern(R"re(((?:[\w.]+ "[^"\n]{1,300}"|[\w.]+) is forbidden: [^\n]*))re");
  static const RE2 invalid = pattern(R"re(([\w.]+ "[^"\n]{1,300}" is invalid)(: [^\n]*)?)re");
  static const RE2 owned = pattern(
      R"re(([\w.]+ "[^"\n]{1,300}" (?:in namespace "[^"\n]*" )?exists and cannot be imported into the current release))re");
  static const RE2 exists = pattern(R"re(([\w.]+ "[^"\n]{1,300}" already exists))re");
  static const RE2 absent = pattern(R"re(([\w.]+ "[^"\n]{1,300}" not found))re");
  each<1>(text_, verdict, [&](const auto& found) {
    Json status(Json::Object{{"message", found[0]}, {"reason", "BadRequest"}, {"code", int64_t{400}}});
    kube::Fault fault = kube::classify_status("PATCH", "", status);
    if (fault.webhook) refuse(fault.explanation, fault.advice);
  });
  each<1>(text_, forbidden, [&](const auto& found) { refuse(said(found[0]), "kubectl auth can-i --list"); });
  each<2>(text_, invalid, [&](const auto& found) {
    // What is said about a Secret may quote it.
    bool is_secret = found[0].contains("ecret");
    refuse(said(is_secret ? found[0] : found[0] + found[1]));
  });
  each<1>(text_, owned, [&](const auto& found) {
    refuse(said(found[0]), "helm upgrade --install --take-ownership takes it over; or delete it");
  });
  std::string name;
  if (RE2::PartialMatch(text_, exists, &name)) {
    remark_ = said(name);
    remark_next_ = "use a command that can be run again, such as kubectl apply or helm upgrade --install";
  } else if (RE2::PartialMatch(text_, absent, &name)) {
    remark_ = said(name);
  }
}

void Reader::read_helm() {
  static const RE2 installation = pattern(R"(INSTALLATION FAILED: )");
  static const RE2 rolled_back =
      pattern(R"(has been (?:uninstalled|rolled back) due to (?:atomic|rollback-on-failure) being set)");
  failure_.is_installation = has(text_, installation);
  failure_.is_rolled_back = has(text_, rolled_back);
}

bool Reader::decide_other() {
  struct Known {
    std::string_view pattern;
    std::string_view cause;
    std::string_view next;
  };
  static constexpr Known kKnown[] = {
      {R"(has no deployed releases)", "the Helm release was never deployed",
       "helm upgrade --install installs it; helm history shows what is left of an earlier attempt"},
      {R"(Kubernetes cluster unreachable|Unable to connect to the server|The connection to the server [^\n]* was refused)",
       "the API server cannot be reached", "kubectl cluster-info"},
      {R"(timed out waiting for the condition|context deadline exceeded)",
       "it waited for something that did not come true in time", "fairlead doctor"},
  };
  for (const Known& known : kKnown) {
    if (!has(text_, pattern(known.pattern))) continue;
    failure_.cause = known.cause;
    failure_.next = known.next;
    return true;
  }
  return false;
}

void Reader::decide() {
  static const RE2 pending = pattern(R"(another operation \(install/upgrade/rollback\) is in progress)");
  static const RE2 in_use = pattern(R"(cannot re-?use a name that is still in use)");
  if (has(text_, pending)) {
    failure_.kind = Failure::Kind::release_pending;
    failure_.cause = "an earlier operation on the Helm release has not ended";
    failure_.next = "helm list --all-namespaces --pending";
  } else if (has(text_, in_use)) {
    failure_.kind = Failure::Kind::name_in_use;
    failure_.cause = "a Helm release of that name exists";
    failure_.next = "helm list --all-namespaces --all";
  } else if (!refusal_.empty()) {
    failure_.kind = Failure::Kind::refused;
    failure_.cause = refusal_;
    failure_.next = refusal_next_;
  } else if (!failure_.missing.empty()) {
    failure_.kind = Failure::Kind::missing;
    failure_.cause = failure_.missing.front().text;
  } else if (!decide_other()) {
    failure_.cause = remark_;
    failure_.next = remark_next_;
    if (remark_.empty()) decide_cut();
  }
}

// Programs cut long lines.
void Reader::decide_cut() {
  static const RE2 cut = pattern(R"re(failed calling (?:admission )?webhook "([A-Za-z0-9.-]+)")re");
  std::string name;
  if (!RE2::PartialMatch(text_, cut, &name)) return;
  failure_.cause = fmt::format("webhook {} could not be called, and the output does not say why", said(name));
  failure_.next = fmt::format("fairlead doctor webhook {}", said(name));
}

}  // namespace

std::string Missing::subject() const {
  switch (what) {
    case What::webhook: return "webhook " + name;
    case What::conversion: return "conversion webhook for " + name;
    case What::kind: return "kind " + name;
    case What::definition: return "CRD " + name;
    case What::api: return "API " + name;
  }
  return name;
}

bool Missing::is(const Missing& other) const {
  return what == other.what && name == other.name && webhook.ns == other.webhook.ns &&
         webhook.service == other.webhook.service;
}

std::string_view name_of(Failure::Kind kind) {
  switch (kind) {
    case Failure::Kind::missing: return "missing";
    case Failure::Kind::release_pending: return "release pending";
    case Failure::Kind::name_in_use: return "name in use";
    case Failure::Kind::refused: return "refused";
    case Failure::Kind::other: return "other";
  }
  return "";
}

Failure read_failure(std::string_view output) { return Reader(output).read(); }

}  // namespace fairlead::retry
