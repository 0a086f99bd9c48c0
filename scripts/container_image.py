"""A container image with one static binary per architecture in it, made without docker: an archive of an OCI image layout.

  python3 -B -m scripts.container_image BINARY ARCHIVE [--name NAME:TAG]

The same binary gives the same bytes. The image runs as user 65532 and has nothing in it but /fairlead and an empty /tmp. It can be
loaded with `ctr images import`, `docker load` (25 and later), `podman load`, or copied to a registry with `skopeo copy oci-archive:…`.
"""
import argparse
import gzip
import hashlib
import json
import pathlib
import subprocess
import tarfile

from cluster.images import ARCHITECTURE, add, layer
from scripts.release import project

USER = "65532:65532"
CREATED = "1970-01-01T00:00:00Z"


class Layout:
    """The blobs of an image layout, by their digests."""

    def __init__(self):
        self.blobs = {}

    def put(self, media_type, data):
        """Add a blob; returns its descriptor."""
        digest = hashlib.sha256(data).hexdigest()
        self.blobs[digest] = data
        return {"mediaType": f"application/vnd.oci.image.{media_type}", "digest": f"sha256:{digest}", "size": len(data)}

    def put_json(self, media_type, value):
        return self.put(media_type, json.dumps(value, sort_keys=True).encode())

    def write(self, archive, index):
        with tarfile.open(archive, "w") as out:
            add(out, "oci-layout", json.dumps({"imageLayoutVersion": "1.0.0"}).encode())
            add(out, "index.json", json.dumps(index, sort_keys=True).encode())
            for digest, data in sorted(self.blobs.items()):
                add(out, f"blobs/sha256/{digest}", data)


def labels_of(version, created=CREATED, revision=""):
    """The annotations of OCI, which are also the labels of the image."""
    labels = {
        "org.opencontainers.image.title": "fairlead",
        "org.opencontainers.image.description": "Rolls out Kubernetes objects in order, and serves admission webhooks",
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.version": version,
        "org.opencontainers.image.created": created,
        "org.opencontainers.image.url": project.HOME,
    }
    return labels | ({"org.opencontainers.image.revision": revision} if revision else {})


def add_image(layout, binary, architecture, labels):
    """Adds the image of one architecture; returns its descriptor."""
    content = layer({"/fairlead": binary}, {})
    created = labels["org.opencontainers.image.created"]
    platform = {"architecture": architecture, "os": "linux"}
    if variant := project.ARCHITECTURES[architecture].variant:
        platform["variant"] = variant
    blob = layout.put("layer.v1.tar+gzip", gzip.compress(content, compresslevel=9, mtime=0))
    config = layout.put_json("config.v1+json", platform | {
        "created": created,
        "config": {"User": USER, "Entrypoint": ["/fairlead"], "WorkingDir": "/", "Env": ["PATH=/"], "Labels": labels},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(content).hexdigest()}"]},
        "history": [{"created": created, "created_by": "scripts/container_image.py"}]})
    manifest = layout.put_json("manifest.v1+json", {
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config, "layers": [blob],
        "annotations": labels})
    manifest["platform"] = platform
    return manifest


def write(binaries, archive, name, labels):
    """Writes the image of the binaries, architecture -> path. Several are behind an index."""
    layout = Layout()
    images = [add_image(layout, path, architecture, labels) for architecture, path in sorted(binaries.items())]
    if len(images) == 1:
        found, = images
    else:
        found = layout.put_json("index.v1+json", {
            "schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": images, "annotations": labels})
    # The first is for containerd, the second for everybody else.
    found["annotations"] = {"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name.rpartition(":")[2]}
    layout.write(archive, {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [found]})
    return found["digest"]


def main():
    parser = argparse.ArgumentParser(prog="./dev image", description=__doc__.partition("\n")[0])
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("archive", type=pathlib.Path)
    parser.add_argument("--name", help=f"name and tag of the image (default: {project.IMAGE} and the version)")
    wanted = parser.parse_args()
    # It also shows that the binary runs, and needs nothing that an empty image does not have.
    told = json.loads(subprocess.run([wanted.binary.absolute(), "version", "-o", "json"], capture_output=True, text=True, check=True).stdout)
    version = told["version"]
    name = wanted.name or f"{project.IMAGE}:{version}"
    if ":" not in name.rpartition("/")[2]:
        parser.error(f"--name: {name} has no tag; for example {name}:{version}")
    labels = labels_of(version, told["buildDate"] or CREATED, told["commit"])
    digest = write({ARCHITECTURE: wanted.binary}, wanted.archive, name, labels)
    print(f"{wanted.archive}: {name} ({wanted.archive.stat().st_size / 1e6:.1f} MB, {digest})")


if __name__ == "__main__":
    main()
