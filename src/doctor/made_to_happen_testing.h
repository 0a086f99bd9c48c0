// A healthy cluster in a sandbox, and what breaks it: each cause of a finding is made as users make it happen.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "doctor/examine_testing.h"
#include "doctor/internal/bundles.h"
#include "doctor/reading.h"
#include "history/compress.h"
#include "sandbox/core/core.h"

namespace fairlead::doctor {

using std::chrono::minutes;

inline constexpr auto kDay = std::chrono::hours(24);
inline constexpr std::string_view kConfiguration = "validatingwebhookconfigurations/widgets";

inline constexpr std::string_view kDefinition = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
)";

inline constexpr std::string_view kInstance = R"(
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
      if (status_ != 200) co_return http::Response{status_, {}, "", 0};
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
  // Sends what is refused.
  void add_in_vain(std::string_view yaml) {
    for (object::Object& one : manifest::bundle_of(yaml).objects) {
      object::Key key = one.key();
      EXPECT_FALSE(loop_.run(client_.create(resource_of(key.kind), key.ns, std::move(one).take_value()))) << key.text();
    }
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
  x509::KeyPair leaf(Duration validity, std::string name = "hook.operator.svc", Duration starts_in = {}) {
    x509::LeafSpec spec;
    spec.dns_names = {std::move(name)};
    spec.validity = validity;
    return *x509::make_leaf(ca_, spec, now() + starts_in);
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

  // How often the webhook was called, and the HTTP status with which it answers from now on.
  int calls() const { return calls_; }
  void answer_with(int status) { status_ = status; }
  // The object as it is in the store, and one put there as if an older API server, which allowed more, had written it.
  Json stored(std::string_view what) { return *sandbox_.core().store.find(id_of_resource(what), place_of(what)); }
  void store(std::string_view what, Json object) {
    sandbox_.core().store.put(id_of_resource(what), place_of(what), std::move(object));
  }

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

  sandbox::ResourceId id_of_resource(std::string_view what) {
    object::Resource resource = find(what).resource;
    return {resource.group, resource.plural};
  }
  sandbox::Place place_of(std::string_view what) {
    Place at = find(what);
    return {at.ns, at.name};
  }

  int calls_ = 0;
  int status_ = 200;
  x509::KeyPair ca_ = *x509::make_ca("hook", 3650 * kDay, now());
};

struct Cause {
  std::string_view code;
  void (*make)(HealthyCluster& on) = nullptr;
  Subject subject = {};
  // What else the cause brings with it.
  std::vector<std::string_view> also = {};
};
inline void PrintTo(const Cause& cause, std::ostream* out) { *out << cause.code; }

std::vector<Cause> causes_of_webhooks();
std::vector<Cause> causes_of_outages();
std::vector<Cause> causes_of_certificates();
std::vector<Cause> causes_of_workloads();
std::vector<Cause> causes_of_others();

}  // namespace fairlead::doctor
