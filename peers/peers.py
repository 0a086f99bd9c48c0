"""Other tools to stand beside, built from their Go modules once and kept in the cache.

The versions are pinned in the go.mod of each tool's folder. Whoever compares with a tool that cannot be built here
leaves it out: binary() says why.

  python3 -B -m peers.peers NAME    prints the path of one
"""
import functools
import pathlib
import re
import sys

from cluster import builds
from cluster.settings import Failure, say

HERE = pathlib.Path(__file__).resolve().parent

# name -> (module, folder of its command, how long a build takes on two cores)
PEERS = {
    "kapp": ("carvel.dev/kapp", "cmd/kapp", "a minute"),
    "helm3": ("helm.sh/helm/v3", "cmd/helm", "two minutes"),
    "helm4": ("helm.sh/helm/v4", "cmd/helm", "two minutes"),
    "tofu": ("github.com/opentofu/opentofu", "cmd/tofu", "six minutes"),
}


def pinned(name):
    module = re.escape(PEERS[name][0])
    return re.search(rf"\b{module} (v\S+)", (HERE / name / "go.mod").read_text()).group(1)


VERSIONS = {name: f"{name.rstrip('34')} {pinned(name)}" for name in PEERS}


@functools.cache
def binary(name):
    """The path of the tool, built if it is not in the cache yet; None, and a word on it, where it cannot be built."""
    module, command, duration = PEERS[name]
    source = HERE / name

    def make(path):
        say(f"building {VERSIONS[name]} (about {duration}, once)")
        builds.go_build(source, f"{module}/{command}", path)
    try:
        return builds.made(name, [source / "go.mod", source / "go.sum"], "", make)
    except Failure as failure:
        say(f"{VERSIONS[name]} is left out, it cannot be built here\n{failure.text}")
        return None


def helm_homes(folder):
    """Variables that make helm keep all that it keeps below `folder`."""
    return {f"HELM_{what}_HOME": f"{folder}/{what.lower()}" for what in ("CACHE", "CONFIG", "DATA")}


def main(names):
    if len(names) != 1 or names[0] not in PEERS:
        sys.exit(f"peers: which one? There is: {' '.join(PEERS)}")
    path = binary(names[0])
    if not path:
        sys.exit(1)
    print(path)


if __name__ == "__main__":
    main(sys.argv[1:])
