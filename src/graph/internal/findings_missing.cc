#include <map>
#include <unordered_set>

#include "graph/internal/findings.h"

namespace fairlead::graph {
namespace {

class Missing {
 public:
  explicit Missing(GraphBuilder& builder) : builder_(builder) {}

  void run() {
    find_namespaces();
    find_kinds();
    find_policies();
    find_services();
  }

 private:
  void refuse(NodeId object, Error error) {
    builder_.contents->add_problem(Severity::error, std::move(error).at(builder_.position(object)), object);
  }

  void find_namespaces() {
    if (!builder_.cluster.namespaces_known) return;
    std::unordered_set<std::string_view> there;
    for (const Json& ns : builder_.cluster.namespaces) there.insert(ns["metadata"]["name"].string_or(""));
    std::map<std::string_view, std::vector<NodeId>> missing;
    for (NodeId i : builder_.objects()) {
      const std::string& ns = builder_.key(i).ns;
      if (ns.empty() || builder_.contents->left_out[i] || there.contains(ns)) continue;
      if (builder_.find({.group = "", .kind = "Namespace", .ns = {}, .name = ns}) == kNoNode) missing[ns].push_back(i);
    }
    for (const auto& [ns, objects] : missing)
      refuse(objects[0], Error(ErrorKind::not_found, fmt::format("{} cannot be applied", builder_.text_of(objects)))
                             .because(fmt::format("namespace {} is neither in the bundle nor in the cluster", ns))
                             .next(fmt::format("add it to the bundle, or: kubectl create namespace {}", ns)));
  }

  void find_kinds() {
    std::map<uint32_t, std::vector<NodeId>> missing;
    for (NodeId i : builder_.objects()) {
      Kind::Served served = builder_.kind(i).served;
      if (served != Kind::Served::yes && served != Kind::Served::not_known && !builder_.contents->left_out[i])
        missing[builder_.kind_of[i]].push_back(i);
    }
    for (const auto& [number, objects] : missing) {
      Error error(ErrorKind::not_found, fmt::format("{} cannot be applied", builder_.text_of(objects)));
      const Kind& kind = builder_.kinds[number];
      refuse(objects[0], std::move(error).because(kind.served == Kind::Served::other_versions ? in_other_versions(kind)
                                                                                              : in_no_version(kind)));
    }
  }

  static Error in_other_versions(const Kind& kind) {
    std::vector<std::string> versions;
    for (const admission::Equivalent& other : kind.equivalents) versions.push_back(other.kind.api_version());
    return Error(ErrorKind::not_found,
                 fmt::format("its CRD serves {}, not {}",
                             versions.empty() ? "no version" : fmt::format("{}", fmt::join(versions, ", ")),
                             kind.kind.api_version()))
        .next("change its apiVersion, or the CRD");
  }

  Error in_no_version(const Kind& kind) const {
    Error error = builder_.cluster.why_missing
                      ? builder_.cluster.why_missing(kind.kind.group, kind.kind.version, kind.kind.kind)
                      : Error(ErrorKind::not_found, fmt::format("the cluster does not serve kind {} in {}",
                                                                kind.kind.kind, kind.kind.api_version()));
    if (!error.next().empty()) return error;
    if (find_built_in(kind.kind.group, kind.kind.kind) || kind.kind.group.empty())
      return std::move(error).next("change its apiVersion or kind: kubectl api-resources");
    return std::move(error).next(
        fmt::format("add its CRD to the bundle, or mark the object that makes it with the annotation "
                    "fairlead.dev/makes: {}.{}",
                    kind.kind.kind, kind.kind.group));
  }

  void find_policies() {
    if (!builder_.cluster.policies_known) return;
    std::unordered_set<std::string> there;
    auto id = [](std::string_view kind, std::string_view name) { return std::string(kind).append("/").append(name); };
    for (const Json& policy : builder_.cluster.policies)
      there.insert(id(policy["kind"].string_or(""), policy["metadata"]["name"].string_or("")));
    for (NodeId i : builder_.objects()) {
      if (builder_.family(i) != Family::policy_binding || builder_.contents->left_out[i]) continue;
      std::string_view kind = builder_.key(i).kind;
      kind.remove_suffix(std::string_view("Binding").size());
      std::string_view name = builder_.value(i)["spec"]["policyName"].string_or("");
      bool in_bundle = builder_.find({.group = builder_.key(i).group, .kind = kind, .ns = {}, .name = name}) != kNoNode;
      if (in_bundle || there.contains(id(kind, name))) continue;
      refuse(i, Error(ErrorKind::not_found, fmt::format("{} binds nothing", builder_.key(i).text()))
                    .because(fmt::format("{} {} is neither in the bundle nor in the cluster", kind, name))
                    .next("add the policy to the bundle, or change spec.policyName"));
    }
  }

  bool has_service(const admission::ServiceReference& service) const {
    if (builder_.find({.group = "", .kind = "Service", .ns = service.ns, .name = service.name}) != kNoNode) return true;
    return std::ranges::any_of(builder_.cluster.services, [&](const Json& live) {
      return live["metadata"]["namespace"].string_or("") == service.ns &&
             live["metadata"]["name"].string_or("") == service.name;
    });
  }

  void find_services() {
    const plan::IdVector<GuardId, Guard>& guards = builder_.contents->guards;
    plan::IdVector<GuardId, bool> dead(guards.size());
    for (GuardId g : guards.ids()) {
      const Guard& guard = guards[g];
      bool is_admission = guard.webhook.has_value();
      if (!guard.service || (is_admission && guard.ignore)) continue;
      if (builder_.cluster.services_known && !has_service(*guard.service)) dead[g] = true;
      if (guard.object) find_in_bundle(guard, dead[g]);
    }
    find_orphans(dead);
  }

  // Reports a guard of the bundle if nothing will answer for it.
  void find_in_bundle(const Guard& guard, bool is_dead) {
    std::string service = fmt::format("Service {}/{}", guard.service->ns, guard.service->name);
    if (is_dead)
      return refuse(*guard.object,
                    Error(ErrorKind::not_found, fmt::format("{} can never answer", guard.text()))
                        .because(fmt::format("its {} is neither in the bundle nor in the cluster", service))
                        .next("add the Service to the bundle, or correct the reference"));
    NodeId node = builder_.find({.group = "", .kind = "Service", .ns = guard.service->ns, .name = guard.service->name});
    if (node == kNoNode || builder_.value(node)["spec"]["selector"].members().empty()) return;
    bool is_answered = std::ranges::any_of(guard.backed_by, [&](NodeId object) {
      return builder_.family(object) == Family::workload || builder_.family(object) == Family::pod;
    });
    if (is_answered) return;
    builder_.contents->add_problem(
        Severity::warning,
        Error(ErrorKind::not_found, fmt::format("{} may never answer", guard.text()))
            .because(fmt::format("{} selects no pods of the bundle", service))
            .at(builder_.position(node))
            .next(fmt::format("compare its selector with the labels of the pods: kubectl -n {} get pods --show-labels",
                              guard.service->ns)),
        node);
  }

  struct Victims {
    std::vector<NodeId> objects;
    bool certain = false;
  };

  // Reports webhooks, conversions and APIServices that an earlier installation left behind. They refuse every object
  // that they match.
  void find_orphans(const plan::IdVector<GuardId, bool>& dead) {
    std::map<GuardId, Victims> orphans;
    for (NodeId i : builder_.objects()) {
      for (const GuardMatch& match : builder_.contents->matches_of(i)) {
        if (!dead[match.guard] || builder_.contents->guards[match.guard].object) continue;
        Victims& victims = orphans[match.guard];
        victims.objects.push_back(i);
        victims.certain |= match.certainty == admission::Certainty::certainly;
      }
    }
    for (const auto& [g, victims] : orphans) {
      const Guard& guard = builder_.contents->guards[g];
      Error error =
          Error(ErrorKind::unavailable, fmt::format("{} {} refuse {}", guard.text(), victims.certain ? "will" : "may",
                                                    builder_.text_of(victims.objects)))
              .because(fmt::format("its Service {}/{} is neither in the cluster nor in the bundle", guard.service->ns,
                                   guard.service->name))
              .at(builder_.position(victims.objects[0]));
      if (guard.webhook || guard.kind == Guard::Kind::api_service)
        error = std::move(error).next(
            fmt::format("kubectl delete {} {}", lower(guard.configuration.kind), guard.configuration.name));
      else error = std::move(error).next(fmt::format("kubectl get crd {} -o yaml", guard.configuration.name));
      builder_.contents->add_problem(victims.certain ? Severity::error : Severity::warning, std::move(error),
                                     victims.objects[0]);
    }
  }

  GraphBuilder& builder_;
};

}  // namespace

void find_missing(GraphBuilder& builder) { Missing(builder).run(); }

}  // namespace fairlead::graph
