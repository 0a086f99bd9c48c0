"""Records tests/fixtures/apply.jsonl: what a real API server makes of applies and updates by several managers.

    python3 -m tests.record_apply [--name CLUSTER] [--seed N]

Every line is one write: the object before it, the request, the answer. src/schema/apply_replay_test.cc does each of them
again and wants the same. A new recording differs in times and uids only, unless the server does.
"""
import argparse
import copy
import json
import random
import time

from tests.kube_api import ROOT, Api

NAMESPACE = "record-apply"
MANAGERS = ["alice", "bob", "carol"]
GROUP = "record.fairlead.dev"

WIDGET_SCHEMA = {"type": "object", "properties": {
    "spec": {"type": "object", "properties": {
        "size": {"type": "integer"},
        "color": {"type": "string"},
        "ratio": {"type": "number"},
        "level": {"x-kubernetes-int-or-string": True},
        "plain": {"type": "array", "items": {"type": "string"}},
        "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        "numbers": {"type": "array", "items": {"type": "integer"}, "x-kubernetes-list-type": "set"},
        "parts": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name", "slot"],
                  "items": {"type": "object", "required": ["name"], "properties": {
                      "name": {"type": "string"}, "slot": {"type": "string", "default": "main"},
                      "weight": {"type": "integer"}, "notes": {"type": "object", "additionalProperties": {"type": "string"}}}}},
        "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": {"type": "string"}},
        "options": {"type": "object", "additionalProperties": {"type": "string"}},
        "nested": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string", "nullable": True},
                                                    "c": {"type": "string", "default": "see"}}},
        "anything": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "free": {"x-kubernetes-preserve-unknown-fields": True},
    }},
    "status": {"type": "object", "properties": {"phase": {"type": "string"}, "conditions": {
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"],
        "items": {"type": "object", "required": ["type"], "properties": {"type": {"type": "string"}, "status": {"type": "string"}}}}}},
}}
WIDGET_CRD = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"widgets.{GROUP}"},
    "spec": {"group": GROUP, "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"}, "versions": [
        {"name": version, "served": True, "storage": version == "v1", "subresources": {"status": {}},
         "schema": {"openAPIV3Schema": WIDGET_SCHEMA}} for version in ("v1", "v1beta1")]}}


# ---- random configurations: small worlds, so that managers meet -----------------------------------------------------
class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def some(self, choices, least=0):
        return self.random.sample(choices, self.random.randint(least, len(choices)))

    def maybe(self, into, key, make, chance=0.5):
        if self.random.random() < chance:
            into[key] = make()

    def strings(self, keys, values="xyz"):
        return {key: self.random.choice(values) for key in self.some(keys)}

    def metadata(self, name):
        meta = {"name": name}
        self.maybe(meta, "labels", lambda: self.strings(["l1", "l2"]), 0.4)
        self.maybe(meta, "annotations", lambda: self.strings(["n1", "n2"]), 0.3)
        self.maybe(meta, "finalizers", lambda: self.some(["test.dev/a", "test.dev/b"]), 0.2)
        return meta

    def configmap(self, name, _):
        out = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": self.metadata(name)}
        self.maybe(out, "data", lambda: self.strings("abcd"), 0.9)
        self.maybe(out, "binaryData", lambda: self.strings(["p", "q"], ["eA==", "eQ=="]), 0.2)
        return out

    def service(self, name, _):
        def port():
            out: dict = {"port": self.random.choice([80, 81, 443])}
            self.maybe(out, "protocol", lambda: self.random.choice(["TCP", "UDP"]), 0.4)
            out["name"] = f"p{out['port']}{out.get('protocol', 'TCP').lower()}"
            self.maybe(out, "targetPort", lambda: self.random.choice([8080, "web"]))
            return out

        ports = {(one["port"], one.get("protocol", "TCP")): one for one in (port() for _ in range(self.random.randint(1, 3)))}
        spec = {"ports": list(ports.values())}
        self.maybe(spec, "selector", lambda: self.strings(["app", "tier"]), 0.7)
        self.maybe(spec, "sessionAffinity", lambda: self.random.choice(["None", "ClientIP"]), 0.3)
        return {"apiVersion": "v1", "kind": "Service", "metadata": self.metadata(name), "spec": spec}

    def container(self, name, full):
        out = {"name": name}
        if full or self.random.random() < 0.8:
            out["image"] = self.random.choice(["img:1", "img", "img:latest"])
        self.maybe(out, "env", lambda: [{"name": key, "value": self.random.choice("12")} for key in self.some(["A", "B", "C"])])
        self.maybe(out, "ports", lambda: [{"containerPort": port} | self.random.choice([{}, {"protocol": "TCP"}, {"name": f"n{port}"}])
                                          for port in self.some([80, 81])])
        self.maybe(out, "args", lambda: self.some(["-a", "-b"]), 0.3)
        self.maybe(out, "resources", lambda: {"limits": {"cpu": self.random.choice(["1", "1000m", "0.5"])}}, 0.3)
        self.maybe(out, "livenessProbe", lambda: {"httpGet": {"port": self.random.choice([80, "n80"])}}, 0.2)
        self.maybe(out, "volumeMounts", lambda: [{"name": "v", "mountPath": path} for path in self.some(["/a", "/b"], 1)], 0.2)
        return out

    def deployment(self, name, full):
        pod = {"containers": [self.container(one, full) for one in self.some(["c1", "c2"], 1)],
               "volumes": [{"name": "v", "emptyDir": {}}]}
        self.maybe(pod, "tolerations", lambda: [{"key": key, "operator": "Exists"} for key in self.some(["t1", "t2"])], 0.3)
        self.maybe(pod, "nodeSelector", lambda: self.strings(["zone"]), 0.3)
        spec = {"selector": {"matchLabels": {"app": "x"}},
                "template": {"metadata": {"labels": {"app": "x"} | self.strings(["v"])}, "spec": pod}}
        self.maybe(spec, "replicas", lambda: self.random.randint(0, 2))
        self.maybe(spec, "strategy", lambda: self.random.choice([{"type": "RollingUpdate"}, {"rollingUpdate": {"maxSurge": 1}}]), 0.3)
        self.maybe(spec, "paused", lambda: self.random.choice([True, False]), 0.2)
        return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": self.metadata(name), "spec": spec}

    def widget(self, name, _):
        def part():
            out = {"name": self.random.choice("abc")}
            self.maybe(out, "slot", lambda: self.random.choice(["main", "side"]))
            self.maybe(out, "weight", lambda: self.random.randint(0, 2))
            self.maybe(out, "notes", lambda: self.strings("uv"), 0.3)
            return out

        spec: dict = {}
        self.maybe(spec, "size", lambda: self.random.randint(0, 3))
        self.maybe(spec, "color", lambda: self.random.choice(["red", "blue"]))
        self.maybe(spec, "ratio", lambda: self.random.choice([1, 0.5, 2.25]), 0.3)
        self.maybe(spec, "level", lambda: self.random.choice([1, "high"]), 0.3)
        self.maybe(spec, "plain", lambda: self.some(["p", "q"]), 0.4)
        self.maybe(spec, "tags", lambda: self.some(["t1", "t2", "t3"]))
        self.maybe(spec, "numbers", lambda: self.some([1, 2, 3]), 0.3)
        parts = {(one["name"], one.get("slot", "main")): one for one in (part() for _ in range(self.random.randint(0, 3)))}
        self.maybe(spec, "parts", lambda: list(parts.values()), 0.7)
        self.maybe(spec, "whole", lambda: self.strings("ij"), 0.4)
        self.maybe(spec, "options", lambda: self.strings("kl"))
        self.maybe(spec, "nested", lambda: {key: self.random.choice(["1", "2"]) for key in self.some(["a", "b", "c"])}, 0.4)
        self.maybe(spec, "anything", lambda: self.random.choice([{}, {"x": 1}, {"x": {"y": [1]}}, {"z": "s"}]), 0.4)
        self.maybe(spec, "free", lambda: self.random.choice([1, "s", {"m": 1}, ["l"]]), 0.3)
        version = self.random.choice(["v1", "v1", "v1beta1"])
        return {"apiVersion": f"{GROUP}/{version}", "kind": "Widget", "metadata": self.metadata(name), "spec": spec}

    def status(self, kind):
        if kind == "widget":
            return {"phase": self.random.choice(["New", "Old"]),
                    "conditions": [{"type": one, "status": self.random.choice(["True", "False"])} for one in self.some(["A", "B"])]}
        return {"replicas": self.random.randint(0, 2), "conditions": [
            {"type": one, "status": "True", "reason": "r"} for one in self.some(["Mine", "Yours"])]}


RESOURCES = {"configmap": ("v1", "configmaps"), "service": ("v1", "services"), "deployment": ("apps/v1", "deployments"),
             "widget": (f"{GROUP}/v1", "widgets")}


# ---- recording ------------------------------------------------------------------------------------------------------
class Recorder:
    def __init__(self, api, seed):
        self.api, self.make, self.lines = api, Maker(seed), []

    def path(self, kind, name="", api_version=None, subresource=""):
        version = api_version or RESOURCES[kind][0]
        root = "/api/" if "/" not in version else "/apis/"
        tail = "".join(f"/{part}" for part in (name, subresource) if part)
        return f"{root}{version}/namespaces/{NAMESPACE}/{RESOURCES[kind][1]}{tail}"

    def live(self, kind, name, api_version):
        """The object once nothing changes it any more; None if there is none."""
        last = None
        while True:
            code, found = self.api.request("GET", self.path(kind, name, api_version))
            if code == 404:
                return None
            settled = kind != "deployment" or found.get("status", {}).get("observedGeneration") == found["metadata"]["generation"]
            if settled and (kind != "deployment" or last == found["metadata"]["resourceVersion"]):
                return found
            last = found["metadata"]["resourceVersion"]
            time.sleep(0.3)

    def write(self, sequence, kind, verb, body, manager, name=None, force=False, subresource=""):
        name = name or body["metadata"]["name"]
        api_version = body.get("apiVersion", RESOURCES[kind][0])
        before = self.live(kind, name, api_version)
        method, content = {"apply": ("PATCH", "application/apply-patch+yaml"), "create": ("POST", "application/json"),
                           "replace": ("PUT", "application/json"), "merge": ("PATCH", "application/merge-patch+json"),
                           "strategic": ("PATCH", "application/strategic-merge-patch+json")}[verb]
        path = self.path(kind, "" if verb == "create" else name, api_version, subresource)
        query = f"?fieldManager={manager}" + ("&force=true" if force else "")
        code, answer = self.api.request(method, path + query, body, content)
        self.lines.append({"sequence": sequence, "kind": kind, "verb": verb, "apiVersion": api_version, "manager": manager,
                           "force": force, "subresource": subresource, "before": before, "body": body, "code": code,
                           "answer": answer})
        return code, answer

    def random_sequence(self, kind, number, steps):
        name = sequence = f"{kind}-{number}"
        configure = getattr(self.make, kind)
        choose = self.make.random
        for step in range(steps):
            manager, verb = choose.choice(MANAGERS), choose.choices(["apply", "replace", "merge", "status"], [6, 2, 2, 1])[0]
            if step == 0 and choose.random() < 0.4:
                self.write(sequence, kind, "create", configure(name, True), manager)
                continue
            config = configure(name, step == 0)
            if step == 0 or verb == "apply":
                self.write(sequence, kind, "apply", config, manager, force=step == 0 or choose.random() < 0.5)
                continue
            if verb == "status" and kind in ("widget", "deployment"):
                body = {"apiVersion": config["apiVersion"], "kind": config["kind"], "metadata": {"name": name},
                        "status": self.make.status(kind)}
                verb = choose.choice(["apply", "merge"])
                self.write(sequence, kind, verb, body, manager, force=verb == "apply", subresource="status")
                continue
            if verb == "merge":
                self.write(sequence, kind, "merge" if kind == "widget" else choose.choice(["merge", "strategic"]), config, manager)
                continue
            now = self.live(kind, name, config["apiVersion"])
            if now is None:
                continue
            body = copy.deepcopy(now)
            for part in ("spec", "data", "metadata"):
                for key, value in config.get(part, {}).items():
                    if key not in ("name", "selector", "template") and choose.random() < 0.5:
                        body.setdefault(part, {})[key] = value
            for part in ("spec", "data"):
                for key in list(body.get(part, {})):
                    if kind != "deployment" and key not in ("ports", "clusterIP", "clusterIPs", "type", "ipFamilies", "ipFamilyPolicy") \
                            and choose.random() < 0.15:
                        del body[part][key]
            if kind != "widget":  # custom resources want it
                del body["metadata"]["resourceVersion"]
            self.write(sequence, kind, "replace", body, manager)

    def scripted(self):
        """What chance does not bring about."""
        def config(name, **parts):
            return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, **parts}

        def widget(name, spec, version="v1"):
            return {"apiVersion": f"{GROUP}/{version}", "kind": "Widget", "metadata": {"name": name}, "spec": spec}

        def deployment(name, **spec):
            return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {
                "selector": {"matchLabels": {"app": "x"}}, "template": {"metadata": {"labels": {"app": "x"}}, "spec": {
                    "containers": [{"name": "c", "image": "i"}]}}, **spec}}

        write = self.write
        # Refusals.
        write("refused", "configmap", "apply", config("refused", nosuch=1), "alice")
        write("refused", "configmap", "apply", config("refused", data={"a": 1}), "alice")
        write("refused", "configmap", "apply", config("refused", data="text"), "alice")
        write("refused", "configmap", "apply", config("refused", data=["text"]), "alice")
        write("refused", "configmap", "apply", config("refused", immutable="yes"), "alice")
        write("refused", "deployment", "apply", deployment("refused", replicas="two"), "alice")
        write("refused", "deployment", "apply", deployment("refused", template={"spec": {"containers": {"a": 1}}}), "alice")
        write("refused", "deployment", "apply", deployment("refused", template={"spec": {"containers": [{"image": "i"}, {"image": "j"}]}}), "alice")
        write("refused", "deployment", "apply", deployment("refused", template={"spec": {"containers": [{"name": "a"}, {"name": "a"}]}}), "alice")
        write("refused", "widget", "apply", widget("refused", {"tags": ["a", "a"]}), "alice")
        write("refused", "widget", "apply", widget("refused", {"tags": [{"a": 1}]}), "alice")
        write("refused", "widget", "apply", widget("refused", {"parts": [{"name": "a"}, {"name": "a", "slot": "main"}]}), "alice")
        write("refused", "widget", "apply", widget("refused", {"nosuch": True}), "alice")
        write("refused", "widget", "apply", widget("refused", {"size": "large"}), "alice")
        with_owner = config("refused")
        with_owner["metadata"]["managedFields"] = [{"manager": "x"}]
        write("refused", "configmap", "apply", with_owner, "alice")
        # Conflicts: one, several, several managers, a status.
        write("conflict", "configmap", "apply", config("conflict", data={"a": "1", "b": "1"}), "alice")
        write("conflict", "configmap", "merge", config("conflict", data={"c": "1"}), "bob")
        write("conflict", "configmap", "apply", config("conflict", data={"a": "2"}), "carol")
        write("conflict", "configmap", "apply", config("conflict", data={"a": "2", "b": "2"}), "carol")
        write("conflict", "configmap", "apply", config("conflict", data={"a": "2", "b": "2", "c": "2"}), "carol")
        write("conflict", "configmap", "apply", config("conflict", data={"a": "2", "c": "2"}), "carol", force=True)
        write("conflict", "configmap", "apply", config("conflict", data={"a": "1", "b": "1"}), "alice")
        # Nothing changes; nothing is left; shared fields are dropped one after the other.
        write("shared", "configmap", "apply", config("shared", data={"a": "1", "b": "1"}), "alice")
        write("shared", "configmap", "apply", config("shared", data={"a": "1", "b": "1"}), "alice")
        write("shared", "configmap", "apply", config("shared", data={"a": "1"}), "bob")
        write("shared", "configmap", "apply", config("shared"), "alice")
        write("shared", "configmap", "apply", config("shared"), "bob")
        # Owners are forgotten, and asked for again.
        write("reset", "configmap", "apply", config("reset", data={"a": "1"}), "alice")
        write("reset", "configmap", "merge", {"metadata": {"managedFields": [{}]}}, "bob", name="reset")
        write("reset", "configmap", "merge", {"data": {"b": "1"}}, "bob", name="reset")
        write("reset", "configmap", "apply", config("reset", data={"a": "1", "c": "1"}), "alice")
        write("reset", "configmap", "apply", config("reset", data={"a": "2"}), "alice")
        # Nulls, empty things, text that wants escapes.
        write("empty", "widget", "apply", widget("empty", {"nested": {"b": None}, "tags": [], "options": {}, "anything": {}}), "alice")
        write("empty", "widget", "apply", widget("empty", {"nested": {}, "parts": []}), "bob")
        write("empty", "widget", "apply", widget("empty", {}), "alice")
        write("escapes", "widget", "apply", widget("escapes", {"tags": ["<a>&", "\"q\"", "ü", "\\"], "options": {"a.b/c": "x", "<": "y"}}), "alice")
        write("escapes", "widget", "apply", widget("escapes", {"tags": ["<a>&"], "parts": [{"name": "<&>", "slot": "\n"}]}), "bob")
        write("escapes", "widget", "apply", widget("escapes", {"parts": [{"name": "<&>", "slot": "\n", "weight": 1}]}), "carol")
        write("escapes", "widget", "apply", widget("escapes", {"parts": [{"name": "<&>", "slot": "\n", "weight": 2}]}), "alice")
        # Owners in another version.
        write("versions", "widget", "apply", widget("versions", {"size": 1, "color": "red"}), "alice")
        write("versions", "widget", "apply", widget("versions", {"size": 1}, "v1beta1"), "bob")
        write("versions", "widget", "apply", widget("versions", {"color": "red"}, "v1beta1"), "alice")
        write("versions", "widget", "merge", widget("versions", {"color": "blue"}, "v1beta1"), "carol")
        write("versions", "widget", "merge", widget("versions", {"size": 3}, "v1"), "carol")
        write("versions", "widget", "apply", widget("versions", {"color": "green"}), "alice")
        # The order of merged lists.
        write("order", "widget", "apply", widget("order", {"tags": list("abcd"), "parts": [{"name": n} for n in "abcd"]}), "alice")
        write("order", "widget", "apply", widget("order", {"tags": list("xdyb"), "parts": [{"name": n} for n in "xdyb"]}), "bob")
        write("order", "widget", "apply", widget("order", {"tags": list("ca"), "parts": [{"name": n} for n in "ca"]}), "alice")
        write("order", "widget", "apply", widget("order", {"tags": list("byz"), "parts": [{"name": n} for n in "byz"]}), "bob")
        # More updaters than are kept.
        write("crowd", "configmap", "create", config("crowd", data={"k": "0"}), "first")
        for number in range(13):
            write("crowd", "configmap", "merge", {"data": {f"k{number}": "1"}}, f"updater{number:02}", name="crowd")
        # Duplicates that an update has brought in.
        twice = deployment("twice")
        twice["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]
        write("twice", "deployment", "create", twice, "bob")
        write("twice", "deployment", "apply", deployment("twice", replicas=0), "alice", force=True)
        once = deployment("twice")
        once["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "A", "value": "3"}]
        write("twice", "deployment", "apply", once, "alice", force=True)
        # Strategic merge patches, with all that they can say.
        pod = {"containers": [{"name": name, "image": "i", "env": [{"name": one, "value": "1"} for one in "ABCD"],
                               "ports": [{"containerPort": port} for port in (80, 81)]} for name in ("a", "b", "c")],
               "volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "configMap": {"name": "m"}}]}
        base = deployment("strategic", replicas=0, template={"metadata": {"labels": {"app": "x"}}, "spec": pod})
        base["metadata"]["finalizers"] = ["test.dev/a", "test.dev/b", "test.dev/c"]
        write("strategic", "deployment", "create", base, "alice")

        def patch(spec, **more):
            write("strategic", "deployment", "strategic", {"spec": {"template": {"spec": spec}}, **more}, "bob", name="strategic")

        patch({"containers": [{"name": "b", "image": "j"}, {"name": "n", "image": "i"}]})
        patch({"containers": [{"name": "a", "env": [{"name": "C", "value": "2"}, {"name": "N", "value": "1"}]}]})
        patch({"$setElementOrder/containers": [{"name": "c"}, {"name": "a"}], "containers": [{"name": "a", "image": "k"}]})
        patch({"$setElementOrder/containers": [{"name": "n"}, {"name": "b"}]})
        patch({"containers": [{"name": "b", "$patch": "delete"}]})
        patch({"containers": [{"name": "a", "$setElementOrder/env": [{"name": "D"}, {"name": "X"}, {"name": "A"}],
                               "env": [{"name": "X", "value": "1"}, {"name": "B", "$patch": "delete"}],
                               "ports": [{"containerPort": 80, "name": "web"}, {"containerPort": 82}]}]})
        patch({"volumes": [{"name": "w", "$retainKeys": ["name", "emptyDir"], "emptyDir": {}}]})
        patch({"volumes": [{"name": "w", "$retainKeys": ["name"], "emptyDir": {}}]})
        patch({"containers": [{"image": "nameless"}]})
        patch({"containers": [{"name": "a", "livenessProbe": {"httpGet": {"port": 1, "path": None}}, "env": None}]})
        patch({"tolerations": [{"key": "a", "operator": "Exists"}]})
        patch({"tolerations": [{"key": "b", "operator": "Exists"}]})
        patch({}, metadata={"$deleteFromPrimitiveList/finalizers": ["test.dev/b"], "$setElementOrder/finalizers": ["test.dev/d", "test.dev/a"],
                            "finalizers": ["test.dev/d"], "labels": {"l": "1"}})
        patch({"securityContext": {"$patch": "replace", "runAsUser": 1}, "containers": [{"$patch": "replace"}, {"name": "only", "image": "i"}]})


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--name", default="record", help="the cluster to ask (started if need be)")
    arguments.add_argument("--seed", type=int, default=1)
    wanted = arguments.parse_args()
    api = Api(wanted.name)
    api.request("DELETE", f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.{GROUP}")
    api.request("DELETE", f"/api/v1/namespaces/{NAMESPACE}")
    while api.request("GET", f"/api/v1/namespaces/{NAMESPACE}")[0] == 200:
        for resource in ("configmaps", "services"):  # finalizers of an earlier recording
            for item in api.get(f"/api/v1/namespaces/{NAMESPACE}/{resource}")["items"]:
                api.request("PATCH", f"/api/v1/namespaces/{NAMESPACE}/{resource}/{item['metadata']['name']}",
                            {"metadata": {"finalizers": None}}, "application/merge-patch+json")
        for path in (f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments", f"/apis/{GROUP}/v1/namespaces/{NAMESPACE}/widgets"):
            for item in (api.request("GET", path)[1] or {}).get("items", []) if api.request("GET", path)[0] == 200 else []:
                api.request("PATCH", f"{path}/{item['metadata']['name']}", {"metadata": {"finalizers": None}}, "application/merge-patch+json")
        time.sleep(0.5)
    while api.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", WIDGET_CRD)[0] != 201:
        time.sleep(0.2)
    api.request("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    while api.request("GET", f"/apis/{GROUP}/v1/namespaces/{NAMESPACE}/widgets")[0] != 200:
        time.sleep(0.1)
    time.sleep(1)
    recorder = Recorder(api, wanted.seed)
    recorder.scripted()
    for kind, sequences, steps in (("configmap", 4, 10), ("service", 3, 10), ("deployment", 4, 10), ("widget", 8, 14)):
        for number in range(sequences):
            recorder.random_sequence(kind, number, steps)
    fixture = ROOT / "tests" / "fixtures" / "apply.jsonl"
    fixture.parent.mkdir(exist_ok=True)
    with fixture.open("w") as out:
        out.write(json.dumps({"widgetSchema": WIDGET_SCHEMA}, separators=(",", ":")) + "\n")
        previous = None
        for line in recorder.lines:
            if line["before"] is not None and line["before"] == previous:
                line = line | {"before": "previous"}
            out.write(json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n")
            previous = line["answer"]
    codes = [line["code"] for line in recorder.lines]
    print(f"{fixture.relative_to(ROOT)}: {len(codes)} writes, {sum(code < 300 for code in codes)} taken, {fixture.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
