// Measures reads through the extension's own code against a real engine; bench/roundtrip.go of the repository starts it.
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cache } from "../src/cache.js";

const cwd = mkdtempSync(join(tmpdir(), "deja-bench-"));
const text = Array.from({ length: 300 }, (_, i) => `\tline ${i} of a source file, about as long as such lines are\n`).join("");
writeFileSync(join(cwd, "a.go"), text);
const sha = createHash("sha256").update(text).digest("hex");

/** A session manager as pi's: entries by id, the leaf moves with each append. */
function session(n: number) {
	const byId = new Map<string, Record<string, unknown>>();
	let leaf: string | null = null;
	const append = (entry: Record<string, unknown>) => {
		const id = `e${byId.size}`;
		byId.set(id, { ...entry, id, parentId: leaf });
		leaf = id;
	};
	const user = { type: "message", message: { role: "user", content: "go on" } };
	append({
		type: "message",
		message: {
			role: "toolResult",
			toolCallId: "c",
			toolName: "read",
			content: [{ type: "text", text }],
			details: {
				readcache: {
					v: 1, pathKey: join(cwd, "a.go"), scopeKey: "full", servedHash: sha, mode: "full",
					totalLines: 301, rangeStart: 1, rangeEnd: 301, bytes: text.length, digest: sha.slice(0, 32),
				},
			},
		},
	});
	while (byId.size < n) append(user);
	const manager = {
		getBranch: () => [...byId.values()],
		getLeafId: () => leaf,
		getEntry: (id: string) => byId.get(id),
		getSessionId: () => `s${n}`,
	};
	return { manager, step: () => append(user) };
}

const cache = new Cache();
const sizes = [100, 10_000];
const sessions = sizes.map(session);
const took: number[][] = sizes.map(() => []);
for (let i = 0; i < 2000; i++) {
	for (const [k, s] of sessions.entries()) {
		s.step(); // a user message: also keeps repeated claims from being served in full
		const start = performance.now();
		const answer = await cache.read({ cwd, sessionManager: s.manager }, { path: "a.go" });
		const ms = performance.now() - start;
		if (answer.text !== "[readcache: unchanged, 301 lines]") throw new Error(JSON.stringify(answer));
		if (i >= 100) took[k]?.push(ms); // the first ones start the engine and warm up
	}
}
cache.stop();
rmSync(cwd, { recursive: true });
const at = (q: number, list: number[]) => list.sort((a, b) => a - b)[Math.floor(q * list.length)];
console.log(JSON.stringify(Object.fromEntries(sizes.map((n, k) => [n, { Median: at(0.5, took[k] ?? []), P99: at(0.99, took[k] ?? []) }]))));
