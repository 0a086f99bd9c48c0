"""A real Kubernetes on this machine, for tests: built from source, without docker, images or a registry."""
import argparse
import os
import pathlib
import re
import shlex
import signal
import sys

from cluster import builds, images, lifecycle
from cluster.instance import Instance, identity_of
from cluster.settings import CACHE, COMMAND, Failure, become_root, say

# These take a command line of somebody else's: after our own --name, every word is passed on as it stands.
PASSING_ON = ("exec", "net", "kubectl", "restart")


# ---- verbs --------------------------------------------------------------------------------------------------------
def do_up(instance, wanted):
    """Start a cluster and wait until it is ready. First it builds and installs what it needs, which takes about 7
    minutes on two cores, once. Does nothing when the cluster is up already. Clusters that were started for processes
    which have ended are ended first."""
    size = "control-plane" if wanted.control_plane else "whole"
    if size == "whole" and wanted.api_servers > 1:
        raise Failure("a cluster that runs pods has one API server here", "",
                      f"{COMMAND} up --control-plane --api-servers {wanted.api_servers}")
    release = builds.Release(wanted.version)
    owner = wanted.owner and identity_of(wanted.owner)
    if wanted.owner and not owner:
        raise Failure(f"there is no process {wanted.owner} to own the cluster")
    lifecycle.prepare(size, release)
    if size == "whole" or instance.size == "whole":
        become_root("a cluster that runs pods")
    lifecycle.end_abandoned()
    with instance.lock():
        instance = Instance(instance.name)  # as it is now that it is ours
        if instance.record and not wanted.fresh:
            other = (f"in another size ({instance.size})" if instance.size != size else
                     f"with another Kubernetes ({instance.release.name})" if instance.release.name != release.name else "")
            if other:
                again = f"{COMMAND} up{' --control-plane' if wanted.control_plane else ''} --version {release.name}"
                raise Failure(f"the cluster {instance.name} is up {other}", "",
                              f"{again} --fresh --name {instance.name}  # replaces it\n{again} --name another")
            if lifecycle.is_well(instance):
                say(f"the cluster {instance.name} is up already")
                return
            say(f"the cluster {instance.name} is not well: starting it anew")
        lifecycle.up(instance, size, release, wanted.apiserver_flag, wanted.api_servers, owner)
    say(f"  export KUBECONFIG={instance.folder}/admin.kubeconfig")


def do_down(instance, _):
    """End a cluster and remove what it had: processes, namespaces, cgroups, files. The logs stay until the next up,
    or for a day."""
    if instance.size == "whole":
        become_root("ending a cluster that runs pods")
    with instance.lock():
        lifecycle.down(Instance(instance.name))


def do_status(instance, _):
    """Show the processes, their memory and processor time, and whether the API server is ready. Exit code 1 when
    something is amiss."""
    instance.require_up()
    print(f"{instance.name}: Kubernetes {instance.release.version}, {instance.size}, {instance.server}")
    print(f"{'process':26}{'pid':>9}{'MiB':>8}{'cpu s':>8}")
    for name, process in instance.record["processes"].items():
        pid = process["pid"]
        if not instance.alive(name):
            print(f"{name:26}{pid:>9}   gone")
            continue
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        memory = int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / 2**20
        processor = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        print(f"{name:26}{pid:>9}{memory:>8.0f}{processor:>8.1f}")
    ready = instance.ready()
    print(f"readyz: {'ok' if ready else 'no'}")
    sys.exit(0 if ready and all(map(instance.alive, instance.record["processes"])) else 1)


def do_kubeconfig(instance, wanted):
    """Print the path of a kubeconfig. It is the admin's, or with --user that of one who may do nothing until a test
    grants it: plain-user (by certificate) or token-user (by token)."""
    instance.require_up()
    print(instance.folder / f"{'user' if wanted.user else 'admin'}{'-token' if wanted.token else ''}.kubeconfig")


def do_env(instance, _):
    """Print what a test needs to know, as shell assignments. Use: eval "$(./dev cluster env)"."""
    instance.require_up()
    for key, value in instance.environment().items():
        print(f"export {key}={shlex.quote(str(value))}")


def do_bin(_, wanted):
    """Print the folder of the binaries, after building those that are missing."""
    release = builds.Release(wanted.version)
    release.ensure([*builds.CONTROL_PLANE, *(() if wanted.control_plane else builds.NODE)])
    print(release.bin)


def do_tool(_, wanted):
    """Print the path of one of the project's own Go programs, after building it if its source has changed."""
    print(builds.tool(wanted.tool))


def enter_and_run(instance, argv, *namespaces):
    instance.require_up()
    if instance.size == "whole":
        become_root("entering the cluster")
    os.environ.update({key: str(value) for key, value in instance.environment().items()})
    os.environ["PATH"] = f"{instance.release.bin}:{os.environ['PATH']}"
    command = [*instance.enter(*namespaces), *argv]
    if not argv:
        raise Failure("no command is given", "", f"{COMMAND} exec ip address")
    try:
        os.execvp(command[0], command)
    except FileNotFoundError:
        raise Failure(f"there is no command {command[0]}") from None


def do_exec(instance, wanted):
    """Run a command in the cluster's namespaces (network, mounts, processes), with the variables that env prints. A
    control plane has no namespaces of its own: there it only gets the variables."""
    enter_and_run(instance, wanted.rest)


def do_net(instance, wanted):
    """Run a command in the cluster's network, but with this machine's files and processes."""
    enter_and_run(instance, wanted.rest, "-n")


def do_kubectl(instance, wanted):
    """Run kubectl as admin."""
    instance.require_up()
    os.environ["KUBECONFIG"] = str(instance.folder / "admin.kubeconfig")
    os.execv(instance.release.bin / "kubectl", ["kubectl", *wanted.rest])


def do_restart(instance, wanted):
    """Restart one component, which keeps its port and data. Flags are appended to the usual ones, until the next
    restart, as in: ./dev cluster restart kube-apiserver --goaway-chance=0.02"""
    instance.require_up()
    if instance.size == "whole":
        become_root("restarting a component")
    if not wanted.rest:
        raise Failure("no component is given", "", f"{COMMAND} restart kube-apiserver")
    with instance.lock():
        lifecycle.restart(Instance(instance.name), wanted.rest[0], wanted.rest[1:])


def do_logs(instance, wanted):
    """Print the log of a component; without one, the paths of all logs. They outlive `down`."""
    if not wanted.component:
        print("\n".join(map(str, sorted(instance.logs.glob("*.log")))))
        return
    log = instance.logs / f"{wanted.component}.log"
    if not log.exists():
        raise Failure(f"there is no log of {wanted.component}", "",
                      f"{COMMAND} logs --name {instance.name}  # lists them")
    sys.stdout.write(log.read_text(errors="replace"))


def do_load_image(instance, wanted):
    """Load an image archive (docker's or OCI's format), so that pods can run it with imagePullPolicy Never."""
    instance.require_up()
    if instance.size != "whole":
        raise Failure(f"the cluster {instance.name} runs no pods", "it is a control plane alone")
    become_root("loading an image")
    lifecycle.load_images(instance, [wanted.archive.absolute()])


def do_make_image(_, wanted):
    """Write an image archive that holds static binaries and nothing else."""
    files = {inside: outside for outside, _, inside in (file.rpartition(":") for file in wanted.file)}
    images.write(wanted.archive, wanted.image, wanted.entrypoint, files, user=wanted.user)


# ---- the command line ---------------------------------------------------------------------------------------------
def parser():
    top = argparse.ArgumentParser(prog=COMMAND, description=__doc__, epilog=f"Everything is kept in {CACHE} "
                                  f"(FAIRLEAD_CACHE moves it). `{COMMAND} VERB --help` says more about a verb.")
    verbs = top.add_subparsers(metavar="VERB", required=True)

    def verb(function, arguments="", named=True):
        name = function.__name__.removeprefix("do_").replace("_", "-")
        words = " ".join(function.__doc__.split())
        one = verbs.add_parser(name, help=words.partition(". ")[0].rstrip("."), description=words,
                               usage=f"{COMMAND} {name} [--name NAME] {arguments}" if arguments else None)
        one.set_defaults(verb=function, rest=[])
        if named:
            one.add_argument("--name", default=os.environ.get("FAIRLEAD_CLUSTER", "default"),
                             help="which cluster; any number of them can be up at once (default: %(default)s)")
        return one

    def versioned(one):
        one.add_argument("--version", default=builds.default_name(), metavar="V",
                         help=f"of Kubernetes: one of {', '.join(builds.known_releases())} (default: "
                              "%(default)s; FAIRLEAD_KUBERNETES in the environment stands for it)")

    one = verb(do_up)
    versioned(one)
    one.add_argument("--control-plane", action="store_true",
                     help="only etcd, API server and controller manager; up in seconds")
    one.add_argument("--fresh", action="store_true", help="replace a cluster that is up")
    one.add_argument("--api-servers", type=int, choices=range(1, 6), default=1, metavar="N",
                     help="so many API servers on one etcd; only with --control-plane (default: %(default)s)")
    one.add_argument("--owner", type=int, metavar="PID",
                     help="the process that the cluster is for: once it has ended, the next `up` of any cluster ends this one")
    one.add_argument("--apiserver-flag", action="append", default=[], metavar="FLAG",
                     help="a further flag for kube-apiserver, as in --apiserver-flag=--profiling=true")
    verb(do_down)
    verb(do_status)
    one = verb(do_kubeconfig)
    one.add_argument("--user", action="store_true", help="the ordinary user's")
    one.add_argument("--token", action="store_true", help="with a token file instead of a client certificate")
    one = verb(do_bin, named=False)
    versioned(one)
    one.add_argument("--control-plane", action="store_true",
                     help="build only etcd, API server, controller manager and kubectl")
    verb(do_env)
    verb(do_kubectl, "ARGUMENT…")
    verb(do_exec, "COMMAND [ARGUMENT…]")
    verb(do_net, "COMMAND [ARGUMENT…]")
    verb(do_restart, "COMPONENT [FLAG…]")
    verb(do_logs).add_argument("component", nargs="?")
    verb(do_load_image).add_argument("archive", type=pathlib.Path)
    one = verb(do_make_image, named=False)
    one.add_argument("archive", type=pathlib.Path, help="the file to write")
    one.add_argument("image", help="its name, such as localhost/fairlead/demo:1")
    one.add_argument("file", nargs="+", help="PATH_HERE:PATH_IN_THE_IMAGE")
    one.add_argument("--entrypoint", action="append", required=True, help="the command, one option a word")
    one.add_argument("--user", type=int, metavar="UID", help="who it runs as, for pods with runAsNonRoot (default: root)")
    verb(do_tool, named=False).add_argument("tool", choices=sorted(builds.TOOLS))
    return top


def main(arguments):
    rest = []
    if arguments and arguments[0] in PASSING_ON:
        first = 1
        while re.match(r"(--name(=.*)?|--help|-h)$", "".join(arguments[first:first + 1])):
            first += 2 if arguments[first] == "--name" else 1
        arguments, rest = arguments[:first], arguments[first:]
    wanted = parser().parse_args(arguments)
    wanted.rest = rest
    # A run that is asked to end cleans up like one that is interrupted from the keyboard.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        wanted.verb(Instance(wanted.name) if "name" in wanted else None, wanted)
    except Failure as failure:
        say(failure.text)
        return 1
    except OSError as error:
        say(f"error: {error}")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
