// Runs one command of Pulumi on a program that standard input describes, and prints what came of it as JSON.
//
//   {"verb": "up", "folder": "…", "resources": [{"type": "KubeObject", "name": "a", "args": {…}, "options": {…}}]}
//
// "live": true shows what pulumi prints at once, on standard error. "gate": {…} calls gate() first.
// A type with dots is a class of @pulumi/kubernetes: "apps.v1.Deployment". Inside of args, {"$ref": "a.objectRef"} is an output of an earlier resource and {"$secret": …} a secret. What a resource
// names in "exports" is an output of the stack, "a.revision".
"use strict";
const fs = require("fs");
const pulumi = require("@pulumi/pulumi");
const auto = require("@pulumi/pulumi/automation");
const fairlead = require(process.env.FAIRLEAD_SDK);

const request = JSON.parse(fs.readFileSync(0, "utf8"));

function valueOf(json, made) {
    if (Array.isArray(json)) return json.map((one) => valueOf(one, made));
    if (json === null || typeof json !== "object") return json;
    if ("$secret" in json) return pulumi.secret(json.$secret);
    if ("$ref" in json) {
        return json.$ref.split(".").reduce((from, property) => from[property], made);
    }
    return Object.fromEntries(Object.entries(json).map(([key, one]) => [key, valueOf(one, made)]));
}

// An object of a class of @pulumi/kubernetes: "apps.v1.Deployment".
function kubernetesObject(path, name, manifest, options) {
    const place = path.split(".").reduce((from, one) => from[one], require("@pulumi/kubernetes"));
    return new place(name, manifest, options);
}

async function program() {
    const made = {};
    const exported = {};
    if (request.gate) fairlead.gate(request.gate);
    for (const { type, name, args, options = {}, exports = [] } of request.resources) {
        const { dependsOn = [], ...rest } = options;
        const whole = { ...rest, dependsOn: dependsOn.map((one) => made[one]) };
        const isKubernetes = type.includes(".");
        made[name] = isKubernetes ? kubernetesObject(type, name, valueOf(args, made), whole) : new fairlead[type](name, valueOf(args, made), whole);
        for (const property of exports) exported[`${name}.${property}`] = made[name][property];
    }
    for (const { type, name, args } of request.functions || [])
        exported[name] = await fairlead[type](valueOf(args, made));
    return exported;
}

async function main() {
    const lines = [];
    const onOutput = (text) => {
        lines.push(text);
        if (request.live) process.stderr.write(text);
    };
    const stack = await auto.LocalWorkspace.createOrSelectStack(
        { stackName: "dev", projectName: "story", program },
        {
            workDir: request.folder,
            projectSettings: {
                name: "story",
                runtime: "nodejs",
                backend: { url: process.env.PULUMI_BACKEND_URL },
            },
        },
    );
    const result = { ok: true, changes: {}, outputs: {} };
    try {
        const done = await stack[request.verb]({ onOutput, ...(request.verb === "preview" ? { diff: true } : {}) });
        // cancel() tells nothing.
        result.changes = done?.changeSummary || done?.summary.resourceChanges || {};
        for (const [name, one] of Object.entries(done?.outputs || {})) result.outputs[name] = one.secret ? "[secret]" : one.value;
    } catch (error) {
        result.ok = false;
        result.error = String(error.message);
    }
    result.text = lines.join("");
    process.stdout.write(JSON.stringify(result));
}

main().catch((error) => {
    process.stderr.write(String(error.stack) + "\n");
    process.exit(1);
});
