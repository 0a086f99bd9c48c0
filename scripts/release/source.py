"""The commit that is released, as git knows it."""
import dataclasses
import re
import subprocess
import time

VERSION = re.compile(r"v(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)")


class Refused(Exception):
    """Why there can be no release, for people."""


@dataclasses.dataclass(frozen=True)
class Source:
    version: str
    commit: str
    time: int       # of the commit, in seconds
    previous: str   # the tag before this one; empty if there is none

    @property
    def date(self):
        """As RFC 3339 writes it."""
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.time))


def git(root, *words):
    return subprocess.run(["git", "-C", root, *words], check=True, capture_output=True, text=True).stdout.strip()


def tags(root, which, *settings):
    return [tag for tag in git(root, *settings, "tag", "--list", "v*", *which).splitlines() if VERSION.fullmatch(tag)]


def find(root, project_version):
    """The version comes from the tag of the commit. Without one it says which commit it is: 0.1.0-dev.358.g0123456789ab."""
    changed = git(root, "status", "--porcelain")
    if changed:
        raise Refused("the work tree has changes that are not committed:\n"
                      + "\n".join(f"  {line}" for line in changed.splitlines()[:10]))
    commit, seconds = git(root, "log", "-1", "--format=%H %ct").split()
    here = tags(root, ["--points-at", "HEAD"])
    if len(here) > 1:
        raise Refused(f"the commit has several tags: {' '.join(here)}")
    count = git(root, "rev-list", "--count", "HEAD")
    version = VERSION.fullmatch(here[0])[1] if here else f"{project_version}-dev.{count}.g{commit[:12]}"
    # A candidate is older than its release. What a release changes is told from the release before, whatever candidates it had.
    before = [tag for tag in tags(root, ["--merged", "HEAD", "--sort=-v:refname"], "-c", "versionsort.suffix=-")
              if tag not in here and ("-" in version or "-" not in tag)]
    return Source(version, commit, int(seconds), before[0] if before else "")


def archive(root, source):
    """The sources of the commit as a tar archive."""
    return subprocess.run(["git", "-C", root, "-c", "core.autocrlf=false", "archive", "--format=tar",
                           f"--prefix=fairlead-{source.version}/", source.commit], check=True, capture_output=True).stdout


def notes(root, source):
    """Release notes: the subjects of the commits since the tag before, by what they are about."""
    span = f"{source.previous}..{source.commit}" if source.previous else source.commit
    rooms: dict[str, list[str]] = {}
    for subject in git(root, "log", "--reverse", "--no-merges", "--format=%s", span).splitlines():
        room, colon, what = subject.partition(": ")
        room, what = (room, what) if colon and " " not in room.replace(", ", "") else ("other", subject)
        rooms.setdefault(room, []).append(what)
    since = f"since {source.previous}" if source.previous else "up to this release"
    lines = [f"# Fairlead {source.version}", "", f"Commit {source.commit} of {source.date}. What has changed {since}, by what it is about:", ""]
    for room in sorted(rooms, key=lambda name: (name == "other", name)):
        lines += [f"## {room}", *(f"- {what}" for what in rooms[room]), ""]
    return "\n".join(lines)
