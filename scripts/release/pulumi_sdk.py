"""The SDKs for Pulumi as npm and PyPI take them, from the folder that `scripts.pulumi_sdk` made. The same bytes each time."""
import base64
import hashlib
import json
import tomllib

from scripts.release.files import File, tar_gz, zipped

# What `npm pack` calls the package @fairlead/pulumi.
NPM = "fairlead-pulumi"


def files_of(folder):
    return {str(path.relative_to(folder)): File(path.read_bytes()) for path in sorted(folder.rglob("*")) if path.is_file()}


def npm(root, sdk, time):
    """The name and the data of the tarball. npm wants everything below package/."""
    tree = files_of(sdk / "nodejs" / "bin") | {"LICENSE": File((root / "LICENSE").read_bytes())}
    version = json.loads(tree["package.json"].data)["version"]
    return f"{NPM}-{version}.tgz", tar_gz({f"package/{name}": file for name, file in tree.items()}, time)


class Python:
    """The source archive and the wheel of the package, without the tools that make them otherwise: theirs have times in them."""

    def __init__(self, root, sdk):
        self.folder = sdk / "python"
        self.licence = File((root / "LICENSE").read_bytes())
        self.project = tomllib.loads((self.folder / "pyproject.toml").read_text())["project"]
        self.full_name = f"{self.project['name']}-{self.project['version']}"

    def metadata(self):
        project = self.project
        fields = [("Metadata-Version", "2.1"), ("Name", project["name"]), ("Version", project["version"]), ("Summary", project["description"]),
                  ("License", project["license"]["text"]), ("Keywords", ",".join(project.get("keywords", []))),
                  ("Requires-Python", project["requires-python"]), *(("Requires-Dist", one) for one in project["dependencies"]),
                  ("Description-Content-Type", "text/markdown")]
        description = (self.folder / project["readme"]).read_text()
        return File(("".join(f"{name}: {value}\n" for name, value in fields) + "\n" + description).encode())

    def source(self, time):
        tree = {name: file for name, file in files_of(self.folder).items() if not name.startswith(".")}
        tree |= {"LICENSE": self.licence, "PKG-INFO": self.metadata()}
        return f"{self.full_name}.tar.gz", tar_gz({f"{self.full_name}/{name}": file for name, file in tree.items()}, time)

    def wheel(self, time):
        package = self.project["name"]
        tree = {f"{package}/{name}": file for name, file in files_of(self.folder / package).items()}
        about = f"{self.full_name}.dist-info"
        tree |= {f"{about}/METADATA": self.metadata(), f"{about}/LICENSE": self.licence, f"{about}/top_level.txt": File(f"{package}\n".encode()),
                 f"{about}/WHEEL": File(b"Wheel-Version: 1.0\nGenerator: fairlead-release\nRoot-Is-Purelib: true\nTag: py3-none-any\n")}
        record = "".join(f"{name},sha256={digest(file.data)},{len(file.data)}\n" for name, file in sorted(tree.items()))
        tree[f"{about}/RECORD"] = File(f"{record}{about}/RECORD,,\n".encode())
        return f"{self.full_name}-py3-none-any.whl", zipped(tree, time)


def digest(data):
    """As a wheel's RECORD has it."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def packages(root, sdk, time):
    """Name -> data."""
    python = Python(root, sdk)
    return dict([npm(root, sdk, time), python.source(time), python.wheel(time)])
