"""Tries what `./dev release` has made, in the places where people use it. Needs root (chroots) and Debian's archive.

  python3 -B -m scripts.release.check --build amd64=FOLDER [--build arm64=FOLDER] [--out dist] [--only CHECK]

Each check prints a line. The last one builds the binary of this machine again, from a clone of the commit in another folder with another
time zone and locale and without a cache, makes a second release, and compares all of it.
"""
import argparse
import collections.abc
import contextlib
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from scripts import container_image
from scripts.pulumi_sdk import CACHE
from scripts.release import manifests, source as sources
from scripts.release.main import ROOT, project_version
from scripts.release.project import ARCHITECTURES, NAME, PROGRAMS, PROVIDER, PULUMI

# The oldest Debian that is tried, and the one that the binary is built on.
DEBIANS = ("bullseye", "bookworm")
QEMU = {"arm64": "/usr/bin/qemu-aarch64-static"}
MANIFEST = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "colours"}, "data": {"sky": "blue"}}
# What a fresh binary does in a place with a shell: a sandbox, and a bundle that goes in and out.
TRY = """set -e
fairlead version
printf '%s' '@MANIFEST@' > /tmp/colours.json
fairlead sandbox -- fairlead apply -f /tmp/colours.json | grep -q 'ConfigMap default/colours created'
kubectl-fairlead --help | grep -q 'Usage: kubectl fairlead'
""".replace("@MANIFEST@", json.dumps(MANIFEST))


def run(*words, code=0, **more):
    result = subprocess.run([str(word) for word in words], capture_output=True, text=True, **more)
    if result.returncode != code:
        raise SystemExit(f"check: {' '.join(map(str, words))} ended with {result.returncode}:\n{result.stdout}{result.stderr}")
    return result.stdout


class Check:
    def __init__(self, out, source, builds, sdk=None):
        self.out = out
        self.source = source
        self.builds = builds
        self.sdk = sdk

    def one(self, pattern):
        found = sorted(self.out.glob(pattern))
        if len(found) != 1:
            raise SystemExit(f"check: {len(found)} files are called {pattern} in {self.out}")
        return found[0]

    # ---- packages -----------------------------------------------------------------------------------------------------
    def lintian(self):
        for path in sorted(self.out.glob("*.deb")):
            said = run("lintian", "--allow-root", "--fail-on", "error,warning", path)
            if said.strip():
                raise SystemExit(f"check: lintian on {path.name}:\n{said}")

    def older(self, deb, folder):
        """The same package with a version from before all others."""
        run("dpkg-deb", "-R", deb, folder / "tree")
        control = folder / "tree/DEBIAN/control"
        control.write_text(control.read_text().replace("\nVersion: ", "\nVersion: 0~before-"))
        run("dpkg-deb", "--root-owner-group", "-Zgzip", "--build", folder / "tree", folder / "older.deb")
        return folder / "older.deb"

    def debian(self, suite):
        """Installs, upgrades and removes the package in a chroot of a Debian."""
        deb = self.one(f"*_{container_image.ARCHITECTURE}.deb")
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name) / "root"
            run("debootstrap", "--variant=minbase", suite, root)
            before = self.listing(root)
            for path in (self.older(deb, pathlib.Path(name)), deb):
                shutil.copy(path, root / "tmp/it.deb")
                self.inside(root, "dpkg -i /tmp/it.deb")
            self.inside(root, TRY)
            self.inside(root, "dpkg --purge fairlead && rm -f /tmp/it.deb /tmp/colours.json")
            left = sorted(self.listing(root) - before)
            if left:
                raise SystemExit(f"check: the package leaves behind {left[:5]}")

    @staticmethod
    def listing(root):
        return {str(path.relative_to(root)) for path in root.rglob("*") if not str(path.relative_to(root)).startswith(("var/", "proc", "sys", "dev"))}

    @staticmethod
    def inside(root, script):
        return run(shutil.which("chroot") or "/usr/sbin/chroot", root, "/bin/sh", "-c", script,
                   env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/tmp"})

    def rpm(self):
        """Installs and removes the package in a root folder that holds nothing else."""
        rpm = self.one(f"*.{ARCHITECTURES[container_image.ARCHITECTURE].machine}.rpm")
        with tempfile.TemporaryDirectory() as root:
            run("rpm", "--root", root, "--initdb")
            run("rpm", "--root", root, "--nodeps", "-i", rpm)
            run("rpm", "--root", root, "-V", "--nodeps", NAME)
            run(shutil.which("chroot") or "/usr/sbin/chroot", root, "/usr/bin/fairlead", "version")
            run("rpm", "--root", root, "--nodeps", "-e", NAME)
            if left := [path for path in pathlib.Path(root, "usr").rglob("*fairlead*")]:
                raise SystemExit(f"check: the package leaves behind {left[:5]}")

    # ---- what others read ---------------------------------------------------------------------------------------------
    def image(self):
        """skopeo reads every blob of every architecture."""
        archive = f"oci-archive:{self.one('*-image.tar')}"
        with tempfile.TemporaryDirectory() as folder:
            run("skopeo", "copy", "--all", "--insecure-policy", archive, f"dir:{folder}")
        for architecture in self.builds:
            about = json.loads(run("skopeo", "inspect", "--override-arch", architecture, archive))
            labels = about["Labels"]
            told = (about["Architecture"], labels["org.opencontainers.image.version"], labels["org.opencontainers.image.revision"])
            if told != (architecture, self.source.version, self.source.commit):
                raise SystemExit(f"check: the image says {told}")

    def formula(self):
        run("ruby", "-c", self.out / "fairlead.rb")

    def sources(self):
        """The source archive knows its commit without git."""
        with tempfile.TemporaryDirectory() as folder:
            run("tar", "-xzf", self.one("*-source.tar.gz"), "-C", folder)
            tree, = pathlib.Path(folder).iterdir()
            run("cmake", "-D", f"SOURCE={tree}", "-D", f"OUTPUT={folder}/commit.cc", "-P", tree / "cmake/Commit.cmake")
            text = pathlib.Path(folder, "commit.cc").read_text()
            if self.source.commit not in text or self.source.date not in text:
                raise SystemExit(f"check: a build of the source archive would say:\n{text}")

    def checksums(self):
        run("sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS", cwd=self.out)

    def provider(self, architecture=container_image.ARCHITECTURE, emulator=()):
        """The program in the zip for terraform."""
        with tempfile.TemporaryDirectory() as folder:
            run(sys.executable, "-m", "zipfile", "-e", self.one(f"{PROVIDER.name}_*_linux_{architecture}.zip"), folder)
            program = pathlib.Path(folder) / f"{PROVIDER.name}_v{self.source.version}"
            program.chmod(0o755)  # what this module extracts has no modes
            said = run(*emulator, program, "--version")
            if said != f"{PROVIDER.name} {self.source.version}\n":
                raise SystemExit(f"check: {program.name} says that it is {said}")

    def plugin(self, architecture=container_image.ARCHITECTURE, emulator=()):
        """The program in the archive for pulumi."""
        with tempfile.TemporaryDirectory() as folder:
            run("tar", "-xzf", self.one(f"{PULUMI.name}-v*-linux-{architecture}.tar.gz"), "-C", folder)
            said = run(*emulator, pathlib.Path(folder) / PULUMI.name, "--version")
            if said != f"{PULUMI.name} {self.source.version}\n":
                raise SystemExit(f"check: {PULUMI.name} says that it is {said}")

    def install(self):
        with tempfile.TemporaryDirectory() as home, serving(self.out, self.source.version) as url:
            run("sh", self.out / "install.sh", env={"PATH": os.environ["PATH"], "HOME": home, "FAIRLEAD_URL": url})
            run(f"{home}/.local/bin/fairlead", "version")

    # ---- other architectures ------------------------------------------------------------------------------------------
    def emulated(self, architecture):
        """The binary for another machine, under qemu: a sandbox, and a bundle that goes in."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            run("tar", "-xzf", self.out / f"{manifests.archive_name(self.source.version, ARCHITECTURES[architecture])}.tar.gz", "--strip-components=1",
                "-C", folder)
            program = folder / "emulated"
            program.write_text(f'#!/bin/sh\nexec {QEMU[architecture]} {folder}/fairlead "$@"\n')
            program.chmod(0o755)
            if json.loads(run(program, "version", "-o", "json"))["platform"] != f"linux/{ARCHITECTURES[architecture].machine}":
                raise SystemExit("check: the binary is not one for the machine")
            (folder / "colours.json").write_text(json.dumps(MANIFEST))
            said = run(program, "sandbox", "--", program, "apply", "-f", folder / "colours.json")
            if "ConfigMap default/colours created" not in said:
                raise SystemExit(f"check: {architecture}: {said}")
        self.provider(architecture, (QEMU[architecture],))
        self.plugin(architecture, (QEMU[architecture],))

    def unit_tests(self, architecture):
        """The tests beside the code that are built for the other machine, under qemu."""
        tests = sorted(self.builds[architecture].glob("src/**/*_test"))
        if not tests:
            raise SystemExit(f"check: no tests are built for {architecture}")
        for test in tests:
            run(QEMU[architecture], test, "--gtest_brief=1", cwd=ROOT)
        print(f"  {len(tests)} test programs", file=sys.stderr)

    # ---- the same bytes -----------------------------------------------------------------------------------------------
    def second(self):
        """Another release of the commit: other folder, time zone, locale, user's settings; nothing from the cache."""
        host = container_image.ARCHITECTURE
        with tempfile.TemporaryDirectory(prefix="a-second-place-") as name:
            tree = pathlib.Path(name) / "tree"
            run("git", "clone", "--quiet", ROOT, tree)
            run("git", "-C", tree, "checkout", "--quiet", "--detach", self.source.commit)
            surroundings = os.environ | {"TZ": "Asia/Kathmandu", "LC_ALL": "C.UTF-8", "LANG": "tr_TR.UTF-8", "HOME": name, "CCACHE_DISABLE": "1"}
            run("cmake", "--preset", "release", f"-DFAIRLEAD_VERSION={self.source.version}", cwd=tree, env=surroundings)
            run("ninja", "-C", "build/release", *(one.target for one in PROGRAMS), cwd=tree, env=surroundings)
            if self.sdk:
                # The generator of SDKs is not a part of the release: the one that is there makes them again.
                run(sys.executable, "-B", "-m", "scripts.pulumi_sdk", f"build/release/{PULUMI.path}", self.sdk.name, cwd=tree,
                    env=surroundings | {"XDG_CACHE_HOME": str(CACHE.parents[1])})
            run(sys.executable, "-B", "-m", "scripts.release.main", "--build", f"{host}=build/release",
                *(("--sdk", self.sdk.name) if self.sdk else ()),
                *(word for other, build in self.builds.items() if other != host for word in ("--build", f"{other}={build.resolve()}")),
                "--out", "dist", cwd=tree, env=surroundings)
            compare(self.out, tree / "dist")


def compare(one, other):
    names = {path.name for path in one.iterdir()} | {path.name for path in other.iterdir()}
    # A signature needs the key, which a second release need not have.
    differ = sorted(name for name in names - {"SHA256SUMS.minisig"}
                    if not ((one / name).exists() and (other / name).exists() and (one / name).read_bytes() == (other / name).read_bytes()))
    if differ:
        raise SystemExit(f"check: {len(differ)} files of the second release differ: {', '.join(differ[:8])}")


@contextlib.contextmanager
def serving(out, version):
    """The release behind a server on this machine."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, version).symlink_to(out.resolve())
        server = subprocess.Popen([sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", folder],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            yield f"http://127.0.0.1:{server.stdout.readline().split()[5]}"
        finally:
            server.terminate()
            server.wait()
            server.stdout.close()


def main():
    parser = argparse.ArgumentParser(prog="./dev release --check", description=__doc__.partition("\n")[0])
    parser.add_argument("--build", action="append", default=[])
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "dist")
    parser.add_argument("--key", type=pathlib.Path)
    parser.add_argument("--sdk", type=pathlib.Path)
    parser.add_argument("--only", action="append", default=[], help="only these checks")
    wanted = parser.parse_args()
    builds = {name: pathlib.Path(folder) for name, _, folder in (one.partition("=") for one in wanted.build)}
    check = Check(wanted.out.resolve(), sources.find(ROOT, project_version()), builds, wanted.sdk)
    others = [name for name in builds if name != container_image.ARCHITECTURE]
    checks: dict[str, collections.abc.Callable[[], None]] = {
        "checksums": check.checksums, "lintian": check.lintian, "rpm": check.rpm, "image": check.image, "formula": check.formula,
        "sources": check.sources, "install": check.install, "provider": check.provider, "plugin": check.plugin}
    checks |= {suite: functools.partial(check.debian, suite) for suite in DEBIANS}
    checks |= {f"{name} emulated": functools.partial(check.emulated, name) for name in others}
    checks |= {f"{name} tests": functools.partial(check.unit_tests, name) for name in others}
    checks |= {"second release": check.second}
    for name, one in checks.items():
        if not wanted.only or name in wanted.only:
            one()
            print(f"check: {name}: good", flush=True)


if __name__ == "__main__":
    main()
