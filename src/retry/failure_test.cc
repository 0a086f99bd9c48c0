// The texts are those of real runs where the tool could be run, and otherwise those that people quote in public issues.
#include "retry/failure.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace fairlead::retry {
namespace {

// Everything that was read, one fact per line.
std::string shown(std::string_view output) {
  Failure failure = read_failure(output);
  std::string text = fmt::format("{}{}{}: {}\n", name_of(failure.kind), failure.is_installation ? ", installation" : "",
                                 failure.is_rolled_back ? ", rolled back" : "", failure.cause);
  for (const Missing& one : failure.missing) {
    text += fmt::format("- {}", one.subject());
    if (!one.webhook.service.empty())
      text += fmt::format(" at {}/{}:{}", one.webhook.ns, one.webhook.service, one.webhook.port);
    text += fmt::format(": {}\n", one.text);
  }
  if (!failure.next.empty()) text += fmt::format("> {}\n", failure.next);
  return text;
}

constexpr std::string_view kGuard =
    "missing: webhook guard.example.com cannot be called: nothing listens behind service default/guard:443 "
    "(dial tcp 10.96.56.57:443: connect: connection refused)\n"
    "- webhook guard.example.com at default/guard:443: webhook guard.example.com cannot be called: nothing listens "
    "behind "
    "service default/guard:443 (dial tcp 10.96.56.57:443: connect: connection refused)\n";

TEST(FailureTest, KubectlTellsEachObject) {
  EXPECT_EQ(shown(R"(configmap/settings created
Error from server (InternalError): error when creating "w.yaml": Internal error occurred: failed calling webhook "guard.example.com": failed to call webhook: Post "https://guard.default.svc:443/validate?timeout=10s": dial tcp 10.96.56.57:443: connect: connection refused
Error from server (InternalError): error when creating "w.yaml": Internal error occurred: failed calling webhook "guard.example.com": failed to call webhook: Post "https://guard.default.svc:443/validate?timeout=10s": dial tcp 10.96.56.57:443: connect: connection refused
)"),
            kGuard);
}

TEST(FailureTest, Helm4) {
  EXPECT_EQ(
      shown(
          R"(level=WARN msg="upgrade failed" name=one error="failed to create resource: server-side apply failed for object default/one example.com/v1, Kind=Widget: Internal error occurred: failed calling webhook \"guard.example.com\": failed to call webhook: Post \"https://guard.default.svc:443/validate?timeout=10s\": dial tcp 10.96.56.57:443: connect: connection refused"
Error: UPGRADE FAILED: failed to create resource: server-side apply failed for object default/one example.com/v1, Kind=Widget: Internal error occurred: failed calling webhook "guard.example.com": failed to call webhook: Post "https://guard.default.svc:443/validate?timeout=10s": dial tcp 10.96.56.57:443: connect: connection refused
)"),
      kGuard);
  std::string installed = shown(
      R"(Error: INSTALLATION FAILED: release four failed, and has been uninstalled due to rollback-on-failure being set: server-side apply failed for object default/two example.com/v1, Kind=Widget: Internal error occurred: failed calling webhook "guard.example.com": failed to call webhook: Post "https://guard.default.svc:443/validate?timeout=10s": dial tcp 10.96.56.57:443: connect: connection refused
server-side apply failed for object default/one example.com/v1, Kind=Widget: Internal error occurred: failed calling webhook "guard.example.com": failed to call webhook: Post "https://guard.default.svc:443/validate?timeout=10s": dial tcp 10.96.56.57:443: connect: connection refused
)");
  EXPECT_EQ(installed, "missing, installation, rolled back" + std::string(kGuard.substr(7)));
}

TEST(FailureTest, Helm3) {
  EXPECT_EQ(
      shown(
          R"(W0726 13:06:01.642310   84292 warnings.go:70] policy/v1beta1 PodSecurityPolicy is deprecated in v1.21+, unavailable in v1.25+
Error: INSTALLATION FAILED: Internal error occurred: failed calling webhook "check-ignore-label.gatekeeper.sh": Post "https://gatekeeper-webhook-service.gatekeeper-system.svc:443/v1/admitlabel?timeout=3s": service "gatekeeper-webhook-service" not found
)"),
      "missing, installation: webhook check-ignore-label.gatekeeper.sh cannot be called: service "
      "gatekeeper-system/gatekeeper-webhook-service does not exist\n"
      "- webhook check-ignore-label.gatekeeper.sh at gatekeeper-system/gatekeeper-webhook-service:443: webhook "
      "check-ignore-label.gatekeeper.sh cannot be called: service gatekeeper-system/gatekeeper-webhook-service does "
      "not exist\n");
  EXPECT_EQ(
      shown(R"(Error: INSTALLATION FAILED: 2 errors occurred:
	* Internal error occurred: failed calling webhook "one.example.com": failed to call webhook: Post "https://one.a.svc:443/x?timeout=10s": EOF
	* Internal error occurred: failed calling webhook "two.example.com": failed to call webhook: Post "https://two.b.svc:9443/x?timeout=10s": x509: certificate signed by unknown authority


)"),
      "missing, installation: webhook one.example.com closed the connection: service a/one:443 (EOF)\n"
      "- webhook one.example.com at a/one:443: webhook one.example.com closed the connection: service a/one:443 (EOF)\n"
      "- webhook two.example.com at b/two:9443: webhook two.example.com is not trusted: its caBundle is missing, stale "
      "or not that of service b/two (x509: certificate signed by unknown authority)\n");
}

// What helm 3.22 printed when it lost the race: all objects of a kind are sent before it gives up.
TEST(FailureTest, Helm3LosesTheRace) {
  constexpr std::string_view kOp =
      "webhook fleets.mothership.example.com cannot be called: nothing listens behind service default/op-webhook:443 "
      "(dial tcp 10.96.198.121:443: connect: connection refused)\n"
      "- webhook fleets.mothership.example.com at default/op-webhook:443: webhook fleets.mothership.example.com cannot "
      "be "
      "called: nothing listens behind service default/op-webhook:443 (dial tcp 10.96.198.121:443: connect: connection "
      "refused)\n";
  std::string installed = shown(
      R"(Error: INSTALLATION FAILED: 3 errors occurred:
	* Internal error occurred: failed calling webhook "fleets.mothership.example.com": failed to call webhook: Post "https://op-webhook.default.svc:443/validate?timeout=5s": dial tcp 10.96.198.121:443: connect: connection refused
	* Internal error occurred: failed calling webhook "fleets.mothership.example.com": failed to call webhook: Post "https://op-webhook.default.svc:443/validate?timeout=5s": dial tcp 10.96.198.121:443: connect: connection refused
	* Internal error occurred: failed calling webhook "fleets.mothership.example.com": failed to call webhook: Post "https://op-webhook.default.svc:443/validate?timeout=5s": dial tcp 10.96.198.121:443: connect: connection refused


)");
  EXPECT_EQ(installed, "missing, installation: " + std::string(kOp));
  std::string upgraded = shown(
      R"(Release "b" does not exist. Installing it now.
Error: release b failed, and has been uninstalled due to atomic being set: 3 errors occurred:
	* Internal error occurred: failed calling webhook "fleets.mothership.example.com": failed to call webhook: Post "https://op-webhook.default.svc:443/validate?timeout=5s": dial tcp 10.96.198.121:443: connect: connection refused
	* Internal error occurred: failed calling webhook "fleets.mothership.example.com": failed to call webhook: Post "https://op-webhook.default.svc:443/validate?timeout=5s": dial tcp 10.96.198.121:443: connect: connection refused
	* Internal error occurred: failed calling webhook "fleets.mothership.example.com": failed to call webhook: Post "https://op-webhook.default.svc:443/validate?timeout=5s": dial tcp 10.96.198.121:443: connect: connection refused


)");
  EXPECT_EQ(upgraded, "missing, rolled back: " + std::string(kOp));
  std::string atomic = shown(
      R"(Error: INSTALLATION FAILED: release c failed, and has been uninstalled due to atomic being set: 3 errors occurred:
	* Internal error occurred: failed calling webhook "fleets.mothership.example.com": failed to call webhook: Post "https://op-webhook.default.svc:443/validate?timeout=5s": dial tcp 10.96.198.121:443: connect: connection refused
	* Internal error occurred: failed calling webhook "fleets.mothership.example.com": failed to call webhook: Post "https://op-webhook.default.svc:443/validate?timeout=5s": dial tcp 10.96.198.121:443: connect: connection refused
	* Internal error occurred: failed calling webhook "fleets.mothership.example.com": failed to call webhook: Post "https://op-webhook.default.svc:443/validate?timeout=5s": dial tcp 10.96.198.121:443: connect: connection refused


)");
  EXPECT_EQ(atomic, "missing, installation, rolled back: " + std::string(kOp));
}

// Terraform colours its output even if nobody sees it, and breaks lines in its boxes at any space.
TEST(FailureTest, TerraformDrawsBoxes) {
  EXPECT_EQ(
      shown("\x1b[31m╷\x1b[0m\x1b[0m\n"
            "\x1b[31m│\x1b[0m \x1b[0m\x1b[1m\x1b[31mError: \x1b[0m\x1b[0m\x1b[1mlocal-exec provisioner error\x1b[0m\n"
            "\x1b[31m│\x1b[0m \x1b[0m\n"
            "\x1b[31m│\x1b[0m \x1b[0mError running command 'kubectl apply -f\n"
            "\x1b[31m│\x1b[0m \x1b[0m/tmp/w.yaml': exit status 1. Output: Error from server (InternalError):\n"
            "\x1b[31m│\x1b[0m \x1b[0merror when creating \"/tmp/w.yaml\": Internal error occurred: failed\n"
            "\x1b[31m│\x1b[0m \x1b[0mcalling webhook \"guard.example.com\": failed to call webhook: Post\n"
            "\x1b[31m│\x1b[0m \x1b[0m\"https://guard.default.svc:443/validate?timeout=10s\": dial tcp\n"
            "\x1b[31m│\x1b[0m \x1b[0m10.96.56.57:443: connect: connection refused\n"
            "\x1b[31m│\x1b[0m \x1b[0mError from server (InternalError): error when creating \"/tmp/w.yaml\":\n"
            "\x1b[31m│\x1b[0m \x1b[0mInternal error occurred: failed calling webhook \"guard.example.com\": failed\n"
            "\x1b[31m│\x1b[0m \x1b[0mto call webhook: Post \"https://guard.default.svc:443/validate?timeout=10s\":\n"
            "\x1b[31m│\x1b[0m \x1b[0mdial tcp 10.96.56.57:443: connect: connection refused\n"
            "\x1b[31m│\x1b[0m \x1b[0m\n"
            "\x1b[31m╵\x1b[0m\x1b[0m\n"),
      kGuard);
}

TEST(FailureTest, TerraformProviders) {
  EXPECT_EQ(
      shown(R"(╷
│ Error: Failed to determine GroupVersionResource for manifest
│
│   with kubernetes_manifest.opa-podmonitor,
│   on gatekeeper.tf line 12, in resource "kubernetes_manifest" "opa-podmonitor":
│   12: resource "kubernetes_manifest" "opa-podmonitor" {
│
│ no matches for kind "PodMonitor" in group "monitoring.coreos.com"
╵
)"),
      "missing: the cluster does not serve kind PodMonitor of monitoring.coreos.com\n"
      "- kind PodMonitor.monitoring.coreos.com: the cluster does not serve kind PodMonitor of monitoring.coreos.com\n");
  EXPECT_EQ(
      shown(
          R"(│ Error: cert-manager failed to create kubernetes rest client for update of resource: resource [cert-manager.io/v1/ClusterIssuer] isn't valid for cluster, check the APIVersion and Kind fields are valid
│
│   with module.cert_manager.kubectl_manifest.cluster_issuer[0],
)"),
      "missing: the cluster does not serve kind ClusterIssuer of cert-manager.io/v1\n"
      "- kind ClusterIssuer.v1.cert-manager.io: the cluster does not serve kind ClusterIssuer of cert-manager.io/v1\n");
  EXPECT_EQ(shown(R"(╷
│ Error: cannot re-use a name that is still in use
│
│   with module.cert-manager.helm_release.cert_manager[0],
)"),
            "name in use: a Helm release of that name exists\n> helm list --all-namespaces --all\n");
}

// What a real run wrote here, with colours and all; the file is a seed of the fuzzer as well.
std::string captured(std::string_view name) {
  std::ifstream file(fmt::format("{}/tests/corpus/failure/{}", FAIRLEAD_SOURCE_DIR, name));
  EXPECT_TRUE(file) << name;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

constexpr std::string_view kOperator =
    "missing: webhook v.op.example.com cannot be called: nothing listens behind service op/op:443 (dial tcp "
    "10.96.46.215:443: connect: connection refused)\n"
    "- webhook v.op.example.com at op/op:443: webhook v.op.example.com cannot be called: nothing listens behind "
    "service op/op:443 (dial tcp 10.96.46.215:443: connect: connection refused)\n";

// Provider gavinbunney/kubectl 1.19.0, under Terraform 1.11.4.
TEST(FailureTest, TerraformsKubectlProviderAsItRan) {
  EXPECT_EQ(shown(captured("terraform_kubectl")),
            std::string(kOperator) +
                "- kind Berth.v1.demo.example.com: the cluster does not serve kind Berth of demo.example.com/v1\n");
}

// Providers hashicorp/kubernetes and hashicorp/helm, built from their main branches of August and June 2026, under
// Terraform 1.11.4.
TEST(FailureTest, TerraformsKubernetesProviderAsItRan) {
  EXPECT_EQ(shown(captured("terraform_kubernetes")),
            std::string(kOperator) +
                "- kind Berth.demo.example.com: the cluster does not serve kind Berth of demo.example.com\n");
}

TEST(FailureTest, TerraformsHelmProviderAsItRan) {
  EXPECT_EQ(shown(captured("terraform_helm")), kOperator);
  // With -no-color there are no boxes, and lines are broken all the same.
  EXPECT_EQ(shown(captured("terraform_helm_plain")), kOperator);
}

TEST(FailureTest, Pulumi) {
  EXPECT_EQ(shown(R"(Diagnostics:
  kubernetes:cert-manager.io:ClusterIssuer (cert-manager/letsencrypt-prod):
    error: resource cert-manager/letsencrypt-prod was not successfully created by the Kubernetes API server : Internal error occurred: failed calling webhook "webhook.cert-manager.io": Post https://cert-manager-webhook.cert-manager.svc:443/mutate?timeout=30s: no endpoints available for service "cert-manager-webhook"

  kubernetes:core:Service (cert-manager/cert-manager):
    error: 2 errors occurred:
        * resource cert-manager/cert-manager was successfully created, but the Kubernetes API server reported that it failed to fully initialize or become live: 'cert-manager' timed out waiting to be Ready
)"),
            "missing: webhook webhook.cert-manager.io cannot be called: service cert-manager/cert-manager-webhook has "
            "no ready "
            "endpoint\n"
            "- webhook webhook.cert-manager.io at cert-manager/cert-manager-webhook:443: webhook "
            "webhook.cert-manager.io cannot "
            "be called: service cert-manager/cert-manager-webhook has no ready endpoint\n");
  // As provider 4.32 words it in its source.
  EXPECT_EQ(
      shown(
          R"(    error: resource "urn:pulumi:dev::story::kubernetes:core/v1:ConfigMap::guarded" was not successfully created by the Kubernetes API server: Internal error occurred: failed calling webhook "v.op.example.com": failed to call webhook: Post "https://op.op.svc:443/?timeout=10s": dial tcp 10.96.46.215:443: connect: connection refused
)"),
      kOperator);
  EXPECT_EQ(
      shown(
          R"(    error: creation of resource "urn:pulumi:dev::story::kubernetes:demo.example.com/v1:Berth::one" with kind demo.example.com/v1/Berth failed because the Kubernetes API server reported that the apiVersion for this resource does not exist. Verify that any required CRDs have been created: no matches for kind "Berth" in version "demo.example.com/v1"
)"),
      "missing: the cluster does not serve kind Berth of demo.example.com/v1\n"
      "- kind Berth.v1.demo.example.com: the cluster does not serve kind Berth of demo.example.com/v1\n");
  EXPECT_EQ(shown("    error: resource awx/my-awx-3a77c8ca was not successfully created by the Kubernetes API server : "
                  "failed to "
                  "determine if the following GVK is namespaced: awx.ansible.com/v1beta1, Kind=awx\n"),
            "missing: the cluster does not serve kind awx of awx.ansible.com/v1beta1\n"
            "- kind awx.v1beta1.awx.ansible.com: the cluster does not serve kind awx of awx.ansible.com/v1beta1\n");
}

TEST(FailureTest, ArgoCd) {
  EXPECT_EQ(
      shown(
          R"(Message:            one or more objects failed to apply, reason: error when replacing "/dev/shm/2766407957": Internal error occurred: failed calling webhook "validate-policy.kyverno.svc": failed to call webhook: Post "https://kyverno-svc.kyverno.svc:443/policyvalidate?timeout=10s": context deadline exceeded,Internal error occurred: failed calling webhook "mutate-policy.kyverno.svc": failed to call webhook: Post "https://kyverno-svc.kyverno.svc:443/policymutate?timeout=10s": context deadline exceeded
time="2024-06-25T11:00:00Z" level=fatal msg="Operation has completed with phase: Failed"
)"),
      "missing: webhook validate-policy.kyverno.svc did not answer: service kyverno/kyverno-svc:443 is out of reach or "
      "too "
      "slow (context deadline exceeded)\n"
      "- webhook validate-policy.kyverno.svc at kyverno/kyverno-svc:443: webhook validate-policy.kyverno.svc did not "
      "answer: service kyverno/kyverno-svc:443 is out of reach or too slow (context deadline exceeded)\n"
      "- webhook mutate-policy.kyverno.svc at kyverno/kyverno-svc:443: webhook mutate-policy.kyverno.svc did not "
      "answer: "
      "service kyverno/kyverno-svc:443 is out of reach or too slow (context deadline exceeded)\n");
  EXPECT_EQ(
      shown(
          "cert-manager.io  Certificate  web  tls  SyncFailed  Missing  The Kubernetes API could not find "
          "cert-manager.io/Certificate for requested resource web/tls. Make sure the \"Certificate\" CRD is installed "
          "on the destination cluster.\n"),
      "missing: the cluster does not serve kind Certificate of cert-manager.io\n"
      "- kind Certificate.cert-manager.io: the cluster does not serve kind Certificate of cert-manager.io\n");
}

TEST(FailureTest, Flux) {
  EXPECT_EQ(shown(R"(► annotating Kustomization apps in flux-system namespace
✔ Kustomization annotated
◎ waiting for Kustomization reconciliation
✗ Kustomization reconciliation failed: ClusterClass/default/c dry-run failed, error: no matches for kind "ClusterClass" in version "cluster.x-k8s.io/v1beta1"
)"),
            "missing: the cluster does not serve kind ClusterClass of cluster.x-k8s.io/v1beta1\n"
            "- kind ClusterClass.v1beta1.cluster.x-k8s.io: the cluster does not serve kind ClusterClass of "
            "cluster.x-k8s.io/v1beta1\n");
  EXPECT_EQ(shown("✗ Kustomization reconciliation failed: CouchbaseBucket/couchbase/blocker dry-run failed, reason: "
                  "BadRequest, "
                  "error: admission webhook \"couchbase.svc\" does not support dry run\n"),
            "refused: webhook couchbase.svc has side effects, so the API server refuses dry runs that would call it\n"
            "> set sideEffects: None or NoneOnDryRun in its webhook configuration\n");
}

TEST(FailureTest, KindsAndDefinitions) {
  EXPECT_EQ(shown(R"(customresourcedefinition.apiextensions.k8s.io/gadgets.other.example.com created
error: resource mapping not found for name: "one" namespace: "default" from "nokind.yaml": no matches for kind "Gadget" in version "other.example.com/v1"
ensure CRDs are installed first
)"),
            "missing: the cluster does not serve kind Gadget of other.example.com/v1\n"
            "- kind Gadget.v1.other.example.com: the cluster does not serve kind Gadget of other.example.com/v1\n");
  EXPECT_EQ(shown("error: the server doesn't have a resource type \"gadgets\"\n"),
            "missing: the cluster serves no resource type \"gadgets\"\n"
            "- kind gadgets: the cluster serves no resource type \"gadgets\"\n");
  EXPECT_EQ(
      shown("level=fatal msg=\"the server could not find the requested resource (post appprojects.argoproj.io)\"\n"),
      "missing: the API server does not serve appprojects.argoproj.io\n"
      "- CRD appprojects.argoproj.io: the API server does not serve appprojects.argoproj.io\n");
  EXPECT_EQ(
      shown(
          "Error from server (NotFound): customresourcedefinitions.apiextensions.k8s.io \"w.example.com\" not found\n"),
      "missing: CRD w.example.com does not exist\n- CRD w.example.com: CRD w.example.com does not exist\n");
  EXPECT_EQ(
      shown("error: no matches for kind \"CustomResourceDefinition\" in version \"apiextensions.k8s.io/v1beta1\"\n"),
      "refused: the cluster does not serve kind CustomResourceDefinition of apiextensions.k8s.io/v1beta1\n"
      "> kubectl api-resources\n");
  EXPECT_EQ(shown("error: no matches for kind \"Deploymnt\" in version \"v1\"\n"),
            "refused: the cluster does not serve kind Deploymnt of v1\n> kubectl api-resources\n");
}

TEST(FailureTest, Conversions) {
  EXPECT_EQ(
      shown("Error from server: conversion webhook for example.com/v1, Kind=Conv failed: Post "
            "\"https://guard.default.svc:443/convert?timeout=30s\": dial tcp 10.96.56.57:443: connect: connection "
            "refused\n"),
      "missing: conversion webhook for example.com/v1, Kind=Conv cannot be called: nothing listens behind service "
      "default/guard:443 (dial tcp 10.96.56.57:443: connect: connection refused)\n"
      "- conversion webhook for example.com/v1, Kind=Conv at default/guard:443: conversion webhook for example.com/v1, "
      "Kind=Conv cannot be called: nothing listens behind service default/guard:443 (dial tcp 10.96.56.57:443: "
      "connect: "
      "connection refused)\n");
}

TEST(FailureTest, AggregatedApis) {
  EXPECT_EQ(shown("Error: INSTALLATION FAILED: could not get apiVersions from Kubernetes: unable to retrieve the "
                  "complete list of "
                  "server APIs: custom.metrics.k8s.io/v1beta1: the server is currently unable to handle the request, "
                  "metrics.k8s.io/v1beta1: stale GroupVersion discovery: metrics.k8s.io/v1beta1\n"),
            "missing, installation: the server of API v1beta1.custom.metrics.k8s.io does not answer\n"
            "- API v1beta1.custom.metrics.k8s.io: the server of API v1beta1.custom.metrics.k8s.io does not answer\n"
            "- API v1beta1.metrics.k8s.io: the server of API v1beta1.metrics.k8s.io does not answer\n");
  EXPECT_EQ(shown("Error from server (ServiceUnavailable): the server is currently unable to handle the request (get "
                  "pods.metrics.k8s.io)\n"),
            "missing: the server of API metrics.k8s.io does not answer\n"
            "- API metrics.k8s.io: the server of API metrics.k8s.io does not answer\n");
  // kubectl complains of a dead API whatever it does.
  EXPECT_EQ(
      shown("E0726 13:06:01.642310   84292 memcache.go:265] \"Unhandled Error\" err=\"couldn't get resource list for "
            "metrics.k8s.io/v1beta1: the server is currently unable to handle the request\"\n"
            "Error from server (NotFound): pods \"web\" not found\n"),
      "other: pods \"web\" not found\n");
}

TEST(FailureTest, RefusalsAreForGood) {
  std::string race =
      R"(Error from server (InternalError): error when creating "w.yaml": Internal error occurred: failed calling webhook "guard.example.com": failed to call webhook: Post "https://guard.default.svc:443/validate?timeout=10s": dial tcp 10.96.56.57:443: connect: connection refused
)";
  EXPECT_EQ(shown("Error from server (Forbidden): error when creating \"w.yaml\": admission webhook "
                  "\"guard.example.com\" denied "
                  "the request: size must be positive\n"),
            "refused: webhook guard.example.com denied the request: size must be positive\n");
  EXPECT_EQ(
      read_failure(race + "Error from server: error when creating \"w.yaml\": admission webhook \"other.example.com\" "
                          "denied the request: no\n")
          .cause,
      "webhook other.example.com denied the request: no");
  EXPECT_EQ(shown("Error from server (Forbidden): error when creating \"w.yaml\": widgets.example.com is forbidden: "
                  "User \"ci\" "
                  "cannot create resource \"widgets\" in API group \"example.com\" in the namespace \"default\"\n"),
            "refused: widgets.example.com is forbidden: User \"ci\" cannot create resource \"widgets\" in API group "
            "\"example.com\" in the namespace \"default\"\n> kubectl auth can-i --list\n");
  EXPECT_EQ(
      shown(
          "The Deployment \"web\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0\n"),
      "refused: Deployment \"web\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0\n");
  EXPECT_EQ(shown("The Secret \"keys\" is invalid: data[a b]: Invalid value: \"hunter2\": a valid config key\n"),
            "refused: Secret \"keys\" is invalid\n");
  EXPECT_EQ(shown("Internal error occurred: failed calling webhook \"guard.example.com\": failed to call webhook: Post "
                  "\"https://guard.default.svc:80/v?timeout=10s\": http: server gave HTTP response to HTTPS client\n"),
            "refused: webhook guard.example.com cannot be called: service default/guard:80 does not speak HTTPS, so "
            "the port is "
            "wrong (http: server gave HTTP response to HTTPS client)\n> kubectl -n default describe service guard\n");
  EXPECT_EQ(
      shown("Error: INSTALLATION FAILED: Unable to continue with install: ClusterRole \"argocd\" in namespace \"\" "
            "exists "
            "and cannot be imported into the current release: invalid ownership metadata\n"),
      "refused, installation: ClusterRole \"argocd\" in namespace \"\" exists and cannot be imported into the current "
      "release\n> helm upgrade --install --take-ownership takes it over; or delete it\n");
  // Scripts often create what may exist, and go on.
  EXPECT_EQ(shown("Error from server (AlreadyExists): namespaces \"kof\" already exists\n" + race), kGuard);
  EXPECT_EQ(
      shown("Error from server (AlreadyExists): error when creating \"w.yaml\": widgets.example.com \"one\" already "
            "exists\n"),
      "other: widgets.example.com \"one\" already exists\n"
      "> use a command that can be run again, such as kubectl apply or helm upgrade --install\n");
}

TEST(FailureTest, HelmReleases) {
  EXPECT_EQ(shown("Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress\n"),
            "release pending: an earlier operation on the Helm release has not ended\n> helm list --all-namespaces "
            "--pending\n");
  EXPECT_EQ(shown("level=ERROR msg=\"release name check failed\" error=\"cannot reuse a name that is still in use\"\n"
                  "Error: INSTALLATION FAILED: release name check failed: cannot reuse a name that is still in use\n"),
            "name in use, installation: a Helm release of that name exists\n> helm list --all-namespaces --all\n");
  EXPECT_EQ(shown("Error: UPGRADE FAILED: \"nope\" has no deployed releases\n"),
            "other: the Helm release was never deployed\n"
            "> helm upgrade --install installs it; helm history shows what is left of an earlier attempt\n");
}

TEST(FailureTest, AnythingElse) {
  EXPECT_EQ(shown(""), "other: \n");
  EXPECT_EQ(shown("make: *** [all] Error 2\n"), "other: \n");
  EXPECT_EQ(
      shown(
          "Error: Kubernetes cluster unreachable: Get \"http://localhost:8080/version\": dial tcp [::1]:8080: connect: "
          "connection refused\n"),
      "other: the API server cannot be reached\n> kubectl cluster-info\n");
  EXPECT_EQ(shown("Error: INSTALLATION FAILED: context deadline exceeded\n"),
            "other, installation: it waited for something that did not come true in time\n> fairlead doctor\n");
}

TEST(FailureTest, HostileOutputs) {
  EXPECT_EQ(shown("\x1b[\x1b]0;title\x1b\\\xff\xfe\0 failed calling webhook \""), "other: \n");
  EXPECT_EQ(shown("failed calling webhook \"a\nb\": no\n"), "other: \n");
  std::string many;
  for (int i = 0; i < 1000; ++i)
    many += fmt::format(
        "failed calling webhook \"w{}.example.com\": the server is currently unable to handle the request\n", i);
  EXPECT_EQ(read_failure(many).missing.size(), 20u);
  Failure escaped =
      read_failure("failed calling webhook \"w\x1b[31m\x01.example.com\": failed to call webhook: \x07 boom\n");
  EXPECT_EQ(escaped.missing.front().name, "w?.example.com");
}

}  // namespace
}  // namespace fairlead::retry
