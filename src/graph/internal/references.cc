#include "graph/internal/references.h"

#include "graph/internal/label_index.h"
#include "graph/internal/pods.h"
#include "graph/kind_generators.h"

namespace fairlead::graph {
namespace {

constexpr std::string_view kStorage = "storage.k8s.io";

class References {
 public:
  explicit References(GraphBuilder& builder) : builder_(builder) {}

  void run() {
    for (NodeId i : builder_.objects())
      if (!builder_.contents->left_out[i] && builder_.family(i) == Family::role_binding) add_role_binding(i);
    for (NodeId i : builder_.objects()) {
      if (builder_.contents->left_out[i]) continue;
      add_home(i);
      add_of_family(i);
    }
  }

 private:
  void add_home(NodeId object) {
    const std::string& ns = builder_.key(object).ns;
    if (!ns.empty())
      builder_.need(object, builder_.find({.group = "", .kind = "Namespace", .ns = {}, .name = ns}), Level::stored,
                    true, "its namespace");
    builder_.need(object, builder_.kind(object).definition_object, Level::ready, true, "its CRD");
    for (NodeId generator : builder_.kind(object).kind_generators) builder_.soft(object, generator, kMakesItsKind);
  }

  void add_of_family(NodeId object) {
    auto spec = [&]() -> const Json& { return builder_.value(object)["spec"]; };
    switch (builder_.family(object)) {
      case Family::pod:
      case Family::workload:
      case Family::job:
      case Family::cron_job: add_workload(object); break;
      case Family::service_account: add_service_account(object); break;
      case Family::volume:
      case Family::volume_claim: add_claim(object, spec()); break;
      case Family::ingress: add_ingress(object, spec()); break;
      case Family::autoscaler: add_scale_target(object, spec()["scaleTargetRef"]); break;
      case Family::disruption_budget: add_budget(object, spec()); break;
      case Family::certificate: add_certificate(object, spec()); break;
      case Family::issuer: add_issuer(object, spec()); break;
      case Family::external_secret: add_store(object, spec()["secretStoreRef"]); break;
      case Family::secret_store_user:
        for (const Json& store : spec()["secretStoreRefs"].items()) add_store(object, store);
        break;
      case Family::policy: add_policy(object, spec()); break;
      case Family::policy_binding: add_policy_binding(object, spec()); break;
      case Family::api_service: add_api_service(object, spec()); break;
      default: break;
    }
  }

  NodeId find(std::string_view group, std::string_view kind, std::string_view ns, std::string_view name) const {
    if (name.empty()) return kNoNode;
    return builder_.find({.group = group, .kind = kind, .ns = ns, .name = name});
  }

  void add_workload(NodeId object) {
    const std::string& ns = builder_.key(object).ns;
    const Json& value = builder_.value(object);
    if (const Json* pod = find_pod(builder_.family(object), value)) {
      visit_references((*pod)["spec"], [&](const Reference& reference) {
        bool in_namespace = reference.group.empty();
        NodeId target = reference.kind == "Secret"
                            ? builder_.find_secret(ns, reference.name)
                            : find(reference.group, reference.kind,
                                   in_namespace ? std::string_view(ns) : std::string_view(), reference.name);
        if (target != kNoNode) builder_.soft(object, target, reference.reason());
        if (reference.kind == "ServiceAccount") add_rights(object, ns, reference.name);
      });
      visit_words((*pod)["spec"], [&](std::string_view word) { add_mentioned(object, ns, word); });
    }
    // Only a StatefulSet has these fields.
    builder_.soft(object, find("", "Service", ns, value["spec"]["serviceName"].string_or("")), "its Service");
    for (const Json& claim : value["spec"]["volumeClaimTemplates"].items())
      builder_.soft(object, find(kStorage, "StorageClass", {}, claim["spec"]["storageClassName"].string_or("")),
                    "its StorageClass");
  }

  // Many controllers get the name of a ConfigMap or Secret as an argument and read it through the API.
  void add_mentioned(NodeId object, std::string_view ns, std::string_view word) {
    if (word.starts_with(ns) && word.substr(ns.size()).starts_with('/')) word.remove_prefix(ns.size() + 1);
    for (std::string_view kind : {"ConfigMap", "Secret"})
      builder_.soft(object, find("", kind, ns, word), "it is told its name");
  }

  // A ServiceAccount must have its rights before the pods that use them start.
  void add_rights(NodeId object, std::string_view ns, std::string_view account) {
    auto found = rights_.find({.group = "", .kind = "ServiceAccount", .ns = ns, .name = account});
    if (found == rights_.end()) return;
    Rights& rights = found->second;
    if (rights.bindings.size() > 1 && rights.node == kNoNode) {
      rights.node =
          builder_.add_named(Node::Kind::all_of, fmt::format("the rights of ServiceAccount {}/{}", ns, account));
      for (NodeId binding : rights.bindings) builder_.soft(rights.node, binding, "a right of the ServiceAccount");
    }
    builder_.soft(object, rights.node == kNoNode ? rights.bindings[0] : rights.node,
                  "the rights of its ServiceAccount");
  }

  void add_role_binding(NodeId object) {
    const Json& value = builder_.value(object);
    const std::string& ns = builder_.key(object).ns;
    std::string_view role_kind = value["roleRef"]["kind"].string_or("");
    builder_.soft(object,
                  find(kRights, role_kind, role_kind == "Role" ? std::string_view(ns) : std::string_view(),
                       value["roleRef"]["name"].string_or("")),
                  "its role");
    for (const Json& subject : value["subjects"].items()) {
      if (subject["kind"].string_or("") != "ServiceAccount") continue;
      KeyView account{.group = "",
                      .kind = "ServiceAccount",
                      .ns = subject["namespace"].string_or(ns),
                      .name = subject["name"].string_or("")};
      builder_.soft(object, builder_.find(account), "its subject");
      std::vector<NodeId>& bindings = rights_[account].bindings;
      if (bindings.empty() || bindings.back() != object) bindings.push_back(object);
    }
  }

  void add_service_account(NodeId object) {
    for (const Json& secret : builder_.value(object)["imagePullSecrets"].items())
      builder_.soft(object, builder_.find_secret(builder_.key(object).ns, secret["name"].string_or("")),
                    "its image pull secret");
  }

  void add_claim(NodeId object, const Json& spec) {
    builder_.soft(object, find(kStorage, "StorageClass", {}, spec["storageClassName"].string_or("")),
                  "its StorageClass");
    builder_.soft(object, find("", "PersistentVolume", {}, spec["volumeName"].string_or("")), "its volume");
  }

  void add_ingress(NodeId object, const Json& spec) {
    const std::string& ns = builder_.key(object).ns;
    auto backend = [&](const Json& to) {
      builder_.soft(object, find("", "Service", ns, to["service"]["name"].string_or("")), "its backend");
    };
    backend(spec["defaultBackend"]);
    for (const Json& rule : spec["rules"].items())
      for (const Json& path : rule["http"]["paths"].items()) backend(path["backend"]);
    builder_.soft(object, find("networking.k8s.io", "IngressClass", {}, spec["ingressClassName"].string_or("")),
                  "its IngressClass");
    for (const Json& tls : spec["tls"].items())
      builder_.soft(object, builder_.find_secret(ns, tls["secretName"].string_or("")), "its certificate");
  }

  void add_scale_target(NodeId object, const Json& target) {
    std::string_view api_version = target["apiVersion"].string_or("");
    size_t slash = api_version.find('/');
    std::string_view group = slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
    builder_.soft(object,
                  find(group, target["kind"].string_or(""), builder_.key(object).ns, target["name"].string_or("")),
                  "what it scales");
  }

  void add_budget(NodeId object, const Json& spec) {
    for (NodeId workload : workloads().find(builder_.key(object).ns, spec["selector"]["matchLabels"]))
      builder_.soft(object, workload, "what it protects");
  }

  void add_certificate(NodeId object, const Json& spec) {
    const Json& issuer = spec["issuerRef"];
    std::string_view kind = issuer["kind"].string_or("Issuer");
    builder_.soft(object,
                  find(issuer["group"].string_or("cert-manager.io"), kind,
                       kind == "ClusterIssuer" ? std::string_view() : std::string_view(builder_.key(object).ns),
                       issuer["name"].string_or("")),
                  "its issuer");
  }

  void add_issuer(NodeId object, const Json& spec) {
    // Secrets of a ClusterIssuer are in the namespace of cert-manager.
    const std::string& ns = builder_.key(object).ns;
    builder_.soft(object,
                  builder_.find_secret(ns.empty() ? "cert-manager" : ns, spec["ca"]["secretName"].string_or("")),
                  "its CA");
  }

  void add_store(NodeId object, const Json& store) {
    std::string_view kind = store["kind"].string_or("SecretStore");
    builder_.soft(object,
                  find("external-secrets.io", kind,
                       kind == "SecretStore" ? std::string_view(builder_.key(object).ns) : std::string_view(),
                       store["name"].string_or("")),
                  "its store");
  }

  void add_policy(NodeId object, const Json& spec) {
    const Json& parameter = spec["paramKind"];
    if (!parameter.is_object()) return;
    Result<object::ApiVersion> version = object::ApiVersion::parse(parameter["apiVersion"].string_or(""));
    if (!version) return;
    uint32_t kind = builder_.kinds.number_of(version->group, version->version, parameter["kind"].string_or(""));
    builder_.soft(object, builder_.kinds[kind].definition_object, "the CRD of its parameters");
  }

  void add_policy_binding(NodeId object, const Json& spec) {
    std::string_view kind = builder_.key(object).kind;
    kind.remove_suffix(std::string_view("Binding").size());
    std::string_view name = spec["policyName"].string_or("");
    NodeId policy = find(builder_.key(object).group, kind, {}, name);
    builder_.soft(object, policy, "its policy");
    if (policy == kNoNode) return;
    for (NodeId parameter : find_parameters(builder_, builder_.value(policy)["spec"]["paramKind"], spec["paramRef"]))
      builder_.soft(object, parameter, "its parameters");
  }

  void add_api_service(NodeId object, const Json& spec) {
    builder_.soft(
        object, find("", "Service", spec["service"]["namespace"].string_or(""), spec["service"]["name"].string_or("")),
        "its Service");
  }

  const LabelIndex& workloads() {
    if (!workloads_) workloads_.emplace(builder_);
    return *workloads_;
  }

  struct Rights {
    std::vector<NodeId> bindings;
    NodeId node = kNoNode;
  };

  GraphBuilder& builder_;
  std::unordered_map<KeyView, Rights, KeyView::Hash> rights_;
  std::optional<LabelIndex> workloads_;
};

}  // namespace

void add_references(GraphBuilder& builder) { References(builder).run(); }

}  // namespace fairlead::graph
