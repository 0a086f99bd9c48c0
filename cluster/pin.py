"""Pins a version of Kubernetes: writes kube/MINOR/go.mod and go.sum, from which `./dev cluster up --version` builds it.

Takes the versions that the Go module proxy has whole, such as v1.36.3. Replaces what was pinned for that minor version.
"""
import json
import pathlib
import re
import shutil
import sys
import tempfile

from cluster import builds
from cluster.settings import HERE, Failure, run, say

GO_MOD = """module fairlead.dev/cluster/kube

go {go}

godebug default=go{language}

require k8s.io/kubernetes {version}

replace (
{replaces}
)
"""


def obtainable(go, environment, module, version):
    """That version of a module, or the newest patch before it that the proxy has and the checksum database vouches for:
    of a few releases some modules are missing."""
    major, patch = version.rsplit(".", 1)
    for number in range(int(patch), -1, -1):
        try:
            run([go, "mod", "download", f"{module}@{major}.{number}"], "fetching it", cwd="/tmp", env=environment)
        except Failure as failure:
            refusal = failure
            continue
        if number != int(patch):
            say(f"  {module} {version} cannot be had: taking {major}.{number}")
        return f"{major}.{number}"
    raise refusal


def pin(version):
    if not re.fullmatch(r"v1\.\d+\.\d+", version):
        raise Failure(f"{version!r} is no version of Kubernetes", "", "python3 -m cluster.pin v1.36.3")
    staging = version.replace("v1.", "v0.")
    go, environment = builds.find_go(), {**builds.go_environment(), "GOFLAGS": "-mod=mod"}
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        say(f"reading the go.mod of Kubernetes {version}")
        answer = run([go, "mod", "download", "-json", f"k8s.io/kubernetes@{version}"], "fetching it", cwd="/tmp",
                     env=environment)
        own = json.loads(run([go, "mod", "edit", "-json", json.loads(answer)["GoMod"]], "reading its go.mod",
                             env=environment))
        # Its own modules are replaced by folders of its work tree: the same ones were published beside it.
        published = sorted(one["Old"]["Path"] for one in own["Replace"] if one["New"]["Path"].startswith("./staging/"))
        language = ".".join(own["Go"].split(".")[:2])
        (folder / "go.mod").write_text(GO_MOD.format(
            go=own["Go"], language=language, version=version,
            replaces="\n".join(f"\t{name} => {name} {obtainable(go, environment, name, staging)}"
                               for name in published)))
        shutil.copy(HERE / "kube" / "tools.go", folder)
        say("resolving what it is built from (a minute or two)")
        run([go, "mod", "tidy"], "go mod tidy", cwd=folder, env=environment)
        target = HERE / "kube" / re.match(r"v(1\.\d+)", version)[1]
        target.mkdir(exist_ok=True)
        for name in ("go.mod", "go.sum"):
            shutil.copy(folder / name, target / name)
    say(f"{target.relative_to(HERE.parent)} pins {version}")


if __name__ == "__main__":
    try:
        if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
            raise Failure("which version?", "", "python3 -m cluster.pin v1.36.3")
        pin(sys.argv[1])
    except Failure as failure:
        say(failure.text)
        sys.exit(1)
