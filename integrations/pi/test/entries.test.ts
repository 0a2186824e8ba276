import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { digest, reduce, unseen } from "../src/entries.js";
import { FakeSession } from "./fake.js";

const sha = (text: string) => createHash("sha256").update(text).digest("hex");
/** An entry as it arrives. */
const sent = (entry: unknown) => JSON.parse(JSON.stringify(reduce(entry)));
const text = (t: string) => [{ type: "text", text: t }];

test("digest: exactly one text", () => {
	assert.equal(digest(text("déjà\r\n")), sha("déjà\r\n"));
	assert.equal(digest(text("")), sha(""));
	for (const other of [undefined, null, "x", [], [...text("a"), ...text("b")], [...text("a"), null], [{ type: "image" }], [{ type: "text" }]])
		assert.equal(digest(other), undefined, JSON.stringify(other));
});

test("reduce: texts become digests, what replay does not look at is left out", () => {
	const base = { id: "a", parentId: "p", timestamp: "now" };
	const message = (m: object) => sent({ ...base, type: "message", message: m });
	assert.deepEqual(message({ role: "user", content: "secret" }), { id: "a", parentId: "p", type: "message", role: "user" });
	assert.deepEqual(
		message({
			role: "assistant",
			content: [...text("x"), { type: "toolCall", id: "c", name: "read", arguments: { path: "f", offset: 2 } }, { type: "toolCall", id: "d", name: "bash" }],
		}),
		{ id: "a", parentId: "p", type: "message", role: "assistant", calls: [{ id: "c", path: "f" }] },
	);
	const result = { role: "toolResult", toolCallId: "c", toolName: "read", isError: false, content: text("lines") };
	assert.deepEqual(message({ ...result, details: { readcache: { v: 1 }, truncation: { truncated: true, outputLines: 7, content: "lines" } } }), {
		id: "a",
		parentId: "p",
		type: "message",
		role: "toolResult",
		toolCallId: "c",
		toolName: "read",
		isError: false,
		readcache: { v: 1 },
		digest: sha("lines"),
		cut: 7,
	});
	assert.equal(message({ ...result, toolName: "bash" }).digest, undefined);
	assert.deepEqual(sent({ ...base, parentId: null, type: "custom", customType: "x", data: { big: 1 } }), { id: "a", type: "custom", customType: "x" });
	assert.deepEqual(sent({ ...base, type: "custom", customType: "pi-readcache", data: { v: 1 } }).data, { v: 1 });
	assert.equal(sent({ ...base, type: "context_edit", targetId: "t", replacement: null }).omit, true);
	assert.equal(sent({ ...base, type: "context_edit", targetId: "t", replacement: { content: "x" } }).omit, false);
});

test("unseen: costs the new entries only, parents first", () => {
	const s = new FakeSession();
	const known = new Set<string>();
	assert.deepEqual(unseen(s, known), { leaf: "", entries: [] });
	for (let i = 0; i < 1000; i++) s.add({ message: { role: "user" } });
	const all = unseen(s, known);
	assert.deepEqual([all.leaf, all.entries.length, all.entries[0]?.id, all.entries.at(-1)?.id], ["e1000", 1000, "e1", "e1000"]);
	s.asked = 0;
	s.add({ message: { role: "user" } });
	s.add({ message: { role: "user" } });
	const more = unseen(s, known);
	assert.deepEqual(
		more.entries.map((e) => [e.id, e.parentId]),
		[
			["e1001", "e1000"],
			["e1002", "e1001"],
		],
	);
	assert.ok(s.asked <= 3, `${s.asked} entries were looked up`);
	s.leaf = "e5"; // /tree: nothing is new
	assert.deepEqual(unseen(s, known), { leaf: "e5", entries: [] });
	s.leaf = null;
	assert.deepEqual(unseen(s, known), { leaf: "", entries: [] });
});

test("unseen: an older session manager has only getBranch", () => {
	const s = new FakeSession();
	s.add({ message: { role: "user" } });
	s.add({ message: { role: "user" } });
	const known = new Set<string>();
	const old = { getBranch: () => s.getBranch() };
	assert.deepEqual(
		unseen(old, known).entries.map((e) => e.id),
		["e1", "e2"],
	);
	s.add({ message: { role: "user" } });
	assert.deepEqual(
		unseen(old, known).entries.map((e) => e.id),
		["e3"],
	);
	assert.deepEqual(unseen({ getBranch: () => [] }, known), { leaf: "", entries: [] });
});

test("unseen: cycles and odd entries end the way up", () => {
	const s = new FakeSession();
	s.byId.set("a", { id: "a", parentId: "b", type: "message" });
	s.byId.set("b", { id: "b", parentId: "a", type: "message" });
	s.leaf = "a";
	assert.deepEqual(
		unseen(s, new Set()).entries.map((e) => e.id),
		["b", "a"],
	);
	s.byId.set("c", { id: "c", parentId: 5 as unknown as string, type: "message" });
	s.leaf = "c";
	assert.deepEqual(sentIds(s), ["c"]);
	s.byId.set("d", { id: "d", parentId: "gone", type: "message" });
	s.leaf = "d";
	assert.deepEqual(sentIds(s), ["d"]);
	s.leaf = "not there";
	assert.deepEqual(unseen(s, new Set()), { leaf: "not there", entries: [] });
});

const sentIds = (s: FakeSession) => unseen(s, new Set()).entries.map((e) => e.id);
