"""The same configurations with our provider and with k8sconnect, on a real control plane; prints what happened, as a table in Markdown.

  ./dev terraform --k8sconnect PATH      PATH: its program, such as one from its releases
"""
import base64
import collections.abc
import json
import pathlib
import re
import sys
import time

from tests.daytwo.daytwo import KUBECTL, DayTwo, kubectl, run
from tests.gate.late_operator import LateOperator
from tests.manifests import config_map, named
from tests.terraform.workspace import PROGRAM, PROVIDER, Workspace

K8SCONNECT = "jmorris0x0/k8sconnect"


class Side(Workspace, DayTwo):
    """One configuration with one provider, in a folder and a namespace of its own."""
    provider = "fairlead"

    def __init__(self, provider, scenario):
        super().__init__()
        self.provider, self.scenario = provider, scenario

    def id(self):
        return f"{self.scenario.__name__}-{self.provider}"

    def __enter__(self):
        super().setUp()
        self.prepare(self.env["KUBECONFIG"])
        return self

    def __exit__(self, *_):
        self.doCleanups()

    def write(self, **bodies):
        """Objects by name; and patches, which are those with a target."""
        cluster = {"kubeconfig": pathlib.Path(self.kubeconfig).read_text()}
        resources: dict[str, dict] = {}
        for name, body in bodies.items():
            attributes = body if "target" in body else {"yaml_body": body if isinstance(body, str) else json.dumps(body)}
            kind = "patch" if "target" in body else "object"
            resources.setdefault(f"{self.provider}_{kind}", {})[name] = {**attributes, "cluster": cluster}
        source = next(source for source in self.overrides if source.endswith(self.provider))
        config = {"terraform": {"required_providers": {self.provider: {"source": source}}}, "resource": resources}
        (self.folder / "main.tf.json").write_text(json.dumps(config))

    def succeeds(self, command, *arguments):
        """Whether it did, and its output."""
        flags = ["-auto-approve"] if command != "plan" else []
        result = run(PROGRAM, command, *flags, "-input=false", "-no-color", *arguments, env=self.env, cwd=self.folder, timeout=900)
        return result.returncode == 0, " ".join((result.stdout + result.stderr).replace("│", " ").split())

    def must_apply(self):
        done, output = self.succeeds("apply")
        if not done:
            raise SystemExit(f"{self.id()}: {output}")

    def has_changes(self):
        return not self.succeeds("plan", "-detailed-exitcode")[0]

    def get(self, kind, name):
        return json.loads(kubectl("-n", self.home, "get", kind, name, "-o", "json"))


def key_with_a_dot(side):
    """`data["config.yaml"]` is changed by somebody, then in the configuration"""
    body = {"a": config_map("a", side.home, **{"config.yaml": "1"})}
    side.write(**body)
    side.must_apply()
    kubectl("-n", side.home, "patch", "configmap", "a", "--type=merge", "-p", '{"data": {"config.yaml": "2"}}')
    drift = "the plan shows the drift" if side.has_changes() else "the plan shows no drift"
    side.must_apply()
    body["a"]["data"]["config.yaml"] = "3"
    side.write(**body)
    side.must_apply()
    value = side.get("configmap", "a")["data"]["config.yaml"]
    return f"{drift}; the new value is {'applied' if value == '3' else 'not applied, and the apply succeeds'}"


def item_of_a_set(side):
    """Another finalizer in `metadata.finalizers`"""
    def write(name):
        side.write(a=named("v1", "ConfigMap", "a", side.home, metadata={"finalizers": [f"example.com/{name}"]}))

    side.addCleanup(run, KUBECTL, "-n", side.home, "patch", "configmap", "a", "--type=merge", "-p", '{"metadata": {"finalizers": null}}')
    write("one")
    side.must_apply()
    write("two")
    side.must_apply()
    return "applied" if side.get("configmap", "a")["metadata"]["finalizers"] == ["example.com/two"] else "not applied, and the apply succeeds"


def strategy(side):
    """`strategy: {type: Recreate}` for a Deployment that had none"""
    labels = {"app": "web"}
    web = named("apps/v1", "Deployment", "web", side.home, spec={
        "replicas": 0, "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "x", "image": "x"}]}}})
    side.write(web=web)
    side.must_apply()
    before = side.get("deployment", "web")["metadata"]["uid"]
    web["spec"]["strategy"] = {"type": "Recreate"}
    side.write(web=web)
    done, output = side.succeeds("apply")
    if not done:
        return "refused: " + output.partition("Error: ")[2][:160]
    return "changed in place" if side.get("deployment", "web")["metadata"]["uid"] == before else "the Deployment is deleted and created again"


def unreachable(side, *flags):
    """`terraform destroy` while the cluster does not answer"""
    side.write(a=config_map("a", side.home, key="1"))
    side.must_apply()
    for name in ("main.tf.json", "terraform.tfstate"):
        path = side.folder / name
        # Nobody listens at this port.
        path.write_text(re.sub(r"https://127\.0\.0\.1:\d+", "https://127.0.0.1:1", path.read_text()))
    done, _ = side.succeeds("destroy", *flags)
    kept = bool(side.resources())
    there = side.is_there("configmap", "a")
    return f"{'succeeds' if done else 'fails'}; the state {'is kept' if kept else 'is empty'}; the object is {'there' if there else 'gone'}"


def unreachable_without_refresh(side):
    """The same with `-refresh=false`"""
    return unreachable(side, "-refresh=false")


def secret(side):
    """The plan of a changed Secret whose `yaml_body` is sensitive"""
    def write(value):
        body = named("v1", "Secret", "s", side.home, data={"password": base64.b64encode(value.encode()).decode()})
        side.write(s='${sensitive("' + json.dumps(body).replace('"', '\\"') + '")}')

    write("gl0wworm-1")
    side.must_apply()
    write("gl0wworm-2")
    _, output = side.succeeds("plan")
    shown = any(form in output for word in ("gl0wworm-1", "gl0wworm-2") for form in (word, base64.b64encode(word.encode()).decode()))
    return "shows the values" if shown else "shows none of the values"


def late_webhook(side):
    """An object whose webhook listens 3 s after the apply began"""
    operator = LateOperator(side.home, side.folder)
    side.addCleanup(operator.stop)
    side.addCleanup(run, KUBECTL, "delete", "crd", f"widgets.{operator.group}", "--wait=false")
    side.addCleanup(run, KUBECTL, "delete", "validatingwebhookconfiguration", side.home)
    kubectl("apply", "-f", "-", stdin="\n---\n".join(json.dumps(one) for one in operator.objects()))
    kubectl("wait", "--for=condition=Established", "crd", f"widgets.{operator.group}")
    side.write(one=operator.widget("one"))
    thread = operator.listen_after(3)
    began = time.monotonic()
    done, _ = side.succeeds("apply")
    seconds = time.monotonic() - began
    thread.join()
    return f"{'succeeds' if done else 'fails'} after {seconds:.0f} s"


def patch(side):
    """`terraform plan` and `destroy` of a patch"""
    kubectl("-n", side.home, "create", "configmap", "theirs")
    side.write(p={"target": {"api_version": "v1", "kind": "ConfigMap", "name": "theirs", "namespace": side.home},
                  "patch": json.dumps({"data": {"key": "ours"}})})
    side.must_apply()
    kubectl("-n", side.home, "patch", "configmap", "theirs", "--type=merge", "-p", '{"data": {"key": "theirs"}}')
    side.succeeds("plan")
    written = side.get("configmap", "theirs")["data"]["key"] != "theirs"
    side.must_apply()
    done, _ = side.succeeds("destroy")
    fields = json.loads(kubectl("-n", side.home, "get", "configmap", "theirs", "-o", "json", "--show-managed-fields"))["metadata"]["managedFields"]
    owners = [one["manager"] for one in fields if "f:key" in json.dumps(one) and side.provider in one["manager"]]
    return (f"plan {'writes the value' if written else 'writes nothing'}; destroy {'succeeds' if done else 'fails'}, the field "
            f"{'still belongs to ' + owners[0].partition('-')[0] if owners else 'is released'}")


SCENARIOS: tuple[collections.abc.Callable, ...] = (
    key_with_a_dot, item_of_a_set, strategy, unreachable, unreachable_without_refresh, secret, late_webhook, patch)


def main(path):
    Side.overrides = {"fairlead/fairlead": PROVIDER, K8SCONNECT: pathlib.Path(path).absolute()}
    print("| | fairlead | k8sconnect |\n|---|---|---|")
    for scenario in SCENARIOS:
        told = []
        for provider in ("fairlead", "k8sconnect"):
            with Side(provider, scenario) as side:
                told.append(scenario(side))
        print(f"| {scenario.__doc__} | {' | '.join(told)} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
