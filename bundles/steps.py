"""What is done with a bundle, and what came of each step."""
import json
import os
import subprocess
import threading
import time

from bundles import given
from cluster import builds
from cluster.settings import say

LIMIT = os.environ.get("FAIRLEAD_BUNDLES_LIMIT", "120s")  # of each step
LONGEST = 200  # of a line that is kept
HARD_LIMIT = 400  # seconds: a step that ignores its own limit is ended, and said to be
# What a cluster makes by itself, all the time.
PASSING = {"Event", "Lease", "EndpointSlice", "Endpoints", "ControllerRevision", "PodMetrics", "NodeMetrics", "CSIStorageCapacity",
           "IPAddress"}
COLUMNS = '{range .items[*]}{.kind}|{.apiVersion}|{.metadata.namespace}|{.metadata.name}{"\\n"}{end}'


class Place:
    """A cluster, by its kubeconfig."""

    def __init__(self, name, kubeconfig, fairlead, flags):
        """The kubeconfig is the run's own: it is written to."""
        self.name, self.fairlead, self.flags = name, fairlead, flags
        self.environment = {**os.environ, "KUBECONFIG": str(kubeconfig)}

    def use_namespace(self, namespace):
        """By the kubeconfig, not by --namespace: that refuses what is for other namespaces, and most charts have such objects."""
        self.kubectl("create", "namespace", namespace)
        self.kubectl("config", "set-context", "--current", f"--namespace={namespace}")

    def kubectl(self, *words):
        return subprocess.run([builds.default_release().bin / "kubectl", *words], env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True)

    def objects(self):
        """Every object of the cluster, but for those that come and go by themselves."""
        resources = self.kubectl("api-resources", "--verbs=list", "--output=name").stdout.split()
        names = ",".join(one for one in resources if not one.startswith(("events", "componentstatuses")))
        lines = self.kubectl("get", names, "--all-namespaces", "--ignore-not-found", f"--output=jsonpath={COLUMNS}").stdout
        rows = {tuple(line.split("|")) for line in lines.splitlines() if line.count("|") == 3}
        return {(kind, namespace, name) for kind, _, namespace, name in rows if kind not in PASSING}

    def run(self, *words):
        """One run of fairlead: its exit code, what it said, and the seconds."""
        start = time.monotonic()
        process = subprocess.Popen([self.fairlead, *words, "--output=json", f"--timeout={LIMIT}"], env=self.environment, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, errors = process.communicate(timeout=HARD_LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            out, errors = process.communicate()
            errors += f"error: still at work after {HARD_LIMIT} s\n"
        try:
            answer = json.loads(out)
        except ValueError:
            answer = {"objects": [], "summary": {}}
        return {"exit": process.returncode, "seconds": round(time.monotonic() - start, 1), "said": said(answer, errors),
                "summary": {key: value for key, value in answer["summary"].items() if isinstance(value, int) and value},
                "objects": answer["objects"]}


def said(answer, errors):
    """What a run said of failures, as text, and its warnings."""
    lines = errors.splitlines()
    found = [*answer["summary"].get("errors", []), *(one["error"] for one in answer["objects"] if "error" in one)]
    seen = set()
    for error in found:
        if error["what"] not in seen:
            lines += [f"error: {error['what']}", *(f"  because   {one}" for one in dict.fromkeys(error.get("because", [])))]
        seen.add(error["what"])
    lines = [line if len(line) <= LONGEST else f"{line[:LONGEST - 1]}…" for line in lines]
    return lines + [f"warning: {title(one)}: {text}" for one in answer["objects"] for text in one.get("warnings", [])]


class StandIn(threading.Thread):
    """Plays the part of a project's own programs, which do not run in the sandbox: makes the Secrets and ConfigMaps that pods wait
    for, and fills in the caBundle of webhooks that have none. `needs` is what given.missing() returns."""

    def __init__(self, place, needs):
        super().__init__(daemon=True)
        self.place, self.needs, self.over = place, list(needs.items()), threading.Event()
        self.done = []

    def run(self):
        while not self.over.wait(1):
            self.needs = [(what, keys) for what, keys in self.needs if not self.made(what, keys)]
            self.fill_in("validatingwebhookconfigurations")
            self.fill_in("mutatingwebhookconfigurations")

    def made(self, what, keys):
        kind, namespace, name = what
        words = ["configmap"] if kind == "ConfigMap" else ["secret", "generic"]
        literals = [f"--from-literal={key}=made" for key in keys]
        if self.place.kubectl("create", *words, name, "--namespace", namespace, *literals).returncode:
            return False
        self.done.append((words[0], name, namespace))
        return True

    def take_back(self):
        """What it made is of nobody's bundle: it would keep the namespaces."""
        for kind, name, namespace in self.done:
            self.place.kubectl("delete", kind, name, "--namespace", namespace)

    def fill_in(self, resource):
        for one in json.loads(self.place.kubectl("get", resource, "--output=json").stdout or '{"items": []}')["items"]:
            patch = [{"op": "add", "path": f"/webhooks/{number}/clientConfig/caBundle", "value": given.certificate()}
                     for number, hook in enumerate(one.get("webhooks", [])) if not hook["clientConfig"].get("caBundle")]
            if patch:
                self.place.kubectl("patch", resource, one["metadata"]["name"], "--type=json", f"--patch={json.dumps(patch)}")


def title(one):
    place = f"{one['namespace']}/" if one["namespace"] else ""
    return f"{one['kind']} {place}{one['name']}"


def step(name, result):
    """What is kept of a run: of the objects those alone that a reader wants to know of."""
    objects = result.pop("objects")
    result["step"], result["objects"] = name, len(objects)
    if name.startswith("again"):
        result["not unchanged"] = [f"{title(one)} {one['outcome']}" for one in objects
                                   if one["outcome"] not in ("unchanged", "left out")]
    if name == "delete":
        result["kept"] = [title(one) for one in objects if one["outcome"] not in ("gone", "absent")]
    say(f"    {name:15} exit {result['exit']}  {result['seconds']:6.1f} s  {result['summary']}")
    return result


def left(place, before):
    """What is in the cluster that was not there before, after a while in which it may go by itself."""
    for _ in range(8):
        more = place.objects() - before
        if not more:
            break
        time.sleep(1)
    return sorted(f"{kind} {space + '/' if space else ''}{name}" for kind, space, name in more)


def put_in(place, bundle, versions):
    """Apply, the same again, the upgrade, and that again. `versions` are lists of paths."""
    names = ["apply", "again"], ["upgrade", "again upgraded"]
    for pair, paths in zip(names, versions):
        for number, name in enumerate(pair):
            prune = ["--prune"] if name == "upgrade" else []
            words = [word for path in paths for word in ("--filename", str(path))]
            yield step(name, place.run("apply", *words, "--name", bundle["name"], *prune, *place.flags))


def until_timed_out(results):
    """What would come after a step that timed out is left out: it would time out as well."""
    for result in results:
        yield result
        if result["exit"] == 3:
            return


def take_out(place, bundle):
    return step("delete", place.run("delete", "--name", bundle["name"], "--yes"))


def tried(place, bundle, versions):
    """All steps of a bundle in one cluster."""
    say(f"  {place.name}")
    if "namespace" in bundle:
        place.use_namespace(bundle["namespace"])
        time.sleep(1)  # until it has what every namespace has
    before = place.objects()
    needs = [given.missing(paths, bundle.get("namespace", "default")) for paths in versions] if place.name == "sandbox" else []
    stand_in = StandIn(place, {what: keys for one in needs for what, keys in one.items()})
    if place.name == "sandbox":
        stand_in.start()
    results = list(until_timed_out(put_in(place, bundle, versions)))
    if place.name == "sandbox":
        stand_in.over.set()
        stand_in.join()
        stand_in.take_back()
    results.append(take_out(place, bundle))
    results[-1]["left"] = left(place, before)
    return results
