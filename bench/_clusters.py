"""Real clusters for a benchmark: started for it, and taken down however it ends."""
import contextlib
import os
import pathlib
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLUSTER = ROOT / "cluster/cluster"


def cluster_tool(*arguments):
    return subprocess.run([CLUSTER, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def heed_signals():
    """Both end the run by way of an exception, so that whatever was started is ended."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: ended by SIGTERM"))


def cluster_name(size):
    return f"bench-{size}-{os.getpid()}"


@contextlib.contextmanager
def cluster(size, *flags):
    """Gives the paths of kubectl and of the kubeconfig."""
    name = cluster_name(size)
    heed_signals()
    try:
        cluster_tool("up", *flags, "--name", name, "--owner", str(os.getpid()))
        parts = [flag for flag in flags if flag == "--control-plane"]
        yield pathlib.Path(cluster_tool("bin", *parts)) / "kubectl", cluster_tool("kubeconfig", "--name", name)
    finally:
        # Impatience must not leave a cluster behind.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        cluster_tool("down", "--name", name)
        heed_signals()
