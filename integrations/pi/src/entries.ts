import { createHash } from "node:crypto";

/** The part of pi's session manager that is used. An older one has only getBranch. */
export type SessionView = {
	getBranch(): unknown[];
	getLeafId?(): string | null;
	getEntry?(id: string): unknown;
	getSessionId?(): string;
};

type Json = Record<string, unknown>;
/** A session entry as it is sent: docs/protocol.md, "Entries". */
export type WireEntry = Json & { id: string };

const object = (v: unknown): Json => (typeof v === "object" && v !== null ? (v as Json) : {});
const blocks = (v: unknown): Json[] => (Array.isArray(v) ? v.map(object) : []);
// A field of another type would cost the whole message; undefined ones are not sent.
const text = (v: unknown): string | undefined => (typeof v === "string" ? v : undefined);
// pi makes texts of numbers and truth values before its tools see them.
const spelled = (v: unknown): string => (typeof v === "object" ? "" : String(v ?? ""));
const whole = (v: unknown): number => (typeof v === "number" && Number.isSafeInteger(v) && v > 0 ? v : 0);

/** SHA-256 of a content that is exactly one text, else undefined. */
export function digest(content: unknown): string | undefined {
	const [only, more] = blocks(content);
	if (!only || more || only.type !== "text" || typeof only.text !== "string") return undefined;
	return createHash("sha256").update(only.text, "utf8").digest("hex");
}

function message(m: Json): Json {
	const role = text(m.role);
	if (role === "assistant") {
		const reads = blocks(m.content).filter((b) => b.type === "toolCall" && b.name === "read");
		return { role, calls: reads.map((b) => ({ id: text(b.id), path: spelled(object(b.arguments).path) })) };
	}
	if (role !== "toolResult") return { role };
	const result: Json = { role, toolCallId: text(m.toolCallId), toolName: text(m.toolName), isError: m.isError === true };
	if (m.toolName !== "read") return result;
	const { readcache, truncation } = object(m.details);
	const cut = object(truncation);
	return { ...result, readcache, digest: digest(m.content), cut: cut.truncated === true ? whole(cut.outputLines) : undefined };
}

/** Reduces an entry to what the engine looks at; texts become digests. */
export function reduce(entry: unknown): WireEntry {
	const e = object(entry);
	const wire: WireEntry = { id: text(e.id) ?? "", parentId: text(e.parentId), type: text(e.type) };
	if (e.type === "message") return { ...wire, ...message(object(e.message)) };
	if (e.type === "custom") return { ...wire, customType: text(e.customType), data: e.customType === "pi-readcache" ? e.data : undefined };
	if (e.type === "context_edit") return { ...wire, targetId: text(e.targetId), omit: (e.replacement ?? null) === null };
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
		return { leaf: text(object(branch.at(-1)).id) ?? "", entries };
	}
	const leaf = view.getLeafId() ?? "";
	let entry = leaf ? view.getEntry(leaf) : undefined;
	while (entry && take(entry)) {
		const parent = text(object(entry).parentId);
		entry = parent ? view.getEntry(parent) : undefined;
	}
	return { leaf, entries: entries.reverse() };
}
