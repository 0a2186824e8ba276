import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { Cache } from "../src/cache.js";
import { Engine, Fault, Refused } from "../src/engine.js";
import { FakeSession, fake, sleep } from "./fake.js";

function start(t: TestContext, mode: string) {
	const f = fake(t, mode);
	const cache = new Cache(new Engine(f.env));
	t.after(() => cache.stop());
	const session = new FakeSession();
	const place = { cwd: f.dir, sessionManager: session };
	/** The ids of the entries that were sent, in order, over all messages. */
	const entries = () => f.sent().flatMap((m) => ((m.params?.entries ?? []) as { id: string }[]).map((e) => e.id));
	return { f, cache, session, place, entries };
}

const user = { message: { role: "user", content: "hello" } };

describe("cache", { concurrency: true }, () => {
	test("opens with what this pi is like", async (t) => {
		const { f, cache, place } = start(t, "good");
		const answer = await cache.read(place, { path: "x", offset: 3 });
		assert.deepEqual(answer, { reason: "claim", text: "[readcache: unchanged, 3 lines]", readcache: { v: 1 } });
		const [open] = f.sent("open");
		assert.deepEqual(open?.params?.host, { maxLines: 2000, maxBytes: 51200, finalNewline: "separator" });
		assert.equal(open?.params?.cwd, f.dir);
		assert.deepEqual(f.sent("read")[0]?.params, { path: "x", offset: 3, session: "session-1", leaf: "", entries: [] });
	});

	// spec 10.1
	test("two first reads at once open once and send each entry once", async (t) => {
		const { f, cache, session, place, entries } = start(t, "good");
		for (let i = 0; i < 3; i++) session.add(user);
		await Promise.all([cache.read(place, { path: "x" }), cache.read(place, { path: "y" }), cache.status(place)]);
		assert.equal(f.sent("open").length, 1);
		assert.deepEqual(entries(), ["e1", "e2", "e3"]);
		session.add(user);
		await cache.read(place, { path: "x" });
		assert.deepEqual(entries(), ["e1", "e2", "e3", "e4"]);
		assert.equal(f.sent("read").at(-1)?.params?.leaf, "e4");
	});

	test("many entries go in several messages, in order, before the read", async (t) => {
		const { f, cache, session, place, entries } = start(t, "good");
		for (let i = 0; i < 4100; i++) session.add(user);
		await Promise.all([cache.read(place, { path: "x" }), cache.read(place, { path: "y" })]);
		assert.deepEqual(
			f.sent().map((m) => m.method ?? "start"),
			["start", "open", "entries", "entries", "read", "read"],
		);
		assert.deepEqual(
			entries(),
			Array.from({ length: 4100 }, (_, i) => `e${i + 1}`),
		);
	});

	for (const mode of ["forgets once", "lost leaf once"]) {
		test(`${mode}: opened anew, all entries are sent again`, async (t) => {
			const { f, cache, session, place, entries } = start(t, mode);
			session.add(user);
			session.add(user);
			assert.equal((await cache.read(place, { path: "x" })).reason, "claim");
			assert.equal(f.sent("open").length, 2);
			assert.deepEqual(entries(), ["e1", "e2", "e1", "e2"]);
		});
	}

	test("never knows the leaf: one more try, then it is refused", async (t) => {
		const { f, cache, place } = start(t, "never knows");
		await assert.rejects(cache.read(place, { path: "x" }), (e) => e instanceof Refused && e.code === -32003);
		assert.equal(f.sent("read").length, 2);
	});

	test("a new run is told everything", async (t) => {
		const { f, cache, session, place, entries } = start(t, "die on read");
		session.add(user);
		for (const wait of [1100, 0]) {
			await assert.rejects(cache.read(place, { path: "x" }), (e) => e instanceof Fault && e.reason === "engine_died");
			await sleep(wait);
		}
		assert.equal(f.starts(), 2);
		assert.equal(f.sent("open").length, 2);
		assert.deepEqual(entries(), ["e1", "e1"]);
	});

	test("another folder is another session for the engine", async (t) => {
		const { f, cache, session, place, entries } = start(t, "good");
		session.add(user);
		await cache.read(place, { path: "x" });
		await cache.read({ ...place, cwd: "/" }, { path: "x" });
		assert.deepEqual(
			f.sent("open").map((m) => m.params?.cwd),
			[f.dir, "/"],
		);
		assert.deepEqual(entries(), ["e1", "e1"]);
	});

	test("an answer that is not one of error, text and plain is distrusted", async (t) => {
		const { cache, place } = start(t, "odd");
		await assert.rejects(cache.read(place, { path: "x" }), (e) => e instanceof Fault && e.reason === "nonsense");
	});

	test("problems with the settings are passed on", async (t) => {
		const { cache, place } = start(t, "problems");
		const told: string[] = [];
		cache.onProblems = (problems) => told.push(...problems);
		await cache.read(place, { path: "x" });
		await cache.read(place, { path: "x" });
		assert.deepEqual(told, ["config.json:1:1: wrong"]);
	});

	test("refresh and status", async (t) => {
		const { cache, place } = start(t, "good");
		assert.deepEqual(await cache.refresh(place, { line: "a 1-2" }), { customType: "pi-readcache", data: { v: 1, line: "a 1-2" }, text: "refreshed" });
		cache.count("timeout");
		cache.count("timeout");
		assert.equal(await cache.status(place), 'status {"timeout":2}');
	});
});
