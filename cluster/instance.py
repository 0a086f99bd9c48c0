"""One cluster: its folder, its ports and its processes, and the record by which another run finds them again."""
import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import ssl
import subprocess
import time

from cluster.builds import Release, default_release, locked
from cluster.settings import CACHE, COMMAND, Failure

CLUSTERS = CACHE / "clusters"
# Below the range from which the kernel picks the source port of an outgoing connection: a server that is restarted must
# find its port still free.
PORTS = range(20000, 32000)


def started_at(pid):
    """When a live process began, in clock ticks since boot; None if there is no such process or only its corpse."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def identity_of(pid):
    """What tells a process from all others that ever run on this machine; None if there is none of that number."""
    try:
        namespace = os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:
        return None
    began = started_at(pid)
    boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return None if began is None else {"pid": pid, "started_at": began, "namespace": namespace, "boot": boot}


def has_ended(identity):
    """Whether that process has ended; False where its number means nothing here, in a container of its own."""
    here = identity_of(os.getpid())
    if identity["boot"] != here["boot"]:
        return True
    return identity["namespace"] == here["namespace"] and started_at(identity["pid"]) != identity["started_at"]


def first_child(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
    except (OSError, IndexError):
        return None


class Instance:
    def __init__(self, name):
        if not re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,28}[a-z0-9])?", name):
            raise Failure(f"{name!r} cannot be a cluster's name", "names are at most 30 of a-z, 0-9 and -")
        self.name = name
        self.folder = CLUSTERS / name
        self.logs = self.folder / "logs"
        # The folder's hash: two caches may each have a cluster of the same name.
        self.unique = f"fairlead-{name}-{hashlib.sha256(str(self.folder).encode()).hexdigest()[:8]}"
        self.memory = pathlib.Path("/dev/shm") / self.unique
        self.record = {}
        if (self.folder / "record.json").exists():
            self.record = json.loads((self.folder / "record.json").read_text())

    def lock(self):
        return locked(f"clusters/{self.name}", f"on the cluster {self.name}")

    # ---- the record -----------------------------------------------------------------------------------------------
    def save(self):
        # Written aside and renamed: a run that is killed here leaves the old record or the new one, never half of one.
        aside = self.folder / "record.new"
        aside.write_text(json.dumps(self.record, indent=1))
        aside.rename(self.folder / "record.json")

    @property
    def release(self):
        """Of Kubernetes: what it runs, or, while it is down, what it would be started with."""
        return Release(self.record["kubernetes"]) if self.record else default_release()

    @property
    def size(self):
        return self.record.get("size")

    @property
    def ports(self):
        return self.record["ports"]

    @property
    def abandoned(self):
        """Whether it was started for a process that has ended since, and so for nobody."""
        return bool(self.record.get("owner")) and has_ended(self.record["owner"])

    @property
    def server(self):
        return f"https://127.0.0.1:{self.ports['apiserver']}"

    def place_for_data(self):
        """etcd's data is in memory where there is room; nobody needs it after the run."""
        shared = self.memory.parent
        roomy = os.access(shared, os.W_OK) and shutil.disk_usage(shared).free > 1 << 30
        return str(self.memory if roomy else self.folder / "etcd")

    def require_up(self):
        if not self.record:
            raise Failure(f"the cluster {self.name} is not up", next_step=f"{COMMAND} up --name {self.name}")

    def reserve_ports(self, names):
        """Ports that are free now and that no other cluster of this cache has; call it with the lock `ports` held."""
        taken = set()
        for path in CLUSTERS.glob("*/record.json"):
            with contextlib.suppress(FileNotFoundError):  # that cluster has just gone
                taken.update(json.loads(path.read_text())["ports"].values())
        chosen = []
        for port in random.sample(PORTS, len(PORTS)):
            if port in taken:
                continue
            with socket.socket() as probe:
                try:
                    probe.bind(("127.0.0.1", port))
                except OSError:
                    continue
            chosen.append(port)
            if len(chosen) == len(names):
                return dict(zip(names, chosen))
        raise Failure("no free ports", f"all of {PORTS.start} to {PORTS.stop - 1} on 127.0.0.1 are taken")

    # ---- processes ------------------------------------------------------------------------------------------------
    def enter(self, *namespaces):
        """The words before a command that make it run in the cluster's namespaces (all of them, or those named)."""
        holder = self.record["processes"].get("namespaces")
        if not holder:
            return []
        return ["nsenter", "-t", str(holder["pid"]), *(namespaces or ("-m", "-n", "-p", "-u", "-i")), "--"]

    def start(self, name, argv, prefix=(), in_child=False, **options):
        """Start and record a process that outlives this one. in_child: `prefix` forks, and its child is the process."""
        command = [str(word) for word in argv]
        with open(self.logs / f"{name}.log", "ab") as log:
            process = subprocess.Popen([*prefix, *command], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                                       start_new_session=True, **options)
        self.record_process(name, process.pid, command)
        if in_child:
            self.wait_until(f"{name} has started", 10, lambda: first_child(process.pid))
            self.record_process(name, first_child(process.pid), command)
        if not self.alive(name):
            self.raise_dead(name)

    def record_process(self, name, pid, command):
        self.record["processes"][name] = {"pid": pid, "started_at": started_at(pid), "command": command}
        self.save()

    def alive(self, name):
        process = self.record["processes"][name]
        return process["started_at"] is not None and started_at(process["pid"]) == process["started_at"]

    def raise_dead(self, name):
        log = self.logs / f"{name}.log"
        words = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
        raise Failure(f"{name} of the cluster {self.name} ended by itself", "\n".join(words[-6:]), f"less {log}")

    def signal(self, name, number):
        """Only ever to a process that is still the one that was started: its start time is part of its identity."""
        if self.alive(name):
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.record["processes"][name]["pid"], number)

    def stop(self, name, grace):
        """End one process: ask it, and after `grace` seconds make it."""
        self.signal(name, signal.SIGTERM)
        deadline = time.monotonic() + grace
        while self.alive(name) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.signal(name, signal.SIGKILL)
        while self.alive(name):
            time.sleep(0.01)
        del self.record["processes"][name]

    def end(self):
        """Kill what was started and remove what it leaves. Nothing in it is worth the time of an orderly end."""
        processes = self.record.get("processes", {})
        for name in processes:
            self.signal(name, signal.SIGKILL)
        for name in processes:
            while self.alive(name):
                time.sleep(0.005)
        self.remove_cgroups()
        shutil.rmtree(self.memory, ignore_errors=True)
        for path in self.folder.glob("*"):
            if path.is_dir() and path != self.logs:
                shutil.rmtree(path)
            elif path.is_file() and path.name != "record.json":
                path.unlink()
        (self.folder / "record.json").unlink(missing_ok=True)  # last: until here, another `down` finds what is left
        self.record = {}

    # ---- cgroups --------------------------------------------------------------------------------------------------
    @property
    def cgroups(self):
        """The cluster's own cgroup: one folder with cgroup v2, one in each hierarchy with v1."""
        root = pathlib.Path("/sys/fs/cgroup")
        if (root / "cgroup.controllers").exists():
            return [root / self.unique]
        return [folder / self.unique for folder in root.glob("*") if folder.is_dir() and folder.name != "unified"]

    def remove_cgroups(self):
        deadline = time.monotonic() + 10
        for cgroup in self.cgroups:
            while cgroup.exists():
                for folder, _, _ in os.walk(cgroup, topdown=False):
                    try:
                        os.rmdir(folder)
                    except OSError:  # its last process is still going
                        time.sleep(0.01)
                if time.monotonic() > deadline:
                    raise Failure(f"the cgroup {cgroup} could not be removed", "processes are still in it",
                                  f"cat {cgroup}/cgroup.procs")

    # ---- waiting --------------------------------------------------------------------------------------------------
    def wait_until(self, what, seconds, condition):
        """Until the condition holds; at once a Failure when a process of the cluster has died meanwhile."""
        deadline = time.monotonic() + seconds
        while not condition():
            for name in self.record["processes"]:
                if not self.alive(name):
                    self.raise_dead(name)
            if time.monotonic() > deadline:
                raise Failure(f"{what}: not within {seconds} s", next_step=f"less {self.logs}/*.log")
            time.sleep(0.03)

    def get(self, path, port=None):
        """GET from the API server as admin: (HTTP code, body); code 0 while nobody answers. The first one, or the one at
        that port."""
        trust = ssl.create_default_context(cafile=self.folder / "pki" / "ca.crt")
        connection = http.client.HTTPSConnection("127.0.0.1", port or self.ports["apiserver"], timeout=3, context=trust)
        token = (self.folder / "tokens" / "admin").read_text()
        try:
            connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except (OSError, http.client.HTTPException):
            return 0, ""
        finally:
            connection.close()

    def ready(self, port=None):
        return self.get("/readyz", port)[0] == 200

    @property
    def servers(self):
        """The addresses of all API servers; most clusters have one."""
        further = sorted(name for name in self.ports if name.startswith("apiserver-"))
        return [f"https://127.0.0.1:{self.ports[name]}" for name in ["apiserver", *further]]

    def environment(self):
        """What a test needs to know; `cluster env` prints it, and `cluster exec` sets it."""
        pki = self.folder / "pki"
        return {
            "FAIRLEAD_CLUSTER": self.name, "FAIRLEAD_CLUSTER_SIZE": self.size, "FAIRLEAD_CLUSTER_DIR": self.folder,
            "FAIRLEAD_CLUSTER_BIN": self.release.bin, "FAIRLEAD_KUBERNETES": self.release.name,
            "FAIRLEAD_CLUSTER_SERVER": self.server, "FAIRLEAD_CLUSTER_SERVERS": " ".join(self.servers),
            "FAIRLEAD_CLUSTER_ETCD": f"https://127.0.0.1:{self.ports['etcd']}",
            "FAIRLEAD_CLUSTER_CA": pki / "ca.crt", "FAIRLEAD_CLUSTER_CA_KEY": pki / "ca.key",
            "FAIRLEAD_CLUSTER_ADMIN_TOKEN_FILE": self.folder / "tokens" / "admin",
            "FAIRLEAD_CLUSTER_USER_TOKEN_FILE": self.folder / "tokens" / "user",
            "FAIRLEAD_CLUSTER_USER_KUBECONFIG": self.folder / "user.kubeconfig",
            "KUBECONFIG": self.folder / "admin.kubeconfig",
        }
