"""Helm charts of the operators, made from their modules as their makers package them, and what they render to.

While it is made, a chart is a dictionary: path of a file -> bytes.
"""
import functools
import hashlib
import json
import pathlib
import shutil
import subprocess
import tempfile

import yaml

from acid.operators.modules import builds
from cluster.settings import CACHE, Failure
from peers import peers


def files_of(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def stored(name, files):
    """The folder where these files are, in the cache; it is there whole or not at all."""
    digest = hashlib.sha256()
    for path, content in sorted(files.items()):
        digest.update(path.encode() + b"\0" + content + b"\0")
    folder = CACHE / "acid" / "charts" / f"{name}-{digest.hexdigest()[:12]}"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        unfinished = pathlib.Path(tempfile.mkdtemp(prefix=f"unfinished-{name}-", dir=folder.parent))
        unfinished.chmod(0o755)
        for path, content in files.items():
            place = unfinished / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        try:
            unfinished.rename(folder)
        except OSError:  # another run was quicker
            shutil.rmtree(unfinished)
    return folder


def documents(objects):
    """JSON is YAML."""
    return "".join(f"---\n{json.dumps(one)}\n" for one in objects).encode()


def parent(name, operator, values, definitions, resources):
    """A chart of one's own, with the operator's chart in it and the resources as templates.

    Definitions go into crds/, which helm puts in first: among the templates, it would not find the kinds of the resources.
    """
    subchart = yaml.safe_load((operator / "Chart.yaml").read_text())["name"]
    files = {f"charts/{subchart}/{path}": content for path, content in files_of(operator).items()}
    files["Chart.yaml"] = json.dumps({"apiVersion": "v2", "name": name, "version": "1.0.0"}).encode()
    files["values.yaml"] = json.dumps({subchart: values}).encode()
    if definitions:
        files["crds/definitions.yaml"] = documents(definitions)
    files["templates/resources.yaml"] = documents(resources).replace(b"{{", b'{{ "{{" }}')
    return stored(name, files)


def is_definition(one):
    return one["kind"] == "CustomResourceDefinition"


@functools.cache
def rendered(release, namespace, chart, *arguments):
    """The objects of a chart, as `helm template` gives them."""
    helm = peers.binary("helm4")
    if helm is None:
        raise Failure(f"the chart of {release} cannot be rendered", "helm could not be built")
    # A helm that is built from its module does not know by itself which Kubernetes to assume.
    done = subprocess.run([helm, "template", release, chart, "--namespace", namespace, "--include-crds",
                           "--kube-version", builds.default_release().version, *arguments], capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"the chart of {release} cannot be rendered", done.stderr)
    return loaded(done.stdout)


def loaded(text):
    return [one for one in yaml.load_all(text, Loader=yaml.CSafeLoader) if one]


def namespace(name):
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def image_values(name):
    return {"image": {"repository": f"localhost/acid/{name}", "tag": "1"}}
