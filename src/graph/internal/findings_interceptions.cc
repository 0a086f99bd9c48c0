#include <map>

#include "graph/internal/findings.h"
#include "graph/internal/implicit_objects.h"

namespace fairlead::graph {
namespace {

constexpr size_t kMostNamed = 5;

class Interceptions {
 public:
  explicit Interceptions(GraphBuilder& builder) : builder_(builder) {}

  void run() {
    std::map<GuardId, std::vector<NodeId>> own;
    std::map<GuardId, std::vector<NodeId>> before;
    for (const Exemption& exemption : builder_.contents->exemptions)
      (exemption.precedes ? before : own)[exemption.guard].push_back(exemption.object);
    for (const auto& [guard, objects] : own) report_own(guard, objects);
    for (const auto& [guard, objects] : before) report_before(guard, objects);
    for (const Guard& guard : builder_.contents->guards)
      if (guard.object && guard.webhook && !guard.ignore) {
        report_system(guard);
        if (sees_record(builder_, guard)) report_record(guard);
      }
  }

 private:
  bool meets_by_pods(NodeId object, GuardId guard) const {
    return std::ranges::any_of(builder_.contents->matches_of(object),
                               [&](const GuardMatch& m) { return m.guard == guard && m.by_pods; });
  }

  void report_own(GuardId number, const std::vector<NodeId>& objects) {
    const Guard& guard = builder_.contents->guards[number];
    std::string list;
    for (size_t i = 0; i < std::min(objects.size(), kMostNamed); ++i) {
      if (i > 0) list += ", ";
      if (meets_by_pods(objects[i], number)) list += "the pods of ";
      list += builder_.key(objects[i]).text();
    }
    if (objects.size() > kMostNamed) list += fmt::format(" and {} more", objects.size() - kMostNamed);
    bool is_dangerous = guard.webhook && guard.object && !guard.ignore;
    NodeId at = guard.object.value_or(objects[0]);
    Error error(ErrorKind::invalid, fmt::format("{} intercepts objects that it depends on: {}", guard.text(), list));
    if (is_dangerous) {
      std::string ns = guard.service ? guard.service->ns : "";
      error = std::move(error)
                  .because(
                      "its failurePolicy is Fail: while it does not answer, these can be neither repaired nor replaced")
                  .next(fmt::format("exclude its own namespace with a namespaceSelector: {{key: "
                                    "kubernetes.io/metadata.name, operator: NotIn, values: [{}]}}; or label these "
                                    "objects and exclude that label with an objectSelector",
                                    ns));
    } else {
      error = std::move(error).because("these are applied without waiting for it");
    }
    builder_.contents->add_problem(is_dangerous ? Severity::warning : Severity::note,
                                   std::move(error).at(builder_.position(at)), at);
  }

  void report_before(GuardId number, const std::vector<NodeId>& objects) {
    const Guard& guard = builder_.contents->guards[number];
    builder_.contents->add_problem(
        Severity::note,
        Error(ErrorKind::invalid, fmt::format("{} {} not wait for {}", builder_.text_of(objects),
                                              objects.size() == 1 ? "does" : "do", guard.text()))
            .because("waves or hooks order them before the objects that the webhook needs")
            .at(builder_.position(objects[0])),
        objects[0]);
  }

  void report_record(const Guard& guard) {
    const Options& options = builder_.options;
    builder_.contents->add_problem(
        Severity::warning,
        Error(ErrorKind::invalid, fmt::format("{} intercepts the inventory of the bundle, ConfigMap {}/{}",
                                              guard.text(), options.default_namespace, options.inventory))
            .because("its failurePolicy is Fail: while it does not answer, no run can claim the bundle or add objects "
                     "to its inventory")
            .at(builder_.position(*guard.object))
            .next("exclude inventories with an objectSelector: {key: applyset.kubernetes.io/id, operator: "
                  "DoesNotExist}"),
        *guard.object);
  }

  void report_system(const Guard& guard) {
    std::string list;
    std::string namespaces;
    auto add = [&](std::string what, std::string_view ns) {
      list += (list.empty() ? "" : " and ") + std::move(what);
      if (!namespaces.ends_with(ns)) namespaces += (namespaces.empty() ? "" : ", ") + std::string(ns);
    };
    constexpr ImplicitObject kLease{.group = "coordination.k8s.io", .kind = "Lease", .plural = "leases", .name = ""};
    constexpr ImplicitObject kPod{.group = "", .kind = "Pod", .plural = "pods", .name = ""};
    for (const char* ns : {"kube-node-lease", "kube-system"})
      if (sees_in_system(guard, kLease, ns)) add(fmt::format("Leases in {}", ns), ns);
    if (sees_in_system(guard, kPod, "kube-system")) add("pods in kube-system", "kube-system");
    if (list.empty()) return;
    builder_.contents->add_problem(
        Severity::warning,
        Error(ErrorKind::invalid, fmt::format("{} intercepts {}", guard.text(), list))
            .because("its failurePolicy is Fail: while it does not answer, the cluster cannot run its own components")
            .at(builder_.position(*guard.object))
            .next(fmt::format("exclude these namespaces with a namespaceSelector: {{key: kubernetes.io/metadata.name, "
                              "operator: NotIn, values: [{}]}}",
                              namespaces)),
        *guard.object);
  }

  GraphBuilder& builder_;
};

}  // namespace

void find_interceptions(GraphBuilder& builder) { Interceptions(builder).run(); }

}  // namespace fairlead::graph
