import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Engine, Fault, Refused } from "../src/engine.js";
import { fake, folder, sleep } from "./fake.js";

const faulty = (reason: string) => (e: unknown) => e instanceof Fault && e.reason === reason && e.message.length > 10;
const read = { session: "s", path: "x" };

describe("engine", { concurrency: true }, () => {
	test("starts with the first request and answers", async (t) => {
		const f = fake(t, "good");
		const engine = new Engine(f.env);
		t.after(() => engine.stop());
		assert.equal(engine.alive, false);
		assert.deepEqual(f.sent(), []);
		const answers = await Promise.all([engine.request("open", {}), engine.request("read", read), engine.request("ping", {})]);
		assert.deepEqual(answers[0], { enabled: true });
		assert.equal((answers[1] as { reason: string }).reason, "claim");
		assert.equal(engine.alive, true);
		assert.equal(engine.generation, 1);
		assert.deepEqual(
			f.sent().map((m) => m.start?.join() ?? m.method),
			["pi", "open", "read", "ping"],
		);
		engine.stop();
		for (let i = 0; i < 100 && !f.sent().at(-1)?.end; i++) await sleep(20);
		assert.equal(f.sent().at(-1)?.end, true, "it ends when its input ends");
	});

	for (const [mode, reason] of Object.entries({
		"die at start": "engine_died",
		"die on read": "engine_died",
		old: "protocol",
		nonsense: "nonsense",
		null: "nonsense",
	})) {
		test(`${mode}: ${reason}, at once, then back-off`, async (t) => {
			const f = fake(t, mode);
			const engine = new Engine(f.env);
			const start = Date.now();
			const both = await Promise.allSettled([engine.request("read", read), engine.request("read", read)]);
			for (const one of both) assert.ok(one.status === "rejected" && faulty(reason)(one.reason), JSON.stringify(one));
			assert.ok(Date.now() - start < 1900, "it does not wait for the time-out");
			assert.equal(engine.alive, false);
			await assert.rejects(engine.request("read", read), faulty("backoff"));
			assert.equal(f.starts(), 1);
		});
	}

	test("an answer that does not come is given up after two seconds", async (t) => {
		for (const mode of ["hang", "mute"]) {
			const f = fake(t, mode);
			const engine = new Engine(f.env);
			const start = Date.now();
			await assert.rejects(engine.request("read", read), faulty("timeout"));
			const took = Date.now() - start;
			assert.ok(took > 1900 && took < 4000, `${mode}: ${took} ms`);
			assert.equal(engine.alive, false);
		}
	});

	test("a late answer belongs to nobody", async (t) => {
		const engine = new Engine(fake(t, "late").env);
		await assert.rejects(engine.request("read", read), faulty("timeout"));
		await sleep(600);
		assert.equal(engine.alive, false);
	});

	test("a letter that is cut in two arrives whole", async (t) => {
		const engine = new Engine(fake(t, "split").env);
		t.after(() => engine.stop());
		assert.equal(((await engine.request("read", read)) as { text: string }).text, "déjà lu");
	});

	test("an error of the request leaves the engine alone", async (t) => {
		const f = fake(t, "refuses");
		const engine = new Engine(f.env);
		t.after(() => engine.stop());
		await assert.rejects(engine.request("read", read), (e) => e instanceof Refused && e.code === -32006 && e.message === "full");
		assert.deepEqual(await engine.request("ping", {}), {});
		assert.equal(f.starts(), 1);
	});

	test("an abort is sent on, once, for its own request", async (t) => {
		const f = fake(t, "wait for cancel");
		const engine = new Engine(f.env);
		t.after(() => engine.stop());
		await engine.request("ping", {});
		const stop = new AbortController();
		const asked = engine.request("read", read, stop.signal);
		await sleep(50);
		stop.abort();
		await assert.rejects(asked, (e) => e instanceof Refused && e.code === -32004);
		await engine.request("ping", {}); // what was sent before it has arrived
		const [sent] = f.sent("read");
		assert.deepEqual(
			f.sent("cancel").map((m) => m.params),
			[{ id: sent?.id }],
		);
		const done = new AbortController();
		await engine.request("ping", {}, done.signal);
		done.abort();
		await engine.request("ping", {});
		assert.equal(f.sent("cancel").length, 1, "an abort after the answer is not sent");
	});

	test("the pause before a restart grows, also if the first answers of each run are good", async (t) => {
		const f = fake(t, "die on read");
		const engine = new Engine(f.env);
		const round = async () => {
			await engine.request("open", {});
			await assert.rejects(engine.request("read", read), faulty("engine_died"));
		};
		await round();
		await assert.rejects(engine.request("open", {}), faulty("backoff"));
		await sleep(1050);
		await round();
		assert.equal(engine.generation, 2);
		await sleep(1200);
		await assert.rejects(engine.request("open", {}), faulty("backoff"));
		await sleep(900);
		await round();
		assert.equal(f.starts(), 3);
	});

	test("no program", async (t) => {
		const dir = folder(t);
		for (const env of [{ PATH: dir }, { DEJA_BIN: `${dir}/deja` }, { DEJA_BIN: dir }]) {
			const engine = new Engine(env);
			await assert.rejects(engine.request("ping", {}), faulty("engine_missing"));
			await assert.rejects(engine.request("ping", {}), faulty("backoff"));
		}
	});

	test("distrust ends the run", async (t) => {
		const engine = new Engine(fake(t, "good").env);
		await engine.request("ping", {});
		assert.equal(engine.distrust("rubbish").reason, "nonsense");
		assert.equal(engine.alive, false);
		await assert.rejects(engine.request("ping", {}), faulty("backoff"));
	});
});
