"""Proves the cluster tool: a whole cluster and two control planes side by side, and nothing is left behind.

Prints one line a check, then `N passed, N failed`; exit code 1 if any failed. It takes about a minute once the binaries
are built.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from cluster.settings import CACHE, become_root

HERE = pathlib.Path(__file__).resolve().parent
CLUSTER = str(HERE / "cluster")
NAMES = {role: f"verify-{os.getpid()}-{role}" for role in ("whole", "one", "two")}
WORK = tempfile.TemporaryDirectory(prefix="fairlead-verify-")
results = {"passed": 0, "failed": 0}


# ---- words of the checks ------------------------------------------------------------------------------------------
def check(what):
    """Run the decorated function at once, and count it."""
    def judge(function):
        began = time.monotonic()
        try:
            function()
            outcome, detail = "passed", ""
        except Exception as error:  # whatever it is, the other checks still have their say
            outcome, detail = "failed", f"\n       {type(error).__name__}: {error}".replace("\n", "\n       ").rstrip()
        results[outcome] += 1
        mark = "ok  " if outcome == "passed" else "FAIL"
        print(f"{mark} {what} ({time.monotonic() - began:.1f} s){detail}", flush=True)
    return judge


def expect(condition, explanation):
    if not condition:
        raise AssertionError(explanation)


def cluster(*arguments, code=0, **options):
    """Run the tool; returns stdout. Its words are part of the failure when the exit code is not the expected one."""
    done = subprocess.run([CLUSTER, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    expect(done.returncode == code, f"cluster {arguments[0]} ended with {done.returncode}: {done.stderr}{done.stdout}")
    return done.stdout + (done.stderr if code else "")


def begin_up(role, **options):
    return subprocess.Popen([CLUSTER, "up", "--control-plane", "--name", NAMES[role], "--owner", str(os.getpid())], **options)


def kubectl(role, *arguments, code=0, **options):
    return cluster("kubectl", "--name", NAMES[role], *arguments, code=code, **options)


def field(role, path, *what):
    return kubectl(role, "get", *what, "-o", f"jsonpath={path}")


def eventually(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        expect(time.monotonic() < deadline, f"not within {seconds} s")
        time.sleep(0.1)


def apply(role, *objects):
    kubectl(role, "apply", "--server-side", "-f", "-", input="".join(
        f"---\n{json.dumps(one)}\n" for one in objects))


def record(role):
    return json.loads((folder(role) / "record.json").read_text())


def folder(role):
    return CACHE / "clusters" / NAMES[role]


def pod_template(name, *arguments, image="localhost/fairlead/testpod:1", **further):
    container = {"name": "main", "image": image, "imagePullPolicy": "Never", "args": list(arguments), **further}
    return {"metadata": {"labels": {"app": name}},
            "spec": {"terminationGracePeriodSeconds": 1, "containers": [container]}}


def deployment(name, template, replicas=1):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "default"},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template}}


def service(name, port, target):
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": "default"},
            "spec": {"selector": {"app": name}, "ports": [{"port": port, "targetPort": target}]}}


def config_map(name, **labels):
    return {"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": "default", "labels": labels}}


def answers_at(address, attempts=20):
    """Who answers at a ClusterIP, asked from the cluster's own network."""
    fetch = f"for i in $(seq {attempts}); do curl -s -m 2 http://{address}/; done"
    return set(cluster("net", "--name", NAMES["whole"], "bash", "-c", fetch + "; true").splitlines())


# ---- what the machine looks like ----------------------------------------------------------------------------------
def processes_in(namespace_of):
    """pid -> start time of every process in the PID namespace of the given process."""
    wanted = os.readlink(f"/proc/{namespace_of}/ns/pid")
    found = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(entry / "ns" / "pid") == wanted:
                found[entry.name] = start_time(entry.name)
        except OSError:
            pass
    return found


def start_time(pid):
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]


def traces():
    """What a cluster might leave on the machine, apart from processes."""
    mounts = {line.split()[4] for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()}
    ours = {str(path) for place in ("/sys/fs/cgroup", "/dev/shm")
            for path in pathlib.Path(place).glob(f"**/fairlead-verify-{os.getpid()}-*")}
    return {"mounts": mounts, "devices": set(os.listdir("/sys/class/net")), "cgroups and memory": ours,
            "network namespaces": set(os.listdir("/run/netns")) if os.path.exists("/run/netns") else set()}


cluster("bin")  # as the one who asked, whose Go caches are used
become_root("looking at the cluster's processes")
before = traces()
started = {}  # pid -> start time of every process that a cluster here has ever had


def remember(role):
    for process in record(role)["processes"].values():
        started[process["pid"]] = start_time(process["pid"])
    if role == "whole":
        started.update(processes_in(record(role)["processes"]["namespaces"]["pid"]))


def all_checks():
    @check("a whole cluster comes up, its node Ready")
    def _():
        cluster("up", "--name", NAMES["whole"], "--owner", str(os.getpid()))
        ready = field("whole", "{..conditions[?(@.type=='Ready')].status}", "nodes")
        expect(ready == "True", f"the node's condition Ready is {ready}")

    @check("two control planes come up at the same time beside it")
    def _():
        both = [begin_up(role, stderr=subprocess.PIPE, text=True) for role in ("one", "two")]
        words = [process.communicate()[1] for process in both]
        expect([process.returncode for process in both] == [0, 0], words)
        for role in NAMES:
            remember(role)

    @check("they are three clusters: each has only its own objects")
    def _():
        for role in NAMES:
            apply(role, config_map(f"only-{role}"))
        for role in NAMES:
            have = field(role, "{.items[*].metadata.name}", "configmaps").split()
            expect([name for name in have if name.startswith("only-")] == [f"only-{role}"], have)

    @check("`up` of a cluster that is up says so; of another size it is refused")
    def _():
        cluster("up", "--name", NAMES["whole"])
        expect("another size" in cluster("up", "--control-plane", "--name", NAMES["whole"], code=1), "no explanation")

    @check("a Deployment of a local image has both replicas ready")
    def _():
        probe = {"httpGet": {"path": "/", "port": 8080}, "periodSeconds": 1}
        template = pod_template("hello", "serve", readinessProbe=probe)
        apply("whole", deployment("hello", template, replicas=2), service("hello", 80, 8080))
        kubectl("whole", "wait", "--for=jsonpath={.status.readyReplicas}=2", "deployment/hello", "--timeout=60s")

    @check("its ClusterIP leads to both, from the node and from a pod of its own")
    def _():
        address = field("whole", "{.spec.clusterIP}", "service", "hello")
        eventually(lambda: len(answers_at(address)) == 2)
        fetch = f"for i in $(seq 20); do testpod get http://{address}/; done"
        answers = kubectl("whole", "exec", "deployment/hello", "--", "sh", "-c", fetch).splitlines()
        expect(len({line for line in answers if line.startswith("hello")}) == 2, answers)

    @check("a pod reaches the API server at kubernetes.default's address")
    def _():
        address = field("whole", "{.spec.clusterIP}", "service", "kubernetes")
        connect = ["busybox", "nc", "-w", "2", address, "443"]
        kubectl("whole", "exec", "deployment/hello", "--", *connect, stdin=subprocess.DEVNULL)

    @check("logs and the service proxy work")
    def _():
        expect("serving on" in kubectl("whole", "logs", "deployment/hello"), "the log lacks the pod's words")
        answer = kubectl("whole", "get", "--raw", "/api/v1/namespaces/default/services/hello:80/proxy/")
        expect("hello from" in answer, answer)

    @check("the API server calls a webhook that runs in a pod, which comes late")
    def _():
        names = "subjectAltName=DNS:guard.default.svc"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-noenc", "-subj", "/CN=guard",
                        "-addext", names, "-keyout", "tls.key", "-out", "tls.crt"],
                       cwd=WORK.name, check=True, stderr=subprocess.DEVNULL)
        kubectl("whole", "create", "secret", "tls", "guard", "--cert=tls.crt", "--key=tls.key", cwd=WORK.name)
        mounts = [{"name": "certs", "mountPath": "/certs"}]
        template = pod_template("guard", "webhook", "-late", "2s", volumeMounts=mounts)
        template["spec"]["volumes"] = [{"name": "certs", "secret": {"secretName": "guard"}}]
        bundle = field("whole", "{.data.tls\\.crt}", "secret", "guard")
        apply("whole", deployment("guard", template), service("guard", 443, 8443), {
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": "guard"}, "webhooks": [{
                "name": "guard.fairlead.dev", "sideEffects": "None", "admissionReviewVersions": ["v1"],
                "objectSelector": {"matchLabels": {"guarded": "yes"}}, "timeoutSeconds": 2,
                "clientConfig": {
                    "caBundle": bundle, "service": {"name": "guard", "namespace": "default", "path": "/validate"}},
                "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"],
                           "operations": ["CREATE"]}]}]})
        refused = config_map("refused", **{"guarded": "yes", "testpod/deny": "yes"})

        def is_refused_by_it():
            # Before the configuration is in effect, it would be accepted: hence the dry run.
            create = [CLUSTER, "kubectl", "--name", NAMES["whole"], "create", "--dry-run=server", "-f", "-"]
            done = subprocess.run(create, input=json.dumps(refused), capture_output=True, text=True)
            return "it has the label testpod/deny" in done.stderr
        eventually(is_refused_by_it)
        apply("whole", config_map("accepted", guarded="yes"))

    @check("an image made and loaded here runs to its end, as a user that is not root")
    def _():
        archive = f"{WORK.name}/own.tar"
        binary = cluster("tool", "testpod").strip()
        cluster("make-image", archive, "localhost/verify/own:1", f"{binary}:/own",
                "--entrypoint", "/own", "--entrypoint", "get", "--user", "1000")
        cluster("load-image", "--name", NAMES["whole"], archive)
        address = field("whole", "{.spec.clusterIP}", "service", "hello")
        template = pod_template("own", f"http://{address}/", image="localhost/verify/own:1")
        template["spec"]["restartPolicy"] = "Never"
        template["spec"]["securityContext"] = {"runAsNonRoot": True}
        apply("whole", {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "own", "namespace": "default"},
                        "spec": {"backoffLimit": 0, "template": template}})
        kubectl("whole", "wait", "--for=condition=Complete", "job/own", "--timeout=60s")

    @check("there is no way out of the cluster's network")
    def _():
        cluster("net", "--name", NAMES["whole"], "ip", "route", "get", "192.0.2.1", code=2)
        inside = cluster("exec", "--name", NAMES["whole"], "ls", "/sys/class/net").split()
        strangers = [device for device in inside if not device.startswith(("lo", "node0", "pods0", "veth"))]
        expect("node0" in inside and not strangers, inside)

    @check("a control plane's Services are on the loopback network, each cluster's on its own")
    def _():
        addresses = {field(role, "{.spec.clusterIP}", "service", "kubernetes") for role in ("one", "two")}
        expect(len(addresses) == 2 and all(address.startswith("127.") for address in addresses), addresses)

    @check("the ordinary user may do nothing, the tokens are known")
    def _():
        def whoami(*options):
            path = cluster("kubeconfig", "--name", NAMES["one"], *options).strip()
            return kubectl("one", "--kubeconfig", path, "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")
        users = [whoami(*options) for options in ((), ("--user",), ("--token",), ("--user", "--token"))]
        expect(users == ["admin", "plain-user", "token-admin", "token-user"], users)
        path = cluster("kubeconfig", "--name", NAMES["one"], "--user").strip()
        words = kubectl("one", "--kubeconfig", path, "get", "configmaps", code=1)
        expect("forbidden" in words, words)

    @check("an API server that is restarted with a flag keeps its port and its data")
    def _():
        for role in ("one", "whole"):
            port = record(role)["ports"]["apiserver"]
            cluster("restart", "--name", NAMES[role], "kube-apiserver", "--goaway-chance=0.01")
            command = record(role)["processes"]["kube-apiserver"]["command"]
            expect("--goaway-chance=0.01" in command, command)
            expect(record(role)["ports"]["apiserver"] == port, "another port")
            kubectl(role, "get", "configmap", f"only-{role}")
            remember(role)

    @check("the load generator applies, gets and deletes through it")
    def _():
        generator = cluster("tool", "loadgen").strip()
        path = cluster("kubeconfig", "--name", NAMES["one"]).strip()
        for mode, code in (("apply", "201"), ("apply", "200"), ("get", "200"), ("delete", "200")):
            send = [generator, "-kubeconfig", path, "-mode", mode, "-n", "50", "-namespace", "default"]
            printed = subprocess.run(send, check=True, stdout=subprocess.PIPE, text=True).stdout
            expect(json.loads(printed)["codes"] == {code: 50}, printed)

    @check("a cluster that has lost a process is not well, and `up` makes it anew")
    def _():
        os.kill(record("two")["processes"]["etcd"]["pid"], signal.SIGKILL)
        eventually(lambda: start_time(record("two")["processes"]["etcd"]["pid"]) is None)
        expect("gone" in cluster("status", "--name", NAMES["two"], code=1), "status is content")
        cluster("up", "--control-plane", "--name", NAMES["two"])
        cluster("status", "--name", NAMES["two"])
        remember("two")

    @check("a run that is killed, or interrupted, leaves nothing that `down` does not find")
    def _():
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            cluster("down", "--name", NAMES["two"])
            run = begin_up("two", stderr=subprocess.DEVNULL)
            state = folder("two") / "record.json"
            eventually(lambda: state.exists() and "kube-apiserver" in json.loads(state.read_text())["processes"])
            remember("two")
            run.send_signal(number)
            run.wait()
            expect(state.exists() == (number == signal.SIGKILL), f"after {number.name} the record is wrong")
        cluster("down", "--name", NAMES["two"])
        cluster("status", "--name", NAMES["one"])

    remember("whole")

    @check("`down` ends every process")
    def _():
        for role in NAMES:
            cluster("down", "--name", NAMES[role])
        alive = [pid for pid, began in started.items() if began is not None and str(start_time(pid)) == str(began)]
        expect(len(started) > 20 and not alive, f"of {len(started)} still alive: {alive}")

    @check("and leaves no mount, device, namespace, cgroup or file in memory")
    def _():
        after = traces()
        expect(after == before, {what: after[what] ^ before[what] for what in after if after[what] != before[what]})


try:
    all_checks()
finally:
    for role, name in NAMES.items():
        subprocess.run([CLUSTER, "down", "--name", name], stderr=subprocess.DEVNULL)
        if not results["failed"]:  # else the logs may explain it
            shutil.rmtree(folder(role), ignore_errors=True)
            folder(role).with_suffix(".lock").unlink(missing_ok=True)
    WORK.cleanup()
print(f"{results['passed']} passed, {results['failed']} failed")
sys.exit(1 if results["failed"] else 0)
