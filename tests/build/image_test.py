"""The archive that `./dev image` writes: an OCI image layout whose parts fit together, and the same bytes each time."""
import gzip
import hashlib
import io
import json
import pathlib
import tarfile
import tempfile
import unittest

from scripts import container_image


class Image(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "binary").write_bytes(b"\x7fELF, as it were")

    def write(self, name, architectures=("amd64",)):
        labels = container_image.labels_of("1.2.3", "2026-05-04T10:20:30Z", "0123")
        container_image.write({one: self.folder / "binary" for one in architectures}, self.folder / name, "example.com/fairlead:1.2.3", labels)
        return (self.folder / name).read_bytes()

    def read(self, *arguments):
        """The files of the archive, and what reads a blob that a descriptor names."""
        with tarfile.open(fileobj=io.BytesIO(self.write("image.tar", *arguments))) as archive:
            files = {member.name: archive.extractfile(member).read() for member in archive.getmembers()}

        def blob(descriptor):
            data = files[f"blobs/sha256/{descriptor['digest'].removeprefix('sha256:')}"]
            self.assertEqual(descriptor["digest"], f"sha256:{hashlib.sha256(data).hexdigest()}")
            self.assertEqual(descriptor["size"], len(data))
            return data

        return files, blob

    def test_the_same_binary_gives_the_same_bytes(self):
        self.assertEqual(self.write("one.tar"), self.write("two.tar"))

    def test_each_part_names_the_next_by_its_digest(self):
        files, blob = self.read()
        self.assertEqual(json.loads(files["oci-layout"]), {"imageLayoutVersion": "1.0.0"})
        entry, = json.loads(files["index.json"])["manifests"]
        self.assertEqual(entry["annotations"], {"io.containerd.image.name": "example.com/fairlead:1.2.3",
                                                "org.opencontainers.image.ref.name": "1.2.3"})
        manifest = json.loads(blob(entry))
        config = json.loads(blob(manifest["config"]))
        self.assertEqual((config["config"]["User"], config["config"]["Entrypoint"]), ("65532:65532", ["/fairlead"]))
        content = gzip.decompress(blob(manifest["layers"][0]))
        self.assertEqual(config["rootfs"]["diff_ids"], [f"sha256:{hashlib.sha256(content).hexdigest()}"])
        with tarfile.open(fileobj=io.BytesIO(content)) as layer:
            self.assertEqual([(one.name, oct(one.mode), one.uid, one.mtime) for one in layer.getmembers()],
                             [("tmp", "0o1777", 0, 0), ("fairlead", "0o755", 0, 0)])
            self.assertEqual(layer.extractfile("fairlead").read(), b"\x7fELF, as it were")

    def test_what_the_labels_say(self):
        files, blob = self.read()
        entry, = json.loads(files["index.json"])["manifests"]
        manifest = json.loads(blob(entry))
        config = json.loads(blob(manifest["config"]))
        self.assertEqual(config["created"], "2026-05-04T10:20:30Z")
        self.assertEqual(config["config"]["Labels"], manifest["annotations"])
        self.assertEqual({name.removeprefix("org.opencontainers.image."): value for name, value in manifest["annotations"].items()
                          if not name.endswith(("title", "description", "url"))},
                         {"licenses": "Apache-2.0", "version": "1.2.3", "created": "2026-05-04T10:20:30Z", "revision": "0123"})

    def test_several_architectures_are_behind_an_index(self):
        files, blob = self.read(("arm64", "amd64"))
        entry, = json.loads(files["index.json"])["manifests"]
        self.assertEqual(entry["mediaType"], "application/vnd.oci.image.index.v1+json")
        images = json.loads(blob(entry))["manifests"]
        self.assertEqual([one["platform"] for one in images], [{"architecture": "amd64", "os": "linux"},
                                                               {"architecture": "arm64", "os": "linux", "variant": "v8"}])
        for one in images:
            config = json.loads(blob(json.loads(blob(one))["config"]))
            self.assertEqual({key: config.get(key) for key in one["platform"]}, one["platform"])


if __name__ == "__main__":
    unittest.main()
