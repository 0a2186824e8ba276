import { createHash } from "node:crypto";

/** The part of pi's session manager that is used. An older one has only getBranch. */
export interface SessionView {
	getBranch(): unknown[];
	getLeafId?(): string | null;
	getEntry?(id: string): unknown;
	getSessionId?(): string;
}

/** A session entry as it is sent: docs/protocol.md, "Entries". */
export type WireEntry = Record<string, unknown> & { id: string };

type Json = Record<string, unknown>;

const object = (v: unknown): Json => (typeof v === "object" && v !== null ? (v as Json) : {});
const blocks = (v: unknown): Json[] => (Array.isArray(v) ? v.map(object) : []);

/** SHA-256 of a content that is exactly one text, else undefined. */
export function digest(content: unknown): string | undefined {
	const [only, more] = blocks(content);
	if (!only || more || only.type !== "text" || typeof only.text !== "string") return undefined;
	return createHash("sha256").update(only.text, "utf8").digest("hex");
}

function message(m: Json): Json {
	if (m.role === "assistant") {
		const calls = blocks(m.content)
			.filter((b) => b.type === "toolCall" && b.name === "read")
			.map((b) => ({ id: b.id, path: String(object(b.arguments).path ?? "") }));
		return calls.length > 0 ? { role: m.role, calls } : { role: m.role };
	}
	if (m.role !== "toolResult") return { role: m.role };
	const result: Json = { role: m.role, toolCallId: m.toolCallId, toolName: m.toolName };
	if (m.isError) result.isError = true;
	if (m.toolName !== "read") return result;
	const details = object(m.details);
	const cut = object(details.truncation);
	if (details.readcache !== undefined) result.readcache = details.readcache;
	if (cut.truncated === true) result.cut = Number(cut.outputLines) || 0;
	return { ...result, digest: digest(m.content) };
}

/** Reduces an entry to what the engine looks at; texts become digests. */
export function reduce(entry: unknown): WireEntry {
	const e = object(entry);
	const wire: WireEntry = { id: String(e.id), type: e.type };
	if (e.parentId) wire.parentId = e.parentId;
	if (e.type === "message") return { ...wire, ...message(object(e.message)) };
	if (e.type === "custom") {
		wire.customType = e.customType;
		if (e.customType === "pi-readcache") wire.data = e.data;
	}
	if (e.type === "context_edit") {
		wire.targetId = e.targetId;
		if (e.replacement === null || e.replacement === undefined) wire.omit = true;
	}
	return wire;
}

/**
 * The leaf of the session and the entries of its branch that are not in sent, parents first. They are
 * added to sent. Costs the new entries only.
 */
export function unseen(view: SessionView, sent: Set<string>): { leaf: string; entries: WireEntry[] } {
	const entries: WireEntry[] = [];
	const take = (entry: unknown): boolean => {
		const id = object(entry).id;
		if (typeof id !== "string" || sent.has(id)) return false;
		sent.add(id);
		entries.push(reduce(entry));
		return true;
	};
	if (!view.getLeafId || !view.getEntry) {
		const branch = view.getBranch();
		branch.forEach(take);
		return { leaf: String(object(branch.at(-1)).id ?? ""), entries };
	}
	const leaf = view.getLeafId() ?? "";
	let entry = leaf ? view.getEntry(leaf) : undefined;
	while (entry && take(entry)) {
		const parent = object(entry).parentId;
		entry = typeof parent === "string" ? view.getEntry(parent) : undefined;
	}
	return { leaf, entries: entries.reverse() };
}
