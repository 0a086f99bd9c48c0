"""Other tools to measure beside, built from their Go modules once; the versions are pinned in peers/."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cluster"))
import builds  # noqa: E402
from settings import Failure, say  # noqa: E402


def kapp():
    """The path of kapp; nothing where it cannot be built."""
    source = HERE / "peers/kapp"

    def make(path):
        say("building kapp (about a minute, once)")
        builds.go_build(source, "carvel.dev/kapp/cmd/kapp", path)
    try:
        return builds.made("kapp", [source / "go.mod", source / "go.sum"], "", make)
    except Failure as failure:
        say(f"kapp is left out: {failure.text}")
        return None
