"""What a cluster is made of: Debian packages, a Go toolchain, binaries, images. All of it is made once and cached."""
import contextlib
import fcntl
import functools
import glob
import hashlib
import json
import os
import pathlib
import re
import shutil
import time

from cluster import images
from cluster.settings import CACHE, HERE, Failure, pinned_version, run, say

NEWEST = "1.37"  # what tests and benchmarks run on unless told otherwise
ETCD = pinned_version("etcd", "go.etcd.io/etcd/server/v3")
OLDEST_GO = (1, 26)  # what the newest of the pinned modules asks for
TOOLCHAIN = pinned_version("toolchain", "golang.org/toolchain")

CONTROL_PLANE = ("kube-apiserver", "kube-controller-manager", "kubectl", "etcd")
NODE = ("kube-scheduler", "kubelet", "kube-proxy")
# Our own programs in Go: name -> source folder.
TOOLS = {"forward": HERE / "forward", "testpod": HERE / "testpod", "loadgen": HERE.parent / "tests" / "loadgen",
         "noop-webhook": HERE.parent / "peers" / "noop-webhook"}

PAUSE_IMAGE = "localhost/fairlead/pause:1"
TESTPOD_IMAGE = "localhost/fairlead/testpod:1"

# A file that tells whether a package is there -> the package. Asking for the file is quicker than asking dpkg.
CONTROL_PLANE_NEEDS = {"openssl": "openssl"}
NODE_NEEDS = {
    "containerd": "containerd", "runc": "runc", "/usr/lib/cni/bridge": "containernetworking-plugins", "nft": "nftables",
    "iptables": "iptables", "conntrack": "conntrack", "ip": "iproute2", "busybox": "busybox-static", "gcc": "gcc",
    "/usr/include/stdlib.h": "libc6-dev", "nsenter": "util-linux", "mount": "mount",
}


@contextlib.contextmanager
def locked(name, waiting_for):
    """Hold CACHE/name.lock. Two runs that want the same thing made take turns; the second finds it made."""
    path = CACHE / f"{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting for another run {waiting_for} …")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def appearing_whole(path):
    """Write to the file that this gives: it gets its real name only when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"unfinished-{path.name}")
    yield unfinished
    unfinished.rename(path)


# ---- Debian packages ----------------------------------------------------------------------------------------------
def install(packages):
    if not shutil.which("apt-get"):
        raise Failure(f"these packages are missing: {' '.join(packages)}", "there is no apt-get to install them with",
                      "install what this system calls them, and try again")
    say(f"installing Debian packages: {' '.join(packages)} (about a minute)")
    as_root = [] if os.geteuid() == 0 else ["sudo", "--"]
    apt = [*as_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=600"]
    arguments = ["install", "--no-install-recommends", *packages]
    try:
        run([*apt, *arguments], "apt-get install")
    except Failure:  # most often there are no package lists yet, or old ones
        run([*apt, "update"], "apt-get update")
        run([*apt, *arguments], "apt-get install")


def ensure_packages(needs):
    missing = [package for file, package in needs.items() if not shutil.which(file) and not os.path.exists(file)]
    if missing:
        install(missing)


# ---- the Go toolchain ---------------------------------------------------------------------------------------------
def go_environment():
    # GOTOOLCHAIN=local: the toolchain that was chosen is the one that builds. GOFLAGS: the caller's must not leak in.
    return {**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off",
            "GOFLAGS": "-mod=readonly -buildvcs=false"}


def go_version(go):
    try:
        found = re.search(r"go(\d+)\.(\d+)", run([go, "version"], "go version", env=go_environment()))
    except (OSError, Failure):
        return (0, 0)
    return (int(found[1]), int(found[2])) if found else (0, 0)


@functools.cache
def find_go():
    """A Go that can build the pinned modules: the machine's newest, else a newer one that an old one downloads."""
    places = [shutil.which("go"), "/usr/local/go/bin/go", *glob.glob("/usr/lib/go-*/bin/go")]
    newest = max(((go_version(go), go) for go in places if go), default=((0, 0), None))
    if newest[0] >= OLDEST_GO:
        return newest[1]
    if newest[0] == (0, 0):
        install(["golang-go", "ca-certificates"])
        newest = (None, shutil.which("go"))
    say(f"this machine's Go is older than {OLDEST_GO[0]}.{OLDEST_GO[1]}: fetching golang.org/toolchain {TOOLCHAIN} "
        "from the module proxy (60 MB, about a minute the first time)")
    # toolchain/ has a go.mod that every Go can read, and the checksum.
    answer = run([newest[1], "mod", "download", "-json", f"golang.org/toolchain@{TOOLCHAIN}"],
                 "downloading the Go toolchain", cwd=HERE / "toolchain", env=go_environment())
    folder = pathlib.Path(json.loads(answer)["Dir"])
    for program in [*folder.glob("bin/*"), *folder.glob("pkg/tool/*/*")]:
        program.chmod(0o755)  # a module's files are stored without their executable bit
    return str(folder / "bin" / "go")


def go_build(folder, package, out, ldflags="-s -w"):
    run([find_go(), "build", "-trimpath", "-ldflags", ldflags, "-o", out, package], f"building {out.name}",
        cwd=folder, env=go_environment())


# ---- the binaries of Kubernetes -----------------------------------------------------------------------------------
def known_releases():
    """The releases that can be built, as people name them, oldest first: ["1.31", …]."""
    return sorted((folder.parent.name for folder in (HERE / "kube").glob("*/go.mod")),
                  key=lambda name: [int(part) for part in name.split(".")])


class Release:
    """One release of Kubernetes, with the exact version that kube/NAME/go.mod pins, and where its binaries are."""

    def __init__(self, name):
        wanted = re.fullmatch(r"v?(\d+\.\d+)(\.\d+)?", name)
        known = known_releases()
        if not wanted or wanted[1] not in known:
            raise Failure(f"there is no Kubernetes {name} here", f"it can be one of {', '.join(known)}",
                          "python3 -m cluster.pin VERSION  # adds another one that the Go module proxy has")
        self.name = wanted[1]
        self.version = pinned_version(f"kube/{self.name}", "k8s.io/kubernetes")
        if wanted[2] and f"v{wanted[1]}{wanted[2]}" != self.version:
            raise Failure(f"there is no Kubernetes {name} here", f"of {self.name} it is {self.version}",
                          f"python3 -m cluster.pin {name}  # takes that one instead")
        self.bin = CACHE / f"kubernetes-{self.version}-etcd-{ETCD}"

    def stamp(self):
        major, minor = self.name.split(".")
        values = {"gitVersion": self.version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
        return " ".join(["-s -w", *(f"-X {package}.{key}={value}" for key, value in values.items()
                                    for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version"))])

    def build(self, program, path):
        if program == "etcd":
            go_build(HERE / "etcd", "go.etcd.io/etcd/server/v3", path)
        else:
            go_build(HERE / "kube" / self.name, f"k8s.io/kubernetes/cmd/{program}", path, self.stamp())

    def ensure(self, programs):
        """Build those that are not there yet."""
        if all((self.bin / name).exists() for name in programs):
            return
        with locked(f"build-{self.name}", f"to build Kubernetes {self.name}"):
            missing = [name for name in programs if not (self.bin / name).exists()]
            say(f"building {len(missing)} binaries of Kubernetes {self.version} and etcd {ETCD}, once: about "
                f"{'7' if 'kube-apiserver' in missing else '2'} minutes on two cores, and 4 GB in Go's caches")
            for name in missing:
                began = time.monotonic()
                with appearing_whole(self.bin / name) as path:
                    self.build(name, path)
                say(f"  {name} ({time.monotonic() - began:.0f} s)")


def default_name():
    """What FAIRLEAD_KUBERNETES in the environment says (`./dev test --kubernetes V` sets it), else the newest."""
    return os.environ.get("FAIRLEAD_KUBERNETES") or NEWEST


def default_release():
    return Release(default_name())


# ---- our own programs and images ----------------------------------------------------------------------------------
def made(name, inputs, suffix, make):
    """CACHE/made/NAME-HASH, which `make(path)` writes if there is none for these inputs: work trees share a cache."""
    digest = hashlib.sha256()
    for path in sorted(inputs):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    result = CACHE / "made" / f"{name}-{digest.hexdigest()[:12]}{suffix}"
    if not result.exists():
        with locked(f"build-{name}", f"to build {name}"):
            if not result.exists():
                with appearing_whole(result) as path:
                    make(path)
    return result


def tool(name):
    """The path of one of our Go programs, built if its source has changed."""
    source = TOOLS[name]
    inputs = {*source.glob("*.go"), source / "go.mod"} - {*source.glob("*_test.go")}

    def make(path):
        say(f"building {name} (some seconds, once)")
        go_build(source, ".", path)

    return made(name, inputs, "", make)


def pause():
    """A program that only waits: PID 1 of the cluster's namespaces, and the sandbox container of each pod."""
    source = HERE / "pause.c"
    return made("pause", [source], "", lambda path: run(
        ["gcc", "-O2", "-static", "-s", "-o", path, source], "building pause"))


def pod_images():
    """The image archives that every whole cluster starts with."""
    testpod, sandbox, busybox = tool("testpod"), pause(), pathlib.Path(shutil.which("busybox"))
    writer = HERE / "images.py"
    return [
        made("pause-image", [sandbox, writer], ".tar", lambda path: images.write(
            path, PAUSE_IMAGE, ["/pause"], {"/pause": sandbox})),
        made("testpod-image", [testpod, busybox, writer], ".tar", lambda path: images.write(
            path, TESTPOD_IMAGE, ["/bin/testpod"], {"/bin/testpod": testpod, "/bin/busybox": busybox},
            links={"/bin/sh": "busybox"})),
    ]
