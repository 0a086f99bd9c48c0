"""Records tests/fixtures/defaults.jsonl: what a real API server makes of objects that leave most things out.

    python3 -m tests.record_defaults [--name CLUSTER]

Each object is created in a dry run. src/schema/defaults/defaults_replay_test.cc wants the same from the rules of
src/schema/defaults/internal/default_rules.cc, and wants every rule to be needed by at least one object.
"""
import argparse
import json
import sys

from tests.kube_api import ROOT, Api

POD = {"automountServiceAccountToken": False, "containers": [{"name": "c", "image": "i"}]}
LABELS = {"app": "x"}
SELECTOR = {"matchLabels": LABELS}


def template(spec=None, **more):
    return {"metadata": {"labels": LABELS}, "spec": {**POD, **(spec or {}), **more}}


def sample(api_version, kind, body=None, ignore=(), name="sample", **meta):
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, **meta}, **(body or {})}, list(ignore)


# What admission and storage add, which are no defaults of the types.
POD_EXTRAS = ["spec.serviceAccount", "spec.serviceAccountName", "spec.tolerations", "spec.priority", "spec.preemptionPolicy",
              "status"]
SERVICE_EXTRAS = ["spec.clusterIP", "spec.clusterIPs", "spec.ipFamilies", "spec.ipFamilyPolicy", "spec.ports.nodePort",
                  "spec.healthCheckNodePort"]
JOB_EXTRAS = ["spec.selector", "spec.template.metadata", "status", *(f"metadata.labels.{label}" for label in (
    "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "controller-uid", "job-name"))]
CRD_VERSION = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
PROBE = {"exec": {"command": ["x"]}}
WEBHOOK = {"name": "a.b.c", "clientConfig": {"service": {"namespace": "n", "name": "s"}}, "sideEffects": "None",
           "admissionReviewVersions": ["v1"], "rules": [{"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "operations": ["*"]}]}
POLICY_MATCH = {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}]}


def samples():
    # ---- pods
    yield sample("v1", "Pod", {"spec": POD}, POD_EXTRAS)
    yield sample("v1", "Pod", {"spec": {
        **POD, "hostNetwork": True, "restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "enableServiceLinks": False,
        "initContainers": [{"name": "i", "image": "r/i:latest", "ports": [{"containerPort": 81}],
                            "resources": {"limits": {"cpu": "0.1", "memory": "1024Mi"}, "requests": {"cpu": "50m"}}}],
        "containers": [
            {"name": "a", "image": "r:5000/i", "ports": [{"containerPort": 80}, {"containerPort": 82, "hostPort": 82, "protocol": "UDP"}],
             "resources": {"limits": {"cpu": "1000m", "memory": "1.5Gi", "example.com/x": "3"}},
             "livenessProbe": {"httpGet": {"port": 80}}, "readinessProbe": {"grpc": {"port": 80}},
             "startupProbe": {"tcpSocket": {"port": "x"}, "timeoutSeconds": 0, "periodSeconds": 3},
             "lifecycle": {"preStop": {"httpGet": {"port": 1, "scheme": "HTTPS"}}},
             "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}, {"name": "B"},
                     {"name": "C", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}]},
            {"name": "b", "image": "r:5000/i:v1", "imagePullPolicy": "Never", "terminationMessagePolicy": "FallbackToLogsOnError"},
            {"name": "d", "image": "i@sha256:" + "0" * 64, "stdin": False, "tty": True, "securityContext": {},
             "resources": {"requests": {"cpu": "0.0001", "memory": "1e3"}}}],
        "volumes": [
            {"name": "v1"}, {"name": "v2", "secret": {"secretName": "s"}}, {"name": "v3", "configMap": {"name": "c", "defaultMode": 256}},
            {"name": "v4", "configMap": {"name": "c"}}, {"name": "v5", "downwardAPI": {"items": [{"path": "p", "fieldRef": {"fieldPath": "metadata.name"}}]}},
            {"name": "v6", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}, {"name": "v7", "hostPath": {"path": "/x"}},
            {"name": "v8", "emptyDir": {}},
            {"name": "v9", "ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}},
            {"name": "v10", "iscsi": {"targetPortal": "1.2.3.4", "iqn": "iqn.2001-04.com.example:s", "lun": 0}},
            {"name": "v11", "rbd": {"monitors": ["m"], "image": "i"}}, {"name": "v12", "azureDisk": {"diskName": "d", "diskURI": "https://u/x"}}]}}, POD_EXTRAS)
    yield sample("v1", "PodTemplate", {"template": template(hostNetwork=True, containers=[
        {"name": "c", "image": "i", "ports": [{"containerPort": 1, "hostPort": 1}], "resources": {"limits": {"cpu": "1"}}}])})
    # ---- apps
    yield sample("apps/v1", "Deployment", {"spec": {"selector": SELECTOR, "template": template()}})
    yield sample("apps/v1", "Deployment", {"spec": {"selector": SELECTOR, "template": template(), "replicas": 0, "paused": False,
                                                    "strategy": {"rollingUpdate": {"maxSurge": 1}}, "minReadySeconds": 0}})
    yield sample("apps/v1", "Deployment", {"spec": {"selector": SELECTOR, "template": template(), "strategy": {"type": "Recreate"}}})
    yield sample("apps/v1", "DaemonSet", {"spec": {"selector": SELECTOR, "template": template()}}, ["metadata.annotations"])
    yield sample("apps/v1", "DaemonSet", {"spec": {"selector": SELECTOR, "template": template(), "updateStrategy": {"type": "OnDelete"}}}, ["metadata.annotations"])
    claim = {"metadata": {"name": "d"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2048Mi"}}}}
    yield sample("apps/v1", "StatefulSet", {"spec": {"selector": SELECTOR, "serviceName": "s", "template": template(), "volumeClaimTemplates": [claim]}},
                 ["spec.volumeClaimTemplates.apiVersion", "spec.volumeClaimTemplates.kind"])
    yield sample("apps/v1", "StatefulSet", {"spec": {"selector": SELECTOR, "template": template(), "updateStrategy": {"type": "OnDelete"},
                                                     "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"}}})
    yield sample("apps/v1", "StatefulSet", {"spec": {"selector": SELECTOR, "template": template(), "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {}}}})
    yield sample("apps/v1", "ReplicaSet", {"spec": {"selector": SELECTOR, "template": template()}})
    yield sample("apps/v1", "ControllerRevision", {"revision": 1, "data": {"a": 1}})
    yield sample("v1", "ReplicationController", {"spec": {"template": template()}})
    yield sample("v1", "ReplicationController", {"spec": {"template": template(), "selector": LABELS, "replicas": 3}}, labels={"own": "1"})
    # ---- batch
    never = template(restartPolicy="Never")
    yield sample("batch/v1", "Job", {"spec": {"template": never}}, JOB_EXTRAS)
    yield sample("batch/v1", "Job", {"spec": {"template": never, "parallelism": 2}}, JOB_EXTRAS, labels={"own": "1"})
    yield sample("batch/v1", "Job", {"spec": {"template": never, "completions": 2, "completionMode": "Indexed", "backoffLimitPerIndex": 1, "suspend": True}}, JOB_EXTRAS)
    yield sample("batch/v1", "Job", {"spec": {"template": never, "podFailurePolicy": {"rules": [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}}}, JOB_EXTRAS)
    yield sample("batch/v1", "CronJob", {"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": never}}}})
    # ---- services and networking
    yield sample("v1", "Service", {"spec": {"ports": [{"port": 80}]}}, SERVICE_EXTRAS)
    yield sample("v1", "Service", {"spec": {"type": "ExternalName", "externalName": "x.y", "ports": [{"port": 80, "targetPort": "web"}]}}, SERVICE_EXTRAS)
    yield sample("v1", "Service", {"spec": {"type": "NodePort", "sessionAffinity": "ClientIP", "ports": [{"port": 80, "protocol": "UDP"}]}}, SERVICE_EXTRAS)
    yield sample("v1", "Service", {"spec": {"type": "LoadBalancer", "ports": [{"port": 80}]}}, SERVICE_EXTRAS)
    yield sample("v1", "Service", {"spec": {"clusterIP": "None", "selector": LABELS}}, SERVICE_EXTRAS)
    yield sample("v1", "Service", {"spec": {"externalIPs": ["1.2.3.4"], "ports": [{"port": 1}], "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 5}}}}, SERVICE_EXTRAS)
    yield sample("v1", "Endpoints", {"subsets": [{"addresses": [{"ip": "1.2.3.4"}], "ports": [{"port": 1}]}]}, ["metadata.labels"])
    yield sample("discovery.k8s.io/v1", "EndpointSlice", {"addressType": "IPv4", "endpoints": [{"addresses": ["1.2.3.4"]}], "ports": [{"port": 1}]})
    yield sample("networking.k8s.io/v1", "Ingress", {"spec": {"rules": [{"http": {"paths": [
        {"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "s", "port": {"number": 80}}}}]}}]}})
    yield sample("networking.k8s.io/v1", "IngressClass", {"spec": {"controller": "x.y/z", "parameters": {"apiGroup": "g", "kind": "K", "name": "n"}}})
    yield sample("networking.k8s.io/v1", "NetworkPolicy", {"spec": {"podSelector": {}, "ingress": [{"ports": [{"port": 80}]}]}})
    yield sample("networking.k8s.io/v1", "NetworkPolicy", {"spec": {"podSelector": {}, "egress": [{}]}})
    # ---- configuration, identity
    yield sample("v1", "ConfigMap", {"data": {}})
    yield sample("v1", "ConfigMap", {"data": {"a": ""}, "immutable": False})
    yield sample("v1", "Secret", {"data": {"a": "eA=="}})
    yield sample("v1", "ServiceAccount")
    yield sample("v1", "Namespace", None, ["spec", "metadata.namespace"], name="sample-ns")
    yield sample("v1", "Node", {"spec": {"podCIDR": ""}, "status": {"capacity": {"cpu": "4", "memory": "1024Ki"}}}, ["spec.taints"])
    yield sample("rbac.authorization.k8s.io/v1", "Role", {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]})
    yield sample("rbac.authorization.k8s.io/v1", "Role")
    yield sample("rbac.authorization.k8s.io/v1", "ClusterRole", {"aggregationRule": {"clusterRoleSelectors": [SELECTOR]}})
    subjects = [{"kind": "User", "name": "u"}, {"kind": "Group", "name": "g"}, {"kind": "ServiceAccount", "name": "s", "namespace": "n"}]
    for kind, role in (("RoleBinding", "Role"), ("ClusterRoleBinding", "ClusterRole")):
        yield sample("rbac.authorization.k8s.io/v1", kind, {"roleRef": {"kind": role, "name": "r"}, "subjects": subjects})
    # ---- storage, scheduling, limits
    yield sample("v1", "PersistentVolumeClaim", {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1024Mi"}}}}, ["metadata.finalizers"])
    yield sample("v1", "PersistentVolume", {"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}},
                 ["metadata.finalizers", "status.lastPhaseTransitionTime"])
    yield sample("storage.k8s.io/v1", "StorageClass", {"provisioner": "x.y/z"})
    yield sample("storage.k8s.io/v1", "CSIDriver", {"spec": {}})
    yield sample("scheduling.k8s.io/v1", "PriorityClass", {"value": 1})
    yield sample("policy/v1", "PodDisruptionBudget", {"spec": {"minAvailable": 1, "selector": SELECTOR}})
    yield sample("v1", "LimitRange", {"spec": {"limits": [
        {"type": "Container", "max": {"cpu": "2", "memory": "2Gi"}, "min": {"cpu": "100m"}, "default": {"cpu": "1"}}, {"type": "Pod", "max": {"cpu": "2"}}]}})
    yield sample("v1", "LimitRange", {"spec": {"limits": [{"type": "Container", "min": {"memory": "1Mi"}}]}})
    yield sample("v1", "ResourceQuota", {"spec": {"hard": {"pods": "10"}}})
    yield sample("coordination.k8s.io/v1", "Lease")
    yield sample("node.k8s.io/v1", "RuntimeClass", {"handler": "h"})
    # ---- autoscaling
    ref = {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, "maxReplicas": 3}
    yield sample("autoscaling/v1", "HorizontalPodAutoscaler", {"spec": {**ref, "targetCPUUtilizationPercentage": 50}})
    yield sample("autoscaling/v2", "HorizontalPodAutoscaler", {"spec": ref})
    yield sample("autoscaling/v2", "HorizontalPodAutoscaler", {"spec": {**ref, "minReplicas": 2, "behavior": {"scaleDown": {"stabilizationWindowSeconds": 5}}}})
    yield sample("autoscaling/v2", "HorizontalPodAutoscaler", {"spec": {**ref, "behavior": {"scaleUp": {"selectPolicy": "Min"}}}})
    # ---- admission, definitions, aggregation
    for kind in ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"):
        yield sample("admissionregistration.k8s.io/v1", kind, {"webhooks": [WEBHOOK]})
    yield sample("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", {"spec": {"matchConstraints": POLICY_MATCH, "validations": [{"expression": "true"}]}})
    yield sample("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy", {"spec": {
        "matchConstraints": POLICY_MATCH, "reinvocationPolicy": "Never",
        "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{}"}}]}})
    yield sample("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicyBinding", {"spec": {"policyName": "p", "matchResources": {}}})
    yield sample("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding",
                 {"spec": {"policyName": "p", "validationActions": ["Deny"], "matchResources": {"resourceRules": POLICY_MATCH["resourceRules"]}}})
    names = {"plural": "samples", "kind": "SampleThing"}
    yield sample("apiextensions.k8s.io/v1", "CustomResourceDefinition",
                 {"spec": {"group": "g.fairlead.dev", "scope": "Namespaced", "names": names, "versions": [CRD_VERSION]}},
                 ["status"], name="samples.g.fairlead.dev")
    yield sample("apiextensions.k8s.io/v1", "CustomResourceDefinition",
                 {"spec": {"group": "g.fairlead.dev", "scope": "Cluster", "names": {**names, "singular": "one", "listKind": "Many"}, "versions": [CRD_VERSION],
                           "conversion": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"service": {"namespace": "n", "name": "s"}}}}}},
                 ["status"], name="samples.g.fairlead.dev")
    yield sample("apiregistration.k8s.io/v1", "APIService", {"spec": {"group": "g.fairlead.dev", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1,
                                                                      "insecureSkipTLSVerify": True, "service": {"namespace": "n", "name": "s"}}}, ["status"], name="v1.g.fairlead.dev")
    # ---- flow control
    rule = {"subjects": [{"kind": "User", "user": {"name": "u"}}], "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}]}
    yield sample("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", {"spec": {"priorityLevelConfiguration": {"name": "p"}, "rules": [rule]}})
    yield sample("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration", {"spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Queue", "queuing": {}}}}})


def remove(value, path):
    """A path leads through lists to every item; what it does not find is not there."""
    if isinstance(value, list):
        for item in value:
            remove(item, path)
    elif isinstance(value, dict):
        if path in value:
            del value[path]
            return
        for key in list(value):
            if path.startswith(key + "."):
                remove(value[key], path[len(key) + 1:])


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--name", default="record", help="the cluster to ask (started if need be)")
    api = Api(arguments.parse_args().name)
    plurals = {}
    lines, failed = [], 0
    for body, ignore in samples():
        version = body["apiVersion"]
        base = ("/apis/" if "/" in version else "/api/") + version
        if base not in plurals:
            plurals[base] = {one["kind"]: one for one in api.get(base)["resources"] if "/" not in one["name"]}
        resource = plurals[base][body["kind"]]
        place = "/namespaces/default" if resource["namespaced"] else ""
        code, answer = api.request("POST", f"{base}{place}/{resource['name']}?dryRun=All", body)
        if code != 201:
            print(f"{body['kind']}: {code}: {answer.get('message', answer)}", file=sys.stderr)
            failed += 1
            continue
        for path in [*ignore, *(f"metadata.{name}" for name in ("uid", "creationTimestamp", "generation", "resourceVersion", "managedFields"))]:
            remove(answer, path)
        lines.append({"ignore": ignore, "sent": body, "answer": answer})
    path = ROOT / "tests" / "fixtures" / "defaults.jsonl"
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    print(f"{path.relative_to(ROOT)}: {len(lines)} objects, {path.stat().st_size // 1024} KiB")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
