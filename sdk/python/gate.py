"""Gates every Kubernetes resource of a program. This file is not generated: the generator puts it into the package.

It does what gate.ts does for Node.js, in the same order and with the same names.
"""
import asyncio
import copy
import inspect
import re
import sys
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, Dict, List, Optional, Set

import pulumi
from pulumi.runtime import mocks, rpc, settings
from pulumi.runtime.proto import resource_pb2

from . import _utilities  # type: ignore[attr-defined]
from .provider import Provider
from .wait import Wait
from ._sources import Outputs

__all__ = ["gate"]

# More than the steps that a chain of outputs takes: whatever the program can do by itself is done after that many turns.
TURNS = 100
# Values that are not known yet. None is a value.
UNKNOWN = object()
HOOK_RETRIES = 5
# Components that make their children in the program, when they have read the manifests of a chart or a file.
COLLECTIONS = re.compile(r"kubernetes:(helm\.sh/v[23]:Chart|yaml:Config(File|Group)|kustomize:Directory)")


async def settled() -> None:
    for _ in range(TURNS):
        await asyncio.sleep(0)


async def read(output: pulumi.Output) -> Any:
    value, is_known, is_secret = await asyncio.gather(output.future(True), output.is_known(), output.is_secret())
    return value if is_known and not is_secret else UNKNOWN


async def known(value: Any) -> Any:
    """The value as far as it is known now, without secrets. Nothing is waited for: what it comes from may have to wait itself."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, (pulumi.Output, asyncio.Future)):
        reading = asyncio.ensure_future(read(value) if isinstance(value, pulumi.Output) else asyncio.shield(value))
        # Nobody else looks at an error here: Pulumi reports it where the value is used.
        reading.add_done_callback(lambda done: done.cancelled() or done.exception())
        if not reading.done():
            await settled()
        is_read = reading.done() and not reading.cancelled() and not reading.exception()
        return await known(reading.result()) if is_read else UNKNOWN
    if isinstance(value, Mapping):
        return await known_members(value)
    if isinstance(value, Sequence):
        return [one for one in await asyncio.gather(*map(known, value)) if one is not UNKNOWN]
    if is_arguments(value):
        result = copy.copy(value)
        result.__dict__ = await known_members(vars(value))
        return result
    return UNKNOWN


async def known_members(members: Mapping) -> Dict[str, Any]:
    values = await asyncio.gather(*map(known, members.values()))
    return {key: value for key, value in zip(members, values) if value is not UNKNOWN and value is not None}


def is_arguments(value: Any) -> bool:
    return pulumi._types.is_input_type(type(value))


def arguments_of(resource: pulumi.Resource) -> Optional[type]:
    """The class of a resource's arguments, which knows how their names are written in manifests."""
    for one in type(resource).__mro__:
        for suffix in ("InitArgs", "Args"):
            found = getattr(sys.modules.get(one.__module__), one.__name__ + suffix, None)
            if isinstance(found, type) and pulumi._types.is_input_type(found):
                return found
    return None


def member(props: Mapping, name: str) -> Any:
    """A property under its name in Python or in manifests."""
    return props.get(re.sub("([A-Z])", r"_\1", name).lower(), props.get(name))


async def named(depends_on: Any) -> List[pulumi.Resource]:
    """The resources that depends_on names."""
    if isinstance(depends_on, pulumi.Output):
        return [*await depends_on.resources(), *await named(await depends_on.future())]
    if inspect.isawaitable(depends_on):
        return await named(await depends_on)
    if isinstance(depends_on, pulumi.Resource):
        return [depends_on]
    return [resource for one in depends_on or [] for resource in await named(one)]


async def read_whole(component: pulumi.Resource) -> None:
    """Waits until a component has made the children that it reads somewhere."""
    resources = vars(component).get("resources")
    if isinstance(resources, pulumi.Output):
        await resources.future()


async def created(resource: pulumi.Resource) -> None:
    await resource.urn.future()
    if isinstance(resource, pulumi.ComponentResource):
        await read_whole(resource)
        await asyncio.gather(*map(created, children_of(resource)))


def children_of(resource: pulumi.Resource) -> List[pulumi.Resource]:
    return list(getattr(resource, "_childResources", ()))


def has_error_hooks() -> bool:
    """Pulumi 3.218 and newer. Mocks of a program's tests have none."""
    feature = getattr(resource_pb2, "RESOURCE_MONITOR_FEATURE_ERROR_HOOKS", "errorHooks")
    is_mocked = isinstance(settings.get_monitor(), mocks.MockMonitor)
    return hasattr(pulumi, "ErrorHook") and not is_mocked and bool(settings.monitor_supports_feature(feature))


def program_is_running(program: Any) -> bool:
    """True while the program has called Pulumi, which runs the event loop meanwhile: it goes on to declare resources."""
    return bool(getattr(program, "cr_running", False))


class Declared:
    """A resource of the program."""

    def __init__(self, args: pulumi.ResourceTransformationArgs) -> None:
        self.name = args.name
        self.props = args.props
        self.depends_on = args.opts.depends_on
        self.resource = args.resource
        # What the program says that it needs, and what the gate adds.
        self.needs: Set[pulumi.Resource] = set()


async def manifest_of(name: str, props: Mapping, resource: Optional[pulumi.Resource] = None) -> Dict[str, Any]:
    hidden = ("status", "data", "string_data", "stringData", "binary_data", "binaryData")
    values = await known_members({key: value for key, value in props.items() if key not in hidden})
    arguments = arguments_of(resource) if resource else None
    translate = resource.translate_input_property if resource and not arguments else None
    manifest = rpc.deserialize_properties(await rpc.serialize_properties(values, {}, None, translate, arguments))
    # Where the provider of Kubernetes makes the name, any name will do to tell objects apart.
    manifest["metadata"] = {"name": name, **(manifest.get("metadata") or {})}
    manifest["metadata"].pop("generateName", None)
    return manifest


class Round:
    def __init__(self, declared: List[Declared], guards: List[Dict[str, Any]]) -> None:
        # In the order of the manifests that were asked about.
        self.declared = declared
        self.guards = guards

    def configuration(self, guard: Mapping) -> Optional[Declared]:
        return next((self.declared[int(index)] for index in guard.get("declared") or []), None)

    def listed(self, guard: Mapping, key: str) -> List[Declared]:
        return [self.declared[int(index)] for index in guard.get(key) or []]

    def backing(self, configuration: Declared) -> List[Declared]:
        return [one for guard in self.guards if self.configuration(guard) is configuration for one in self.listed(guard, "backing")]


class Gate:
    # How many a stack has: a process may run several programs, one after the other.
    counts: "weakref.WeakKeyDictionary[pulumi.Resource, int]" = weakref.WeakKeyDictionary()

    def __init__(self, provider: Optional[Provider], timeout: Optional[str]) -> None:
        self.provider = provider
        self.timeout = timeout
        # All resources of the program, and those that are objects of Kubernetes.
        self.resources: Dict[pulumi.Resource, Declared] = {}
        self.declared: List[Declared] = []
        self.collections: List[pulumi.Resource] = []
        self.waits: Dict[pulumi.Resource, Wait] = {}
        self.answers: Dict[tuple, asyncio.Future] = {}
        self.round: Optional[asyncio.Future] = None
        program = asyncio.current_task()
        self.program = program.get_coro() if program else None
        self.hooks: Any = None
        if has_error_hooks():
            stack = pulumi.runtime.get_root_resource()
            count = Gate.counts[stack] = Gate.counts.get(stack, 0) + 1
            name = "fairlead-gate" if count == 1 else f"fairlead-gate-{count}"
            self.hooks = pulumi.ResourceHookBinding(on_error=[pulumi.ErrorHook(name, self.may_work)])

    def transform(self, args: pulumi.ResourceTransformationArgs) -> Optional[pulumi.ResourceTransformationResult]:
        one = Declared(args)
        self.resources[args.resource] = one
        if COLLECTIONS.fullmatch(args.type_):
            self.collections.append(args.resource)
        props, opts = args.props, args.opts
        is_object = args.type_.startswith("kubernetes:") and all(isinstance(member(props, name), str) for name in ("apiVersion", "kind"))
        if not is_object or opts.id or opts.urn or re.search("(List|Patch)$", args.type_):
            return None
        self.declared.append(one)
        opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(hooks=self.hooks)) if self.hooks else opts._copy()
        opts.depends_on = asyncio.ensure_future(self.guards_of(one))
        return pulumi.ResourceTransformationResult(props, opts)

    async def guards_of(self, one: Declared) -> List[pulumi.Resource]:
        """What the resource has to wait for. Waits itself for webhooks that are in the cluster only."""
        depends_on = await named(one.depends_on)
        await asyncio.gather(*map(created, depends_on))
        if self.collections:
            self.find_needs()
            # Pulumi reports a chart that cannot be read.
            unread = [read_whole(other) for other in self.collections if not self.needs_it(other, one.resource)]
            await asyncio.gather(*unread, return_exceptions=True)
        if self.round is None:
            self.round = asyncio.ensure_future(self.ask())
        asked: Round = await self.round
        found = depends_on
        in_cluster = []
        for guard in asked.guards:
            configuration = asked.configuration(guard)
            guarded = asked.listed(guard, "guarded")
            backing = asked.backing(configuration) if configuration else []
            # What the webhook itself needs cannot wait for it, and comes before its configuration.
            if configuration is one:
                for other in guarded:
                    if any(self.needs_it(it.resource, other.resource) for it in backing) and not self.needs_it(other.resource, one.resource):
                        one.needs.add(other.resource)
                        found.append(other.resource)
            if one not in guarded:
                continue
            if configuration is None:
                in_cluster.append(self.answer(guard))
                continue
            before = [other.resource for other in (configuration, *backing)]
            if any(self.needs_it(other, one.resource) for other in before):
                continue
            one.needs.update(before)
            found.append(self.wait_for(configuration, backing))
        if not pulumi.runtime.is_dry_run():
            await asyncio.gather(*in_cluster)
        return found

    async def ask(self) -> Round:
        """One question for all resources that are declared by now."""
        # A program that waits for what has to wait itself would wait for ever: after ten seconds it is not waited for.
        for _ in range(1000):
            if not program_is_running(self.program):
                break
            await asyncio.sleep(0.01)
        await settled()
        self.round = None
        declared: List[Declared] = []
        manifests: List[Dict[str, Any]] = []
        seen: Set[tuple] = set()
        self.find_needs()
        asked = list(self.declared)
        for one, manifest in zip(asked, await asyncio.gather(*(manifest_of(one.name, one.props, one.resource) for one in asked))):
            metadata = manifest["metadata"]
            key = (manifest.get("apiVersion"), manifest.get("kind"), metadata.get("namespace"), metadata["name"])
            if key in seen:
                continue
            seen.add(key)
            declared.append(one)
            manifests.append(manifest)
        try:
            return Round(declared, (await self.invoke("getGuards", {"manifests": manifests})).get("guards") or [])
        except Exception as error:
            # A preview may come before the cluster does.
            if not pulumi.runtime.is_dry_run():
                raise pulumi.RunError(f"gate: {error}") from None
            pulumi.log.warn(f"gate: nobody knows yet what guards the resources: {error}")
            return Round(declared, [])

    async def invoke(self, function: str, arguments: Dict[str, Any]) -> Dict[str, Any]:
        options = pulumi.InvokeOptions.merge(_utilities.get_invoke_opts_defaults(), pulumi.InvokeOptions(provider=self.provider))
        return await pulumi.runtime.invoke_async(f"fairlead:index:{function}", arguments, options)

    def find_needs(self) -> None:
        """Finds what the resources come from, as far as the program has got."""
        outputs = Outputs(self.resources)
        for resource, one in self.resources.items():
            # A chart is told nothing of its values, but what it reads comes from them.
            one.needs |= outputs.sources_of([one.props, one.depends_on, vars(resource).get("resources")])

    def needs_it(self, resource: pulumi.Resource, other: pulumi.Resource, seen: Optional[Set[pulumi.Resource]] = None) -> bool:
        """True if the resource cannot be made before the other one."""
        seen = set() if seen is None else seen
        if resource is other:
            return True
        if resource in seen:
            return False
        seen.add(resource)
        needs = self.resources[resource].needs if resource in self.resources else ()
        return any(self.needs_it(one, other, seen) for one in (*needs, *children_of(resource)))

    def wait_for(self, configuration: Declared, backing: List[Declared]) -> Wait:
        if configuration.resource in self.waits:
            return self.waits[configuration.resource]
        metadata = pulumi.Output.from_input(getattr(configuration.resource, "metadata", None) or member(configuration.props, "metadata"))

        def of_metadata(key: str, default: str) -> pulumi.Output:
            return metadata.apply(lambda one: (one.get(key) if isinstance(one, Mapping) else getattr(one, key, None)) or default)
        api_version, kind = (member(configuration.props, name) for name in ("apiVersion", "kind"))
        wait = Wait(f"{configuration.name}-{kind}", object_ref={
            "api_version": api_version, "kind": kind, "name": of_metadata("name", configuration.name),
        }, wait_for={"functional": True}, timeout=self.timeout, triggers={"uid": of_metadata("uid", "")}, opts=pulumi.ResourceOptions(
            provider=self.provider, depends_on=[configuration.resource, *(one.resource for one in backing)]))
        self.waits[configuration.resource] = wait
        return wait

    def answer(self, guard: Mapping) -> asyncio.Future:
        key = (guard["configuration"], guard["webhook"])
        if key not in self.answers:
            # Without a webhook that fails open, the program works, too.
            self.answers[key] = asyncio.ensure_future(self.get_webhook(guard, is_required=not guard.get("failsOpen")))
        return self.answers[key]

    async def get_webhook(self, guard: Mapping, is_required: bool) -> None:
        arguments: Dict[str, Any] = {"name": guard["configuration"], "webhook": guard["webhook"], "required": is_required}
        if is_required:
            arguments["timeout"] = self.timeout or "3m"
        try:
            await self.invoke("getWebhook", arguments)
        except Exception as error:
            raise pulumi.RunError(f"gate: {error}") from None

    async def may_work(self, failed: Any) -> bool:
        """The last net: a webhook that nobody could know of was not there, or is down. Answers after it works again.

        The hook holds one of Pulumi's workers, so it is no place to wait in for what can be waited for elsewhere.
        """
        webhook = re.search(r'failed calling webhook \\?"([^"\\]+)', failed.errors[0])
        if not webhook or not failed.new_inputs or pulumi.runtime.is_dry_run() or len(failed.errors) > HOOK_RETRIES:
            return False
        try:
            manifest = await manifest_of(failed.name, failed.new_inputs)
            guards = (await self.invoke("getGuards", {"manifests": [manifest]})).get("guards") or []
            guard = next((one for one in guards if one["webhook"] == webhook[1]), None)
            if not guard:
                return False
            pulumi.log.info(f"{failed.name} waits for webhook {webhook[1]}", ephemeral=True)
            await self.get_webhook(guard, is_required=True)
            return True
        except Exception:
            # What the API server said of the object tells more.
            return False


def gate(provider: Optional[Provider] = None, timeout: Optional[str] = None) -> None:
    """Gates every resource of `pulumi_kubernetes` that the program declares from here on.

    What an admission webhook guards is created after the webhook was proved to answer. Webhooks of the same program become
    dependencies, so that a destroy deletes what they guard first; webhooks of the cluster are waited for before the resource
    is registered.

    :param provider: The provider of Fairlead for the cluster of the program. The cluster that kubectl would use, if it is not set.
    :param timeout: How long a webhook may take to answer, `3m` by default.
    """
    pulumi.runtime.register_stack_transformation(Gate(provider, timeout).transform)
