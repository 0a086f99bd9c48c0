"""An .rpm, made with rpmbuild."""
import os
import pathlib
import subprocess
import tempfile

from scripts.release.files import File, write_tree
from scripts.release.project import DESCRIPTION, HOME, LICENCE, MAINTAINER, NAME, SUMMARY

# Nothing is stripped, searched or split: the files are packed as they are. Neither the host nor the clock is written down.
SETTINGS = {
    "debug_package": "%{nil}",
    "__os_install_post": "%{nil}",
    "_build_id_links": "none",
    "_buildhost": "fairlead.dev",
    "use_source_date_epoch_as_buildtime": "1",
    "clamp_mtime_to_source_date_epoch": "1",
    "source_date_epoch_from_changelog": "0",
    "_binary_payload": "w9.gzdio",
}


def rpm_version(version):
    """1.2.3-rc.1 comes before 1.2.3."""
    return version.replace("-", "~", 1).replace("-", ".")


def spec_text(contents, source, paths):
    licences = sorted({LICENCE, *(one.licence for one in contents.components if one.is_code)})
    expression = " AND ".join(f"({one})" if " " in one else one for one in licences)
    files = "\n".join(f"%doc /{path}" if path.startswith("usr/share/doc/") else f"/{path}" for path in paths)
    return (f"Name: {NAME}\nVersion: {rpm_version(source.version)}\nRelease: 1\nSummary: {SUMMARY}\nLicense: {expression}\nURL: {HOME}\n"
            f"Packager: {MAINTAINER}\nAutoReqProv: no\n\n%description\n{DESCRIPTION}\n\n"
            f"%install\nmkdir -p %{{buildroot}}\ncp -a %{{tree}}/. %{{buildroot}}/\n\n%files\n%defattr(-,root,root,-)\n%dir /usr/share/doc/{NAME}\n"
            f"%dir /usr/share/doc/{NAME}/licences\n{files}\n")


def write(out, contents, source, architecture):
    tree = contents.system("usr/share/zsh/site-functions")
    tree[f"usr/share/doc/{NAME}/LICENSE"] = File(contents.licences["LICENSE"])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_tree(tree, folder / "tree")
        (folder / "it.spec").write_text(spec_text(contents, source, sorted(tree)))
        settings = SETTINGS | {"_topdir": str(folder), "tree": str(folder / "tree"), "_rpmfilename": "it.rpm"}
        defines = [word for key, value in settings.items() for word in ("--define", f"{key} {value}")]
        done = subprocess.run(["rpmbuild", "-bb", "--nodeps", "--target", f"{architecture.machine}-linux", *defines, folder / "it.spec"],
                              capture_output=True, text=True, env=clean_environment(folder))
        if done.returncode != 0:
            raise SystemExit(f"release: rpmbuild cannot make {out.name}:\n{done.stderr[-2000:]}")
        out.write_bytes((folder / "RPMS/it.rpm").read_bytes())


def clean_environment(folder):
    """Of the caller's environment, only what main.py has set for every tool; settings in the home folder are not read."""
    kept = {name: os.environ[name] for name in ("LC_ALL", "TZ", "SOURCE_DATE_EPOCH") if name in os.environ}
    return kept | {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(folder)}
