import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, type TestContext, test } from "node:test";
import * as pi from "@mariozechner/pi-coding-agent";
import readcache from "../src/index.js";
import { FakeSession, fake } from "./fake.js";

type Result = { content: { type: string; text: string }[]; details?: { readcache?: unknown } };
type Tool = { name: string; execute(id: string, args: object, signal?: AbortSignal, onUpdate?: unknown, ctx?: unknown): Promise<Result> };
type Command = { handler(args: string, ctx: unknown): Promise<void> };

/** As much of pi as the extension needs: an API that records, a context with cwd and sessionManager. */
function load(t: TestContext, mode: string, more: NodeJS.ProcessEnv = {}) {
	const f = fake(t, mode, more);
	Object.assign(process.env, f.env);
	const tools = new Map<string, Tool>();
	const commands = new Map<string, Command>();
	const handlers = new Map<string, () => void>();
	const appended: unknown[] = [];
	const said: string[] = [];
	readcache({
		registerTool: (tool: Tool) => tools.set(tool.name, tool),
		registerCommand: (name: string, c: Command) => commands.set(name, c),
		on: (event: string, handler: () => void) => handlers.set(event, handler),
		appendEntry: (...entry: unknown[]) => appended.push(entry),
	});
	const shutdown = () => handlers.get("session_shutdown")?.();
	t.after(shutdown);
	writeFileSync(join(f.dir, "a.txt"), "one\ntwo\n");
	const session = new FakeSession();
	const ctx = { cwd: f.dir, sessionManager: session };
	const withUI = { ...ctx, hasUI: true, ui: { notify: (text: string, type: string) => said.push(`${type}: ${text}`) } };
	const read = (args: object, signal?: AbortSignal, c: object = ctx) => (tools.get("read") as Tool).execute("c1", args, signal, undefined, c);
	return { f, tools, commands, appended, said, ctx, withUI, read, shutdown };
}

const before = { ...process.env };
afterEach(() => {
	for (const name of ["DEJA_BIN", "DEJA_FAKE", "DEJA_LOG", "DEJA_EXPECT"]) delete process.env[name];
	Object.assign(process.env, before);
});

const own = (dir: string, args: object): Promise<Result> =>
	(pi.createReadToolDefinition(dir) as unknown as Tool).execute("c1", args, undefined, undefined, { cwd: dir });

test("the tool is pi's own but for execute; nothing starts before the first read", (t) => {
	const { f, tools, commands } = load(t, "good");
	const { execute: _, ...mine } = tools.get("read") as unknown as Record<string, unknown>;
	const { execute: __, ...theirs } = pi.createReadToolDefinition(process.cwd()) as unknown as Record<string, unknown>;
	assert.deepEqual(Object.keys(mine), Object.keys(theirs));
	for (const key of ["name", "label", "description", "parameters", "promptSnippet"]) assert.deepEqual(mine[key], theirs[key], key);
	assert.deepEqual([...tools.keys()], ["read", "readcache_refresh"]);
	assert.deepEqual([...commands.keys()], ["readcache-status", "readcache-refresh"]);
	assert.equal(existsSync(join(f.dir, "log")), false);
});

test("a claim is served as it is", async (t) => {
	const { read } = load(t, "good");
	assert.deepEqual(await read({ path: "a.txt" }), {
		content: [{ type: "text", text: "[readcache: unchanged, 3 lines]" }],
		details: { readcache: { v: 1 } },
	});
});

test("a plain read carries metadata if its text is the one expected, and only then", async (t) => {
	const expect = createHash("sha256").update("one\ntwo\n").digest("hex");
	const { f, read, commands, withUI, said } = load(t, "plain", { DEJA_EXPECT: expect });
	const good = await read({ path: "a.txt" });
	assert.equal(good.content[0]?.text, "one\ntwo\n");
	assert.deepEqual(good.details?.readcache, { v: 1 });
	writeFileSync(join(f.dir, "a.txt"), "one\nTWO\n"); // changed after the engine looked
	const other = await read({ path: "a.txt" });
	assert.deepEqual(other, await own(f.dir, { path: "a.txt" }));
	await commands.get("readcache-status")?.handler("", withUI);
	assert.deepEqual(said, ['info: status {"text_differs":1}']);
});

test("an error is an error", async (t) => {
	const { read } = load(t, "error text");
	await assert.rejects(read({ path: "a.txt:9-1" }), /^Error: want path:start-end$/);
});

for (const mode of ["die at start", "die on read", "nonsense", "odd", "refuses", "old"]) {
	test(`${mode}: pi's plain read, and one notice`, async (t) => {
		const { f, read, said, withUI } = load(t, mode);
		const plain = await own(f.dir, { path: "a.txt" });
		for (let i = 0; i < 3; i++) assert.deepEqual(await read({ path: "a.txt" }, undefined, withUI), plain);
		assert.equal(said.length, 1);
		assert.match(said[0] ?? "", /^warning: readcache is off for now, reads are pi's own: .*deja doctor/);
		await assert.rejects(read({ path: "absent" }, undefined, withUI), /ENOENT/);
	});
}

test("no engine: pi's plain read, also without a user interface", async (t) => {
	const { f, read } = load(t, "good", { DEJA_BIN: join("/", "absent", "deja") });
	assert.deepEqual(await read({ path: "a.txt", offset: 2 }), await own(f.dir, { path: "a.txt", offset: 2 }));
});

test("an aborted read is pi's business, before and while the engine is asked", async (t) => {
	const { f, read, said, withUI } = load(t, "wait for cancel");
	await assert.rejects(read({ path: "a.txt" }, AbortSignal.abort(), withUI), /abort/i);
	assert.equal(f.starts(), 0);
	const stop = new AbortController();
	setTimeout(() => stop.abort(), 400);
	await assert.rejects(read({ path: "a.txt" }, stop.signal, withUI), /abort/i);
	for (let i = 0; i < 100 && f.sent("cancel").length === 0; i++) await new Promise((r) => setTimeout(r, 20));
	assert.equal(f.sent("cancel").length, 1);
	assert.deepEqual(said, [], "an abort is no fault");
});

test("refresh: the command and the tool append the engine's entry", async (t) => {
	const { f, tools, commands, appended, said, withUI, ctx } = load(t, "good");
	await commands.get("readcache-refresh")?.handler("a.txt 1-2", withUI);
	assert.deepEqual(appended, [["pi-readcache", { v: 1, line: "a.txt 1-2" }]]);
	assert.deepEqual(said, ["info: refreshed"]);
	const result = await tools.get("readcache_refresh")?.execute("c", { path: "a.txt", line: "other" }, undefined, undefined, ctx);
	assert.deepEqual(result, { content: [{ type: "text", text: "refreshed" }], details: {} });
	assert.deepEqual(appended.at(-1), ["pi-readcache", { v: 1, path: "a.txt" }]);
	assert.equal(f.sent("refresh").at(-1)?.params?.line, undefined, "the model cannot send a line");
});

test("a command that fails says so", async (t) => {
	const { commands, said, withUI, appended } = load(t, "die at start");
	await commands.get("readcache-status")?.handler("", withUI);
	await commands.get("readcache-refresh")?.handler("a.txt", withUI);
	assert.equal(said.length, 2);
	for (const line of said) assert.match(line, /^error: readcache: /);
	assert.deepEqual(appended, []);
});

test("problems with the settings are shown", async (t) => {
	const { read, said, withUI } = load(t, "problems");
	await read({ path: "a.txt" }, undefined, withUI);
	assert.deepEqual(said, ["warning: readcache settings:\nconfig.json:1:1: wrong"]);
});

test("the engine ends with the session", async (t) => {
	const { f, read, shutdown } = load(t, "good");
	await read({ path: "a.txt" });
	shutdown();
	for (let i = 0; i < 100 && !f.sent().at(-1)?.end; i++) await new Promise((done) => setTimeout(done, 20));
	assert.equal(f.sent().at(-1)?.end, true);
});
