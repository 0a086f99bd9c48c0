#include <map>

#include "graph/internal/guards.h"
#include "graph/internal/label_index.h"
#include "graph/internal/pods.h"

namespace fairlead::graph {
namespace {

// The objects of the bundle behind a Service, which may be in the bundle or in the cluster. Webhooks often share a
// Service.
struct Answering {
  NodeId service = kNoNode;
  std::vector<NodeId> workloads;
  std::vector<NodeId> secrets;
};

// Every such Job is compared with every guard, so their number is limited.
constexpr size_t kMostJobs = 64;

class Stands {
 public:
  explicit Stands(GraphBuilder& builder) : builder_(builder) {
    for (const Json& service : builder.cluster.services) {
      const Json& metadata = service["metadata"];
      live_services_[{std::string(metadata["namespace"].string_or("")), std::string(metadata["name"].string_or(""))}] =
          &service;
    }
    for (NodeId i : builder.objects())
      if (certificate_jobs_.size() < kMostJobs && builder.family(i) == Family::job && !builder.contents->left_out[i] &&
          mentions(i, {"cert"}, true))
        certificate_jobs_.push_back(i);
  }

  void run() {
    for (GuardId guard : builder_.contents->guards.ids())
      add(builder_.contents->guards[guard], builder_.guard_node(guard));
  }

 private:
  void add(Guard& guard, NodeId node) {
    if (guard.object) {
      bool is_definition = guard.kind == Guard::Kind::conversion;
      builder_.need(node, *guard.object, is_definition ? Level::ready : Level::stored, true,
                    is_definition ? "its CRD" : "its configuration");
    }
    if (guard.kind == Guard::Kind::validating_policy || guard.kind == Guard::Kind::mutating_policy)
      add_policy(guard, node);
    if (!guard.service) return;
    const Answering& answering = behind(*guard.service);
    stand(guard, node, answering.service, Level::stored, "its Service");
    std::string answers = fmt::format("answers behind Service {}/{}", guard.service->ns, guard.service->name);
    for (NodeId workload : answering.workloads) stand(guard, node, workload, Level::ready, answers);
    for (NodeId secret : answering.secrets) stand(guard, node, secret, Level::stored, "its certificate");
    add_certificate(guard, node);
  }

  void stand(Guard& guard, NodeId node, NodeId object, Level level, std::string_view reason) {
    if (object == kNoNode || std::ranges::find(guard.backed_by, object) != guard.backed_by.end()) return;
    guard.backed_by.push_back(object);
    builder_.need(node, object, level, true, reason);
  }

  void add_policy(Guard& guard, NodeId node) {
    bool mutating = guard.kind == Guard::Kind::mutating_policy;
    NodeId policy = builder_.find({.group = guard.configuration.group,
                                   .kind = mutating ? "MutatingAdmissionPolicy" : "ValidatingAdmissionPolicy",
                                   .ns = {},
                                   .name = guard.name});
    stand(guard, node, policy, Level::stored, "its policy");
    const Json* form =
        policy == kNoNode ? find_live(builder_.cluster.policies, guard, guard.name) : &builder_.value(policy);
    const Json* binding = guard.object ? &builder_.value(*guard.object)
                                       : find_live(builder_.cluster.bindings, guard, guard.configuration.name);
    if (form == nullptr || binding == nullptr) return;
    const Json& kind = (*form)["spec"]["paramKind"];
    for (NodeId parameter : find_parameters(builder_, kind, (*binding)["spec"]["paramRef"]))
      stand(guard, node, parameter, Level::stored, "its parameters");
    if (Result<object::ApiVersion> version = object::ApiVersion::parse(kind["apiVersion"].string_or("")))
      stand(guard, node,
            builder_.kinds[builder_.kinds.number_of(version->group, version->version, kind["kind"].string_or(""))]
                .definition_object,
            Level::ready, "the CRD of its parameters");
  }

  // Finds a policy or binding in the cluster, of the guard's kind (mutating or validating).
  static const Json* find_live(const std::vector<Json>& list, const Guard& guard, std::string_view name) {
    bool mutating = guard.kind == Guard::Kind::mutating_policy;
    for (const Json& one : list)
      if (one["metadata"]["name"].string_or("") == name &&
          one["kind"].string_or("").starts_with("Mutating") == mutating)
        return &one;
    return nullptr;
  }

  const Answering& behind(const admission::ServiceReference& reference) {
    auto [entry, is_new] = answering_.try_emplace({reference.ns, reference.name});
    Answering& answering = entry->second;
    if (!is_new) return answering;
    answering.service = builder_.find({.group = "", .kind = "Service", .ns = reference.ns, .name = reference.name});
    const Json* service = nullptr;
    if (answering.service != kNoNode) service = &builder_.value(answering.service);
    else if (auto live = live_services_.find({reference.ns, reference.name}); live != live_services_.end())
      service = live->second;
    if (service == nullptr) return answering;
    if (!workloads_) workloads_.emplace(builder_);
    answering.workloads = workloads_->find(reference.ns, (*service)["spec"]["selector"]);
    for (NodeId workload : answering.workloads) {
      const Json* pod = find_pod(builder_.family(workload), builder_.value(workload));
      for (const Json& volume : (*pod)["spec"]["volumes"].items()) {
        NodeId secret = builder_.find_secret(reference.ns, volume["secret"]["secretName"].string_or(""));
        if (secret != kNoNode) answering.secrets.push_back(secret);
      }
    }
    return answering;
  }

  // cert-manager injects the CA into objects with its annotations. Other projects use Jobs that create certificates.
  void add_certificate(Guard& guard, NodeId node) {
    if (guard.object) {
      const object::Object& configuration = builder_.bundle.objects[guard.object->index()];
      auto named = [&](std::string_view annotation, auto find) {
        std::string_view text = configuration.annotation(annotation);
        size_t slash = text.find('/');
        if (slash != std::string_view::npos)
          stand(guard, node, find(text.substr(0, slash), text.substr(slash + 1)), Level::stored, "its certificate");
      };
      named("cert-manager.io/inject-ca-from", [&](std::string_view ns, std::string_view name) {
        return builder_.find({.group = "cert-manager.io", .kind = "Certificate", .ns = ns, .name = name});
      });
      named("cert-manager.io/inject-ca-from-secret",
            [&](std::string_view ns, std::string_view name) { return builder_.find_secret(ns, name); });
    }
    for (NodeId job : certificate_jobs_) {
      if (builder_.key(job).ns != guard.service->ns) continue;
      bool of_configuration = mentions(job, {guard.configuration.name}, false);
      if (!of_configuration && !mentions(job, {guard.service->name}, false)) continue;
      stand(guard, node, job, Level::ready, "makes its certificate");
      if (of_configuration && guard.object) builder_.soft(job, *guard.object, "it puts the certificate there");
    }
  }

  // True if the command line of a container contains one of the words. With `anywhere`, the name of the Job and the
  // images of its containers count as well.
  bool mentions(NodeId job, std::initializer_list<std::string_view> words, bool anywhere) const {
    auto has = [&](std::string_view text) {
      return std::ranges::any_of(
          words, [&](std::string_view word) { return !word.empty() && text.find(word) != std::string_view::npos; });
    };
    if (anywhere && has(builder_.key(job).name)) return true;
    const Json* pod = find_pod(Family::job, builder_.value(job));
    if (pod == nullptr) return false;
    for (const Json& container : (*pod)["spec"]["containers"].items()) {
      if (anywhere && has(container["image"].string_or(""))) return true;
      for (std::string_view list : {"command", "args"})
        for (const Json& argument : container[list].items())
          if (has(argument.string_or(""))) return true;
    }
    return false;
  }

  using Name = std::pair<std::string, std::string>;

  GraphBuilder& builder_;
  std::optional<LabelIndex> workloads_;
  std::map<Name, const Json*> live_services_;
  std::map<Name, Answering> answering_;
  std::vector<NodeId> certificate_jobs_;
};

}  // namespace

void add_backing(GraphBuilder& builder) { Stands(builder).run(); }

}  // namespace fairlead::graph
