"""Real operators: the sources, programs and images of the Go modules that the folders here pin.

Everything is fetched or built once and kept in the cache. Nothing of it is in this repository but the versions.
"""
import functools
import json
import pathlib
import re

from cluster import builds, images
from cluster.settings import run, say

HERE = pathlib.Path(__file__).resolve().parent

USER = 1000  # their pods ask not to run as root


def pins(folder):
    return [HERE / folder / "go.mod", HERE / folder / "go.sum"]


@functools.cache
def source(folder, module):
    """Where the module's own files are, in the version that the folder's go.mod pins."""
    pinned = f"{module}@{version(folder, module)}"
    answer = run([builds.find_go(), "mod", "download", "-json", pinned], f"fetching {pinned}", cwd=HERE / folder,
                 env=builds.go_environment())
    return pathlib.Path(json.loads(answer)["Dir"])


def version(folder, module):
    """The one that the folder's go.mod pins."""
    return re.search(rf"\b{re.escape(module)} (v\S+)", (HERE / folder / "go.mod").read_text()).group(1)


@functools.cache
def program(folder, package, duration):
    """The path of a static binary. package: its import path, or `.` for one of our own in that folder."""
    name = folder if package == "." else f"{folder}-{pathlib.PurePosixPath(package).name}"

    def make(path):
        say(f"building {name} ({duration}, once)")
        builds.go_build(HERE / folder, package, path)
    own = (HERE / folder).glob("*.go") if package == "." else []
    return builds.made(name, [*pins(folder), *own], "", make)


@functools.cache
def image(name, binary):
    """An archive of the image localhost/acid/NAME:1 that runs the binary. Its file has the image's name, since that is how API
    servers know who wrote something."""
    inputs = [binary, pathlib.Path(images.__file__), pathlib.Path(__file__)]
    return builds.made(f"{name}-image", inputs, ".tar", lambda path: images.write(
        path, f"localhost/acid/{name}:1", [f"/bin/{name}"], {f"/bin/{name}": binary}, user=USER))
