// The script of the timeline page. It reads the element #data and draws; it sends and loads nothing.
//
// The data (src/timeline/data.cc writes it): times are microseconds since the run began, -1 is "never", and most strings
// are positions in `strings`.
//   nodes:  [type, group, kind, namespace, name, file, line, state, effect, sent, refused, stored, settled], …
//   needs:  for each node, a flat list of target, reason, level
//   events: for each node, a flat list of time, event, state, text;  `moments` is the same for the run itself
"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const strings = data.strings;
const $ = (id) => document.getElementById(id);
const TYPES = ["object", "guard", "wave", "group", "outside"];
const LEVELS = ["stored", "ready", "deleted"];
const RUNGS = ["registered", "in effect", "reachable", "trusted", "answering"];
const TONES = {
  ready: "good", deleted: "good", answering: "good", absent: "good", "would go": "good",
  failed: "bad", blocked: "blocked", retrying: "busy", stored: "busy", deleting: "busy",
};
const ROW = 24;
const SPARE = 12;
const deleting = data.run.command === "delete";

// --- the model -------------------------------------------------------------------------------------------------------

const nodes = data.nodes.map((row, index) => {
  const [type, group, kind, ns, name, file, line, state, effect, sent, refused, stored, settled] = row;
  const node = {
    index, type: TYPES[type] || "outside", group: strings[group], kind: strings[kind], ns: strings[ns], name, file: strings[file], line,
    state: strings[state], effect: strings[effect], sent, refused, stored, settled, critical: false,
  };
  // The name of a guard ends with the object that registers it, which its details show.
  node.title = node.type === "object" ? (node.ns ? node.ns + "/" : "") + name : name.replace(/ \([^()]*\)$/, "");
  node.full = node.type === "object" ? node.title : name;
  node.label = node.type === "object" ? node.kind : node.type;
  node.source = node.file ? node.file + (line ? ":" + line : "") : "";
  node.tone = TONES[node.state] || (node.type === "guard" ? "guard" : "idle");
  return node;
});
const isShown = (node) => node.type === "object" || node.type === "guard" || (node.type === "outside" && node.name);
const shown = nodes.filter(isShown);
const end = Math.max(data.run.end, 1);
const criticalPairs = [];
data.path.forEach((step, at) => {
  if (!nodes[step.node]) return;
  nodes[step.node].critical = true;
  const before = at ? data.path[at - 1].node : -1;
  if (nodes[before] && before !== step.node) criticalPairs.push([before, step.node]);
});

const eventCache = new Map();
function eventsOf(index) {
  if (!eventCache.has(index)) eventCache.set(index, unpack(data.events[index]));
  return eventCache.get(index);
}
function unpack(flat) {
  const list = [];
  for (let i = 0; i < flat.length; i += 4)
    list.push({ at: flat[i], event: strings[flat[i + 1]], state: strings[flat[i + 2]], text: strings[flat[i + 3]] });
  return list;
}
const isTrouble = (event) =>
  event.event === "warning" || event.event === "error" || (event.event === "progress" && /^(trouble|stuck)$/.test(event.state));
for (const node of shown) {
  const flat = data.events[node.index];
  for (let i = 1; i < flat.length && !node.alert; i += 4)
    node.alert = isTrouble({ event: strings[flat[i]], state: strings[flat[i + 1]] });
}

// A group stands for the needs that many nodes share; people want to see those needs.
const groupCache = new Map();
function needsOf(index) {
  const list = [];
  const flat = data.needs[index];
  for (let i = 0; i < flat.length; i += 3) {
    const need = { target: flat[i], reason: strings[flat[i + 1]], level: LEVELS[flat[i + 2]] };
    if (nodes[need.target].type !== "group") list.push(need);
    else for (const inner of groupNeeds(need.target)) list.push({ ...inner, reason: inner.reason || need.reason });
  }
  return list;
}
function groupNeeds(group) {
  if (!groupCache.has(group)) {
    groupCache.set(group, []);
    groupCache.set(group, needsOf(group));
  }
  return groupCache.get(group);
}
let dependents = null;
function dependentsOf(index) {
  if (!dependents) {
    dependents = nodes.map(() => []);
    for (const node of nodes) {
      const flat = data.needs[node.index];
      for (let i = 0; i < flat.length; i += 3) dependents[flat[i]].push(node.index);
    }
  }
  const found = new Set();
  const visit = (at) => {
    for (const one of dependents[at]) {
      if (nodes[one].type !== "group") found.add(one);
      else if (!found.has(-one)) { found.add(-one); visit(one); }
    }
  };
  visit(index);
  return [...found].filter((one) => one >= 0 && nodes[one].type !== "group");
}

// --- small helpers ---------------------------------------------------------------------------------------------------

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}
function makeSvg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
function time(micros) {
  if (micros < 0) return "–";
  const seconds = micros / 1e6;
  if (seconds >= 3600) return `${Math.floor(seconds / 3600)}h${String(Math.floor(seconds / 60) % 60).padStart(2, "0")}m`;
  if (seconds >= 100) return `${Math.floor(seconds / 60)}m${String(Math.floor(seconds % 60)).padStart(2, "0")}s`;
  if (seconds >= 10) return seconds.toFixed(1) + "s";
  if (seconds >= 0.1 || micros === 0) return seconds.toFixed(2) + "s";
  return (micros / 1000).toFixed(micros < 10000 ? 1 : 0) + "ms";
}
const number = (value) => value.toLocaleString("en-US");
const count = (value, noun) => `${number(value)} ${noun}${value === 1 ? "" : "s"}`;

// --- head ------------------------------------------------------------------------------------------------------------

function drawHead() {
  const { run } = data;
  $("title").textContent = `fairlead ${run.command}${run.bundle ? " " + run.bundle : ""}`;
  $("outcome").textContent = run.outcome || "not ended";
  $("outcome").classList.add(run.outcome === "done" ? "good" : run.outcome ? "bad" : "open");
  const objects = shown.filter((node) => node.type === "object");
  const of = (test) => objects.filter(test).length;
  const figures = [
    [time(end), "in all"], [number(objects.length), objects.length === 1 ? "object" : "objects"],
    ...["created", "changed", "unchanged"].map((word) => [of((node) => node.effect === word), word]),
    [of((node) => node.state === "deleted"), "deleted"],
    ...["failed", "blocked", "not sent", "kept"].map((word) => [of((node) => node.state === word), word]),
    [run.requests, run.requests === 1 ? "request" : "requests"],
  ];
  for (const [value, word] of figures)
    if (value) $("figures").append(make("div", { class: word === "failed" ? "bad" : "" }, make("dt", {}, word),
      make("dd", {}, typeof value === "number" ? number(value) : value)));
  if (run.time) $("figures").append(make("div", {}, make("dt", {}, run.time.replace("T", " ").replace("Z", " UTC"))));
}

function drawNotices() {
  for (const text of data.run.remarks) $("notices").append(make("div", { class: "notice" }, text));
  for (const failure of data.failures) {
    const box = make("div", { class: "notice bad", role: "alert" }, make("b", {}, failure.what));
    for (const text of failure.because) box.append(make("p", {}, text));
    if (failure.from) box.append(make("p", { class: "soft" }, "from ", make("code", {}, failure.from)));
    if (failure.next) box.append(make("p", {}, make("span", { class: "soft" }, "next "), make("code", {}, failure.next)));
    const blocked = failure.blocks.length + failure.unknown;
    if (blocked) {
      const line = make("p", {}, make("span", { class: "soft" }, `blocks ${count(blocked, "object")}: `));
      failure.blocks.slice(0, 5).forEach((index, at) => line.append(at ? ", " : "", link(index)));
      if (blocked > 5) line.append(` and ${number(blocked - Math.min(5, failure.blocks.length))} more`);
      box.append(line);
    }
    $("notices").append(box);
  }
}
function link(index) {
  const node = nodes[index];
  return make("button", { type: "button", class: "link", onclick: () => select(index, true) }, `${node.label} ${node.title}`);
}

function drawPath() {
  if (data.path.length < 2) return;
  $("path").hidden = false;
  for (const step of data.path) {
    const content = [nodes[step.node] ? `${nodes[step.node].label === "guard" ? "" : nodes[step.node].label + " "}${nodes[step.node].title}` : step.what, make("span", { class: "soft" }, time(Math.max(step.to - step.from, 0)))];
    const title = `${step.reason ? step.reason + ": " : ""}${time(step.from)} to ${time(step.to)}`;
    $("steps").append(make("li", {}, make("button",
      { type: "button", title, disabled: step.node < 0, onclick: () => select(step.node, true) }, ...content)));
  }
}

// --- filter ----------------------------------------------------------------------------------------------------------

let view = [];
let chosen = -1;
let from = 0, to = end;

function fillSelect(id, all, values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) || 0) + 1);
  $(id).append(make("option", { value: "" }, all));
  for (const value of [...counts.keys()].filter(Boolean).sort())
    $(id).append(make("option", { value }, `${value} (${number(counts.get(value))})`));
}
function haystack(node) {
  if (node.haystack === undefined)
    node.haystack = [node.label, node.full, node.group, node.source, node.state, node.effect,
      ...eventsOf(node.index).map((event) => event.text)].join("\n").toLowerCase();
  return node.haystack;
}
const ORDERS = {
  time: (a, b) => start(a) - start(b) || last(a) - last(b) || a.index - b.index,
  slow: (a, b) => (last(b) - start(b)) - (last(a) - start(a)) || a.index - b.index,
  file: (a, b) => a.index - b.index,
  name: (a, b) => a.title.localeCompare(b.title) || a.index - b.index,
};
const start = (node) => (node.sent < 0 ? Infinity : node.sent);
const last = (node) => (node.settled >= 0 ? node.settled : node.sent >= 0 ? end : -1);

function filter() {
  const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const kind = $("kind").value, ns = $("namespace").value, state = $("state").value, critical = $("critical").checked;
  view = shown.filter((node) =>
    (!kind || node.label === kind) && (!ns || node.ns === ns) && (!state || node.state === state) &&
    (!critical || node.critical) && words.every((word) => haystack(node).includes(word)));
  const order = ORDERS[$("order").value];
  // Infinity - Infinity is not a number; nodes that were never sent keep the order of the files.
  view.sort((a, b) => { const by = order(a, b); return Number.isNaN(by) ? a.index - b.index : by; });
  view.forEach((node, at) => { node.place = at; });
  $("count").textContent = view.length === shown.length ? count(shown.length, "row") : `${number(view.length)} of ${count(shown.length, "row")}`;
  $("nothing").hidden = view.length > 0;
  $("grid").setAttribute("aria-rowcount", view.length);
  $("rows").style.height = view.length * ROW + "px";
  drawn.clear();
  $("rows").replaceChildren();
  drawRows();
}

// --- rows ------------------------------------------------------------------------------------------------------------

const drawn = new Map();
const percent = (at) => ((at - from) / (to - from)) * 100;

function bar(className, begin, finish, title) {
  if (begin < 0 || finish < begin || finish < from || begin > to) return null;
  const left = Math.max(percent(begin), 0), right = Math.min(percent(finish), 100);
  const element = make("div", { class: "bar " + className, title });
  element.style.left = left + "%";
  element.style.width = right - left + "%";
  return element;
}
function barsOf(node) {
  if (node.type === "guard") return rungsOf(node);
  const { sent, refused, stored, settled } = node;
  const finish = settled >= 0 ? settled : end;
  const open = settled < 0 ? " open" : "";
  const accepted = stored >= 0 ? stored : finish;
  return [
    bar("wait", 0, sent >= 0 ? sent : finish, "waiting for what it needs"),
    sent >= 0 && !(deleting || node.state === "deleted") ? bar("send" + (refused < 0 && stored < 0 ? open : ""), sent, refused >= 0 ? Math.min(refused, accepted) : accepted, "being sent") : null,
    refused >= 0 ? bar("retry" + (stored < 0 ? open : ""), refused, accepted, "not accepted yet, sent again") : null,
    stored >= 0 ? bar("settle" + open, stored, finish, deleting || node.state === "deleted" ? "being deleted" : "stored, not ready yet") : null,
  ];
}
function rungsOf(node) {
  const rungs = eventsOf(node.index).filter((event) => event.event === "guard");
  if (!rungs.length) return [bar("wait", 0, end, "never proved")];
  const bars = [bar("wait", 0, rungs[0].at, "not registered yet")];
  rungs.forEach((rung, at) => {
    const finish = at + 1 < rungs.length ? rungs[at + 1].at : rung.state === "answering" ? rung.at : node.settled >= 0 ? node.settled : end;
    const element = bar("rung", rung.at, finish, `${rung.state}: ${rung.text}`);
    if (!element) return;
    element.style.setProperty("--part", 25 + 15 * Math.max(RUNGS.indexOf(rung.state), 0) + "%");
    if (percent(finish) - percent(rung.at) > 9) element.append(make("span", {}, rung.state));
    bars.push(element);
  });
  return bars;
}
function track(node) {
  const element = make("div", { class: "track", role: "gridcell" });
  for (const at of tickTimes) {
    const line = make("div", { class: "grid-line" });
    line.style.left = percent(at) + "%";
    element.append(line);
  }
  element.append(...barsOf(node).filter(Boolean));
  if (node.settled < from || node.settled > to) return element;
  const left = percent(node.settled);
  const mark = make("div", { class: "end", title: `${node.state} after ${time(node.settled)}` });
  const after = make("div", { class: left > 88 ? "after before" : "after" }, time(node.settled));
  mark.style.left = after.style.left = left + "%";
  element.append(mark, after);
  return element;
}
function row(node, at) {
  const name = make("div", { class: "name", role: "rowheader", title: `${node.label} ${node.full}` },
    make("span", { class: "mark", title: node.critical ? "on the critical path" : undefined }, node.critical ? "◆" : ""),
    make("span", { class: "dot", title: node.state }),
    make("span", { class: "what" }, make("span", { class: "kind" }, node.label + " "), make("span", { class: "title" }, node.title)),
    node.alert ? make("span", { class: "alert", title: "has warnings" }, "!") : null);
  const element = make("div", {
    class: `row s-${node.tone}${node.critical ? " critical" : ""}`, id: "row-" + node.index, role: "row", "aria-rowindex": at + 1,
    "aria-selected": String(node.index === chosen), "aria-label": `${node.label} ${node.title}: ${node.state}`,
    onclick: () => select(node.index),
  }, name, track(node));
  element.style.top = at * ROW + "px";
  return element;
}
function drawRows() {
  const grid = $("grid");
  const first = Math.max(Math.floor(grid.scrollTop / ROW) - SPARE, 0);
  const limit = Math.min(Math.ceil((grid.scrollTop + grid.clientHeight) / ROW) + SPARE, view.length);
  for (const [at, element] of drawn)
    if (at < first || at >= limit) { element.remove(); drawn.delete(at); }
  const fresh = document.createDocumentFragment();
  for (let at = first; at < limit; ++at)
    if (!drawn.has(at)) {
      const element = row(view[at], at);
      drawn.set(at, element);
      fresh.append(element);
    }
  $("rows").append(fresh);
}
function redrawRows() {
  drawn.clear();
  $("rows").replaceChildren();
  drawRows();
}

// --- the time scale --------------------------------------------------------------------------------------------------

let tickTimes = [];
function drawTicks() {
  const wide = Math.max($("ticks").clientWidth, 100);
  const wanted = (to - from) / Math.max(Math.floor(wide / 90), 2);
  const base = 10 ** Math.floor(Math.log10(wanted));
  const step = [1, 2, 5, 10].map((factor) => factor * base).find((one) => one >= wanted);
  tickTimes = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) tickTimes.push(at);
  $("ticks").replaceChildren(...tickTimes.map((at) => {
    const label = make("span", {}, tickText(at, step));
    label.style.left = percent(at) + "%";
    return label;
  }));
  $("zoom").textContent = from > 0 || to < end ? `${time(from)} to ${time(to)} · 0 shows all` : "";
}
function tickText(at, step) {
  if (at === 0) return "0";
  if (step >= 60e6) return time(at);
  if (end < 100000) return at / 1000 + "ms";
  return Number((at / 1e6).toFixed(6)) + "s";
}
function drawOverview() {
  const POINTS = 240;
  const tallies = { send: new Array(POINTS + 1).fill(0), settle: new Array(POINTS + 1).fill(0), ready: new Array(POINTS + 1).fill(0) };
  const objects = shown.filter((node) => node.type === "object");
  const tally = (name, at) => { if (at >= 0) tallies[name][Math.min(Math.ceil((at / end) * POINTS), POINTS)] += 1; };
  for (const node of objects) {
    tally("send", node.sent);
    tally("settle", node.stored);
    if (node.tone === "good") tally("ready", node.settled);
  }
  const svg = makeSvg("svg", { viewBox: `0 0 ${POINTS} 100`, preserveAspectRatio: "none", "aria-hidden": "true" });
  for (const name of ["send", "settle", "ready"]) {
    let sum = 0, path = "M0 100";
    tallies[name].forEach((value, at) => {
      const before = 100 - (sum / Math.max(objects.length, 1)) * 100;
      sum += value;
      path += `L${at} ${before.toFixed(1)}L${at} ${(100 - (sum / Math.max(objects.length, 1)) * 100).toFixed(1)}`;
    });
    svg.append(makeSvg("path", { class: name, d: path + `L${POINTS} 100Z` }));
  }
  $("overview").append(svg, make("div", { id: "window", hidden: true }));
  const words = deleting
    ? [["settle", "being deleted"], ["ready", "deleted"]]
    : [["wait", "waiting"], ["send", "sent"], ["retry", "not accepted yet"], ["settle", "stored"], ["ready", "ready"]];
  if (shown.some((node) => node.type === "guard")) words.push(["guard", "guard, by rung"]);
  for (const [name, text] of words) {
    const sample = make("i");
    sample.style.background = `var(--${name})`;
    $("legend").append(make("span", {}, sample, text));
  }
  if (data.path.length > 1) $("legend").append(make("span", {}, "◆ critical path"));
}
function zoom(begin, finish) {
  const least = Math.max(end / 2000, 10);
  from = Math.max(begin, 0);
  to = Math.min(Math.max(finish, from + least), end);
  from = Math.max(Math.min(from, to - least), 0);
  const box = $("window");
  box.hidden = from <= 0 && to >= end;
  box.style.left = (from / end) * 100 + "%";
  box.style.width = ((to - from) / end) * 100 + "%";
  drawTicks();
  redrawRows();
}
function zoomBy(factor) {
  const node = nodes[chosen];
  const middle = node && node.sent >= 0 ? (node.sent + last(node)) / 2 : (from + to) / 2;
  const half = ((to - from) * factor) / 2;
  zoom(middle - half, middle + half);
}
function listenOverview() {
  const area = $("overview");
  let begun = -1;
  const at = (event) => {
    const box = area.getBoundingClientRect();
    return Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1) * end;
  };
  area.addEventListener("pointerdown", (event) => { begun = at(event); area.setPointerCapture(event.pointerId); });
  area.addEventListener("pointermove", (event) => {
    if (begun < 0) return;
    const box = $("window");
    box.hidden = false;
    box.style.left = (Math.min(begun, at(event)) / end) * 100 + "%";
    box.style.width = (Math.abs(at(event) - begun) / end) * 100 + "%";
  });
  area.addEventListener("pointerup", (event) => {
    const finish = at(event);
    if (begun >= 0) zoom(...(Math.abs(finish - begun) < end / 200 ? [0, end] : [Math.min(begun, finish), Math.max(begun, finish)]));
    begun = -1;
  });
}

// --- selection and details -------------------------------------------------------------------------------------------

function select(index, reveal) {
  const before = nodes[chosen];
  chosen = index;
  for (const node of [before, nodes[index]]) {
    const element = node && $("row-" + node.index);
    if (element) element.setAttribute("aria-selected", String(node.index === chosen));
  }
  if (index < 0) {
    $("details").hidden = true;
    $("grid").removeAttribute("aria-activedescendant");
  } else {
    if (reveal && !view.includes(nodes[index])) clearFilter();
    drawDetails(nodes[index]);
    $("grid").setAttribute("aria-activedescendant", "row-" + index);
    if (view[nodes[index].place] === nodes[index]) scrollTo(nodes[index].place);
  }
  if (!$("graph").hidden) drawGraph();
}
function scrollTo(at) {
  const grid = $("grid");
  if (at * ROW < grid.scrollTop) grid.scrollTop = at * ROW;
  else if ((at + 1) * ROW > grid.scrollTop + grid.clientHeight) grid.scrollTop = (at + 1) * ROW - grid.clientHeight;
  drawRows();
}
function clearFilter() {
  for (const id of ["search", "kind", "namespace", "state"]) $(id).value = "";
  $("critical").checked = false;
  filter();
}
function definition(list, term, value) {
  if (value) list.append(make("dt", {}, term), make("dd", {}, value));
}
function needList(title, items) {
  if (!items.length) return [];
  const list = make("ul", {});
  for (const item of items.slice(0, 200))
    list.append(make("li", { class: "need" }, make("span", { class: `dot s-${nodes[item.target].tone}`, title: nodes[item.target].state }),
      make("span", {}, link(item.target), item.reason ? make("span", { class: "soft" }, ` ${item.reason}`) : null,
        item.level && item.level !== "stored" ? make("span", { class: "soft" }, ` (${item.level})`) : null)));
  if (items.length > 200) list.append(make("li", { class: "soft" }, `and ${number(items.length - 200)} more`));
  return [make("h3", {}, `${title} (${number(items.length)})`), list];
}
function eventList(title, events) {
  if (!events.length) return [];
  const list = make("ol", {});
  for (const event of events) {
    const tone = event.event === "failed" ? " bad" : isTrouble(event) ? " warn" : "";
    const word = event.state && event.state !== event.event ? `${event.event}: ${event.state}` : event.event;
    list.append(make("li", { class: "event" + tone }, make("time", {}, time(event.at)), make("div", {}, make("b", {}, word), event.text ? "\n" + event.text : "")));
  }
  return [make("h3", {}, title), list];
}
function drawDetails(node) {
  const facts = make("dl", {});
  definition(facts, "State", node.state + (node.effect ? `, ${node.effect}` : ""));
  if (node.type === "object") definition(facts, "Kind", node.kind + (node.group ? "." + node.group : ""));
  definition(facts, "Source", node.source && make("code", {}, node.source));
  if (node.sent >= 0) definition(facts, deleting ? "Deleted at" : "Sent at", time(node.sent));
  if (node.refused >= 0) definition(facts, "Not accepted", `from ${time(node.refused)}${node.stored >= 0 ? " to " + time(node.stored) : ""}`);
  if (node.stored >= 0 && !deleting) definition(facts, "Stored at", time(node.stored));
  if (node.settled >= 0) definition(facts, node.state === "failed" ? "Failed at" : "Done at", time(node.settled));
  const step = data.path.find((one) => one.node === node.index);
  if (step) definition(facts, "Critical path", step.reason || "its first step");
  const box = $("details");
  box.hidden = false;
  box.replaceChildren(
    make("button", { type: "button", class: "close", "aria-label": "Close details", onclick: () => { select(-1); $("grid").focus(); } }, "×"),
    make("h2", {}, `${node.label} ${node.full}`), facts,
    ...needList("Needs", needsOf(node.index)),
    ...needList("Needed by", dependentsOf(node.index).map((target) => ({ target }))),
    ...eventList("Events", eventsOf(node.index)));
  box.scrollTop = 0;
}
function drawRun() {
  const moments = unpack(data.moments).filter((event) => event.text && event.event !== "started");
  if (!moments.length) return;
  const warnings = moments.filter(isTrouble).length;
  const open = () => {
    select(-1);
    $("details").hidden = false;
    $("details").replaceChildren(make("button", { type: "button", class: "close", "aria-label": "Close details", onclick: () => select(-1) }, "×"),
      make("h2", {}, "The run"), ...eventList("Events", moments));
    $("details").focus();
  };
  const text = warnings ? `${count(warnings, "warning")} about the run` : `${count(moments.length, "note")} about the run`;
  $("figures").append(make("div", {}, make("button", { type: "button", class: "link", onclick: open }, text)));
}

// --- the graph of needs ----------------------------------------------------------------------------------------------

const MOST_SINGLE = 60;
const MOST_IN_COLUMN = 14;
const BOX = { width: 210, height: 36, gapX: 64, gapY: 10 };

// Each node is one column to the right of everything that it needs.
let columnCache = null;
function columnsOf() {
  if (columnCache) return columnCache;
  const column = new Int32Array(nodes.length).fill(-1);
  for (const root of nodes) {
    const stack = [root.index];
    while (stack.length) {
      const at = stack[stack.length - 1];
      if (column[at] >= 0) { stack.pop(); continue; }
      const flat = data.needs[at];
      if (column[at] === -1) {
        column[at] = -2;
        for (let i = 0; i < flat.length; i += 3) if (column[flat[i]] === -1) stack.push(flat[i]);
        if (stack[stack.length - 1] !== at) continue;
      }
      let place = 0;
      for (let i = 0; i < flat.length; i += 3) if (column[flat[i]] >= 0) place = Math.max(place, column[flat[i]] + (nodes[flat[i]].type === "group" ? 0 : 1));
      column[at] = place;
      stack.pop();
    }
  }
  columnCache = column;
  return column;
}
// Boxes of the overview: single nodes, or in a large run all nodes of a kind in a column.
function overviewBoxes() {
  const column = columnsOf();
  const visible = nodes.filter((node) => node.type !== "group");
  const single = visible.length <= MOST_SINGLE;
  const boxes = new Map();
  const boxOf = new Map();
  for (const node of visible) {
    const key = single ? String(node.index) : column[node.index] + " " + node.label;
    if (!boxes.has(key)) boxes.set(key, { key, column: column[node.index], members: [] });
    boxes.get(key).members.push(node);
    boxOf.set(node.index, key);
  }
  const edges = new Map();
  const targets = new Map();
  const boxesBehind = (group) => {
    if (!targets.has(group)) {
      const keys = new Set();
      targets.set(group, keys);
      for (const need of groupNeeds(group)) keys.add(boxOf.get(need.target));
    }
    return targets.get(group);
  };
  for (const node of visible) {
    const flat = data.needs[node.index];
    for (let i = 0; i < flat.length; i += 3) {
      const behind = nodes[flat[i]].type === "group" ? boxesBehind(flat[i]) : [boxOf.get(flat[i])];
      for (const key of behind)
        if (key !== undefined && key !== boxOf.get(node.index)) edges.set(key + "\n" + boxOf.get(node.index), [key, boxOf.get(node.index)]);
    }
  }
  return { boxes: [...boxes.values()], edges: [...edges.values()] };
}
// Boxes around one node: what it needs to its left, to the root, and what needs it to its right.
function aroundBoxes(index) {
  const boxes = new Map([[index, { key: String(index), column: 0, members: [nodes[index]] }]]);
  const edges = [];
  const hidden = new Map();
  const walk = (neighbours, direction, depth) => {
    let layer = [index];
    for (let step = 1; step <= depth && layer.length; ++step) {
      const next = [];
      for (const at of layer)
        for (const other of neighbours(at)) {
          if (!boxes.has(other)) {
            if (next.length >= MOST_IN_COLUMN) { hidden.set(direction * step, (hidden.get(direction * step) || new Set()).add(other)); continue; }
            boxes.set(other, { key: String(other), column: direction * step, members: [nodes[other]] });
            next.push(other);
          }
          edges.push(direction < 0 ? [String(other), String(at)] : [String(at), String(other)]);
        }
      layer = next;
    }
  };
  walk((at) => [...new Set(needsOf(at).map((need) => need.target))], -1, 8);
  walk(dependentsOf, 1, 2);
  const list = [...boxes.values()];
  for (const [column, left] of hidden) list.push({ key: "more " + column, column, members: [], more: left.size });
  return { boxes: list, edges };
}
function drawGraph() {
  const single = chosen >= 0;
  const { boxes, edges } = single ? aroundBoxes(chosen) : overviewBoxes();
  $("graph-caption").replaceChildren(...(single
    ? [`What ${nodes[chosen].label} ${nodes[chosen].title} needs is on its left, and what needs it is on its right. `,
      make("button", { type: "button", class: "link", onclick: () => select(-1) }, "Show the whole run")]
    : ["Each box needs the boxes on its left to which a line leads. Select one to see everything that it waits for."]));
  const columns = [...new Set(boxes.map((box) => box.column))].sort((a, b) => a - b);
  const heights = columns.map(() => 0);
  const place = new Map();
  for (const box of boxes.sort((a, b) => a.column - b.column || b.members.length - a.members.length)) {
    const at = columns.indexOf(box.column);
    box.x = at * (BOX.width + BOX.gapX);
    box.y = heights[at];
    heights[at] += BOX.height + BOX.gapY;
    place.set(box.key, box);
  }
  const tall = Math.max(...heights, BOX.height);
  for (const box of boxes) box.y += (tall - heights[columns.indexOf(box.column)]) / 2;
  const wide = columns.length * (BOX.width + BOX.gapX) - BOX.gapX;
  const svg = makeSvg("svg", { width: wide + 4, height: tall + 4, viewBox: `-2 -2 ${wide + 4} ${tall + 4}` });
  for (const [a, b] of edges) {
    const source = place.get(a), target = place.get(b);
    if (source && target) svg.append(edge(source, target));
  }
  for (const box of boxes) svg.append(boxElement(box));
  $("canvas").replaceChildren(svg);
  const own = place.get(String(chosen));
  if (own) $("canvas").scrollLeft = own.x - $("canvas").clientWidth / 2 + BOX.width / 2;
}
function edge(source, target) {
  const x1 = source.x + BOX.width, y1 = source.y + BOX.height / 2, x2 = target.x, y2 = target.y + BOX.height / 2;
  const bend = Math.max((x2 - x1) / 2, 24);
  const critical = criticalPairs.some(([a, b]) => source.members.includes(nodes[a]) && target.members.includes(nodes[b]));
  const near = source.key === String(chosen) || target.key === String(chosen);
  const far = target.column - source.column > 1;
  return makeSvg("path", { class: `edge${critical ? " critical" : near ? " near" : far ? " far" : ""}`, d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}` });
}
function toneOf(members) {
  for (const tone of ["bad", "blocked", "busy", "idle", "guard"]) if (members.some((node) => node.tone === tone)) return tone;
  return "good";
}
function fit(text, most) { return text.length > most ? text.slice(0, most - 1) + "…" : text; }
function boxElement(box) {
  const [first] = box.members;
  const many = box.members.length !== 1;
  const title = box.more ? `and ${number(box.more)} more` : many ? count(box.members.length, "object").replace("object", first.label === "guard" ? "guard" : "object") : first.title;
  const group = makeSvg("g", {
    class: `node s-${toneOf(box.members)}${box.members.some((node) => node.critical) ? " critical" : ""}${!many && first.index === chosen ? " chosen" : ""}`,
    transform: `translate(${box.x} ${box.y})`, tabindex: box.more ? -1 : 0, role: "button",
    "aria-label": box.more ? title : `${first.label} ${title}`,
  },
  makeSvg("rect", { class: "box", width: BOX.width, height: BOX.height, rx: 5 }),
  makeSvg("rect", { class: "tone", width: 4, height: BOX.height - 12, x: 5, y: 6, rx: 2 }));
  const kind = makeSvg("text", { class: "kind", x: 16, y: 14 });
  kind.textContent = box.more ? "" : fit(first.label, 34);
  const name = makeSvg("text", { x: 16, y: box.more ? 22 : 28 });
  name.textContent = fit(title, 28);
  const tip = makeSvg("title", {});
  tip.textContent = box.more ? title : `${first.label} ${title}${many ? "" : ": " + first.state}`;
  group.append(kind, name, tip);
  const act = () => {
    if (box.more) return;
    if (!many) return select(first.index, true);
    $("kind").value = first.label;
    filter();
    show("timeline");
  };
  group.addEventListener("click", act);
  group.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); act(); } });
  return group;
}

// --- views, theme and keys -------------------------------------------------------------------------------------------

function show(name) {
  for (const one of ["timeline", "graph"]) {
    $(one).hidden = one !== name;
    $("tab-" + one).setAttribute("aria-selected", String(one === name));
    $("tab-" + one).tabIndex = one === name ? 0 : -1;
  }
  if (name === "graph") drawGraph();
  else { drawTicks(); drawRows(); }
}
function switchTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
}
function move(event) {
  const page = Math.max(Math.floor($("grid").clientHeight / ROW) - 1, 1);
  const at = chosen >= 0 && view[nodes[chosen].place] === nodes[chosen] ? nodes[chosen].place : -1;
  const goal = {
    ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: view.length - 1,
    j: at + 1, k: at - 1,
  }[event.key];
  if (goal === undefined || !view.length) return false;
  select(view[Math.min(Math.max(goal, 0), view.length - 1)].index);
  return true;
}
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = /^(INPUT|SELECT)$/.test(event.target.tagName) && event.target.type !== "checkbox";
  if (event.key === "Escape") return escape(event);
  if (typing) {
    if (event.target === $("search") && (event.key === "ArrowDown" || event.key === "Enter")) { event.preventDefault(); $("grid").focus(); if (chosen < 0 && view.length) select(view[0].index); }
    return;
  }
  const acts = {
    "/": () => { $("search").focus(); $("search").select(); },
    g: () => show($("graph").hidden ? "graph" : "timeline"),
    c: () => { $("critical").checked = !$("critical").checked; filter(); },
    "+": () => zoomBy(0.5), "=": () => zoomBy(0.5), "-": () => zoomBy(2), 0: () => zoom(0, end),
  };
  if (acts[event.key]) { event.preventDefault(); acts[event.key](); return; }
  if (event.target.closest("#grid") || event.target === document.body) {
    if (move(event)) event.preventDefault();
    else if (event.key === "Enter" && chosen >= 0) { event.preventDefault(); $("details").focus(); }
  }
}
function escape(event) {
  if (event.target === $("search")) {
    if ($("search").value) { $("search").value = ""; filter(); } else $("grid").focus();
  } else if (!$("details").hidden) {
    select(-1);
    (($("graph").hidden) ? $("grid") : $("canvas")).focus();
  } else if (from > 0 || to < end) {
    zoom(0, end);
  } else {
    clearFilter();
  }
  event.preventDefault();
}
function onTabKey(event) {
  if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
  const other = $("graph").hidden ? "graph" : "timeline";
  show(other);
  $("tab-" + other).focus();
}

drawHead();
drawNotices();
drawPath();
drawRun();
fillSelect("kind", "Every kind", shown.map((node) => node.label));
fillSelect("namespace", "Every namespace", shown.map((node) => node.ns));
fillSelect("state", "Every state", shown.map((node) => node.state));
$("critical").closest("label").hidden = data.path.length < 2;
drawOverview();
drawTicks();
filter();
show("timeline");
for (const id of ["search", "kind", "namespace", "state", "order", "critical"]) $(id).addEventListener("input", filter);
$("tools").addEventListener("submit", (event) => event.preventDefault());
$("grid").addEventListener("scroll", drawRows, { passive: true });
$("theme").addEventListener("click", switchTheme);
for (const name of ["timeline", "graph"]) {
  $("tab-" + name).addEventListener("click", () => show(name));
  $("tab-" + name).addEventListener("keydown", onTabKey);
}
document.addEventListener("keydown", onKey);
addEventListener("resize", () => { drawTicks(); redrawRows(); });
listenOverview();
$("grid").focus({ preventScroll: true });
})();
