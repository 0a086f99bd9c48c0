"""What of Debian is inside a binary: the libraries that its link has read, and the headers that its files have included."""
import dataclasses
import pathlib
import re
import shlex
import subprocess

# The licences of Debian's source packages, by their names in SPDX. Debian's own names differ from those.
LICENCES = {
    "boost1.81": "BSL-1.0",
    "cli11": "BSD-3-Clause",
    "fmtlib": "MIT",
    "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "gcc-12-cross": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "glibc": "LGPL-2.1-or-later",
    "cross-toolchain-base": "LGPL-2.1-or-later",
    "libyaml": "MIT",
    "linux": "GPL-2.0-only WITH Linux-syscall-note",
    "llvm-toolchain-19": "Apache-2.0 WITH LLVM-exception",
    "nghttp2": "MIT",
    "openssl": "Apache-2.0",
    "rapidjson": "MIT",
    "re2": "BSD-3-Clause",
    "zlib": "Zlib",
}
DOC = pathlib.Path("/usr/share/doc")


@dataclasses.dataclass(frozen=True)
class Component:
    """A source package of Debian, parts of which are in the binary."""
    source: str
    version: str
    licence: str    # an SPDX expression
    text: str       # Debian's copyright file
    is_code: bool   # libraries; otherwise only headers


def run(*words, cwd=None):
    return subprocess.run(words, check=True, capture_output=True, text=True, cwd=cwd).stdout


def link_command(build, target):
    command = run("ninja", "-C", build, "-t", "commands", target).splitlines()[-1]
    words = [word for word in shlex.split(command) if word not in ("&&", ":")]
    output = words.index("-o") + 1
    words[output] = "/dev/null"
    return words


def libraries(build, target):
    """The files outside the build that the linker reads."""
    traced = run(*link_command(build, target), "-Wl,--trace", cwd=build)
    return {match[0] for match in re.finditer(r"^/[^\s(]+\.[ao]\b", traced, re.M)}


def headers(build, target):
    """The files outside the build that the target's files include."""
    inputs = set(run("ninja", "-C", build, "-t", "inputs", target).split())
    found, is_input = set(), False
    for line in run("ninja", "-C", build, "-t", "deps").splitlines():
        if not line.startswith(" "):
            is_input = line.partition(":")[0] in inputs
        elif is_input and line.strip().startswith("/usr/"):
            found.add(line.strip())
    return found


def packages_of(paths):
    """The Debian packages that these files belong to."""
    paths = {str(pathlib.Path(path).resolve()) for path in paths}
    asked = sorted(paths | {path.removeprefix("/usr") for path in paths})
    found, owned = set(), set()
    for begin in range(0, len(asked), 500):
        # It fails if it does not know one of them: of the two places of a file, Debian knows one.
        text = subprocess.run(["dpkg-query", "-S", *asked[begin:begin + 500]], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}).stdout
        for line in text.splitlines():
            names, _, path = line.rpartition(": ")
            if names and not line.startswith("diversion"):
                found |= set(names.split(", "))
                owned |= {path, "/usr" + path}
    strangers = sorted(paths - owned)
    if strangers:
        raise SystemExit(f"release: no Debian package has {strangers[0]}, which is linked in")
    return found


def copyright_of(package):
    return (DOC / package.partition(":")[0] / "copyright").read_text(errors="replace")


def components(build, target):
    """What the target in the folder of a build consists of, besides our own code; by name."""
    code = packages_of(libraries(build, target))
    names = sorted(code | packages_of(headers(build, target)))
    listed = run("dpkg-query", "-W", "-f", "${binary:Package} ${source:Package} ${source:Version}\n", *names)
    found: dict[str, Component] = {}
    for line in listed.splitlines():
        package, source, version = line.split()
        if source not in LICENCES:
            raise SystemExit(f"release: {source} is linked in, and scripts/release/linked.py does not know its licence; "
                             f"see {DOC / package.partition(':')[0]}/copyright")
        is_code = package in code or f"{package}:all" in code or (source in found and found[source].is_code)
        found[source] = Component(source, version, LICENCES[source], copyright_of(package), is_code)
    return [found[name] for name in sorted(found)]
