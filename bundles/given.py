"""What pods need and a bundle does not have: made by the project's own programs, none of which runs here."""
import base64
import functools
import pathlib
import tempfile

import yaml

from cluster.settings import run


@functools.cache
def certificate():
    """A CA that nobody has signed anything with, as a caBundle has it."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "ca.crt"
        run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=stand-in",
             "-keyout", f"{folder}/ca.key", "-out", path], "making a certificate")
        return base64.b64encode(path.read_bytes()).decode()


def documents(paths):
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # all scalars are strings: some files have tags that PyYAML does not know
    for path in paths:
        for one in yaml.load_all(path.read_text(), Loader=loader):
            if isinstance(one, dict):
                yield from one["items"] if one.get("kind") == "List" else [one]


def pod_specs(value):
    """Every spec with containers, wherever it is in an object."""
    if isinstance(value, dict):
        if isinstance(value.get("containers"), list):
            yield value
        for one in value.values():
            yield from pod_specs(one)


def references(spec):
    """(kind, name, keys) of what has to be there before a pod starts."""
    volumes = spec.get("volumes") or []
    for source in [*volumes, *(one for volume in volumes for one in (volume.get("projected") or {}).get("sources") or [])]:
        for field, kind, name in (("secret", "Secret", "secretName"), ("secret", "Secret", "name"), ("configMap", "ConfigMap", "name")):
            found = source.get(field) or {}
            if found.get(name) and found.get("optional") != "true":
                yield kind, found[name], [item["key"] for item in found.get("items") or []]
    for container in [*(spec.get("initContainers") or []), *spec["containers"]]:
        sources = [(one.get("valueFrom") or {}, "KeyRef") for one in container.get("env") or []]
        sources += [(one, "Ref") for one in container.get("envFrom") or []]
        for source, suffix in sources:
            for field, kind in (("secret", "Secret"), ("configMap", "ConfigMap")):
                found = source.get(field + suffix) or {}
                if found.get("name") and found.get("optional") != "true":
                    yield kind, found["name"], [found["key"]] if "key" in found else []


def missing(paths, namespace):
    """(kind, namespace, name) -> keys, of what pods of these manifests need and the manifests lack."""
    objects = list(documents(paths))
    there = {(one.get("kind"), (one.get("metadata") or {}).get("namespace", namespace), (one.get("metadata") or {}).get("name"))
             for one in objects}
    needs: dict = {}
    for one in objects:
        place = (one.get("metadata") or {}).get("namespace", namespace)
        if one.get("kind") == "CustomResourceDefinition":
            continue
        for spec in pod_specs(one.get("spec")):
            for kind, name, keys in references(spec):
                if (kind, place, name) not in there and name != "kube-root-ca.crt":
                    needs.setdefault((kind, place, name), set()).update(keys)
    return needs
