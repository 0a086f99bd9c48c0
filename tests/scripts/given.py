"""Waiting until a server has taken in what a script has made: nothing tells when it has, so it is made to show it."""
import itertools
import time

from tests.scripts.script import Mistake

# Seconds for what a server does by itself. It bounds a run that would never end and says nothing of how long anything
# should take: the real server empties five CRDs at a time, each for five seconds at least when its list lags behind.
PATIENCE = 300
COUNTER = itertools.count()


def repeat_until(what, attempt):
    """Until it is true; it returns whether it is, and what was seen last."""
    deadline, pause = time.monotonic() + PATIENCE, 0.01
    while True:
        done, seen = attempt()
        if done:
            return
        if time.monotonic() > deadline:
            raise Mistake(f"{what}: not within {PATIENCE} s; the last answer was {str(seen)[:600]}")
        time.sleep(pause)
        pause = min(pause * 1.3, 0.3)


def wait_until_taken_in(server, identity, made):
    kind = made.get("kind", "")
    if kind in ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"):
        wait_until_in_effect(server, identity, kind)
    elif kind == "Namespace":
        wait_until_furnished(server, made["metadata"]["name"])
    elif kind == "CustomResourceDefinition":
        for version in made["spec"]["versions"]:
            if version["served"]:
                wait_until_served(server, made, version["name"])


def wait_until_furnished(server, namespace):
    """What controllers put into a new namespace, so that no webhook of the script's meets that."""
    for path in ("serviceaccounts/default", "configmaps/kube-root-ca.crt"):
        def attempt(path=f"/api/v1/namespaces/{namespace}/{path}"):
            status, answer = server.json("GET", path)
            return status == 200, f"{status} {answer}"
        repeat_until(f"{path} in {namespace}", attempt)


def wait_until_served(server, definition, version):
    path = f"/apis/{definition['spec']['group']}/{version}/{definition['spec']['names']['plural']}?limit=1"

    def attempt():
        status, answer = server.json("GET", path)
        return status == 200, f"{status} {answer}"
    repeat_until(f"{path} is served", attempt)


def wait_until_in_effect(server, identity, kind):
    """A marker made later than the configuration: when its hook fails, as it must, the server knows the other too."""
    name = f"marker-{identity}-{next(COUNTER)}"
    collection = f"/apis/admissionregistration.k8s.io/v1/{kind.lower()}s"
    status, answer = server.json("POST", collection, {
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": name},
        "webhooks": [{
            "name": "marker.example.com",
            "clientConfig": {"service": {"namespace": "default", "name": name}},
            "rules": [{"operations": ["CREATE"], "apiGroups": ["node.k8s.io"], "apiVersions": ["v1"],
                       "resources": ["runtimeclasses"]}],
            "matchConditions": [{"name": "own-probe", "expression": "has(request.options.fieldManager) && "
                                 f"request.options.fieldManager == '{name}'"}],
            "sideEffects": "None", "admissionReviewVersions": ["v1"]}]})
    if status != 201:
        raise Mistake(f"no marker: {answer}")

    def attempt():
        seen = server.json("POST", f"/apis/node.k8s.io/v1/runtimeclasses?dryRun=All&fieldManager={name}",
                           {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name},
                            "handler": "probe"})
        return seen[0] == 500, seen
    try:
        repeat_until(f"{kind}s are in effect", attempt)
    finally:
        server.json("DELETE", f"{collection}/{name}")
