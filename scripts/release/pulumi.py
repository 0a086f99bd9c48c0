"""The plugin as Pulumi downloads it: an archive per operating system and architecture, with the program at its top."""
from scripts.release.contents import licences
from scripts.release.files import File, tar_gz
from scripts.release.project import PULUMI


def file_name(version, architecture):
    return f"{PULUMI.name}-v{version}-linux-{architecture}.tar.gz"


def archive(root, binary, components, time):
    tree = {PULUMI.name: File(binary.read_bytes(), 0o755)}
    for name, data in licences(root, components).items():
        tree[name if name == "LICENSE" else f"licences/{name}"] = File(data)
    return tar_gz(tree, time)
