// Asks an installed pi what its read tool answers, for a batch of cases.
//
//   node oracle.mjs PACKAGE_DIR < request.json > answer.json
//
// The request holds `reads` (path, offset, limit: the read as it is), `opens`
// (path arguments: which file does the read open?), `cuts` (content and limits
// for truncateHead alone) and `sizes` (bytes for formatSize); each list is
// answered in order. Long texts are answered by digest, see `digest`.
import { createHash } from "node:crypto";
import { join } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const tools = join(process.argv[2], "dist", "core", "tools");
const load = (name) => import(pathToFileURL(join(tools, name)).href);
const { createReadToolDefinition } = await load("read.js");
const { truncateHead, formatSize } = await load("truncate.js");

const request = JSON.parse(await readAll(process.stdin));

// The text itself when it is short, else its hash, its size in bytes, and its
// last 200 bytes as Latin-1, so that a failed comparison can be read.
function digest(text) {
	const bytes = Buffer.from(text, "utf-8");
	if (bytes.length <= 1000) return text;
	const sum = createHash("sha256").update(bytes).digest("hex");
	return `sha256 ${sum} of ${bytes.length} bytes, ending ${bytes.subarray(-200).toString("latin1")}`;
}

const truncation = (t) => t && { ...t, content: digest(t.content) };

const reads = [];
const reader = createReadToolDefinition(request.cwd);
for (const { path, offset, limit } of request.reads) {
	try {
		const { content, details } = await reader.execute("id", { path, offset, limit });
		if (content.length !== 1 || content[0].type !== "text") throw new Error(`not one text: ${JSON.stringify(content)}`);
		reads.push({ text: digest(content[0].text), truncation: truncation(details?.truncation) ?? null });
	} catch (error) {
		reads.push({ error: error.message, truncation: null });
	}
}

// pi resolves the path, then asks whether it may be read: the first question
// tells which path it is.
const opens = [];
for (const path of request.opens) {
	let opened = "";
	const access = async (p) => {
		opened = p;
		throw new Error("stop");
	};
	const opener = createReadToolDefinition(request.cwd, { operations: { access, readFile: access } });
	await Promise.resolve().then(() => opener.execute("id", { path })).catch(() => {});
	opens.push(opened);
}

const cuts = request.cuts.map(({ content, maxLines, maxBytes }) => truncation(truncateHead(content, { maxLines, maxBytes })));
const sizes = request.sizes.map(formatSize);

process.stdout.write(JSON.stringify({ reads, opens, cuts, sizes }));
