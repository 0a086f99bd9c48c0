"""What comes with the program in every package: man pages, completions, and the licences of what is linked in."""
import gzip
import pathlib
import subprocess
import tempfile

from scripts import command_pages
from scripts.release.files import File
from scripts.release.project import LICENCE, NAME, PLUGIN

SHELLS = {"bash": f"{NAME}.bash", "zsh": f"_{NAME}", "fish": f"{NAME}.fish"}


def man_pages(program):
    """By file name. `program` runs on this machine."""
    with tempfile.TemporaryDirectory() as folder:
        command_pages.write_man(str(program), pathlib.Path(folder))
        return {path.name: path.read_bytes() for path in sorted(pathlib.Path(folder).iterdir())}


def completions(program):
    """By shell."""
    return {shell: subprocess.run([program, "completion", shell], check=True, capture_output=True).stdout for shell in SHELLS}


def licences(root, components):
    """By file name: our own, the list of everything that is linked in, and the texts."""
    lines = [f"Fairlead is under the licence {LICENCE}; see LICENSE.", "",
             "The program has parts of these Debian source packages in it. The copyright file of each is beside this one.", ""]
    lines += [f"{one.source} {one.version}: {one.licence}{'' if one.is_code else ' (headers)'}" for one in components]
    files = {"LICENSE": (root / "LICENSE").read_bytes(), "README": "\n".join(lines + [""]).encode()}
    return files | {f"{one.source}.copyright": one.text.encode() for one in components}


class Contents:
    """What all packages of one architecture are made of."""

    def __init__(self, root, binary, components, pages, scripts):
        self.binary = binary.read_bytes()
        self.components = components
        self.pages = pages
        self.scripts = scripts
        self.licences = licences(root, components)
        self.readme = (root / "README.md").read_bytes()

    def archive(self, folder):
        """For the .tar.gz, in a folder of its own."""
        tree = {NAME: File(self.binary, 0o755)}
        tree |= {f"man/{name}": File(data) for name, data in self.pages.items()}
        tree |= {f"completions/{SHELLS[shell]}": File(data) for shell, data in self.scripts.items()}
        tree |= {f"licences/{name}": File(data) for name, data in self.licences.items() if name != "LICENSE"}
        tree["LICENSE"] = File(self.licences["LICENSE"])
        return {f"{folder}/{path}": file for path, file in tree.items()}

    def system(self, zsh):
        """For packages: below /. `zsh` is the distribution's folder for completions of zsh."""
        share = "usr/share"
        tree = {f"usr/bin/{NAME}": File(self.binary, 0o755), f"usr/bin/{PLUGIN}": File(link=NAME)}
        for name, data in self.pages.items():
            tree[f"{share}/man/man1/{name}.gz"] = File(gzip.compress(data, compresslevel=9, mtime=0))
        tree[f"{share}/man/man1/{PLUGIN}.1.gz"] = File(link=f"{NAME}.1.gz")
        tree[f"{share}/bash-completion/completions/{NAME}"] = File(self.scripts["bash"])
        tree[f"{zsh}/_{NAME}"] = File(self.scripts["zsh"])
        tree[f"{share}/fish/vendor_completions.d/{NAME}.fish"] = File(self.scripts["fish"])
        tree |= {f"{share}/doc/{NAME}/licences/{name}": File(data) for name, data in self.licences.items() if name != "LICENSE"}
        return tree
