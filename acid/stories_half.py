"""Other stories again, on a cluster where the first half of the bundle is there from an interrupted run."""
import copy


def half_built(story):
    result = copy.copy(story)
    result.title = f"{story.name} again, with the first half of the bundle there from an interrupted run"
    result.half_built = True
    result.runs = 10
    return Renamed(result, f"half-built-{story.name}")


class Renamed:
    """The story under another name; its bundle keeps the names that it has."""

    def __init__(self, story, name):
        self.story, self.name = story, name

    def __getattr__(self, what):
        return getattr(self.story, what)
