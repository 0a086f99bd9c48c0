"""fairlead webhook serve beside a no-op validating webhook on controller-runtime, over 25 keep-alive TLS connections.

./dev bench webhook [--json] [--rounds N] [--seconds S]
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

from bench._figures import Arm, Figures, interleave

ROOT = pathlib.Path(__file__).resolve().parent.parent
FAIRLEAD = ROOT / "build/fairlead"
LOAD = ROOT / "build/release/src/webhook/server/review_load"
CLUSTER = ROOT / "cluster/cluster"
HOST = "hook.team.svc"
PATH = "/validate-nvidia-com-v1alpha1-dynamomodel"
CONNECTIONS = 25
SIZES = {"2 KB": 2_000, "50 KB": 50_000}
# Arrivals per second at which times are compared: what both servers can take.
RATES = {"2 KB": 2_000, "50 KB": 300}
ROTATIONS = 100
RESTARTS = 20

MAKE_CA = """
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca.key -out ca.crt -days 2 -subj /CN=ca
echo "subjectAltName=DNS:$1" > san
"""
MAKE_LEAF = """
mkdir -p "$1"
openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$1/tls.key" -out leaf.csr -subj /CN=leaf
openssl x509 -req -in leaf.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 1 -extfile san -out "$1/tls.crt"
cp ca.crt "$1/ca.crt"
"""


def shell(script, folder, *arguments):
    subprocess.run(["bash", "-ec", script, "bash", *map(str, arguments)], check=True, capture_output=True, cwd=folder)


def review(size):
    """A CREATE of a model as an API server sends it, padded with managed fields and annotations."""
    fields: dict = {"f:modelName": {}, "f:baseModelName": {}}
    metadata: dict = {"name": "llama", "namespace": "team", "uid": "5b9f1a1e-9d0c-4d8e-8e55-3b5a9e6a7b11", "labels": {"app": "llama"},
                      "creationTimestamp": "2026-11-18T12:00:00Z", "annotations": {},
                      "managedFields": [{"manager": "kubectl", "operation": "Apply", "apiVersion": "nvidia.com/v1alpha1",
                                         "time": "2026-11-18T12:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": fields}}]}
    kind = {"group": "nvidia.com", "version": "v1alpha1", "kind": "DynamoModel"}
    resource = {"group": "nvidia.com", "version": "v1alpha1", "resource": "dynamomodels"}
    document = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "kind": kind, "resource": resource, "requestKind": kind, "requestResource": resource,
        "name": "llama", "namespace": "team", "operation": "CREATE",
        "userInfo": {"username": "system:serviceaccount:ci:deployer", "uid": "1", "groups": ["system:serviceaccounts", "system:authenticated"]},
        "object": {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoModel", "metadata": metadata,
                   "spec": {"modelName": "meta/llama", "baseModelName": "meta/llama"}},
        "oldObject": None, "dryRun": False, "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"}}}
    number = 0
    while len(text := json.dumps(document, separators=(",", ":"))) < size - 80:
        number += 1
        if number % 3 == 0:
            metadata["annotations"][f"example.com/note-{number:04}"] = "some text about this model"
        else:
            fields[f'k:{{"name":"item-{number:04}"}}'] = {".": {}, "f:name": {}, "f:value": {"n": number}}
    return text


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """A running server."""

    def __init__(self, process, port):
        self.process = process
        self.port = port

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak_mib(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1)) / 1024

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)


class Fairlead(Server):
    """`ready_ms` is how long it took from its start until it was ready."""

    def __init__(self, certs, *arguments):
        start = time.monotonic()
        process = subprocess.Popen([FAIRLEAD, "webhook", "serve", "--cert-dir", certs, "--address", "127.0.0.1", "--port", "0",
                                    "--metrics-port", "0", *arguments], stdout=subprocess.PIPE, text=True)
        lines = {}
        while "ready" not in lines:
            line = json.loads(process.stdout.readline())
            lines[line["message"]] = line
        self.ready_ms = (time.monotonic() - start) * 1000
        # What it logs about reviews is read away, as a container runtime does.
        self.log = subprocess.Popen(["cat"], stdin=process.stdout, stdout=subprocess.DEVNULL)
        process.stdout.close()
        self.probes = lines["started"]["probes"]
        super().__init__(process, int(lines["serving"]["address"].rpartition(":")[2]))

    def buckets(self):
        """How many reviews took at most so many seconds."""
        with urllib.request.urlopen(f"http://{self.probes}/metrics", timeout=10) as answer:
            text = answer.read().decode()
        return {float(edge): int(count) for edge, count in re.findall(r'_duration_seconds_bucket{[^}]*le="([^"]+)"} (\d+)', text)}


class Noop(Server):
    def __init__(self, binary, certs):
        port = free_port()
        super().__init__(subprocess.Popen([binary, "-port", str(port), "-cert-dir", certs, "-path", PATH], stderr=subprocess.DEVNULL), port)
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                return
            time.sleep(0.01)


class Bench:
    def __init__(self, folder, seconds):
        self.folder = folder
        self.seconds = seconds
        self.endpoints = folder / "endpoints"
        shell(MAKE_CA, folder, HOST)
        self.certs = folder / "certs"
        shell(MAKE_LEAF, folder, self.certs)
        self.bodies = {}
        for name, size in SIZES.items():
            self.bodies[name] = folder / f"{size}.json"
            self.bodies[name].write_text(review(size))
        self.cpu = {}

    def load(self, size, rate, seconds):
        return [str(part) for part in (LOAD, self.folder / "ca.crt", HOST, PATH, self.bodies[size], self.endpoints, CONNECTIONS, rate, seconds)]

    def reviews(self, server, size, rate):
        self.endpoints.write_text(f"{server.port}\n")
        result = json.loads(subprocess.run(self.load(size, rate, self.seconds), check=True, stdout=subprocess.PIPE, text=True).stdout)
        if result["failed"]:
            raise SystemExit(f"bench: {result['failed']} reviews failed")
        return result

    def throughput(self, server, size, cpu):
        """Reviews per second with all connections busy. Puts the processor time of one, in microseconds, into `cpu`."""
        def measure(_):
            before = server.cpu_seconds()
            result = self.reviews(server, size, 0)
            cpu.values.append((server.cpu_seconds() - before) / result["answered"] * 1e6)
            return result["per_s"]
        return measure

    def p99(self, server, size):
        return lambda _: self.reviews(server, size, RATES[size])["p99_ms"]

    def own_p99(self, server):
        """The bucket of the server's own histogram in which its 99th percentile is, in milliseconds, at 2,000 reviews per second."""
        def measure(_):
            before = server.buckets()
            self.reviews(server, "2 KB", 2_000)
            counts = {edge: count - before.get(edge, 0) for edge, count in server.buckets().items()}
            return min(edge for edge, count in counts.items() if count >= 0.99 * counts[float("inf")]) * 1000
        return measure

    def start(self, _):
        server = Fairlead(self.certs, "--drain", "0s")
        server.stop()
        return server.ready_ms

    # ---- nothing may fail ---------------------------------------------------------------------------------------------
    def rotate(self, _):
        """Failed reviews while the certificate is replaced a hundred times, as kubelet replaces it."""
        mounted = self.folder / "mounted"
        mounted.mkdir()
        for number in range(5):
            shell(MAKE_LEAF, self.folder, mounted / f"..{number}")
        os.symlink("..0", mounted / "..data")
        server = Fairlead(mounted, "--drain", "0s")
        self.endpoints.write_text(f"{server.port}\n")
        failed = 0
        with subprocess.Popen(self.load("2 KB", 500, 600), stdout=subprocess.PIPE, text=True) as steady:
            for number in range(1, ROTATIONS + 1):
                os.symlink(f"..{number % 5}", mounted / "..tmp")
                os.rename(mounted / "..tmp", mounted / "..data")
                # New connections, which see the new certificate.
                fresh = subprocess.run(self.load("2 KB", 2_000, 0.05), check=True, stdout=subprocess.PIPE, text=True)
                failed += json.loads(fresh.stdout)["failed"]
            steady.terminate()
            failed += json.loads(steady.stdout.read())["failed"]
        server.stop()
        return failed

    def restart(self, _):
        """Failed reviews in twenty rolling restarts of a server behind a Service."""
        server = Fairlead(self.certs, "--drain", "1s")
        self.endpoints.write_text(f"{server.port}\n")
        with subprocess.Popen(self.load("2 KB", 500, 600), stdout=subprocess.PIPE, text=True) as steady:
            for _ in range(RESTARTS):
                following = Fairlead(self.certs, "--drain", "1s")
                self.endpoints.write_text(f"{following.port}\n")
                server.stop()
                server = following
            steady.terminate()
            result = json.loads(steady.stdout.read())
        server.stop()
        print(f"  {result['answered']} reviews, {result['reconnects']} new connections", file=sys.stderr)
        return result["failed"]


def main():
    parser = argparse.ArgumentParser(prog="./dev bench webhook", description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one object a line instead of a table")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4, help="for each measurement")
    wanted = parser.parse_args()
    peer = subprocess.run([CLUSTER, "tool", "noop-webhook"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    figures = Figures()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(pathlib.Path(folder), wanted.seconds)
        ours, noop = Fairlead(bench.certs, "--drain", "0s"), Noop(peer, bench.certs)
        try:
            measure(bench, ours, noop, wanted.rounds, figures)
        finally:
            ours.stop()
            noop.stop()
        nothing_fails(bench, figures)
    sys.exit(0 if figures.print(wanted.json) else 1)


def measure(bench, ours, noop, rounds, figures):
    for size in SIZES:
        our_cpu, noop_cpu = Arm("processor time, µs", None), Arm("processor time, µs", None)
        arms = [Arm(f"fairlead, {size}, reviews/s", bench.throughput(ours, size, our_cpu)),
                Arm(f"controller-runtime, {size}, reviews/s", bench.throughput(noop, size, noop_cpu)),
                Arm(f"fairlead, {size}, p99 ms at {RATES[size]}/s", bench.p99(ours, size)),
                Arm(f"controller-runtime, {size}, p99 ms at {RATES[size]}/s", bench.p99(noop, size))]
        interleave(arms, rounds)
        figures.at_least(f"reviews of {size}, per second", arms[0], arms[1], 2)
        figures.at_most(f"reviews of {size}, 99th percentile at {RATES[size]}/s, ms", arms[2], arms[3], 0.333)
        figures.at_most(f"reviews of {size}, processor time of one, µs", our_cpu, noop_cpu, 0.5)
    memory = [Arm("fairlead, peak MiB", lambda _: ours.peak_mib()), Arm("controller-runtime, peak MiB", lambda _: noop.peak_mib())]
    interleave(memory, 1)
    figures.at_most("peak memory, MiB", memory[0], memory[1], 0.5)
    own = Arm("own time, p99 ms at most, at 2000/s", bench.own_p99(ours))
    start = Arm("ready after, ms", bench.start)
    interleave([own, start], rounds)
    figures.value_at_most("99th percentile of the own time at 2000/s, ms", own, 1)
    figures.value_at_most("ready after its start, ms", start, 100)


def nothing_fails(bench, figures):
    rotations = Arm(f"failed in {ROTATIONS} rotations", bench.rotate)
    restarts = Arm(f"failed in {RESTARTS} rolling restarts", bench.restart)
    interleave([rotations, restarts], 1)
    figures.value_at_most(f"reviews that failed in {ROTATIONS} rotations", rotations, 0)
    figures.value_at_most(f"reviews that failed in {RESTARTS} rolling restarts", restarts, 0)


main()
