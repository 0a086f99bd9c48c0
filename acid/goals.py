"""What Fairlead must show, story by story."""
from acid.summary import between, seconds

TO_THE_LIMIT = 1.15
ORPHAN_NAMED_WITHIN = 5.0
NAMED_AFTER_EVIDENCE = 2.0  # a tool that is told by a watch, on a busy machine


def judged(stories, tools, summaries):
    """(goal, yes or NO or `not yet`, what was measured), of the stories that Fairlead has runs of."""
    rows = []
    for story in stories:
        ours = summaries[story.name, "fairlead"]
        if ours:
            others = {tool.name: summaries[story.name, tool.name] for tool in tools if tool.name != "fairlead"}
            judge = {"in": judge_in, "never": judge_never, "out": judge_out}[story.kind]
            rows += [(f"{story.name}: {goal}", {True: "yes", False: "NO", None: "not yet"}[holds], measured)
                     for goal, holds, measured in judge(story, ours, others)]
    return rows


def first_attempts(story, ours):
    """Holds neither way as long as runs are missing and none was lost."""
    holds = False if len(ours.won) < len(ours.rows) else len(ours.rows) >= story.runs or None
    return f"{story.runs} of {story.runs} first attempts", holds, f"{len(ours.won)} of {len(ours.rows)}"


def judge_in(story, ours, others):
    yield first_attempts(story, ours)
    yield "nothing stored unvalidated", ours.unvalidated == 0, str(ours.unvalidated)
    allowed = ours.rows[0]["objects"] + 3 * ours.rows[0]["kinds"] + 60
    limit = others.pop("limit", None)
    fewer = [f"{name} succeeds with {between(peer.span('requests'))}" for name, peer in others.items()
             if peer.won and peer.span("requests")[1] < ours.span("requests")[0]]
    yield (f"at most {allowed} requests", ours.span("requests")[1] <= allowed,
           ", ".join([between(ours.span("requests")), *fewer]))
    if not ours.times:
        return
    if limit and limit.times:
        holds = ours.median <= max(TO_THE_LIMIT * limit.median, limit.times[-1])
        yield "as early as the limit", holds, f"{seconds(ours.median)} s to {seconds(limit.median)} s"
    for name, peer in others.items():
        if peer.times:
            # Beyond the spread of the runs: none of ours was as quick as its slowest, or the like the other way round.
            holds = ours.median <= peer.times[-1] or ours.times[0] <= peer.median
            yield f"not slower than {name}", holds, f"{seconds(ours.median)} s to {seconds(peer.median)} s"


def judge_never(story, ours, _):
    row = ours.rows[0]
    named = row["seconds"]
    said = f"{seconds(named)} s" if named is not None else "not named"
    if row["evident"] is None or story.name == "never-orphan":
        yield f"root cause named within {ORPHAN_NAMED_WITHIN:.0f} s", named is not None and named <= ORPHAN_NAMED_WITHIN, said
    else:
        yield ("root cause named with the first evidence", named is not None and named <= row["evident"] + NAMED_AFTER_EVIDENCE,
               f"{said}, evident at {seconds(row['evident'])} s")
        yield "goes on waiting", row["hung"], "still running at the cut" if row["hung"] else "ended"
    yield "names what is held", row["holds"], "named" if row["holds"] else "not named"


def judge_out(story, ours, _):
    yield first_attempts(story, ours)
