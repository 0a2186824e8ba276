import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { SessionView } from "../src/entries.js";

export type Sent = { id?: number; method?: string; params?: Record<string, unknown>; start?: string[]; end?: boolean };

/** A folder that is removed after the test. */
export function folder(t: TestContext): string {
	const dir = mkdtempSync(join(tmpdir(), "readcache-"));
	t.after(() => rmSync(dir, { recursive: true, force: true }));
	return dir;
}

/** The environment for a fake engine (fake-engine.mjs) and what it was sent so far. */
export function fake(t: TestContext, mode: string, more: NodeJS.ProcessEnv = {}) {
	const dir = folder(t);
	const bin = join(dir, "deja");
	const log = join(dir, "log");
	const script = fileURLToPath(new URL("fake-engine.mjs", import.meta.url));
	writeFileSync(bin, `#!/bin/sh\nexec "${process.execPath}" "${script}" "$@"\n`);
	chmodSync(bin, 0o755);
	const env = { PATH: process.env.PATH, DEJA_BIN: bin, DEJA_FAKE: mode, DEJA_LOG: log, ...more };
	const sent = (method?: string): Sent[] => {
		if (!existsSync(log)) return [];
		const all = readFileSync(log, "utf8")
			.trim()
			.split("\n")
			.map((line) => JSON.parse(line) as Sent);
		return method ? all.filter((m) => m.method === method) : all;
	};
	return { dir, env, sent, starts: () => sent().filter((m) => m.start).length };
}

/** A session of pi: entries in order, each with its parent. */
export class FakeSession implements SessionView {
	readonly byId = new Map<string, Record<string, unknown>>();
	leaf: string | null = null;
	asked = 0;

	add(entry: Record<string, unknown>): string {
		const id = `e${this.byId.size + 1}`;
		this.byId.set(id, { id, parentId: this.leaf, type: "message", ...entry });
		this.leaf = id;
		return id;
	}

	getSessionId = () => "session-1";
	getLeafId = () => this.leaf;
	getEntry = (id: string) => {
		this.asked++;
		return this.byId.get(id);
	};
	getBranch(): unknown[] {
		const branch = [];
		for (let e = this.leaf ? this.byId.get(this.leaf) : undefined; e; e = this.byId.get(String(e.parentId))) branch.unshift(e);
		return branch;
	}
}

export const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));
