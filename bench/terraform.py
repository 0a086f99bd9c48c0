"""The provider for Terraform on a real control plane, beside k8sconnect: time, requests and memory of an apply, and an empty plan.

./dev bench terraform [--json] [--rounds N] [--objects N] [--k8sconnect PATH] [--terraform PATH]

k8sconnect is whatever program --k8sconnect (or FAIRLEAD_K8SCONNECT) names, such as one from its releases. Without it, ours is
measured alone.
"""
import argparse
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from bench._clusters import cluster, heed_signals
from bench._figures import Arm, Figures, Run, interleave, short
from bench._mixed import NAMESPACES, Mixed

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROVIDER = ROOT / "build/provider/terraform-provider-fairlead"
SOURCES = {"fairlead": "fairlead/fairlead", "k8sconnect": "jmorris0x0/k8sconnect"}
# Every request that has been answered, with the program that sent it.
AUDIT = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived", "ResponseStarted"],
         "rules": [{"level": "Metadata"}]}


def children(parent):
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "stat").read_text().rpartition(")")[2].split()[1] == str(parent):
                yield folder
        except OSError:
            pass  # it has just ended


class Peak:
    """The highest memory of any provider, in MiB, while the context lasts. A process of terraform's starts several."""

    def __init__(self, program):
        self.program, self.mib, self.ended = program, 0.0, threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def watch(self):
        # A high-water mark: what it was between two looks is not missed.
        while not self.ended.wait(0.02):
            for ours in children(os.getpid()):
                for provider in children(ours.name):
                    try:
                        words = (provider / "status").read_text()
                    except OSError:
                        continue
                    if words.partition("\n")[0].split()[1] in self.program and "VmHWM:" in words:
                        self.mib = max(self.mib, int(words.partition("VmHWM:")[2].split()[0]) / 1024)


class Providers:
    def __init__(self, program, folder, paths, audit_log, objects, k8sconnect):
        self.program, self.folder, self.audit_log, self.objects = program, folder, audit_log, objects
        self.kubectl, self.kubeconfig = paths
        self.description = self.described()
        overrides = {"fairlead": PROVIDER.parent}
        if k8sconnect:
            overrides["k8sconnect"] = k8sconnect.parent
        lines = "\n".join(f'    "{SOURCES[name]}" = "{path}"' for name, path in overrides.items())
        settings = folder / "terraformrc"
        settings.write_text(f"provider_installation {{\n  dev_overrides {{\n{lines}\n  }}\n  direct {{}}\n}}\n")
        self.env = {"TF_CLI_CONFIG_FILE": str(settings), "TF_IN_AUTOMATION": "1", "CHECKPOINT_DISABLE": "1"}
        self.bare_plan = Arm("terraform_data, empty plan, s", None)
        self.of_provider = {name: {what: Arm(f"{name}, {what}", None) for what in ("own time", "peak", "requests", "plan")}
                            for name in overrides}
        self.bare_seconds: list[float] = []

    def ask(self, *arguments):
        return Run([self.kubectl, *arguments], {"KUBECONFIG": str(self.kubeconfig)}, subprocess.PIPE).output

    def described(self):
        """The cluster in few words: terraform writes its state after every resource, with all that describes the cluster."""
        self.ask("-n", "default", "create", "serviceaccount", "bench")
        self.ask("create", "clusterrolebinding", "bench", "--clusterrole=cluster-admin", "--serviceaccount=default:bench")
        return {"host": self.ask("config", "view", "--minify", "-o", "jsonpath={.clusters[0].cluster.server}"), "insecure": True,
                "token": self.ask("-n", "default", "create", "token", "bench", "--duration=24h").strip()}

    def bodies(self, name):
        for _, one in Mixed(name, self.objects + NAMESPACES).objects():
            # One form for both: what is written is what is stored.
            if strings := one.pop("stringData", None):
                one["data"] = {key: base64.b64encode(value.encode()).decode() for key, value in strings.items()}
            yield one

    def configuration(self, provider, name):
        root: dict[str, object] = {}
        # Without the namespaces: what depends on many resources costs terraform itself a lot of time.
        bodies = list(self.bodies(name))[NAMESPACES:]
        resources = {f"r{number}": {"yaml_body": json.dumps(body), "cluster": self.description} for number, body in enumerate(bodies)}
        if provider == "terraform":
            kind, resources = "terraform_data", {name: {"input": attributes} for name, attributes in resources.items()}
        else:
            kind, root = f"{provider}_object", {"required_providers": {provider: {"source": SOURCES[provider]}}}
        return {"terraform": root, "resource": {kind: resources}}

    def place(self, provider, round_number):
        name = f"{provider}-{round_number}"
        folder = self.folder / name
        folder.mkdir()
        (folder / "main.tf.json").write_text(json.dumps(self.configuration(provider, name)))
        if provider != "terraform":
            spaces = folder / "spaces.json"
            spaces.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(self.bodies(name))[:NAMESPACES]}))
            self.ask("create", "-f", spaces)
        return folder

    def run(self, folder, *arguments):
        return Run([self.program, f"-chdir={folder}", *arguments, "-input=false", "-no-color"], self.env)

    def bare(self, round_number):
        """Terraform's own time: resources of the same texts that no provider of a cluster has to do with."""
        folder = self.place("terraform", round_number)
        self.bare_seconds.append(self.run(folder, "apply", "-auto-approve").seconds)
        self.bare_plan.values.append(self.run(folder, "plan", "-detailed-exitcode").seconds)
        return self.bare_seconds[-1]

    def sent(self, provider):
        """How many requests the API server has answered to it so far."""
        agent = f"terraform-provider-{provider}"
        with open(self.audit_log) as lines:
            return sum(json.loads(line).get("userAgent", "").startswith(agent) for line in lines if line.endswith("\n"))

    def settled(self, provider):
        """The same, once the log is written."""
        count = -1
        while count != (now := self.sent(provider)):
            count = now
            time.sleep(0.3)
        return count

    def of(self, provider):
        arms = self.of_provider[provider]

        def measure(round_number):
            folder = self.place(provider, round_number)
            before = self.settled(provider)
            with Peak(f"terraform-provider-{provider}") as peak:
                seconds = self.run(folder, "apply", "-auto-approve").seconds
            arms["own time"].values.append(seconds - self.bare_seconds[-1])
            arms["peak"].values.append(peak.mib)
            arms["requests"].values.append(self.settled(provider) - before)
            arms["plan"].values.append(self.run(folder, "plan", "-detailed-exitcode").seconds)
            print("  " + ", ".join(f"{what} {short(arm.values[-1])}" for what, arm in arms.items()), file=sys.stderr)
            return seconds
        return measure


def compare(figures, where, objects):
    ours, peer = where["fairlead"], where.get("k8sconnect")
    goals = (("own time", "provider's own time in an apply, s", 1 / 3), ("requests", "requests of an apply", 1 / 2),
             ("peak", "provider's peak memory in an apply, MiB", 1 / 4), ("plan", "empty plan, s", 1 / 5))
    for what, name, goal in goals:
        if peer:
            figures.at_most(f"{objects} objects, {name}, to k8sconnect", ours[what], peer[what], round(goal, 3))
        else:
            figures.value_at_most(f"{objects} objects, {name}", ours[what], float("inf"))


def main():
    parser = argparse.ArgumentParser(prog="./dev bench terraform", description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one object a line instead of a table")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--objects", type=int, default=500)
    parser.add_argument("--k8sconnect", type=pathlib.Path, default=os.environ.get("FAIRLEAD_K8SCONNECT"), metavar="PATH",
                        help="its program, named terraform-provider-k8sconnect")
    parser.add_argument("--terraform", default=shutil.which("terraform"), metavar="PATH", help="or a tofu")
    wanted = parser.parse_args()
    if not wanted.terraform:
        parser.error("there is no terraform in PATH: --terraform names one, or a tofu")
    k8sconnect = pathlib.Path(wanted.k8sconnect).absolute() if wanted.k8sconnect else None
    if k8sconnect and not (k8sconnect.is_file() and k8sconnect.name == "terraform-provider-k8sconnect"):
        parser.error(f"{k8sconnect} is no file of the name terraform-provider-k8sconnect")
    heed_signals()
    figures = Figures()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "audit.json").write_text(json.dumps(AUDIT))
        flags = ["--control-plane", f"--apiserver-flag=--audit-policy-file={folder}/audit.json",
                 f"--apiserver-flag=--audit-log-path={folder}/audit.log"]
        with cluster("plane", *flags) as paths:
            runs = Providers(wanted.terraform, folder, paths, folder / "audit.log", wanted.objects, k8sconnect)
            arms = [Arm("terraform_data, apply, s", runs.bare)]
            arms += [Arm(f"{name}, apply, s", runs.of(name)) for name in runs.of_provider]
            interleave(arms, wanted.rounds)
        figures.value_at_most(f"{wanted.objects} objects, terraform's own time of an apply, s", arms[0], float("inf"))
        figures.value_at_most(f"{wanted.objects} objects, terraform's own time of an empty plan, s", runs.bare_plan, float("inf"))
        compare(figures, runs.of_provider, wanted.objects)
    sys.exit(0 if figures.print(wanted.json) else 1)


main()
