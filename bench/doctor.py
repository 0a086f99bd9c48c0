"""fairlead doctor on a cluster with many objects of the kinds that it reads: the time that it takes, and its requests.

./dev bench doctor [--json] [--rounds N] [--objects N]
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from bench._clusters import cluster, heed_signals
from bench._figures import Arm, Figures, Run, interleave

ROOT = pathlib.Path(__file__).resolve().parent.parent
FAIRLEAD = ROOT / "build/fairlead"
NAMESPACES = 20


def named(api_version, kind, name, namespace, **more):
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": namespace}, **more}


def unit(number):
    """Nine objects, each of a kind that doctor lists."""
    ns, name = f"bench-{number % NAMESPACES}", f"app-{number}"
    rbac, labels = "rbac.authorization.k8s.io", {"app": name}
    pod: dict = {"containers": [{"name": "app", "image": "registry.example.com/app:1"}]}
    template = {"metadata": {"labels": labels}, "spec": {**pod, "serviceAccountName": name}}
    return [
        named("v1", "ServiceAccount", name, ns),
        named("v1", "Service", name, ns, spec={"selector": labels, "ports": [{"port": 443}]}),
        named("v1", "Pod", name, ns, spec=pod),
        named("apps/v1", "Deployment", name, ns, spec={"replicas": 0, "selector": {"matchLabels": labels}, "template": template}),
        named("batch/v1", "Job", name, ns, spec={"suspend": True, "template": {"spec": {**pod, "restartPolicy": "Never"}}}),
        named("policy/v1", "PodDisruptionBudget", name, ns, spec={"minAvailable": 1, "selector": {"matchLabels": labels}}),
        named("networking.k8s.io/v1", "NetworkPolicy", name, ns, spec={"podSelector": {"matchLabels": labels}, "ingress": [{}]}),
        named(f"{rbac}/v1", "Role", name, ns, rules=[{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]),
        named(f"{rbac}/v1", "RoleBinding", name, ns, roleRef={"apiGroup": rbac, "kind": "Role", "name": name},
              subjects=[{"kind": "ServiceAccount", "name": name, "namespace": ns}]),
    ]


def webhook(number):
    """A webhook that nothing serves, for objects with a label that nobody has."""
    ns = f"bench-{number % NAMESPACES}"
    return {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": f"bench-{number}"}, "webhooks": [{
                "name": f"v{number}.bench.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
                "objectSelector": {"matchLabels": {"nobody": "has-this"}},
                "clientConfig": {"service": {"namespace": ns, "name": f"app-{number}"}},
                "rules": [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}]}]}


def fill(folder, env, objects):
    everything = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"bench-{number}"}} for number in range(NAMESPACES)]
    everything += [webhook(number) for number in range(NAMESPACES)]
    number = 0
    while len(everything) < objects:
        everything += unit(number)[:objects - len(everything)]
        number += 1
    path = folder / "objects.yaml"
    path.write_text("\n---\n".join(json.dumps(one) for one in everything))
    Run([FAIRLEAD, "apply", "-f", path, "--no-wait", "-o", "quiet"], env)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--objects", type=int, default=5000)
    options = parser.parse_args()
    heed_signals()
    figures = Figures()
    requests = Arm("doctor, requests", None)
    with tempfile.TemporaryDirectory() as folder, cluster("doctor", "--control-plane") as (_, kubeconfig):
        env = {"KUBECONFIG": kubeconfig}
        fill(pathlib.Path(folder), env, options.objects)

        def examine(_):
            run = Run([FAIRLEAD, "doctor", "--fail-on", "never", "-o", "json"], env, stdout=subprocess.PIPE)
            requests.values.append(json.loads(run.output)["requests"])
            return run.seconds

        seconds = Arm("doctor, s", examine)
        interleave([seconds], options.rounds)
    figures.value_at_most(f"doctor on {options.objects} objects, s", seconds, 2)
    figures.value_at_most(f"doctor on {options.objects} objects, requests", requests, 40)
    return 0 if figures.print(options.json) else 1


if __name__ == "__main__":
    sys.exit(main())
