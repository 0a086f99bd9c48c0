#include "webhook/install/install.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/base64.h"
#include "x509/x509.h"

namespace fairlead::webhook::install {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Release kRelease{.name = "rel", .ns = "dynamo-system", .version = "1.2.3"};

std::vector<Inputs::Set> plain(const std::vector<std::string>& texts) {
  std::vector<Inputs::Set> sets;
  for (const std::string& text : texts) sets.push_back({text});
  return sets;
}

Manifests made(const std::string& text, const std::vector<std::string>& sets = {}) {
  auto made = manifests(kRelease, {.files = {{"values.yaml", text}}, .sets = plain(sets)});
  if (made) return *std::move(made);
  for (const Error& error : made.error()) ADD_FAILURE() << error.report();
  return {};
}

std::vector<std::string> errors(const std::string& text, const std::vector<std::string>& sets = {}) {
  auto made = manifests(kRelease, {.files = {{"values.yaml", text}}, .sets = plain(sets)});
  std::vector<std::string> texts;
  if (made) return texts;
  for (const Error& error : made.error()) texts.push_back(error.where() + ": " + error.what());
  return texts;
}

Json find(const Manifests& manifests, std::string_view kind, std::string_view name) {
  for (const Json& object : manifests.objects)
    if (object["kind"].string_or("") == kind && object["metadata"]["name"].string_or("") == name) return object;
  ADD_FAILURE() << "there is no " << kind << " " << name;
  return {};
}

// "Kind namespace/name"
std::vector<std::string> keys(const Manifests& manifests) {
  std::vector<std::string> keys;
  for (const Json& object : manifests.objects) {
    std::string_view kind = object["kind"].string_or("");
    if (kind == "CustomResourceDefinition") continue;
    keys.push_back(fmt::format("{} {}/{}", kind, object["metadata"]["namespace"].string_or(""),
                               object["metadata"]["name"].string_or("")));
  }
  return keys;
}

std::string bundle() {
  static const std::string made =
      to_base64(x509::make_ca("ca", std::chrono::hours(24), WallTime())->certificate.to_pem());
  return made;
}

TEST(Install, WithoutValuesTheServerMakesItsOwnCertificates) {
  Manifests manifests = made("");
  EXPECT_THAT(keys(manifests),
              ElementsAre("ServiceAccount dynamo-system/rel-webhook", "Role dynamo-system/rel-webhook",
                          "RoleBinding dynamo-system/rel-webhook", "ClusterRole /dynamo-system:rel-webhook",
                          "ClusterRoleBinding /dynamo-system:rel-webhook", "Service dynamo-system/rel-webhook",
                          "Deployment dynamo-system/rel-webhook", "PodDisruptionBudget dynamo-system/rel-webhook",
                          "NetworkPolicy dynamo-system/rel-webhook", "ValidatingWebhookConfiguration /rel-validating"));
  EXPECT_EQ(manifests.objects.front()["metadata"]["name"].string_or(""), "dynamocomponentdeployments.nvidia.com");
  EXPECT_THAT(manifests.warnings, IsEmpty());
}

TEST(Install, TheServerRunsWithoutRightsAndIsNeverMissing) {
  Json deployment = find(made(""), "Deployment", "rel-webhook")["spec"];
  EXPECT_EQ(deployment["strategy"].dump(),
            R"({"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":0,"maxSurge":1}})");
  const Json& pod = deployment["template"]["spec"];
  EXPECT_EQ(pod["securityContext"].dump(),
            R"({"runAsNonRoot":true,"runAsUser":65532,"runAsGroup":65532,"seccompProfile":{"type":"RuntimeDefault"}})");
  const Json& server = pod["containers"].item(0);
  EXPECT_EQ(server["securityContext"].dump(),
            R"({"allowPrivilegeEscalation":false,"readOnlyRootFilesystem":true,"capabilities":{"drop":["ALL"]}})");
  EXPECT_EQ(server["image"].string_or(""), "fairlead.dev/fairlead:1.2.3");
  EXPECT_EQ(server["readinessProbe"]["httpGet"].dump(), R"({"path":"/readyz","port":"probes"})");
}

TEST(Install, TheServerManagesCertificatesOnlyIfNobodyElseDoes) {
  auto arguments = [](const std::string& values) {
    return find(made(values), "Deployment", "rel-webhook")["spec"]["template"]["spec"]["containers"]
        .item(0)["args"]
        .dump();
  };
  EXPECT_EQ(arguments("leaderElection: {namespace: kube-system}"),
            R"(["webhook","serve","--policies=dynamo","--planner-account=planner-serviceaccount",)"
            R"("--namespace=dynamo-system","--service=rel-webhook","--configuration=rel-validating",)"
            R"("--secret=rel-webhook-server-cert","--cert-dir=/certs","--manage-certificates",)"
            R"("--cert-validity=3650d","--cluster-domain=cluster.local",)"
            R"("--leader-lease=rel-webhook","--leader-namespace=kube-system","--drain=10s","--drain-limit=30s",)"
            R"("--max-in-flight=200","--log-reviews=all","--lease-name","dynamo-operator-ns-lock"])");
  EXPECT_EQ(arguments("{webhook: {certManager: {enabled: true}}, namespaceRestriction: {enabled: true}}"),
            R"(["webhook","serve","--policies=dynamo","--planner-account=planner-serviceaccount",)"
            R"("--namespace=dynamo-system","--service=rel-webhook","--configuration=rel-validating-dynamo-system",)"
            R"("--secret=rel-webhook-server-cert","--cert-dir=/certs","--drain=10s","--drain-limit=30s",)"
            R"("--max-in-flight=200","--log-reviews=all","--lease-name","dynamo-operator-ns-lock",)"
            R"("--restrict-to-namespace=dynamo-system","--lease-duration=30s","--lease-renew-interval=10s"])");
}

TEST(Install, HowTheServerServesIsUpToTheValues) {
  Manifests manifests = made(R"(webhook:
  clientCA: {configMap: apiserver-ca, key: client.pem}
  drain: {duration: 12s, limit: 1m500ms}
  maxInFlight: 50
  logReviews: none
  extraArgs: [--workers=4]
  priorityClassName: system-cluster-critical
  podLabels: {team: a}
  podAnnotations: {prometheus.io/scrape: "true"}
  topologySpreadConstraints: [{maxSkew: 1}]
)");
  const Json pod_template = find(manifests, "Deployment", "rel-webhook")["spec"]["template"];
  EXPECT_EQ(pod_template["metadata"].dump(),
            R"({"labels":{"app.kubernetes.io/name":"fairlead-webhook","app.kubernetes.io/instance":"rel","team":"a"},)"
            R"("annotations":{"prometheus.io/scrape":"true"}})");
  const Json& pod = pod_template["spec"];
  EXPECT_EQ(pod["priorityClassName"].string_or(""), "system-cluster-critical");
  EXPECT_EQ(pod["topologySpreadConstraints"].dump(), R"([{"maxSkew":1}])");
  EXPECT_EQ(pod["terminationGracePeriodSeconds"].int_or(0), 61 + 45);
  EXPECT_EQ(pod["volumes"].item(1).dump(), R"({"name":"client-ca","configMap":{"name":"apiserver-ca",)"
                                           R"("items":[{"key":"client.pem","path":"ca.crt"}]}})");
  const Json& server = pod["containers"].item(0);
  EXPECT_EQ(server["volumeMounts"].item(1).dump(), R"({"name":"client-ca","mountPath":"/client-ca","readOnly":true})");
  EXPECT_THAT(server["args"].dump(),
              testing::EndsWith(R"("--client-ca-file=/client-ca/ca.crt","--drain=12s","--drain-limit=1m500ms",)"
                                R"("--max-in-flight=50","--log-reviews=none",)"
                                R"("--lease-name","dynamo-operator-ns-lock","--workers=4"])"));
  EXPECT_EQ(find(manifests, "Service", "rel-webhook")["spec"]["ports"].item(1).dump(),
            R"({"name":"metrics","port":8080,"targetPort":"probes","protocol":"TCP"})");
}

TEST(Install, WithoutANameForLeasesNoNamespaceIsLeftToOthers) {
  Manifests manifests = made("namespaceRestriction: {lease: {name: \"\"}}");
  EXPECT_FALSE(find(manifests, "ClusterRole", "dynamo-system:rel-webhook").dump().contains("leases"));
  EXPECT_THAT(find(manifests, "Deployment", "rel-webhook").dump(), testing::HasSubstr(R"("--lease-name",""])"));
  EXPECT_THAT(errors("namespaceRestriction: {enabled: true, lease: {name: \"\"}}"),
              ElementsAre("values.yaml:1: namespaceRestriction.lease.name is empty, and an operator for one namespace "
                          "has to hold that Lease"));
}

TEST(Install, RightsAreLimitedToTheOwnObjects) {
  Manifests manifests = made("");
  EXPECT_EQ(find(manifests, "Role", "rel-webhook")["rules"].item(0).dump(),
            R"({"apiGroups":[""],"resources":["secrets"],"resourceNames":["rel-webhook-server-cert",)"
            R"("rel-webhook-server-cert-ca"],"verbs":["get","list","watch","update"]})");
  EXPECT_EQ(find(manifests, "ClusterRole", "dynamo-system:rel-webhook")["rules"].item(1).dump(),
            R"({"apiGroups":["admissionregistration.k8s.io"],"resources":["validatingwebhookconfigurations"],)"
            R"("resourceNames":["rel-validating"],"verbs":["patch"]})");
}

TEST(Install, TheLeaderHasTheRightToItsLeaseWhereverThatIs) {
  constexpr std::string_view kRules =
      R"([{"apiGroups":["coordination.k8s.io"],"resources":["leases"],"resourceNames":["rel-webhook"],)"
      R"("verbs":["get","list","watch","update"]},)"
      R"({"apiGroups":["coordination.k8s.io"],"resources":["leases"],"verbs":["create"]}])";
  Manifests elsewhere = made("leaderElection: {namespace: kube-system}");
  const Json role = find(elsewhere, "Role", "rel-webhook-leader");
  EXPECT_EQ(role["metadata"]["namespace"].string_or(""), "kube-system");
  EXPECT_EQ(role["rules"].dump(), kRules);
  EXPECT_FALSE(find(elsewhere, "Role", "rel-webhook").dump().contains("leases"));
  EXPECT_THAT(find(made(""), "Role", "rel-webhook")["rules"].dump(),
              testing::HasSubstr(R"("resources":["leases"],"resourceNames":["rel-webhook"])"));
}

TEST(Install, OnlyExternalCertificatesHaveTheirCaInTheManifests) {
  auto client_config = [](const Manifests& manifests) {
    return find(manifests, "ValidatingWebhookConfiguration", "rel-validating")["webhooks"].item(0)["clientConfig"];
  };
  EXPECT_EQ(client_config(made("")).dump(),
            R"({"service":{"name":"rel-webhook","namespace":"dynamo-system",)"
            R"("path":"/validate-nvidia-com-v1alpha1-dynamocomponentdeployment","port":443}})");
  EXPECT_FALSE(client_config(made("webhook: {certManager: {enabled: true}}")).contains("caBundle"));
  Manifests external = made("webhook: {certificateSecret: {external: true, name: mine}, caBundle: " + bundle() + "}");
  EXPECT_EQ(client_config(external)["caBundle"].string_or(""), bundle());
  EXPECT_EQ(find(external, "Role", "rel-webhook")["rules"].item(0).dump(),
            R"({"apiGroups":[""],"resources":["secrets"],"resourceNames":["mine"],"verbs":["get","list","watch"]})");
}

TEST(Install, CertManagerKeepsTheKeyAndInjectsFromTheServingCertificate) {
  Manifests manifests = made("webhook: {certManager: {enabled: true}}");
  EXPECT_EQ(find(manifests, "Certificate", "rel-webhook-ca")["spec"].dump(),
            R"({"isCA":true,"commonName":"rel-webhook-ca","secretName":"rel-webhook-ca","duration":"87600h",)"
            R"("renewBefore":"720h","issuerRef":{"group":"cert-manager.io","kind":"Issuer",)"
            R"("name":"rel-webhook-selfsigned"},"privateKey":{"algorithm":"ECDSA","size":256,)"
            R"("rotationPolicy":"Never"}})");
  EXPECT_EQ(find(manifests, "Certificate", "rel-webhook-serving")["spec"]["dnsNames"].dump(),
            R"(["rel-webhook","rel-webhook.dynamo-system","rel-webhook.dynamo-system.svc",)"
            R"("rel-webhook.dynamo-system.svc.cluster.local"])");
  EXPECT_EQ(find(manifests, "ValidatingWebhookConfiguration", "rel-validating")["metadata"]["annotations"].dump(),
            R"({"cert-manager.io/inject-ca-from":"dynamo-system/rel-webhook-serving"})");
}

TEST(Install, AGivenIssuerIsUsedAsItIs) {
  Manifests manifests =
      made("webhook: {certManager: {enabled: true, issuerRef: {kind: ClusterIssuer, name: company}}}");
  EXPECT_EQ(find(manifests, "Certificate", "rel-webhook-serving")["spec"]["issuerRef"].dump(),
            R"({"group":"cert-manager.io","kind":"ClusterIssuer","name":"company"})");
  EXPECT_THAT(keys(manifests), testing::Not(testing::Contains(testing::HasSubstr("-ca"))));
}

TEST(Install, ARestrictedOperatorChecksItsNamespaceOnly) {
  Manifests manifests = made("namespaceRestriction: {enabled: true, namespace: team-a}");
  Json configuration = find(manifests, "ValidatingWebhookConfiguration", "rel-validating-team-a");
  EXPECT_EQ(configuration["webhooks"].item(2)["namespaceSelector"].dump(),
            R"({"matchLabels":{"kubernetes.io/metadata.name":"team-a"}})");
  EXPECT_EQ(find(manifests, "Role", "rel-webhook-lock")["metadata"]["namespace"].string_or(""), "team-a");
  Json pod = find(manifests, "Deployment", "rel-webhook")["spec"]["template"]["spec"];
  EXPECT_THAT(pod["containers"].item(0)["args"].dump(),
              testing::EndsWith(R"("--lease-name","dynamo-operator-ns-lock","--restrict-to-namespace=team-a",)"
                                R"("--lease-duration=30s","--lease-renew-interval=10s"])"));
  EXPECT_THAT(manifests.warnings, IsEmpty());
}

TEST(Install, ASelectorInRestrictedModeIsIgnoredWithAWarning) {
  Manifests manifests = made(
      "webhook: {namespaceSelector: {matchLabels: {a: b}}}\n"
      "namespaceRestriction: {enabled: true}");
  EXPECT_THAT(manifests.warnings,
              ElementsAre("webhook.namespaceSelector is ignored: with namespaceRestriction, only namespace "
                          "dynamo-system is checked"));
  Json configuration = find(manifests, "ValidatingWebhookConfiguration", "rel-validating-dynamo-system");
  EXPECT_EQ(configuration["webhooks"].item(0)["namespaceSelector"].dump(),
            R"({"matchLabels":{"kubernetes.io/metadata.name":"dynamo-system"}})");
}

TEST(Install, WithoutAWebhookThereIsAController) {
  Manifests manifests = made("webhook: {enabled: false, certManager: {enabled: true}}");
  EXPECT_THAT(keys(manifests),
              ElementsAre("ServiceAccount dynamo-system/rel-webhook", "ClusterRole /dynamo-system:rel-webhook",
                          "ClusterRoleBinding /dynamo-system:rel-webhook", "Deployment dynamo-system/rel-webhook",
                          "NetworkPolicy dynamo-system/rel-webhook"));
  Json spec = find(manifests, "Deployment", "rel-webhook")["spec"];
  EXPECT_EQ(spec["replicas"].int_or(0), 1);
  EXPECT_EQ(spec["template"]["spec"]["containers"].item(0)["args"].dump(),
            R"(["webhook","controller","--policies=dynamo","--all-namespaces"])");
}

TEST(Install, ValuesBelowDynamoOperatorCount) {
  Manifests manifests = made("dynamo-operator: {webhook: {timeoutSeconds: 7}}");
  Json configuration = find(manifests, "ValidatingWebhookConfiguration", "rel-validating");
  EXPECT_EQ(configuration["webhooks"].item(0)["timeoutSeconds"].int_or(0), 7);
  EXPECT_THAT(errors("webhook: {timeoutSeconds: 5}\ndynamo-operator:\n  webhook:\n    timeoutSeconds: 7\n"),
              ElementsAre("values.yaml:4: webhook.timeoutSeconds is given twice, with different values"));
  EXPECT_THAT(errors("webhook: {timeoutSeconds: 7}\ndynamo-operator: {webhook: {timeoutSeconds: 7}}"), IsEmpty());
}

TEST(Install, SetsOverrideFiles) {
  Manifests manifests = made("webhook: {timeoutSeconds: 5}", {"webhook.timeoutSeconds=9", "webhook.image.tag=1.20"});
  EXPECT_EQ(
      find(manifests, "ValidatingWebhookConfiguration", "rel-validating")["webhooks"].item(0)["timeoutSeconds"].int_or(
          0),
      9);
  EXPECT_EQ(
      find(manifests, "Deployment", "rel-webhook")["spec"]["template"]["spec"]["containers"].item(0)["image"].string_or(
          ""),
      "fairlead.dev/fairlead:1.20");
}

Json pod_of(const Manifests& manifests) {
  return find(manifests, "Deployment", "rel-webhook")["spec"]["template"]["spec"];
}

TEST(Install, SetsAreWrittenAsForHelm) {
  Json pod = pod_of(
      made("", {R"(webhook.nodeSelector.kubernetes\.io/os=linux,webhook.image.tag=1.20)",
                "webhook.tolerations[0].key=a,webhook.tolerations[0].operator=Exists", "webhook.imagePullSecrets={}"}));
  EXPECT_EQ(pod["nodeSelector"].dump(), R"({"kubernetes.io/os":"linux"})");
  EXPECT_EQ(pod["containers"].item(0)["image"].string_or(""), "fairlead.dev/fairlead:1.20");
  EXPECT_EQ(pod["tolerations"].dump(), R"([{"key":"a","operator":"Exists"}])");
  auto made = manifests(kRelease, {.sets = {{.text = "webhook.nodeSelector.gpu=true", .is_text = true}}});
  ASSERT_TRUE(made) << made.error().front().report();
  EXPECT_EQ(pod_of(*made)["nodeSelector"].dump(), R"({"gpu":"true"})");
  EXPECT_THAT(errors("", {"webhook.failurePolicy=Fail,x"}), ElementsAre(": --set: \"x\" is not PATH=VALUE"));
  EXPECT_THAT(errors("", {"webhook.tolerations[1].key=a"}),
              ElementsAre("--set webhook.tolerations[1].key: webhook.tolerations[1].key cannot be set: "
                          "webhook.tolerations has 0 items"));
}

TEST(Install, ANullIsTheDefault) {
  auto timeout = [](const Manifests& manifests) {
    return find(manifests, "ValidatingWebhookConfiguration", "rel-validating")["webhooks"].item(0)["timeoutSeconds"];
  };
  EXPECT_EQ(timeout(made("webhook: {timeoutSeconds: 5}", {"webhook.timeoutSeconds=null"})).int_or(0), 10);
  EXPECT_EQ(timeout(made("webhook: {timeoutSeconds: 5}", {"webhook=null"})).int_or(0), 10);
  EXPECT_EQ(
      timeout(made("dynamo-operator: {webhook: {timeoutSeconds: 5}}", {"dynamo-operator.webhook.timeoutSeconds=null"}))
          .int_or(0),
      10);
}

// Helm merges all files first, and the chart then takes what is below dynamo-operator.
TEST(Install, WhatIsBelowDynamoOperatorCountsInWhateverFileItIs) {
  auto made = manifests(kRelease, {.files = {{"a.yaml", "dynamo-operator: {webhook: {failurePolicy: Fail}}"},
                                             {"b.yaml", "webhook: {failurePolicy: Ignore, timeoutSeconds: 7}"}}});
  ASSERT_TRUE(made) << made.error().front().report();
  Json hook = find(*made, "ValidatingWebhookConfiguration", "rel-validating")["webhooks"].item(0);
  EXPECT_EQ(hook["failurePolicy"].string_or(""), "Fail");
  EXPECT_EQ(hook["timeoutSeconds"].int_or(0), 7);
  EXPECT_THAT(made->warnings, ElementsAre("webhook.failurePolicy of b.yaml:1 does not count: a.yaml:1 gives it below "
                                          "dynamo-operator"));
}

TEST(Install, FreeValuesAreMergedAsHelmDoesIt) {
  Manifests manifests = made("webhook: {resources: {limits: {memory: null, cpu: 1}}}");
  EXPECT_EQ(find(manifests, "Deployment", "rel-webhook")["spec"]["template"]["spec"]["containers"]
                .item(0)["resources"]
                .dump(),
            R"({"requests":{"cpu":"50m","memory":"32Mi"},"limits":{"cpu":1}})");
}

TEST(Install, UnknownKeysAreErrorsWithTheirLine) {
  EXPECT_THAT(errors("webhook:\n  failurePolcy: Fail\n"),
              ElementsAre("values.yaml:2: unknown key webhook.failurePolcy; did you mean failurePolicy?"));
  EXPECT_THAT(errors("dynamo-operator:\n  webhok: {}\n"),
              ElementsAre("values.yaml:2: unknown key dynamo-operator.webhok; did you mean webhook?"));
  EXPECT_THAT(errors("dynamo-operator: {dynamo-operator: {}}"),
              ElementsAre("values.yaml:1: unknown key dynamo-operator.dynamo-operator"));
  EXPECT_THAT(errors("", {"webhook.x=1"}), ElementsAre("--set webhook.x: unknown key webhook.x"));
}

TEST(Install, ValuesOfAnotherTypeAreErrors) {
  EXPECT_THAT(
      errors(
          "webhook:\n  enabled: \"yes\"\n  timeoutSeconds: 1.5\n  caBundle: 1\n  tolerations: {}\n  certManager: 1\n"),
      ElementsAre("values.yaml:2: webhook.enabled must be true or false, not string",
                  "values.yaml:3: webhook.timeoutSeconds must be a whole number, not number",
                  "values.yaml:4: webhook.caBundle must be a string, not integer",
                  "values.yaml:5: webhook.tolerations must be a list, not object",
                  "values.yaml:6: webhook.certManager must be a mapping, not integer"));
  EXPECT_THAT(errors("- 1"), ElementsAre("values.yaml:1: values must be a mapping, not array"));
}

TEST(Install, ValuesOutOfRangeAreErrors) {
  EXPECT_THAT(errors("webhook:\n  failurePolicy: fail\n  timeoutSeconds: 31\n  certificateValidity: 30\n  replicas: 0\n"
                     "  operatorServiceAccount: operator\n  certificateSecret: {name: A}\n"),
              ElementsAre("values.yaml:2: webhook.failurePolicy must be Fail or Ignore, not \"fail\"",
                          "values.yaml:3: webhook.timeoutSeconds must be 1 to 30, not 31",
                          "values.yaml:4: webhook.certificateValidity must be 31 to 36500, not 30",
                          "values.yaml:5: webhook.replicas must be 1 to 100, not 0",
                          "values.yaml:7: webhook.certificateSecret.name must be a name of lower-case letters, digits, "
                          "'-' and '.', not \"A\"",
                          "values.yaml:6: webhook.operatorServiceAccount must be NAMESPACE:NAME, not \"operator\""));
}

TEST(Install, WhatTheApiServerWouldRefuseIsAnError) {
  EXPECT_THAT(errors("webhook: {namespaceSelector: {foo: bar, matchExpressions: x, matchLabels: {a: 1}}}"),
              ElementsAre("values.yaml:1: unknown key webhook.namespaceSelector.foo: the keys here are matchLabels, "
                          "matchExpressions",
                          "values.yaml:1: webhook.namespaceSelector.matchExpressions must be a list, not string",
                          "values.yaml:1: webhook.namespaceSelector.matchLabels.a must be a string, not integer"));
  EXPECT_THAT(errors("webhook: {namespaceSelector: {matchExpressions: [x, {key: a b, operator: Is}, {operator: In}, "
                     "{key: a, operator: Exists, values: [b], x: 1}]}}"),
              ElementsAre("values.yaml:1: webhook.namespaceSelector.matchExpressions[0] must be a mapping, not string",
                          "values.yaml:1: webhook.namespaceSelector.matchExpressions[1]: label \"a b\": a name has "
                          "letters, digits, '-', '_' and '.', and starts and ends with a letter or digit",
                          "values.yaml:1: webhook.namespaceSelector.matchExpressions[1].operator must be In, NotIn, "
                          "Exists or DoesNotExist, not \"Is\"",
                          "values.yaml:1: webhook.namespaceSelector.matchExpressions[2].key must be a string, not null",
                          "values.yaml:1: webhook.namespaceSelector.matchExpressions[2].values must have a value, for "
                          "the operator In",
                          "values.yaml:1: unknown key webhook.namespaceSelector.matchExpressions[3].x: the keys here "
                          "are key, operator, values",
                          "values.yaml:1: webhook.namespaceSelector.matchExpressions[3].values must have no value, for "
                          "the operator Exists"));
  EXPECT_THAT(errors("webhook:\n  nodeSelector: {a: true}\n  podLabels: {app.kubernetes.io/name: x}\n"
                     "  podAnnotations: {a: 1}\n"),
              ElementsAre("values.yaml:2: webhook.nodeSelector.a must be a string, not boolean",
                          "values.yaml:4: webhook.podAnnotations.a must be a string, not integer",
                          "values.yaml:3: webhook.podLabels must not have app.kubernetes.io/name: the Service selects "
                          "by it"));
  EXPECT_THAT(errors("webhook:\n  image: {repository: a b;rm, tag: x y}\n  extraArgs: [1]\n  tolerations: [x]\n"),
              ElementsAre("values.yaml:2: webhook.image.repository must be the name of an image without its tag, such "
                          "as registry:5000/fairlead, not \"a b;rm\"",
                          "values.yaml:2: webhook.image.tag must be the tag of an image, not \"x y\"",
                          "values.yaml:4: webhook.tolerations must be a list of mappings, not of string",
                          "values.yaml:3: webhook.extraArgs must be a list of strings, not of integer"));
}

TEST(Install, ServingThatCannotBeIsAnError) {
  EXPECT_THAT(
      errors("webhook:\n  drain: {duration: 20s, limit: 5s}\n"),
      ElementsAre("values.yaml:2: webhook.drain.limit must be at least webhook.drain.duration, and at most 1h"));
  EXPECT_THAT(errors("webhook:\n  maxInFlight: 0\n  logReviews: some\n  clientCA: {configMap: A, key: a/b}\n"),
              ElementsAre("values.yaml:3: webhook.logReviews must be all or not-allowed or none, not \"some\"",
                          "values.yaml:2: webhook.maxInFlight must be 1 to 100000, not 0",
                          "values.yaml:4: webhook.clientCA.configMap must be a name of lower-case letters, digits, '-' "
                          "and '.', not \"A\"",
                          "values.yaml:4: webhook.clientCA.key must be a key of a ConfigMap, not \"a/b\""));
}

// The operator of the whole cluster would leave its own namespace to one that there is not.
TEST(Install, TheLeaderDoesNotHoldTheLockOfANamespace) {
  const std::string error =
      "leaderElection.id and namespaceRestriction.lease.name must not be the same: its own namespace would count as "
      "one with an operator of its own";
  EXPECT_THAT(errors("leaderElection: {id: dynamo-operator-ns-lock}"), ElementsAre("values.yaml:1: " + error));
  EXPECT_THAT(errors("namespaceRestriction: {lease: {name: rel-webhook}}"), ElementsAre(": " + error));
}

TEST(Install, TheSecretOfTheCaIsNotThatOfTheCertificate) {
  const std::string values = "webhook: {certManager: {enabled: true}, certificateSecret: {name: rel-webhook-ca}}";
  EXPECT_THAT(errors(values), ElementsAre("values.yaml:1: webhook.certificateSecret.name must not be rel-webhook-ca: "
                                          "the CA is in that Secret"));
  EXPECT_THAT(errors(values, {"webhook.certManager.issuerRef.name=company"}), IsEmpty());
}

TEST(Install, ContradictionsAreErrors) {
  EXPECT_THAT(errors("webhook:\n  certManager: {issuerRef: {kind: ClusterIssuer, group: example.com}}\n"),
              ElementsAre("values.yaml:2: webhook.certManager.issuerRef.kind needs a "
                          "webhook.certManager.issuerRef.name",
                          "values.yaml:2: webhook.certManager.issuerRef.group needs a "
                          "webhook.certManager.issuerRef.name"));
  EXPECT_THAT(errors("webhook:\n  certGenerator: {enabled: true, image: {repository: bitnami/kubectl}}\n"),
              ElementsAre("values.yaml:2: webhook.certGenerator.image must have fairlead in it, which the hooks run, "
                          "and not kubectl"));
  EXPECT_THAT(errors("webhook:\n  certificateSecret: {external: true}\n  caBundle: " +
                     to_base64("-----BEGIN CERTIFICATE-----\n")),
              ElementsAre("values.yaml:3: webhook.caBundle must be the base64 of certificates in PEM"));
  EXPECT_THAT(
      errors("webhook:\n  certManager: {enabled: true}\n  certificateSecret: {external: true}\n  caBundle: " +
             bundle()),
      ElementsAre("values.yaml:3: webhook.certificateSecret.external and webhook.certManager.enabled contradict "
                  "each other"));
  EXPECT_THAT(errors("webhook:\n  certificateSecret: {external: true}\n"),
              ElementsAre("values.yaml:2: webhook.caBundle is required when webhook.certificateSecret.external is "
                          "true"));
  EXPECT_THAT(errors("webhook:\n  caBundle: " + bundle()),
              ElementsAre("values.yaml:2: webhook.caBundle is only for webhook.certificateSecret.external"));
  EXPECT_THAT(errors("webhook:\n  certificateSecret: {external: true}\n  caBundle: abc\n"),
              ElementsAre("values.yaml:3: webhook.caBundle must be the base64 of certificates in PEM"));
  EXPECT_THAT(errors("webhook:\n  certManager: {enabled: true}\n  certGenerator: {enabled: true}\n"),
              ElementsAre("values.yaml:3: webhook.certGenerator.enabled is only for certificates that Fairlead makes "
                          "itself"));
  EXPECT_THAT(errors("namespaceRestriction:\n  namespace: a\n"),
              ElementsAre("values.yaml:2: a namespace is given, and namespaceRestriction.enabled is false"));
  EXPECT_THAT(errors("namespaceRestriction:\n  enabled: true\n  namespace: a\n  targetNamespace: b\n"),
              ElementsAre("values.yaml:4: namespaceRestriction.namespace and namespaceRestriction.targetNamespace "
                          "contradict each other"));
}

TEST(Install, LifetimesThatCannotWorkAreErrors) {
  EXPECT_THAT(errors("webhook:\n  certManager:\n    certificate:\n      renewBefore: 8760h\n"),
              ElementsAre("values.yaml:4: webhook.certManager.certificate.renewBefore must be shorter than the "
                          "duration"));
  EXPECT_THAT(
      errors("webhook:\n  certManager:\n    certificate:\n      duration: 87600h\n"),
      ElementsAre("values.yaml:4: webhook.certManager.certificate.duration must not be longer than the CA lasts "
                  "after it should have been renewed: rootCA.duration - rootCA.renewBefore"));
  EXPECT_THAT(errors("namespaceRestriction:\n  lease: {duration: 10s, renewInterval: 6s}\n"),
              ElementsAre("values.yaml:2: namespaceRestriction.lease.renewInterval must be at least 500ms, and at most "
                          "half of the duration"));
  EXPECT_THAT(errors("namespaceRestriction:\n  lease: {duration: \"30\"}\n"),
              ElementsAre("values.yaml:2: namespaceRestriction.lease.duration must be a duration such as 8760h or 30s, "
                          "not \"30\""));
}

TEST(Install, HooksAreForCertificatesOfOurOwn) {
  Manifests manifests = made("webhook: {certGenerator: {enabled: true, image: {repository: tools, tag: v1}}}");
  Json job = find(manifests, "Job", "rel-webhook-cert-gen");
  EXPECT_EQ(job["metadata"]["annotations"].dump(),
            R"({"helm.sh/hook":"pre-install,pre-upgrade","helm.sh/hook-weight":"-4",)"
            R"("helm.sh/hook-delete-policy":"before-hook-creation,hook-succeeded"})");
  const Json& container = job["spec"]["template"]["spec"]["containers"].item(0);
  EXPECT_EQ(container["image"].string_or(""), "tools:v1");
  EXPECT_THAT(container["args"].dump(), testing::HasSubstr(R"("--validity=3650d")"));
  find(manifests, "Job", "rel-webhook-ca-inject");
}

TEST(Install, TheNameOfAReleaseIsChecked) {
  for (const std::string& name : std::vector<std::string>{"", "A", "-a", "a.b", std::string(54, 'a')}) {
    auto made = manifests({.name = name, .ns = "default", .version = "1"}, {});
    ASSERT_FALSE(made) << name;
    EXPECT_EQ(made.error().front().what(), fmt::format("\"{}\" cannot be the name of a release", name));
  }
  EXPECT_FALSE(manifests({.name = "rel", .ns = "A", .version = "1"}, {}));
}

}  // namespace
}  // namespace fairlead::webhook::install
