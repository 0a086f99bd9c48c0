"""One case: a bundle is put in, upgraded and taken out, each run is ended at random moments and then run again to its end."""
import dataclasses
import json
import os
import random
import re
import shutil
import signal
import subprocess
import threading
import time

from tests.kill.bundles import THEIRS, Maker, Place, key_of
from tests.kill.servers import DIES_WITH_US, FAIRLEAD, ROOT, Failed, World, with_namespace

LIMIT = 240  # seconds until a run is taken to hang
BUNDLE = "shop"
CLAIM = "fairlead.dev/claim"
INTERRUPTED = 130
# Said by a run that watches whether the holder of a claim is still alive. Here it never is, and that can be told at once.
WATCHES_A_CLAIM = re.compile("checking whether that run is still alive")
SUMMARY = re.compile(r" in [0-9.]+m?s, with [0-9]+ requests", re.MULTILINE)
LOGS = ROOT / "build" / "kill"


@dataclasses.dataclass
class Blow:
    """How a run is ended: by which signals, and when."""
    signals: list
    lines: int       # after so many requests, ...
    seconds: float   # ... or, if there were none to count, after so long
    pause: float     # then so much later

    def __str__(self):
        when = f"after {self.lines} requests" if self.lines else f"after {self.seconds * 1000:.0f} ms"
        return f"{', '.join(one.name for one in self.signals)} {when}"


@dataclasses.dataclass
class Outcome:
    """What came of a run: its exit code, or minus the signal that ended it; what it printed; the signals that it was sent."""
    code: int
    output: str
    sent: list
    process: int


class Run:
    """One process of Fairlead."""

    def __init__(self, arguments, kubeconfig, log):
        self.arguments, self.log = arguments, log
        environment = {**os.environ, "KUBECONFIG": str(kubeconfig)}
        self.process = subprocess.Popen([*DIES_WITH_US, FAIRLEAD, *arguments, "-v", "6"], env=environment, text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        start_new_session=True)
        self.sent, self.lines, self.hung = [], [], False

    def strike(self, blow):
        for number in blow.signals:
            time.sleep(blow.pause)
            if self.process.poll() is None:
                self.process.send_signal(number)
                self.sent.append(number)

    def give_up(self):
        self.hung = True
        self.process.kill()

    def finish(self, blow):
        watchdog = threading.Timer(LIMIT, self.give_up)
        watchdog.start()
        timer: threading.Thread | None = None
        if blow and not blow.lines:
            timer = threading.Timer(blow.seconds, self.strike, [blow])
            timer.start()
        for line in self.process.stdout:
            self.lines.append(line)
            if blow and len(self.lines) == blow.lines:
                timer = threading.Thread(target=self.strike, args=[blow])
                timer.start()
        code = self.process.wait()
        watchdog.cancel()
        if timer:
            timer.join()
        self.process.stdout.close()
        return self.outcome(code, blow)

    def outcome(self, code, blow):
        text = "".join(self.lines)
        with self.log.open("a") as log:
            log.write(f"$ fairlead {' '.join(self.arguments)}   # {blow or 'to its end'}\n{text}exit code {code}\n\n")
        if self.hung:
            raise Failed(f"fairlead {self.arguments[0]} does not end")
        return Outcome(code, text, self.sent, self.process.pid)


class Case:
    def __init__(self, seed, kubeconfig, folder, hooks, runs_pods, attempt=0):
        self.dice = random.Random(seed)
        # How often a run was to be ended and had ended before; a further attempt strikes earlier.
        self.attempt = attempt
        token = f"k{seed}-{os.getpid()}-{attempt}"
        self.folder = folder
        hooks.set(token, {})
        self.hooks = hooks
        self.place = Place(token, runs_pods, hooks.url(token), hooks.ca)
        self.maker = Maker(self.dice, self.place)
        self.world = World(kubeconfig, self.place)
        self.kubeconfig = with_namespace(kubeconfig, self.place.home, folder / "kubeconfig")
        self.first = self.maker.first_release()
        self.second = self.maker.upgrade(self.first)
        self.has_own_server = runs_pods
        self.others, self.struck = {}, []
        self.stage = "beginning"

    # ---- running --------------------------------------------------------------------------------------------------
    def blow(self, size):
        """For a run of so many objects; early, for one that must not end by itself before, if there are none."""
        signals = self.dice.choice([[signal.SIGKILL], [signal.SIGKILL], [signal.SIGINT], [signal.SIGTERM], [signal.SIGHUP],
                                    [signal.SIGINT, signal.SIGTERM]])
        by_time = self.dice.random() < 0.4
        lines = max(1, self.dice.randrange(1, 2 * size + 16) >> self.attempt)
        if not size:
            return Blow(signals, max(1, self.dice.randrange(1, 9) >> self.attempt), 0, 0)
        return Blow(signals, 0 if by_time else lines, self.dice.uniform(0, 0.6) / (1 << self.attempt),
                    self.dice.choice([0, self.dice.uniform(0, 0.03)]))

    def run(self, arguments, blow=None):
        return Run(arguments, self.kubeconfig, self.folder / "runs.log").finish(blow)

    def run_to_the_end(self, arguments, size, strikes=None):
        """Ends it a few times on the way."""
        for _ in range(self.dice.randint(0, 3) if strikes is None else strikes):
            outcome = self.run(arguments, self.blow(size))
            self.struck += outcome.sent[:1] if outcome.code else []
            self.judge_interrupted(outcome)
        outcome = self.run(arguments)
        if outcome.code:
            raise Failed(f"run again to its end it fails with exit code {outcome.code}:\n{tail(outcome.output)}")
        self.judge_claim(outcome)

    def judge_interrupted(self, outcome):
        code, sent = outcome.code, outcome.sent
        if WATCHES_A_CLAIM.search(outcome.output):
            raise Failed("it watches the claim of a run that has ended")
        if not sent or signal.SIGKILL in sent:
            if code not in (0, -signal.SIGKILL):
                raise Failed(f"exit code {code}:\n{tail(outcome.output)}")
            return
        # A second signal ends it at once; so does one that comes before it listens to signals, or when all is said and done.
        at_once = [code for number in sent[1:] for code in (128 + number, -number)]
        if not outcome.output or SUMMARY.search(outcome.output):
            at_once.append(-sent[0])
        if code not in (0, INTERRUPTED, *at_once):
            raise Failed(f"exit code {code} after {sent[0].name}, not {INTERRUPTED}:\n{tail(outcome.output)}")
        if len(sent) == 1:
            self.judge_claim(outcome)

    def judge_claim(self, outcome):
        if WATCHES_A_CLAIM.search(outcome.output):
            raise Failed("it watches the claim of a run that has ended")
        record = self.world.ask("GET", f"/api/v1/namespaces/{self.place.home}/configmaps/fairlead-{BUNDLE}", allowed=(404,))
        claim = json.loads((record or {}).get("metadata", {}).get("annotations", {}).get(CLAIM, "{}"))
        # One of a run that was killed before is taken over by whoever claims the bundle next.
        if outcome.code == 0 and claim or claim.get("holder", "").endswith(f" {outcome.process}"):
            raise Failed(f"the run has ended, and its claim is still there: {claim}")

    # ---- the story ------------------------------------------------------------------------------------------------
    def tell(self):
        self.others_come([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.place.home}},
                          *self.maker.others_before()])
        stages = [("apply", self.apply_first), ("apply --prune", self.apply_second), ("delete", self.delete)]
        for self.stage, stage in stages:
            stage()
            self.judge_others()
        self.stage = "delete, with nothing of others left"
        self.delete_rest()

    def others_come(self, objects):
        for one in objects:
            made = self.world.create(one)
            self.others[key_of(one)] = made["metadata"]["uid"], made["metadata"]["resourceVersion"]

    def manifests(self, name, objects):
        path = self.folder / f"{name}.yaml"
        path.write_text("".join(f"---\n{json.dumps(one)}\n" for one in objects))
        return ["-f", str(path)]

    def apply_first(self):
        self.apply(self.first, "first", [], strikes=max(1, self.dice.randint(0, 3)) if self.dice.random() < 0.7 else 0)
        self.judge_there(self.first)
        self.judge_seen(self.first, [])
        self.judge_left(self.first, set())
        found = self.world.all()["ConfigMap", self.place.home, f"fairlead-{BUNDLE}"]
        part_of = found["metadata"]["labels"]["applyset.kubernetes.io/id"]
        self.others_come(self.maker.others_inside(self.first, part_of))
        if self.dice.random() < 0.3:
            self.others_have_a_bundle()

    def others_have_a_bundle(self):
        objects = [self.maker.theirs(self.maker.config_map(f"{self.place.token}-{THEIRS}")) for _ in range(2)]
        outcome = self.run(["apply", "--name", THEIRS, *self.manifests(THEIRS, objects)])
        if outcome.code:
            raise Failed(f"another bundle could not be put in: {tail(outcome.output)}")
        there = self.world.all()
        for key in [*map(key_of, objects), ("ConfigMap", self.place.home, f"fairlead-{THEIRS}")]:
            self.others[key] = there[key]["metadata"]["uid"], there[key]["metadata"]["resourceVersion"]

    def apply(self, release, name, flags, strikes=None):
        self.run_to_the_end(["apply", "--name", BUNDLE, *flags, *self.manifests(name, release)], len(release), strikes)

    def apply_second(self):
        self.apply(self.second, "second", ["--prune"])
        self.judge_there(self.second)
        self.judge_seen(self.second, self.first)
        self.judge_left(self.second, self.kept())

    def delete(self):
        arguments = ["delete", "--name", BUNDLE, "--yes"]
        self.run_to_the_end(arguments, *((len(self.second), None) if self.struck else (0, 2)))
        self.judge_left([], self.kept())

    def delete_rest(self):
        before = self.world.all()
        for key in list(self.others):
            if key[1] and key[2] != f"fairlead-{THEIRS}":
                self.world.delete(before[key])
                del self.others[key]
        self.run_to_the_end(["delete", "--name", BUNDLE, "--yes"], 5, 1 if self.kept_before(before) else 0)
        self.judge_others()
        self.judge_left([], set())

    def kept_before(self, found):
        return ("ConfigMap", self.place.home, f"fairlead-{BUNDLE}") in found

    # ---- what must hold -------------------------------------------------------------------------------------------
    def kept(self):
        """The namespaces and the definition that stay because others have something in them, and the record then."""
        inside = {("Namespace", "", namespace) for kind, namespace, _ in self.others if namespace} | {
            ("CustomResourceDefinition", "", self.place.definition) for kind, _, _ in self.others if kind == "Widget"}
        return inside & {key_of(one) for one in [*self.first, *self.second]}

    def judge_others(self):
        there = self.world.all()
        for key, (uid, version) in self.others.items():
            if key not in there:
                raise Failed(f"{text(key)} of others is gone")
            metadata = there[key]["metadata"]
            if (metadata["uid"], metadata["resourceVersion"]) != (uid, version):
                raise Failed(f"{text(key)} of others was changed")

    def judge_there(self, release):
        there = self.world.all()
        for one in release:
            live = there.get(key_of(one))
            if live is None:
                raise Failed(f"{text(key_of(one))} is missing")
            if live["metadata"].get("deletionTimestamp"):
                raise Failed(f"{text(key_of(one))} is on its way out")
            if wrong := difference(one, live):
                raise Failed(f"{text(key_of(one))} is not as its manifest says: {wrong}")

    def judge_left(self, release, kept):
        """Nothing is there besides the release, what has to stay, others' and what the cluster makes by itself."""
        expected = {key_of(one) for one in release} | kept | set(self.others)
        if release or kept:
            expected.add(("ConfigMap", self.place.home, f"fairlead-{BUNDLE}"))
        there = set(self.world.all())
        # The manifests of the last runs belong to the record, and go with it.
        expected |= {key for key in there if key[0] == "Secret"
                     and ("ConfigMap", key[1], key[2].split(".revision-")[0]) in expected}
        left = [key for key in there if key not in expected and key[2] not in ("default", "kube-root-ca.crt")]
        if left:
            raise Failed(f"{', '.join(map(text, sorted(left)))} is left")
        if missing := expected & {("ConfigMap", self.place.home, f"fairlead-{BUNDLE}"), *kept} - there:
            raise Failed(f"{', '.join(map(text, sorted(missing)))} should have stayed")
        if self.has_own_server:
            self.world.judge_shadows()

    def judge_seen(self, release, before):
        """What a webhook of the release guards was shown to it when it was created."""
        guards = [one for one in release if one["kind"].endswith("WebhookConfiguration")]
        if not any("url" in guard["webhooks"][0]["clientConfig"] for guard in guards):
            return
        asked = [call["request"] for call in list(self.hooks.calls[self.place.token])]
        created = {(one.get("namespace", ""), one["name"]) for one in asked
                   if one["operation"] == "CREATE" and not one.get("dryRun")}
        old = set(map(key_of, before))
        for kind, namespace, name in map(key_of, release):
            if kind == "Widget" and (kind, namespace, name) not in old and (namespace, name) not in created:
                raise Failed(f"{text((kind, namespace, name))} was stored unseen by its webhook")

    def clean_up(self):
        """On a server that goes on: what is left of the case, without waiting for it."""
        for one in self.world.all().values():
            if not one["metadata"].get("namespace"):
                self.world.delete(one)


def text(key):
    kind, namespace, name = key
    return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"


def tail(output):
    """The end of what was printed, without the log of the requests."""
    lines = [line for line in output.splitlines() if not re.match("(GET|POST|PUT|PATCH|DELETE) ", line)]
    return "\n".join(f"    {line}" for line in lines[-12:])


def difference(wanted, live, path=""):
    """Where the live object is not as the manifest wants it; fields that others have set do not count."""
    if isinstance(wanted, dict) and isinstance(live, dict):
        is_ours_alone = path == "data" or (path == "spec" and "key-" in "".join(wanted))
        if is_ours_alone and set(wanted) != set(live):
            return f"{path} has {sorted(live)} instead of {sorted(wanted)}"
        below = (difference(value, live.get(key), f"{path}.{key}".strip(".")) for key, value in wanted.items())
        return next(filter(None, below), "")
    if isinstance(wanted, list) and isinstance(live, list):
        if len(wanted) != len(live):
            return f"{path} has {len(live)} items instead of {len(wanted)}"
        below = (difference(one, other, f"{path}[{number}]") for number, (one, other) in enumerate(zip(wanted, live)))
        return next(filter(None, below), "")
    return "" if wanted == live else f"{path} is {live!r} instead of {wanted!r}"


def keep_logs(seed, folder):
    place = LOGS / str(seed)
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(folder, place, ignore=shutil.ignore_patterns("kubeconfig"))
    return place
