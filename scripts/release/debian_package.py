"""A .deb, made with dpkg-deb. lintian has nothing to say about it (./dev release --check)."""
import pathlib
import subprocess
import tempfile
import time

from scripts.release.files import File, compressed, write_tree
from scripts.release.project import DESCRIPTION, HOME, LICENCE, MAINTAINER, NAME, SUMMARY

# What lintian says about a static PIE.
OVERRIDES = """\
# One binary for every Linux, which needs nothing of the machine but its kernel. The libraries in it are those of Debian, and the SBOM of a
# release names their versions.
fairlead: embedded-library libyaml [usr/bin/fairlead]
fairlead: embedded-library zlib [usr/bin/fairlead]
fairlead: shared-library-lacks-prerequisites [usr/bin/fairlead]
"""


def debian_version(version):
    """1.2.3-rc.1 comes before 1.2.3."""
    return version.replace("-", "~", 1).replace("-", ".")


def copyright_text(components, source):
    lines = ["Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/", f"Upstream-Name: {NAME}", f"Source: {HOME}", "",
             "Files: *", f"Copyright: {source.date[:4]}, the authors of Fairlead", f"License: {LICENCE}", "", f"License: {LICENCE}",
             " On Debian systems, the text of the Apache License 2.0 is in", " /usr/share/common-licenses/Apache-2.0.", " .",
             " The program has parts of these Debian source packages in it, whose",
             f" copyright files are in /usr/share/doc/{NAME}/licences:"]
    return "\n".join(lines + [f"  {one.source} {one.version}" for one in components] + [""])


def changelog_text(source):
    when = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(source.time))
    return (f"{NAME} ({debian_version(source.version)}) stable; urgency=medium\n\n  * Release {source.version}, commit {source.commit[:12]}.\n\n"
            f" -- {MAINTAINER}  {when}\n")


def control_text(version, architecture, kibibytes):
    description = "\n".join(f" {line or '.'}" for line in DESCRIPTION.splitlines())
    # A synopsis has no article at its beginning and no full stop.
    return (f"Package: {NAME}\nVersion: {debian_version(version)}\nArchitecture: {architecture.name}\nMaintainer: {MAINTAINER}\n"
            f"Installed-Size: {kibibytes}\nSection: admin\nPriority: optional\nHomepage: {HOME}\n"
            f"Description: {SUMMARY[0].lower() + SUMMARY[1:]}\n{description}\n")


def md5sums(folder):
    files = sorted(path for path in (folder / "usr").rglob("*") if path.is_file() and not path.is_symlink())
    return subprocess.run(["md5sum", *(str(path.relative_to(folder)) for path in files)], cwd=folder, check=True,
                          capture_output=True).stdout


def write(out, contents, source, architecture):
    tree = contents.system("usr/share/zsh/vendor-completions")
    doc = f"usr/share/doc/{NAME}"
    tree[f"{doc}/copyright"] = File(copyright_text(contents.components, source).encode())
    tree[f"{doc}/changelog.gz"] = File(compressed(changelog_text(source).encode()))
    tree[f"usr/share/lintian/overrides/{NAME}"] = File(OVERRIDES.encode())
    size = sum(-(-len(file.data) // 1024) for file in tree.values())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_tree(tree, folder)
        control = {"DEBIAN/control": File(control_text(source.version, architecture, size).encode()), "DEBIAN/md5sums": File(md5sums(folder))}
        write_tree(control, folder)
        # dpkg-deb takes the times of files from SOURCE_DATE_EPOCH.
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "--threads-max=1", "--build", folder, out], check=True,
                       stdout=subprocess.DEVNULL)
