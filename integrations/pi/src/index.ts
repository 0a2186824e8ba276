// pi-readcache: repeated reads cost a line instead of a file. This extension moves bytes between pi and the
// engine (`deja pi`), which decides. When it cannot be asked, pi's own read answers as if nothing were installed.
import * as pi from "@mariozechner/pi-coding-agent";
import { Cache, type Place, type ReadAnswer, type ReadArgs } from "./cache.js";
import { Fault, Refused } from "./engine.js";
import { digest } from "./entries.js";

type Context = Place & { hasUI?: boolean; ui?: { notify?(text: string, type?: "info" | "warning" | "error"): void } };
// pi's own types differ between its lines; this is what both have.
type Result = { content: unknown[]; details?: unknown };
type Execute = (id: string, args: ReadArgs, signal?: AbortSignal, onUpdate?: unknown, ctx?: unknown) => Promise<Result>;
type Tool = { name: string; label: string; description: string; parameters: unknown; execute: Execute };
type Api = {
	registerTool(tool: Tool): void;
	registerCommand(name: string, command: { description: string; handler(args: string, ctx: Context): Promise<void> }): void;
	on(event: "session_shutdown", handler: () => void): void;
	appendEntry(customType: string, data: unknown): void;
};

/** pi's own read for a folder, with the user's setting for images. */
function builtin(cwd: string): Tool {
	let autoResizeImages = true;
	try {
		autoResizeImages = pi.SettingsManager.create(cwd).getImageAutoResize();
	} catch {
		// pi's default
	}
	const make = pi.createReadToolDefinition ?? pi.createReadTool;
	return make(cwd, { autoResizeImages }) as unknown as Tool;
}

/** Tells the user; without a user interface only what the user asked for is printed. */
function tell(ctx: Context, text: string, type: "info" | "warning" | "error" = "info"): void {
	if (ctx.hasUI && ctx.ui?.notify) ctx.ui.notify(text, type);
	else if (type !== "warning") console.log(text);
}

export default function readcache(api: unknown): void {
	const host = api as Api;
	const cache = new Cache();
	const tools = new Map<string, Tool>();
	const readIn = (cwd: string): Tool => {
		const known = tools.get(cwd) ?? builtin(cwd);
		tools.set(cwd, known);
		return known;
	};
	let noticed = false;

	/** Counts why the engine was not asked, and tells the user the first time. */
	function excuse(e: unknown, ctx: Context): void {
		cache.count(e instanceof Fault ? e.reason : e instanceof Refused ? `refused_${-e.code}` : "defect");
		if (!noticed) tell(ctx, `readcache is off for now, reads are pi's own: ${(e as Error).message}. Run "deja doctor".`, "warning");
		noticed = true;
	}

	const own = readIn(process.cwd());
	host.registerTool({
		...own,
		async execute(id, args, signal, onUpdate, context) {
			const ctx = context as Context;
			const plain = (a: ReadArgs) => readIn(ctx.cwd).execute(id, a, signal, onUpdate, ctx);
			if (signal?.aborted) return plain(args);
			cache.onProblems = (problems) => tell(ctx, `readcache settings:\n${problems.join("\n")}`, "warning");
			let answer: ReadAnswer | undefined;
			try {
				answer = await cache.read(ctx, args, signal);
			} catch (e) {
				if (!signal?.aborted) excuse(e, ctx);
			}
			if (!answer || signal?.aborted) return plain(args);
			if (answer.error !== undefined) throw new Error(answer.error);
			if (answer.text !== undefined) {
				return { content: [{ type: "text", text: answer.text }], details: { readcache: answer.readcache } };
			}
			const { expect, ...how }: NonNullable<ReadAnswer["plain"]> = answer.plain ?? args;
			const result = await plain(how);
			if (!expect) return result;
			if (digest(result.content) === expect) return { ...result, details: { ...(result.details as object), readcache: answer.readcache } };
			cache.count("text_differs"); // the file changed in between, or this pi reads differently
			return result;
		},
	});

	async function refresh(ctx: Context, what: Partial<ReadArgs> & { line?: string }): Promise<string> {
		const answer = await cache.refresh(ctx, what);
		host.appendEntry(answer.customType, answer.data);
		return answer.text;
	}

	host.registerTool({
		name: "readcache_refresh",
		label: "readcache refresh",
		description:
			"Make the next read of a file (or of its lines offset to offset+limit-1) return the full text, also if it is unchanged. Use it when you cannot find text that read reported as unchanged.",
		parameters: own.parameters,
		async execute(_id, { path, offset, limit }, _signal, _onUpdate, context) {
			return { content: [{ type: "text", text: await refresh(context as Context, { path, offset, limit }) }], details: {} };
		},
	});

	const command = (name: string, description: string, run: (args: string, ctx: Context) => Promise<string>) =>
		host.registerCommand(name, {
			description,
			handler: (args, ctx) =>
				run(args, ctx).then(
					(text) => tell(ctx, text),
					(e) => tell(ctx, `readcache: ${e instanceof Error ? e.message : String(e)}`, "error"),
				),
		});
	command("readcache-status", "Show what the read cache knows in this branch and what it saved", (_args, ctx) => cache.status(ctx));
	command("readcache-refresh", "Serve the next read in full: <path> [start-end]", (args, ctx) => refresh(ctx, { line: args }));

	host.on("session_shutdown", () => cache.stop());
}
