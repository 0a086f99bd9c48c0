"""kubectl against a server, and what two servers may differ in taken out of its output."""
import os
import pathlib
import re
import shlex
import subprocess
import tempfile

KUBECTL = str(pathlib.Path(os.environ["FAIRLEAD_CLUSTER_BIN"]) / "kubectl")
FAIRLEAD = os.environ["FAIRLEAD"]


class Server:
    """A kubeconfig, and a home of its own for what kubectl caches."""

    def __init__(self, kubeconfig):
        self.kubeconfig = str(kubeconfig)
        self.home = tempfile.TemporaryDirectory()

    def kubectl(self, command, stdin="", timeout=120):
        """The exit code on a line, and everything that was printed."""
        environment = {**os.environ, "HOME": self.home.name, "KUBECONFIG": self.kubeconfig}
        done = subprocess.run([KUBECTL, *shlex.split(command)], input=stdin, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=timeout, env=environment)
        return f"[{done.returncode}]\n{done.stdout}"

    def close(self):
        self.home.cleanup()


class Sandbox(Server):
    def __init__(self, *flags):
        self.folder = tempfile.TemporaryDirectory()
        kubeconfig = pathlib.Path(self.folder.name) / "kubeconfig"
        self.process = subprocess.Popen([FAIRLEAD, "sandbox", "--kubeconfig-file", kubeconfig, *flags],
                                        stdout=subprocess.PIPE, text=True)
        if not self.process.stdout.readline().startswith("sandbox at https://127.0.0.1:"):
            raise AssertionError("the sandbox does not start")
        super().__init__(kubeconfig)

    def close(self):
        self.process.terminate()
        self.process.stdout.close()
        self.process.wait(timeout=30)
        super().close()
        self.folder.cleanup()


NOT_THE_SAME = [
    (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}", "TIME"),
    (r"\w{3}, \d\d \w{3} \d{4} [\d:]+ [+-]\d+", "TIME"),
    (r"\b(10|127)(\.\d+){3}\b", "ADDRESS"),
    (r"(resourceVersion: |Resource Version: +)\"?\d+\"?", r"\1VERSION"),
    (r"<?\b\d+(s|ms|m\d+s)\b>?", "AGE"),
    (r":3[0-2]\d{3}\b", ":PORT"),
    (r"/(LIVE|MERGED)-\d+/", r"/\1/"),
    (r"kube-api-access-\w{5}\b", "kube-api-access-SUFFIX"),
    # Whether a Deployment's controller ever sees its new ReplicaSet without pods is a matter of luck on a real server.
    (r"Created new replica set (\"[^\"]+\")", r"ReplicaSet \1 is progressing."),
    ("NewReplicaSetCreated", "ReplicaSetUpdated"),
    # What is generated, at the end of a name: by a Deployment, a ReplicaSet or a Job.
    (r"-[0-9bcdf-hj-np-tv-z]{8,10}(-[0-9bcdf-hj-np-tv-z]{5})?\b", "-HASH"),
    (r"^(pod/)?(\w+)-[0-9bcdf-hj-np-tv-z]{5}\b", r"\1\2-SUFFIX"),
]


def sort_entries(managed):
    """Entries of managedFields are in the order of their times, in seconds: which ones share a second is chance."""
    indent, entries = managed.groups()
    return f"{indent}managedFields:\n" + "".join(sorted(re.split(rf"(?m)^(?={indent}- )", entries)))


def normal(text):
    """Columns are as wide as what is in them: runs of spaces are one."""
    for pattern, instead in NOT_THE_SAME:
        text = re.sub(pattern, instead, text, flags=re.MULTILINE)
    text = re.sub(r"^( *)managedFields:\n((?:\1(?:-|  ).*\n)+)", sort_entries, text, flags=re.MULTILINE)
    return "\n".join(re.sub(r"(\S) {2,}", r"\1  ", line).rstrip() for line in text.splitlines())
