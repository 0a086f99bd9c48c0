"""Which resources a value comes from. Pulumi tells that of an output only when its value is known, which may be too late."""
import asyncio
import inspect
from collections.abc import Iterable, Mapping
from typing import Any, Dict, List, Set

import pulumi

__all__: List[str] = []


def futures_of(output: pulumi.Output) -> List[asyncio.Future]:
    return [one for one in vars(output).values() if isinstance(one, asyncio.Future)]


class Outputs:
    """The outputs of resources, known or not."""

    def __init__(self, resources: Iterable[pulumi.Resource]) -> None:
        self.owners: Dict[int, pulumi.Resource] = {}
        for resource in resources:
            # A component's outputs are made of others.
            for output in vars(resource).values() if isinstance(resource, pulumi.CustomResource) else ():
                if isinstance(output, pulumi.Output):
                    self.owners.update((id(future), resource) for future in futures_of(output))

    def sources_of(self, value: Any) -> Set[pulumi.Resource]:
        """The resources that the value comes from."""
        found: Set[pulumi.Resource] = set()
        seen: Set[int] = set()
        ahead = [value]
        while ahead:
            one = ahead.pop()
            if id(one) in seen:
                continue
            seen.add(id(one))
            if id(one) in self.owners:
                found.add(self.owners[id(one)])
            elif isinstance(one, pulumi.Resource):
                found.add(one)
            else:
                ahead.extend(parts_of(one))
        return found


def parts_of(value: Any) -> Iterable[Any]:
    """What has to be known before the value is."""
    if isinstance(value, pulumi.Output):
        return futures_of(value)
    if isinstance(value, asyncio.Future):
        if value.done():
            # Of a value that is known, the resources are, too.
            done = None if value.cancelled() or value.exception() else value.result()
            return getattr(done, "resources", None) or (done if isinstance(done, (set, frozenset)) else ())
        # What it runs, or waits for: a task's coroutine, and the parts of a gathered one.
        coroutine = value.get_coro() if isinstance(value, asyncio.Task) else None
        return [coroutine, *getattr(value, "_children", ())]
    if inspect.iscoroutine(value):
        frame = value.cr_frame
        return [value.cr_await, *(frame.f_locals.values() if frame else ())]
    if isinstance(value, Mapping):
        return value.values()
    if isinstance(value, (list, tuple, set, frozenset)):
        return value
    if pulumi._types.is_input_type(type(value)):
        return vars(value).values()
    return ()
