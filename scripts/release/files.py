"""Files and archives that come out the same each time: sorted, with one owner and one time."""
import dataclasses
import gzip
import hashlib
import io
import tarfile
import time as clock
import zipfile


@dataclasses.dataclass(frozen=True)
class File:
    data: bytes = b""
    mode: int = 0o644
    # A symbolic link to this, if it is one.
    link: str = ""


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def compressed(data):
    """Without the name and the time, which the format has a place for."""
    return gzip.compress(data, compresslevel=9, mtime=0)


def tar(tree, time):
    """The tree, path -> File, as a tar archive. Folders are made where a file needs them."""
    folders = set()
    for path in tree:
        parts = path.split("/")[:-1]
        folders |= {"/".join(parts[:count]) for count in range(1, len(parts) + 1)}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in sorted(folders | set(tree)):
            entry = tarfile.TarInfo(path)
            entry.mtime = time
            entry.uname = entry.gname = "root"
            if path in folders:
                entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                archive.addfile(entry)
                continue
            file = tree[path]
            if file.link:
                entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, file.link, 0o777
                archive.addfile(entry)
                continue
            entry.size, entry.mode = len(file.data), file.mode
            archive.addfile(entry, io.BytesIO(file.data))
    return out.getvalue()


def tar_gz(tree, time):
    return compressed(tar(tree, time))


def zipped(tree, time):
    """The tree, path -> File, as a zip archive. The format has times without a zone: they are those of UTC."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, file in sorted(tree.items()):
            entry = zipfile.ZipInfo(path, clock.gmtime(time)[:6])
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, (0o100000 | file.mode) << 16
            archive.writestr(entry, file.data, compresslevel=9)
    return out.getvalue()


def write_tree(tree, folder):
    """Puts the files where packaging tools look for them. Those tools set owner and time."""
    for path, file in sorted(tree.items()):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if file.link:
            target.symlink_to(file.link)
        else:
            target.write_bytes(file.data)
            target.chmod(file.mode)
    for path in [folder, *folder.rglob("*")]:
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
