"""A whole cluster whose pods can run the image of the binary: brought up for a test, unless FAIRLEAD_PODS_CLUSTER names one."""
import os
import pathlib
import subprocess
import tempfile

from cluster.images import ARCHITECTURE
from scripts import container_image

ROOT = pathlib.Path(__file__).resolve().parents[2]
IMAGE = "fairlead.dev/fairlead:test"


def cluster_tool(*arguments):
    return subprocess.run([ROOT / "cluster/cluster", *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def cluster_with_image(test, prefix):
    """Gives the name of the cluster; the end of the test's class takes it down."""
    name = os.environ.get("FAIRLEAD_PODS_CLUSTER", "")
    if not name:
        name = f"{prefix}-{os.getpid()}"
        test.addClassCleanup(cluster_tool, "down", "--name", name)
        cluster_tool("up", "--name", name, "--owner", str(os.getpid()))
    with tempfile.TemporaryDirectory() as folder:
        archive = pathlib.Path(folder) / "image.tar"
        container_image.write({ARCHITECTURE: pathlib.Path(os.environ["FAIRLEAD"])}, archive, IMAGE, container_image.labels_of("test"))
        cluster_tool("load-image", "--name", name, str(archive))
    return name
