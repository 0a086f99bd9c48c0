"""Bringing a cluster up and taking it down."""
import json
import os
import shutil
import socket
import subprocess
import time

from cluster import builds, certificates, components
from cluster.instance import CLUSTERS, Instance
from cluster.settings import CACHE, COMMAND, HERE, Failure, give_to_caller, run, say


def prepare(size, release):
    """Everything that is made once; quick when it is all there."""
    whole = size == "whole"
    builds.ensure_packages(builds.CONTROL_PLANE_NEEDS | (builds.NODE_NEEDS if whole else {}))
    release.ensure([*builds.CONTROL_PLANE, *(builds.NODE if whole else ())])
    if whole:
        builds.tool("forward")
        builds.pod_images()


def start(instance, name, extra_flags=()):
    entering = instance.enter()
    instance.start(name, [*components.commands(instance)[name], *extra_flags], prefix=entering, in_child=bool(entering))


def default_service_account(instance):
    return instance.get("/api/v1/namespaces/default/serviceaccounts/default")[0] == 200


def node_is_ready(instance):
    code, body = instance.get(f"/api/v1/nodes/{components.NODE_NAME}")
    conditions = json.loads(body).get("status", {}).get("conditions", []) if code == 200 else []
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


# ---- up -----------------------------------------------------------------------------------------------------------
def up(instance, size, release, apiserver_flags, api_servers=1, owner=None):
    """Start the cluster from nothing; whatever goes wrong on the way, nothing of it is left."""
    began = time.monotonic()
    end_leftovers(instance)
    say(f"starting the cluster {instance.name}, Kubernetes {release.version}: " + ("the whole, with a node (about 10 s)" if size == "whole" else
                                                     "the control plane alone (about 5 s)"))
    try:
        make_folder(instance, size, release, apiserver_flags, api_servers, owner)
        if size == "whole":
            make_namespaces(instance)
        start_control_plane(instance)
        if size == "whole":
            start_node(instance)
        instance.wait_until("the default ServiceAccount", 60, lambda: default_service_account(instance))
    except BaseException:
        say("ending what has been started; the logs stay")
        instance.end()
        give_to_caller()
        raise
    give_to_caller()
    say(f"the cluster {instance.name} is up after {time.monotonic() - began:.1f} s")


def end_leftovers(instance):
    """What an interrupted run has left, and the logs of the last one."""
    instance.end()
    shutil.rmtree(instance.logs, ignore_errors=True)


def make_folder(instance, size, release, apiserver_flags, api_servers, owner):
    instance.logs.mkdir(parents=True)
    instance.folder.chmod(0o700)  # keys, tokens, and logs that may quote them
    (instance.folder / "config").mkdir()
    with builds.locked("ports", "to choose ports"):
        instance.record = {
            "size": size, "kubernetes": release.name, "ports": instance.reserve_ports(
                ["apiserver", "etcd", "etcd-peer", *(f"apiserver-{number}" for number in range(2, api_servers + 1))]),
            "data": instance.place_for_data(), "apiserver_flags": apiserver_flags, "owner": owner, "processes": {}}
        instance.save()
    services = components.service_range(size, instance.ports["apiserver"])
    node = components.NODE_ADDRESS
    certificates.make_credentials(
        instance.folder, instance.server, components.NODE_NAME,
        server_addresses=["127.0.0.1", services[1]] + ([node] if size == "whole" else []), node_addresses=[node])
    if size == "whole":
        components.write_node_configuration(instance)


def start_control_plane(instance):
    start(instance, "etcd")
    start(instance, "kube-apiserver", instance.record["apiserver_flags"])
    if instance.size == "whole":
        start_forward(instance)
        start(instance, "containerd")
        load_images(instance, builds.pod_images())  # while the API server is starting
    instance.wait_until("the API server's /readyz", 120, instance.ready)
    start(instance, "kube-controller-manager")
    for number, port in components.further_api_servers(instance).items():
        start(instance, f"kube-apiserver-{number}", instance.record["apiserver_flags"])
        instance.wait_until(f"the /readyz of API server {number}", 120, lambda: instance.ready(port))


def start_node(instance):
    for name in ("kube-scheduler", "kubelet", "kube-proxy"):
        start(instance, name)
    instance.wait_until(f"node {components.NODE_NAME} is Ready", 120, lambda: node_is_ready(instance))


def make_namespaces(instance):
    """Private network, mount, PID, host name and IPC namespaces, and cgroups for the pods."""
    hidden = [place for place in ("/run", "/var/lib", "/var/log") if CACHE.is_relative_to(place)]
    if hidden:
        raise Failure(f"a whole cluster cannot have its cache in {CACHE}",
                      f"{hidden[0]} is hidden from the cluster's processes",
                      f"FAIRLEAD_CACHE=/somewhere/else {COMMAND} up")
    if not os.path.exists("/proc/sys/net/bridge"):
        run(["modprobe", "br_netfilter"], "loading the kernel module br_netfilter")
    instance.start("namespaces", [builds.pause()], in_child=True, prefix=[
        "unshare", "--net", "--mount", "--pid", "--uts", "--ipc", "--fork", "--kill-child", "--mount-proc", "--"])
    make_cgroups(instance)
    services = components.service_range("whole", instance.ports["apiserver"])
    node_folder = instance.folder / "node"
    node_folder.mkdir()
    # The child exists a moment before it has mounted its /proc, and the furniture must come after that.
    instance.wait_until("the namespaces", 10, lambda: os.readlink(
        f"/proc/{instance.record['processes']['namespaces']['pid']}/exe") == str(builds.pause()))
    run([*instance.enter(), HERE / "furnish-namespaces.sh", components.NODE_NAME, components.NODE_ADDRESS, services,
         node_folder], "furnishing the namespaces")


def make_cgroups(instance):
    for cgroup in instance.cgroups:
        cgroup.mkdir(exist_ok=True)
        if (cgroup / "cgroup.subtree_control").exists():  # v2: a child has the controllers that its parents pass on
            for folder in (cgroup.parent, cgroup):
                for controller in ("cpu", "cpuset", "memory", "pids"):
                    (folder / "cgroup.subtree_control").write_text(f"+{controller}")
        elif (cgroup / "cpuset.cpus").exists():  # v1: a new cpuset is empty, and nothing can run in it
            for setting in ("cpuset.cpus", "cpuset.mems"):
                (cgroup / setting).write_text((cgroup.parent / setting).read_text())


def start_forward(instance):
    """The machine's own 127.0.0.1:PORT leads to the same address in the cluster: one kubeconfig serves both sides."""
    port = instance.ports["apiserver"]
    with socket.create_server(("127.0.0.1", port), backlog=1024) as listener:
        command = [builds.tool("forward"), "-fd", listener.fileno(), "-target", f"127.0.0.1:{port}"]
        instance.start("forward", command, prefix=instance.enter("-n"), pass_fds=[listener.fileno()])


def load_images(instance, archives):
    ctr = [*instance.enter(), "ctr", f"--address={components.CONTAINERD_SOCKET}"]
    instance.wait_until("containerd answers", 30, lambda: subprocess.run(
        [*ctr, "version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0)
    for archive in archives:
        with open(archive) as content:  # through stdin: not every path leads to the same file in there
            run([*ctr, "--namespace=k8s.io", "images", "import", "-"], f"loading the image {archive}", stdin=content)


# ---- while it is up -----------------------------------------------------------------------------------------------
def restart(instance, name, flags):
    """The same port and data; `flags` come after the usual ones, until the next restart."""
    known = components.commands(instance)
    if name not in known:
        raise Failure(f"there is no component {name} in this cluster", f"it has {', '.join(known)}")
    instance.stop(name, grace=2)  # an API server waits much longer than that for its watches
    usual = instance.record["apiserver_flags"] if name == "kube-apiserver" else []
    start(instance, name, [*usual, *flags])
    if name == "kube-apiserver":
        instance.wait_until("the API server's /readyz", 120, instance.ready)


def is_well(instance):
    processes = instance.record["processes"]
    return bool(processes) and all(map(instance.alive, processes)) and instance.ready()


LOGS_STAY = 24 * 3600


def forget_old_logs():
    """Of clusters that went down a day ago: tests and benchmarks have one each, whose name never comes again."""
    for folder in CLUSTERS.glob("*"):
        is_old = folder.is_dir() and time.time() - folder.stat().st_mtime > LOGS_STAY
        if is_old and not (folder / "record.json").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.with_name(f"{folder.name}.lock").unlink(missing_ok=True)


def end_abandoned():
    """Ends the clusters of tests that were killed: nobody else would."""
    for record in sorted(CLUSTERS.glob("*/record.json")):
        try:
            instance = Instance(record.parent.name)
        except (FileNotFoundError, ValueError):  # it is just going, or another version's
            continue
        if not instance.abandoned:
            continue
        if instance.size == "whole" and os.geteuid() != 0:
            say(f"the cluster {instance.name} is left of a test that was killed: sudo {COMMAND} down --name {instance.name}")
            continue
        with instance.lock():
            instance = Instance(instance.name)  # as it is now that it is ours
            if instance.abandoned:
                say(f"ending the cluster {instance.name}: process {instance.record['owner']['pid']}, which it was started for, "
                    "has ended")
                instance.end()


def down(instance):
    was_up = bool(instance.record)
    instance.end()
    forget_old_logs()
    give_to_caller()
    say(f"the cluster {instance.name} is down" if was_up else f"the cluster {instance.name} was not up")
