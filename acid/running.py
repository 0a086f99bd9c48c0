"""One run: a fresh cluster, one attempt of a tool, and what came of it, as a dictionary of figures."""
import time

from acid import arena as arenas, rest
from acid.attempt import Attempt, last_words
from acid.bundles import shortened
from cluster import settings

POLL = 0.05
TIME_TO_GO = 15  # a namespace alone takes 5 to 10


def run(story, tool, prepare=lambda arena: None):
    """`prepare` puts into the fresh cluster what the tool finds there."""
    with arenas.fresh(story.images, story.counted()) as arena:
        prepare(arena)
        story.before(arena)
        if story.half_built:
            leave_half(story, tool, arena)
        measure = {"in": put_in, "never": never, "out": take_out}[story.kind]
        return measure(story, tool, arena)


def commands(story, tool, arena):
    return tool.commands(story, arena) if tool.name == "limit" else tool.put_in(story, arena.folder)


def begun(arena, what):
    return Attempt(what, arena.tool_env(), arena.folder)


def leave_half(story, tool, arena):
    """What an interrupted run of the same tool leaves: the first half of what is not guarded, in the order of the bundle, as far as
    the tool can get it in at all."""
    objects = [one for one in story.objects() if not story.guarded(one)]
    half = objects[:(len(objects) + 1) // 2]
    if tool.name == "limit":
        arena.apply(half)
        return
    with begun(arena, tool.put_half_in(story, arena.folder, half)) as attempt:
        attempt.thread.join(60)
        if attempt.running():
            raise settings.Failure(f"{tool.name} was not done with the first half of {story.name}", last_words(attempt.lines))


def said_of(arena, text):
    """As it goes into the table: without the place where the run's files happen to be."""
    return shortened(text.replace(f"{arena.folder}/", ""))


def figures(story, attempt, arena, before):
    objects = story.objects()
    words = said_of(arena, last_words(attempt.lines)) if attempt.code != 0 else ""
    return {"code": attempt.code, "tool_seconds": attempt.seconds, "peak_mib": attempt.peak_mib,
            "requests": arena.log.requests() - before, "objects": len(objects),
            "kinds": len({(one["apiVersion"], one["kind"]) for one in objects}),
            "words": words}


def put_in(story, tool, arena):
    what = commands(story, tool, arena)
    before = arena.log.requests()
    with story.during(arena), begun(arena, what) as attempt:
        true_at = follow(attempt, story.cut, lambda: story.came_true(arena))
        hung = attempt.running()
    result = figures(story, attempt, arena, before)
    missed = story.unvalidated(arena)
    ok = true_at is not None and not hung and attempt.code == 0 and missed == 0
    return {**result, "ok": ok, "seconds": true_at, "unvalidated": missed, "hung": hung}


def follow(attempt, cut, came_true):
    """The second at which it came true, if it did. Over when it has and the tool has ended; when the tool has failed; or at
    the cut."""
    true_at = None
    while attempt.elapsed() < cut:
        if true_at is None and came_true():
            true_at = attempt.elapsed()
        if not attempt.running() and (true_at is not None or attempt.code != 0):
            break
        time.sleep(POLL)
    return true_at


def never(story, tool, arena):
    what, before = tool.put_in(story, arena.folder), arena.log.requests()
    with story.during(arena), begun(arena, what) as attempt:
        evident = None
        while attempt.running() and attempt.elapsed() < story.cut:
            if evident is None and story.evident(arena):
                evident = attempt.elapsed()
            time.sleep(POLL)
        waited = attempt.running()
    # What it says when it is interrupted comes too late to count.
    lines = [line for line in attempt.lines if line.seconds <= story.cut]
    named = next((line for line in lines if story.names_the_cause(line.text)), None)
    held = [one["metadata"]["name"] for one in story.objects() if story.guarded(one)]
    said = "\n".join(line.text for line in lines)
    return {**figures(story, attempt, arena, before), "ok": named is not None, "evident": evident,
            "seconds": named.seconds if named else None, "named": said_of(arena, named.text.strip()) if named else "",
            "hung": waited, "holds": any(name in said for name in held)}


def take_out(story, tool, arena):
    there = snapshot(arena)
    bring_in(story, tool, arena)
    before = arena.log.requests()
    with begun(arena, tool.take_out(story, arena.folder)) as attempt:
        gone_at = follow_out(attempt, story, arena)
        hung = attempt.running()
    left = sorted(snapshot(arena) - there - story.kept())
    errors = [line.text for line in attempt.lines if line.text.lower().startswith("error")]
    return {**figures(story, attempt, arena, before), "ok": not left and not hung and attempt.code == 0, "hung": hung,
            "seconds": max(gone_at, attempt.seconds) if gone_at is not None and attempt.seconds else None,
            "left": left[:50], "left_count": len(left), "errors": len(errors)}


def follow_out(attempt, story, arena):
    """The second at which nothing of the bundle was there any more, if it came to that. Over when the tool has ended too, or at
    the cut; when it has ended, however, there are some seconds for the rest to go."""
    objects = story.objects()
    known = rest.resources(arena, objects, story.resources())
    paths = [rest.path(one, known, story.namespace()) for one in objects]
    gone_at = None
    while attempt.elapsed() < story.cut and (attempt.running() or gone_at is None):
        if gone_at is None:
            paths = [path for path in paths if arena.ask(path)[0] != 404]
            gone_at = None if paths else attempt.elapsed()
        if not attempt.running() and attempt.elapsed() > attempt.seconds + TIME_TO_GO:
            break
        time.sleep(POLL)
    return gone_at


def bring_in(story, tool, arena):
    """With whatever it takes: the attempts before the last are no part of the story."""
    with story.during(arena):
        began = time.monotonic()
        while time.monotonic() - began < 150:
            with begun(arena, tool.bring_in(story, arena.folder)) as attempt:
                true_at = follow(attempt, 100, lambda: story.came_true(arena))
            if true_at is not None and attempt.code == 0:
                return
            time.sleep(1)
    raise settings.Failure(f"{tool.name} did not get {story.name} in", last_words(attempt.lines))


# Written all the time by the cluster itself.
RESTLESS = {"events", "leases", "componentstatuses"}


def snapshot(arena):
    """Everything that the cluster has, by address."""
    found = set()
    groups = [f"/api/{version}" for version in arena.ask("/api")[1]["versions"]]
    groups += [f"/apis/{group['preferredVersion']['groupVersion']}" for group in arena.ask("/apis")[1]["groups"]]
    for group in groups:
        code, answer = arena.ask(group)
        for one in answer["resources"] if code == 200 else []:
            if "list" in one["verbs"] and "/" not in one["name"] and one["name"] not in RESTLESS:
                names = (item["metadata"] for item in arena.items(f"{group}/{one['name']}"))
                found |= {" ".join(filter(None, [one["name"], metadata.get("namespace"), metadata["name"]]))
                          for metadata in names if not comes_by_itself(one["name"], metadata)}
    return found


def comes_by_itself(plural, metadata):
    """What the cluster adds to a namespace or a definition, and takes away with it."""
    return ((plural, metadata["name"]) in (("configmaps", "kube-root-ca.crt"), ("serviceaccounts", "default"))
            or "kube-aggregator.kubernetes.io/automanaged" in metadata.get("labels", {}))
