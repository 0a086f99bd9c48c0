#!/usr/bin/env node
// Stands in for the provider of @pulumi/kubernetes, whose plugin is not to be had from a package registry. It creates, reads
// and deletes objects with plain requests, and tries again as the real one does: what is not found, five times, with pauses
// that double. Everything else that is refused fails the resource at once, as there.
"use strict";
const fs = require("fs");
const https = require("https");
const path = require("path");
const grpc = require("@grpc/grpc-js");
const proto = require("@pulumi/pulumi/proto/provider_pb");
const plugin = require("@pulumi/pulumi/proto/plugin_pb");
const services = require("@pulumi/pulumi/proto/provider_grpc_pb");
const { Empty } = require("google-protobuf/google/protobuf/empty_pb");
const { Struct } = require("google-protobuf/google/protobuf/struct_pb");
const yaml = require("js-yaml");

const config = JSON.parse(fs.readFileSync(process.env.KUBECONFIG, "utf8"));
const { cluster } = config.clusters[0];
const { user } = config.users[0];
const decoded = (text) => Buffer.from(text, "base64");
const agent = new https.Agent({
    ca: decoded(cluster["certificate-authority-data"]),
    cert: decoded(user["client-certificate-data"]),
    key: decoded(user["client-key-data"]),
});
const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

function request(method, path, body) {
    return new Promise((resolve, reject) => {
        const headers = { "Content-Type": "application/json", Accept: "application/json" };
        const sent = https.request(new URL(path, cluster.server), { method, agent, headers }, (answer) => {
            const pieces = [];
            answer.on("data", (piece) => pieces.push(piece));
            answer.on("end", () => {
                const text = Buffer.concat(pieces).toString();
                resolve({ code: answer.statusCode, body: text.startsWith("{") ? JSON.parse(text) : { message: text } });
            });
        });
        sent.on("error", reject);
        sent.end(body && JSON.stringify(body));
    });
}

async function pathOf({ apiVersion, kind, metadata }) {
    const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const { body } = await request("GET", root);
    const resource = (body.resources || []).find((one) => one.kind === kind && !one.name.includes("/"));
    if (!resource) return undefined;
    return `${root}${resource.namespaced ? `/namespaces/${metadata.namespace || "default"}` : ""}/${resource.name}`;
}

// Of the requests, the first answer that is not "not found"; the last one after five attempts.
async function create(object) {
    for (let attempt = 0; ; ++attempt) {
        const place = await pathOf(object);
        const answer = place ? await request("POST", place, object) : { code: 404, body: { message: `no matches for kind "${object.kind}"` } };
        if (answer.code !== 404 || attempt === 5) return answer;
        await pause(2 ** attempt);
    }
}

// The templates of a chart that has no values.
function template({ path: chart }) {
    const folder = path.join(chart, "templates");
    return fs.readdirSync(folder).flatMap((name) => yaml.loadAll(fs.readFileSync(path.join(folder, name), "utf8")));
}

const methods = {
    handshake: async () => new proto.ProviderHandshakeResponse(),
    getPluginInfo: async () => new plugin.PluginInfo().setVersion("4.34.2"),
    checkConfig: async (asked) => new proto.CheckResponse().setInputs(asked.getNews()),
    diffConfig: async () => new proto.DiffResponse().setChanges(proto.DiffResponse.DiffChanges.DIFF_NONE),
    configure: async () => new proto.ConfigureResponse().setSupportspreview(true),
    check: async (asked) => new proto.CheckResponse().setInputs(asked.getNews()),
    diff: async (asked) => {
        const isSame = JSON.stringify(asked.getOldInputs().toJavaScript()) === JSON.stringify(asked.getNews().toJavaScript());
        const { DIFF_NONE, DIFF_SOME } = proto.DiffResponse.DiffChanges;
        return new proto.DiffResponse().setChanges(isSame ? DIFF_NONE : DIFF_SOME).setReplacesList(isSame ? [] : ["metadata"]);
    },
    invoke: async (asked) => {
        if (asked.getTok() !== "kubernetes:helm:template") throw new Error(`there is no ${asked.getTok()} here`);
        const result = template(JSON.parse(asked.getArgs().toJavaScript().jsonOpts));
        return new proto.InvokeResponse().setReturn(Struct.fromJavaScript({ result }));
    },
    create: async (asked) => {
        if (asked.getPreview()) return new proto.CreateResponse().setProperties(asked.getProperties());
        const { code, body } = await create(asked.getProperties().toJavaScript());
        if (code !== 201) throw new Error(`resource was not successfully created by the Kubernetes API server: ${body.message}`);
        const id = `${await pathOf(body)}/${body.metadata.name}`;
        return new proto.CreateResponse().setId(id).setProperties(Struct.fromJavaScript(body));
    },
    delete: async (asked) => {
        const { code, body } = await request("DELETE", asked.getId());
        if (code >= 300 && code !== 404) throw new Error(body.message);
        for (;;) {
            const answer = await request("GET", asked.getId());
            if (answer.code === 404) return new Empty();
            await pause(0.2);
        }
    },
    cancel: async () => new Empty(),
};

const server = new grpc.Server();
const served = {};
for (const name of Object.keys(services.ResourceProviderService)) {
    served[name] = (call, done) => {
        if (!methods[name]) return done({ code: grpc.status.UNIMPLEMENTED, details: `${name} is not there` });
        return methods[name](call.request).then((answer) => done(null, answer), (error) => done({ code: grpc.status.UNKNOWN, details: error.message }));
    };
}
server.addService(services.ResourceProviderService, served);
server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
    if (error) throw error;
    process.stdout.write(`${port}\n`);
});
