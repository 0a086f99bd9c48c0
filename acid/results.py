"""What was measured, kept as it comes: one line of JSON a run. A run that is there need not be made again."""
import contextlib
import json
import time


class Results:
    def __init__(self, path):
        self.path = path
        self.rows = self.read()

    def read(self):
        rows = []
        for line in self.path.read_text().splitlines() if self.path.exists() else []:
            with contextlib.suppress(ValueError):  # cut off: the run that wrote it was killed
                rows.append(json.loads(line))
        return rows

    def add(self, story, tool, figures):
        row = {"story": story.name, "tool": tool.name, "story_version": story.version(), "tool_version": tool.identity(),
               "at": time.time(), **figures}
        self.rows.append(row)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "a") as file:
            file.write(json.dumps(row) + "\n")
        return row

    def of(self, story, tool):
        """Those of the story and the tool as they are now, oldest first."""
        wanted = (story.name, tool.name, story.version(), tool.identity())
        return [row for row in self.rows
                if (row["story"], row["tool"], row["story_version"], row["tool_version"]) == wanted]

    def shown(self, story, tool):
        """Those to publish: as the story is now, of the build with the most runs, or the newest of several such. A new build of
        a tool does not make untrue what was measured with the one before; the tables name it."""
        builds: dict = {}
        for row in self.rows:
            if (row["story"], row["tool"], row["story_version"]) == (story.name, tool.name, story.version()):
                builds.setdefault(row["tool_version"], []).append(row)
        return max(builds.values(), key=lambda rows: (len(rows), rows[-1]["at"]), default=[])

    def forget(self, story, tool):
        """So that they are made anew."""
        self.rows = self.read()  # another run may have added to it
        gone = self.of(story, tool)
        self.rows = [row for row in self.rows if row not in gone]
        if gone:
            self.path.write_text("".join(json.dumps(row) + "\n" for row in self.rows))
