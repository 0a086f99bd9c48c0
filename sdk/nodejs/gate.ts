// Gates every Kubernetes resource of a program. This file is not generated: the generator puts it into the package.
import { AsyncResource } from "async_hooks";
import * as pulumi from "@pulumi/pulumi";
import { getGuards, GetGuardsResult } from "./getGuards";
import { getWebhook } from "./getWebhook";
import { Provider } from "./provider";
import { Wait } from "./wait";

export interface GateArgs {
    /**
     * The provider of Fairlead for the cluster of the program. The cluster that kubectl would use, if it is not set.
     */
    provider?: Provider;
    /**
     * How long a webhook may take to answer, `3m` by default.
     */
    timeout?: string;
}

type Guard = GetGuardsResult["guards"][number];

interface Declared {
    name: string;
    props: pulumi.Inputs;
    resource: pulumi.Resource;
    // What the program says that it needs, and what the gate adds.
    needs: Set<pulumi.Resource>;
}

// Components that make their children in the program, when they have read the manifests of a chart or a file.
const collections = /^kubernetes:(helm\.sh\/v[23]:Chart|yaml:Config(File|Group)|kustomize:Directory)$/;

const hookRetries = 5;

// A turn of the event loop: whatever the program can do by itself is done by then.
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

const isOutput = (value: unknown): value is pulumi.Output<unknown> => pulumi.Output.isInstance(value);

// The value as far as it is known now, without secrets. Nothing is waited for: what it comes from may have to wait itself.
async function known(value: any): Promise<any> {
    if (isOutput(value)) {
        const output = value as any;
        const pending = Symbol();
        const read = Promise.all([output.promise(), output.isKnown, output.isSecret]).catch(() => pending);
        const result: any = await Promise.race([read, turn().then(turn).then(() => pending)]);
        return result === pending || !result[1] || result[2] ? undefined : known(result[0]);
    }
    if (value instanceof Promise) {
        const result = await Promise.race([value.catch(() => undefined), turn().then(turn)]);
        return known(result);
    }
    if (Array.isArray(value)) return (await Promise.all(value.map(known))).filter((one) => one !== undefined);
    if (value === null || typeof value !== "object") return value;
    if (pulumi.Resource.isInstance(value)) return undefined;
    const members = await Promise.all(Object.entries(value).map(async ([key, one]) => [key, await known(one)]));
    return Object.fromEntries(members.filter(([, one]) => one !== undefined));
}

async function manifestOf({ name, props }: { name: string; props: pulumi.Inputs }): Promise<any> {
    const { status, data, stringData, binaryData, ...rest } = props;
    const manifest = await known(rest);
    // Where the provider of Kubernetes makes the name, any name will do to tell objects apart.
    manifest.metadata = { ...manifest.metadata, name: manifest.metadata?.name ?? name };
    delete manifest.metadata.generateName;
    return manifest;
}

function addResources(value: any, found: Set<pulumi.Resource>) {
    if (pulumi.Resource.isInstance(value)) found.add(value);
    else if (isOutput(value)) for (const one of (value as any).resources()) found.add(one);
    else if (Array.isArray(value)) for (const one of value) addResources(one, found);
    else if (value && typeof value === "object" && !(value instanceof Promise))
        for (const one of Object.values(value)) addResources(one, found);
}

const childrenOf = (resource: any): Iterable<pulumi.Resource> => resource.__childResources ?? [];

// Waits until a component has made the children that it reads somewhere.
async function readWhole(component: pulumi.Resource): Promise<void> {
    const { resources } = component as any;
    if (isOutput(resources)) await (resources as any).promise();
}

// Waits until what is named in dependsOn is there.
async function created(dependsOn: any): Promise<void> {
    const value = await (isOutput(dependsOn) ? (dependsOn as any).promise() : dependsOn);
    if (Array.isArray(value)) await Promise.all(value.map(created));
    if (!pulumi.Resource.isInstance(value)) return;
    await (value.urn as any).promise();
    if (!pulumi.ComponentResource.isInstance(value)) return;
    await readWhole(value);
    await Promise.all(Array.from(childrenOf(value), created));
}

interface Round {
    // In the order of the manifests that were asked about.
    declared: Declared[];
    guards: Guard[];
}

class Gate {
    // How many a stack has: a process may run several programs, one after the other.
    private static readonly counts = new WeakMap<pulumi.Resource, number>();
    private readonly hooks: pulumi.ResourceHookBinding | undefined;
    private readonly declared: Declared[] = [];
    private readonly collections: pulumi.Resource[] = [];
    private readonly needs = new Map<pulumi.Resource, Set<pulumi.Resource>>();
    private readonly waits = new Map<pulumi.Resource, Wait>();
    private readonly answers = new Map<string, Promise<void>>();
    private round: Promise<Round> | undefined;

    constructor(private readonly args: GateArgs) {
        // Pulumi 3.218 and newer. Mocks of a program's tests have none.
        const { getStackResource, getStore } = require("@pulumi/pulumi/runtime/state");
        if (!getStore().supportsErrorHooks || !(pulumi.runtime.getMonitor() as any)?.registerErrorHook) return;
        const stack = getStackResource();
        const count = (Gate.counts.get(stack) ?? 0) + 1;
        Gate.counts.set(stack, count);
        const name = count === 1 ? "fairlead-gate" : `fairlead-gate-${count}`;
        // Pulumi calls it from outside of the program, whose settings belong to its asynchronous context.
        this.hooks = { onError: [new pulumi.ErrorHook(name, AsyncResource.bind((failed: pulumi.ErrorHookArgs) => this.mayWork(failed)))] };
    }

    transform({ type, name, props, opts, resource }: pulumi.ResourceTransformationArgs): pulumi.ResourceTransformationResult | undefined {
        const needs = new Set<pulumi.Resource>();
        addResources([props, opts.dependsOn], needs);
        this.needs.set(resource, needs);
        if (collections.test(type)) this.collections.push(resource);
        const isObject = type.startsWith("kubernetes:") && typeof props?.apiVersion === "string" && typeof props?.kind === "string";
        if (!isObject || (opts as pulumi.CustomResourceOptions).id || opts.urn || /(List|Patch)$/.test(type)) return undefined;
        const one: Declared = { name, props, resource, needs };
        this.declared.push(one);
        return { props, opts: pulumi.mergeOptions(opts, { dependsOn: this.guardsOf(one, opts.dependsOn), hooks: this.hooks }) };
    }

    // What the resource has to wait for. Waits itself for webhooks that are in the cluster only.
    private async guardsOf(one: Declared, dependsOn: unknown): Promise<pulumi.Resource[]> {
        await created(dependsOn);
        // Pulumi reports a chart that cannot be read.
        await Promise.allSettled(this.collections.filter((other) => !this.needsIt(other, one.resource)).map(readWhole));
        this.round ??= turn().then(turn).then(() => this.ask());
        const { declared, guards } = await this.round;
        const position = declared.indexOf(one);
        const found: pulumi.Resource[] = [];
        const inCluster: Promise<void>[] = [];
        for (const guard of guards) {
            const configuration = declared[guard.declared[0]];
            const backing = guards.filter((other) => configuration && declared[other.declared[0]] === configuration)
                .flatMap((other) => other.backing.map((index) => declared[index]));
            // What the webhook itself needs cannot wait for it, and comes before its configuration.
            if (configuration === one)
                for (const other of guard.guarded.map((index) => declared[index]))
                    if (backing.some((it) => this.needsIt(it.resource, other.resource)) && !this.needsIt(other.resource, one.resource)) {
                        one.needs.add(other.resource);
                        found.push(other.resource);
                    }
            if (!guard.guarded.includes(position)) continue;
            if (!configuration) {
                inCluster.push(this.answer(guard));
                continue;
            }
            const before = [configuration, ...backing].map((other) => other.resource);
            if (before.some((other) => this.needsIt(other, one.resource))) continue;
            for (const other of before) one.needs.add(other);
            found.push(this.waitFor(configuration, backing));
        }
        if (!pulumi.runtime.isDryRun()) await Promise.all(inCluster);
        return found;
    }

    // One question for all resources that are declared by now.
    private async ask(): Promise<Round> {
        this.round = undefined;
        const declared: Declared[] = [];
        const manifests: any[] = [];
        const seen = new Set<string>();
        for (const one of [...this.declared]) {
            const manifest = await manifestOf(one);
            const key = [manifest.apiVersion, manifest.kind, manifest.metadata.namespace, manifest.metadata.name].join();
            if (seen.has(key)) continue;
            seen.add(key);
            declared.push(one);
            manifests.push(manifest);
        }
        try {
            return { declared, guards: (await getGuards({ manifests }, { provider: this.args.provider })).guards ?? [] };
        } catch (error) {
            // A preview may come before the cluster does.
            if (!pulumi.runtime.isDryRun()) throw error;
            await pulumi.log.warn(`gate: nobody knows yet what guards the resources: ${(error as Error).message}`);
            return { declared, guards: [] };
        }
    }

    // True if the resource cannot be made before the other one.
    private needsIt(resource: pulumi.Resource, other: pulumi.Resource, seen = new Set<pulumi.Resource>()): boolean {
        if (resource === other) return true;
        if (seen.has(resource)) return false;
        seen.add(resource);
        const next = [...(this.needs.get(resource) ?? []), ...childrenOf(resource)];
        return next.some((one) => this.needsIt(one, other, seen));
    }

    private waitFor({ name, props, resource }: Declared, backing: Declared[]): Wait {
        let wait = this.waits.get(resource);
        if (wait) return wait;
        const metadata = pulumi.output((resource as any).metadata ?? props.metadata);
        wait = new Wait(`${name}-${props.kind}`, {
            objectRef: { apiVersion: props.apiVersion, kind: props.kind, name: metadata.apply((one: any) => one?.name ?? name) },
            waitFor: { functional: true },
            timeout: this.args.timeout,
            triggers: { uid: metadata.apply((one: any) => one?.uid ?? "") },
        }, { provider: this.args.provider, dependsOn: [resource, ...backing.map((one) => one.resource)] });
        this.waits.set(resource, wait);
        return wait;
    }

    private answer({ configuration, webhook, failsOpen }: Guard): Promise<void> {
        const key = `${configuration}/${webhook}`;
        let answer = this.answers.get(key);
        if (answer) return answer;
        // Without a webhook that fails open, the program works, too.
        answer = this.proved(configuration, webhook, !failsOpen);
        this.answers.set(key, answer);
        return answer;
    }

    private async proved(configuration: string, webhook: string, required: boolean): Promise<void> {
        const patience = required ? { required, timeout: this.args.timeout ?? "3m" } : { required };
        await getWebhook({ name: configuration, webhook, ...patience }, { provider: this.args.provider });
    }

    // The last net: a webhook that nobody could know of was not there, or is down. Answers after it works again. The hook holds
    // one of Pulumi's workers, so it is no place to wait in for what can be waited for elsewhere.
    private async mayWork({ name, errors, newInputs }: pulumi.ErrorHookArgs): Promise<boolean> {
        const webhook = /failed calling webhook \\?"([^"\\]+)/.exec(errors[0])?.[1];
        if (!webhook || !newInputs || pulumi.runtime.isDryRun() || errors.length > hookRetries) return false;
        try {
            const manifest = await manifestOf({ name, props: newInputs });
            const { guards } = await getGuards({ manifests: [manifest] }, { provider: this.args.provider });
            const guard = guards.find((one) => one.webhook === webhook);
            if (!guard) return false;
            await pulumi.log.info(`${name} waits for webhook ${webhook}`, undefined, undefined, true);
            await this.proved(guard.configuration, webhook, true);
            return true;
        } catch {
            // What the API server said of the object tells more.
            return false;
        }
    }
}

/**
 * Gates every resource of `@pulumi/kubernetes` that the program declares from here on: what an admission webhook guards is
 * created after the webhook was proved to answer. Webhooks of the same program become dependencies, so that a destroy
 * deletes what they guard first; webhooks of the cluster are waited for before the resource is registered.
 */
export function gate(args: GateArgs = {}): void {
    const one = new Gate(args);
    pulumi.runtime.registerStackTransformation((resource) => one.transform(resource));
}
