// Stands in for "deja pi": DEJA_FAKE says how it behaves, DEJA_LOG is a file for what it was sent.
import { appendFileSync, existsSync } from "node:fs";
import { createInterface } from "node:readline";

const mode = process.env.DEJA_FAKE ?? "good";
const log = process.env.DEJA_LOG;
const first = !log || !existsSync(log);
const note = (what) => log && appendFileSync(log, `${JSON.stringify(what)}\n`);
const say = (what) => process.stdout.write(typeof what === "string" ? what : `${JSON.stringify({ jsonrpc: "2.0", ...what })}\n`);
const refuse = (id, code, message) => say({ id, error: { code, message } });

note({ start: process.argv.slice(2) });
if (mode === "die at start") process.exit(3);
if (mode === "old") say({ method: "ready", params: { protocol: 0 } });
else if (mode !== "mute") say({ method: "ready", params: { protocol: 1, version: "fake", methods: [] } });

const reads = {
	"die on read": () => process.exit(4),
	hang: () => {},
	late: (id) => setTimeout(() => say({ id, result: { reason: "late", text: "too late" } }), 2300),
	nonsense: () => say("hello\n"),
	null: () => say({ id: null, error: { code: -32001, message: "message too large" } }),
	odd: (id) => say({ id, result: { reason: "x", text: "a", error: "b" } }),
	split: (id) => {
		const line = `${JSON.stringify({ jsonrpc: "2.0", id, result: { reason: "claim", text: "déjà lu" } })}\n`;
		const bytes = Buffer.from(line);
		const at = bytes.indexOf(0xc3) + 1; // in the middle of a letter
		process.stdout.write(bytes.subarray(0, at));
		setTimeout(() => process.stdout.write(bytes.subarray(at)), 30);
	},
	"wait for cancel": () => {},
	"forgets once": (id) => (first && once() ? refuse(id, -32002, "not open") : claim(id)),
	"lost leaf once": (id) => (first && once() ? refuse(id, -32003, "leaf unknown") : claim(id)),
	"never knows": (id) => refuse(id, -32003, "leaf unknown"),
	refuses: (id) => refuse(id, -32006, "full"),
	"error text": (id) => say({ id, result: { reason: "bad_range", error: "want path:start-end" } }),
	plain: (id, p) => say({ id, result: { reason: "no_base", plain: { path: p.path, expect: process.env.DEJA_EXPECT }, readcache: { v: 1 } } }),
};
let left = 1;
const once = () => left-- > 0;
const claim = (id) => say({ id, result: { reason: "claim", text: "[readcache: unchanged, 3 lines]", readcache: { v: 1 } } });

for await (const line of createInterface({ input: process.stdin })) {
	const { id, method, params } = JSON.parse(line);
	note({ id, method, params });
	if (method === "open") say({ id, result: { enabled: true, problems: mode === "problems" ? ["config.json:1:1: wrong"] : undefined } });
	else if (method === "cancel") refuse(params.id, -32004, "cancelled");
	else if (method === "read") (reads[mode] ?? claim)(id, params);
	else if (method === "refresh") say({ id, result: { customType: "pi-readcache", data: { v: 1, line: params.line, path: params.path }, text: "refreshed" } });
	else if (method === "status") say({ id, result: { text: `status ${JSON.stringify(params.faults)}` } });
	else say({ id, result: {} });
}
note({ end: true });
