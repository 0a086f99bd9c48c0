"""All stories, in the order of the table."""
import functools

from acid import stories_apiservice, stories_never, stories_out, stories_webhook
from acid.operators.stories import STORIES as OPERATORS
from acid.stories_half import half_built

# These again, half built and taken out.
AGAIN = ("late", "external-secrets", "cert-manager")


@functools.cache
def stories():
    first = [*OPERATORS, *stories_webhook.STORIES, *stories_apiservice.STORIES]
    again = [story for name in AGAIN for story in first if story.name == name]
    return [*first, *stories_never.STORIES, *map(half_built, again), *map(stories_out.out, again), *stories_out.STORIES]
