// Causes of findings, each made to happen in a sandbox as users make it happen, and found there.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/examine_testing.h"
#include "doctor/internal/bundles.h"
#include "doctor/reading.h"
#include "history/compress.h"

namespace fairlead::doctor {
namespace {

using std::chrono::minutes;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

constexpr auto kDay = std::chrono::hours(24);
constexpr std::string_view kConfiguration = "validatingwebhookconfigurations/widgets";

constexpr std::string_view kDefinition = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
)";

constexpr std::string_view kInstance = R"(
apiVersion: example.com/v1
kind: Widget
metadata: {name: one, namespace: default}
)";

// The healthy cluster of the other tests, with a CRD and an instance: all that somebody installs is created through the
// API, and the sandbox makes the rest. Tests break it as people do.
class HealthyCluster : public ExamineTest {
 public:
  void SetUp() override {
    add(kDefinition);
    pass(minutes(1));
    for (object::Object& one : manifest::bundle_of(kHealthyCluster).objects) {
      Json object = std::move(one).take_value();
      if (is_made_by_the_cluster(object)) continue;
      add_object(object);
      // Pods need the ServiceAccount of their namespace.
      if (object["kind"].string_or("") == "Namespace") pass(minutes(1));
    }
    serve_with(leaf(365 * kDay));
    trust(ca_.certificate);
    sandbox_.webhooks().serve("operator/hook", [this](http::Request request) -> Task<Result<http::Response>> {
      ++calls_;
      Json review = *Json::parse(request.body);
      review.make("response") = Json::Object{{"uid", review["request"]["uid"]}, {"allowed", true}};
      co_return http::Response{200, {{"Content-Type", "application/json"}}, review.dump(), 0};
    });
    pass(minutes(10));
    add(kInstance);
  }

  void pass(Duration time) { (void)loop_.run(sleep_for(loop_, time)); }

  void add(std::string_view yaml) {
    for (object::Object& one : manifest::bundle_of(yaml).objects) add_object(std::move(one).take_value());
  }
  void add_object(const Json& object) {
    object::Key key = key_of(object);
    auto created = loop_.run(client_.create(resource_of(key.kind), key.ns, object));
    ASSERT_TRUE(created) << key.text() << ": " << created.error().error().message();
  }
  // Sets a field of an object, which is written as "deployments/operator/hook", or "nodes/one" without a namespace.
  void set(std::string_view what, std::string_view path, const Json& value, std::string subresource = {}) {
    Json::Array steps{Json::Object{{"op", "add"}, {"path", path}, {"value", value}}};
    Place at = find(what);
    kube::WriteOptions options;
    options.subresource = std::move(subresource);
    auto set = loop_.run(client_.patch(at.resource, at.ns, at.name, kube::PatchType::json, std::move(steps), options));
    ASSERT_TRUE(set) << what << ": " << set.error().error().message();
  }
  void set_webhook(std::string_view field, std::string_view json) {
    set(kConfiguration, fmt::format("/webhooks/0/{}", field), *Json::parse(json));
  }
  void remove(std::string_view what) {
    Place at = find(what);
    auto removed = loop_.run(client_.remove(at.resource, at.ns, at.name));
    ASSERT_TRUE(removed) << what << ": " << removed.error().error().message();
  }

  // A certificate of the webhook's authority, that authority renewed, and another one.
  x509::KeyPair leaf(Duration validity) {
    x509::LeafSpec spec;
    spec.dns_names = {"hook.operator.svc"};
    spec.validity = validity;
    return *x509::make_leaf(ca_, spec, now());
  }
  x509::KeyPair renewed_ca(Duration validity) { return *x509::renew_ca(ca_, validity, now()); }
  x509::KeyPair other_ca() { return *x509::make_ca("other", 3650 * kDay, now()); }
  void serve_with(const x509::KeyPair& pair) {
    set("secrets/operator/hook-cert", "/data",
        Json::Object{{"tls.crt", to_base64(pair.certificate.to_pem())}, {"tls.key", to_base64(pair.key.to_pem())}});
  }
  void trust(const x509::Certificate& certificate) {
    set(kConfiguration, "/webhooks/0/clientConfig/caBundle", to_base64(certificate.to_pem()));
  }

  // The inventory of bundle shop, for objects of these kinds.
  void add_inventory(std::string_view kinds) {
    add(fmt::format(R"(
apiVersion: v1
kind: ConfigMap
metadata:
  name: fairlead-shop
  namespace: default
  labels: {{applyset.kubernetes.io/id: {}}}
  annotations:
    applyset.kubernetes.io/tooling: fairlead/v0.1.0
    applyset.kubernetes.io/contains-group-kinds: {}
)",
                    id_of("shop"), kinds));
  }
  // Applies Service shop as a bundle does, with the label of one.
  void apply_member(std::string_view label, std::string_view applier) {
    Json service = *Json::parse(kMember);
    service.make("metadata").make("labels").make("applyset.kubernetes.io/part-of") = id_of(label);
    kube::ApplyOptions options;
    options.field_manager = fmt::format("fairlead/default/{}", applier);
    auto applied = loop_.run(client_.apply(resource_of("Service"), "default", "shop", service, options));
    ASSERT_TRUE(applied) << applied.error().error().message();
  }
  // Service shop as what the newest revision of the bundle applied.
  void keep_revision() {
    history::Revision revision{.number = 1, .how = "done", .chunks = 1};
    std::vector<history::KeptObject> kept{
        history::kept(*object::Object::from(*Json::parse(kMember)), "created", false, "salt")};
    Json secret = *Json::parse(R"({"apiVersion": "v1", "kind": "Secret",
                                   "metadata": {"name": "fairlead-shop.revision-1", "namespace": "default"}})");
    secret.make("data").make("manifests") = to_base64(history::compress(history::dump(1, kept).text));
    add_object(secret);
    set("configmaps/default/fairlead-shop", "/metadata/annotations/fairlead.dev~1revisions", history::dump({revision}));
  }

  // The codes of what is found. Each finding has a next command.
  std::vector<std::string_view> codes_found(Subject subject) {
    auto report = look(std::move(subject));
    EXPECT_TRUE(report) << report.error().report();
    std::vector<std::string_view> codes;
    if (!report) return codes;
    EXPECT_LE(report->requests, kMostRequests);
    for (const Finding& one : report->findings) {
      EXPECT_FALSE(one.next.empty()) << one.what;
      codes.push_back(one.code);
    }
    return codes;
  }

  // How often the webhook was called.
  int calls() const { return calls_; }

 private:
  static constexpr std::string_view kMember = R"({"apiVersion": "v1", "kind": "Service",
      "metadata": {"name": "shop", "namespace": "default"}, "spec": {"ports": [{"port": 80}]}})";
  struct Place {
    object::Resource resource;
    std::string ns;
    std::string name;
  };

  static bool is_made_by_the_cluster(const Json& object) {
    std::string_view kind = object["kind"].string_or("");
    return kind == "Pod" || kind == "EndpointSlice" || (kind == "Namespace" && name_of(object) != "operator");
  }
  static std::string id_of(std::string_view bundle) {
    return inventory::BundleName{.name = std::string(bundle), .home = "default"}.label_value();
  }
  WallTime now() { return loop_.clock().wall_now(); }
  object::Resource resource_of(std::string_view name) {
    auto resource = loop_.run(discovery_.find_by_name(std::string(name)));
    EXPECT_TRUE(resource && *resource) << name;
    return **resource;
  }
  Place find(std::string_view what) {
    size_t first = what.find('/'), last = what.rfind('/');
    return {.resource = resource_of(what.substr(0, first)),
            .ns = std::string(first == last ? "" : what.substr(first + 1, last - first - 1)),
            .name = std::string(what.substr(last + 1))};
  }

  int calls_ = 0;
  x509::KeyPair ca_ = *x509::make_ca("hook", 3650 * kDay, now());
};

TEST_F(HealthyCluster, HasNoFindings) {
  EXPECT_EQ(calls(), 1) << "for the instance";
  EXPECT_THAT(codes_found({}), IsEmpty());
  EXPECT_THAT(codes_found({.webhook = "widgets"}), IsEmpty());
  EXPECT_THAT(codes_found({.ns = "operator"}), IsEmpty());
  EXPECT_THAT(codes_found({.object = "widget/one"}), IsEmpty());
  EXPECT_THAT(codes_found({.bundle = manifest::bundle_of(kInstance).objects}), IsEmpty());
}

struct Cause {
  std::string_view code;
  void (*make)(HealthyCluster& on) = nullptr;
  Subject subject = {};
  // What else the cause brings with it.
  std::vector<std::string_view> also = {};
};
void PrintTo(const Cause& cause, std::ostream* out) { *out << cause.code; }

std::vector<Cause> causes() {
  return {
      {.code = "webhook-critical",
       .make =
           [](HealthyCluster& on) {
             on.set_webhook("rules", R"([{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"],
                                          "resources": ["nodes"]}])");
           }},
      {.code = "webhook-slow", .make = [](HealthyCluster& on) { on.set_webhook("timeoutSeconds", "30"); }},
      {.code = "webhook-guards-itself",
       .make =
           [](HealthyCluster& on) {
             on.set_webhook("objectSelector", R"({"matchLabels": {"app": "hook"}})");
             on.set_webhook("rules", R"([{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                                          "resources": ["pods"]}])");
           }},
      {.code = "webhook-matches-nothing",
       .make = [](HealthyCluster& on) { on.set_webhook("rules/0/resources", R"(["wigdets"])"); }},
      {.code = "webhook-matches-no-namespace",
       .make =
           [](HealthyCluster& on) { on.set_webhook("namespaceSelector", R"({"matchLabels": {"widgets": "yes"}})"); }},
      {.code = "webhook-namespaces-exempt",
       .make =
           [](HealthyCluster& on) {
             on.set_webhook("namespaceSelector", R"({"matchExpressions": [{"key": "kubernetes.io/metadata.name",
                                                     "operator": "NotIn", "values": ["default"]}]})");
           }},
      {.code = "webhook-skips-object",
       .make = [](HealthyCluster& on) { on.set_webhook("objectSelector", R"({"matchLabels": {"size": "big"}})"); },
       .subject = {.object = "widget/one"}},
      {.code = "webhook-none",
       .make = [](HealthyCluster& on) { on.remove(kConfiguration); },
       .subject = {.object = "widget/one"}},
      {.code = "webhook-single-replica",
       .make =
           [](HealthyCluster& on) {
             on.set("deployments/operator/hook", "/spec/replicas", 1);
             on.pass(minutes(1));
           }},
      {.code = "webhook-no-budget",
       .make = [](HealthyCluster& on) { on.remove("poddisruptionbudgets/operator/hook"); }},
      {.code = "ca-bundle-invalid",
       .make =
           [](HealthyCluster& on) {
             on.set(kConfiguration, "/webhooks/0/clientConfig/caBundle",
                    to_base64("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"));
           }},
      {.code = "ca-bundle-expired",
       .make =
           [](HealthyCluster& on) {
             on.trust(on.renewed_ca(20 * kDay).certificate);
             on.pass(21 * kDay);
           },
       .also = {"certificate-untrusted"}},
      {.code = "ca-bundle-expiring",
       .make =
           [](HealthyCluster& on) {
             on.trust(on.renewed_ca(20 * kDay).certificate);
             on.pass(10 * kDay);
           }},
      {.code = "ca-bundle-differs",
       .make =
           [](HealthyCluster& on) {
             on.add(fmt::format(R"(
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {{name: widgets}}
webhooks:
- name: m.widgets.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {{service: {{namespace: operator, name: hook, path: /m}}, caBundle: {}}}
  rules: [{{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [widgets]}}]
)",
                                to_base64(on.other_ca().certificate.to_pem())));
           },
       .also = {"certificate-untrusted"}},
      {.code = "ca-injection-missing",
       .make =
           [](HealthyCluster& on) {
             on.set(kConfiguration, "/metadata/annotations",
                    Json::Object{{"cert-manager.io/inject-ca-from", "operator/hook"}});
             on.set(kConfiguration, "/webhooks/0/clientConfig/caBundle", "");
           }},
      {.code = "certificate-expiring",
       .make =
           [](HealthyCluster& on) {
             on.serve_with(on.leaf(20 * kDay));
             on.pass(10 * kDay);
           }},
      {.code = "certificate-key-mismatch",
       .make =
           [](HealthyCluster& on) {
             on.serve_with({.certificate = on.leaf(365 * kDay).certificate, .key = on.leaf(365 * kDay).key});
           }},
      {.code = "workload-not-ready",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {sandbox.fairlead.dev/fail: image-pull}}
    spec: {containers: [{name: web, image: web}]}
)");
             on.pass(minutes(1));
           }},
      {.code = "object-not-ready",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: default}
spec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 1Gi}}}
)");
             on.pass(minutes(10));
           },
       .subject = {.object = "persistentvolumeclaim/data"}},
      {.code = "pod-not-ready",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: v1
kind: Pod
metadata: {name: alone, namespace: default, annotations: {sandbox.fairlead.dev/fail: unschedulable}}
spec: {containers: [{name: alone, image: alone}]}
)");
             on.pass(minutes(10));
           }},
      {.code = "job-stuck",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: make-certificate, namespace: operator, annotations: {helm.sh/hook: pre-install}}
spec:
  template:
    metadata: {annotations: {sandbox.fairlead.dev/fail: image-pull}}
    spec: {restartPolicy: Never, containers: [{name: make, image: make}]}
)");
             on.pass(minutes(1));
           }},
      {.code = "service-selects-nothing",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: v1
kind: Service
metadata: {name: lost, namespace: default}
spec: {selector: {app: lost}, ports: [{port: 80}]}
)");
             on.pass(minutes(10));
           }},
      {.code = "access-denied",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: v1
kind: Pod
metadata:
  name: controller
  namespace: default
  annotations:
    sandbox.fairlead.dev/fail: crash-loop
    sandbox.fairlead.dev/logs: >-
      pods is forbidden: User "system:serviceaccount:default:default" cannot list resource "pods" in API group "" at the
      cluster scope
spec: {containers: [{name: main, image: controller}]}
)");
             on.pass(minutes(1));
           },
       .also = {"pod-not-ready"}},
      {.code = "binding-role-missing",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: read, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: read}
subjects: [{kind: ServiceAccount, name: default, namespace: default}]
)");
           }},
      {.code = "binding-account-missing",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: read}
rules: [{apiGroups: [''], resources: [pods], verbs: [list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: read}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: read}
subjects: [{kind: ServiceAccount, name: reader, namespace: default}]
)");
           }},
      {.code = "crd-names-conflict",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: others.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: others}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
)");
             on.pass(minutes(5));
           }},
      {.code = "crd-not-established",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com, annotations: {sandbox.fairlead.dev/established-after: 1h}}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Gadget, plural: gadgets}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
)");
             on.pass(minutes(5));
           }},
      {.code = "crd-stored-version-unserved",
       .make =
           [](HealthyCluster& on) {
             on.set("customresourcedefinitions/widgets.example.com", "/spec/versions", *Json::parse(R"([
                 {"name": "v1alpha1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}},
                 {"name": "v1", "served": true, "storage": false, "schema": {"openAPIV3Schema": {"type": "object"}}}])"));
             on.set("customresourcedefinitions/widgets.example.com", "/spec/versions", *Json::parse(R"([
                 {"name": "v1alpha1", "served": false, "storage": false, "schema": {"openAPIV3Schema": {"type": "object"}}},
                 {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}])"));
             on.pass(minutes(1));
           }},
      {.code = "crd-stored-version-gone",
       .make =
           [](HealthyCluster& on) {
             on.set("customresourcedefinitions/widgets.example.com", "/status/storedVersions",
                    Json::Array{"v1alpha1", "v1"}, "status");
           }},
      {.code = "bundle-members-missing",
       .make =
           [](HealthyCluster& on) {
             on.add_inventory("Service");
             on.apply_member("shop", "shop");
             on.keep_revision();
             on.remove("services/default/shop");
             on.pass(minutes(1));
           }},
      {.code = "bundle-inventory-missing",
       .make =
           [](HealthyCluster& on) {
             on.add_inventory("Service");
             on.apply_member("shop", "shop");
             on.remove("configmaps/default/fairlead-shop");
           }},
      {.code = "bundle-not-covered",
       .make =
           [](HealthyCluster& on) {
             on.add_inventory("ConfigMap");
             on.apply_member("shop", "shop");
           }},
      {.code = "bundle-label-differs",
       .make =
           [](HealthyCluster& on) {
             on.add_inventory("Service");
             on.apply_member("shop", "other");
           }},
      {.code = "gate-left-behind", .make = [](HealthyCluster& on) { on.add(kGateObjects); }},
      {.code = "gate-not-answering",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: v1
kind: Service
metadata: {name: fairlead-gate, namespace: operator}
spec: {selector: {app: fairlead-gate}, ports: [{port: 443}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: fairlead-gate, namespace: operator}
spec:
  selector: {matchLabels: {app: fairlead-gate}}
  template:
    metadata: {labels: {app: fairlead-gate}, annotations: {sandbox.fairlead.dev/fail: never-ready}}
    spec: {containers: [{name: gate, image: gate}]}
)");
             on.add(kGateObjects);
             on.pass(minutes(10));
           }},
      {.code = "helm-release-pending",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: v1
kind: Secret
metadata:
  name: sh.helm.release.v1.shop.v1
  namespace: default
  labels: {owner: helm, name: shop, status: pending-install, version: "1"}
)");
             on.pass(minutes(20));
           }},
      {.code = "deprecated-api-in-manifests",
       .make = [](HealthyCluster&) {},
       .subject = {.bundle = manifest::bundle_of(R"(
apiVersion: policy/v1beta1
kind: PodDisruptionBudget
metadata: {name: web, namespace: default}
)")
                                 .objects}},
  };
}

class MadeToHappen : public HealthyCluster, public testing::WithParamInterface<Cause> {};

TEST_P(MadeToHappen, IsFound) {
  const Cause& cause = GetParam();
  cause.make(*this);
  ASSERT_FALSE(HasFatalFailure());
  std::vector<std::string_view> expected = cause.also;
  expected.push_back(cause.code);
  EXPECT_THAT(codes_found(cause.subject), UnorderedElementsAreArray(expected));
}

INSTANTIATE_TEST_SUITE_P(Codes, MadeToHappen, testing::ValuesIn(causes()), [](const auto& info) {
  std::string name(info.param.code);
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace fairlead::doctor
