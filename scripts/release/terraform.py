"""The provider as registries and mirrors of Terraform and OpenTofu have it: a zip per architecture, a manifest, and their checksums."""
from scripts.release.contents import licences
from scripts.release.files import File, sha256, zipped
from scripts.release.project import PROVIDER
from scripts.release.statements import dumped

# Of the protocol that the provider speaks.
PROTOCOLS = ["6.0"]


def file_name(version, rest):
    return f"{PROVIDER.name}_{version}_{rest}"


def archive(root, binary, components, version, time):
    """The zip. Terraform looks in it for a file of this name."""
    tree = {f"{PROVIDER.name}_v{version}": File(binary.read_bytes(), 0o755)}
    for name, data in licences(root, components).items():
        tree[name if name == "LICENSE" else f"licences/{name}"] = File(data)
    return zipped(tree, time)


def manifest():
    return dumped({"version": 1, "metadata": {"protocol_versions": PROTOCOLS}})


def checksums(paths):
    return "".join(f"{sha256(path)}  {path.name}\n" for path in sorted(paths))
