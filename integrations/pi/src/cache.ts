import { homedir } from "node:os";
import { DEFAULT_MAX_BYTES, DEFAULT_MAX_LINES, truncateHead } from "@mariozechner/pi-coding-agent";
import { Engine, Refused } from "./engine.js";
import { type SessionView, unseen } from "./entries.js";

const NO_SESSION = -32002;
const NO_LEAF = -32003;
const BATCH = 2000; // entries in a message, which keeps it far below the engine's limit

export type Place = { cwd: string; sessionManager: SessionView };
export type ReadArgs = { path: string; offset?: number; limit?: number };
/** How a read is to be answered: exactly one of error, text and plain. */
export type ReadAnswer = { reason: string; error?: string; text?: string; plain?: ReadArgs & { expect?: string }; readcache?: unknown };
export type RefreshAnswer = { customType: string; data: unknown; text: string };

/** What has been sent to one run of the engine for one session. */
type Sent = { generation: number; cwd: string; ids: Promise<Set<string>> };

/** Measures how this pi counts and cuts: the lines of pi differ in whether a final newline counts. */
function host() {
	const lines = truncateHead?.("a\n").totalLines;
	return { maxLines: DEFAULT_MAX_LINES, maxBytes: DEFAULT_MAX_BYTES, finalNewline: lines === 2 ? "separator" : "terminator" };
}

/** The engine with the sessions it has been told about. */
export class Cache {
	private readonly sessions = new Map<string, Sent>();
	/** Reads that were served without the engine, by reason. */
	readonly faults: Record<string, number> = {};
	/** Problems with the settings, to be shown once. */
	onProblems: (problems: string[]) => void = () => {};

	constructor(private readonly engine = new Engine()) {}

	/** Asks how to answer a read. Throws Fault if the engine cannot say. */
	async read(at: Place, args: ReadArgs, signal?: AbortSignal): Promise<ReadAnswer> {
		const answer = (await this.ask("read", at, args, signal)) as ReadAnswer;
		const told = [answer?.error, answer?.text, answer?.plain?.path].filter((x) => x !== undefined);
		if (told.length !== 1 || typeof told[0] !== "string") throw this.engine.distrust(JSON.stringify(answer)?.slice(0, 80));
		return answer;
	}

	/** Asks for the entry that makes the next read of these lines a full one. */
	async refresh(at: Place, what: Partial<ReadArgs> & { line?: string }): Promise<RefreshAnswer> {
		return (await this.ask("refresh", at, what)) as RefreshAnswer;
	}

	async status(at: Place): Promise<string> {
		return String(((await this.ask("status", at, { faults: this.faults })) as { text?: unknown })?.text);
	}

	stop(): void {
		this.engine.stop();
		this.sessions.clear();
	}

	/** Counts a read that was served without the engine. */
	count(reason: string): void {
		this.faults[reason] = (this.faults[reason] ?? 0) + 1;
	}

	/** Sends a request at the present leaf. What the engine has forgotten is sent to it once more. */
	private async ask(method: string, at: Place, params: object, signal?: AbortSignal): Promise<unknown> {
		const session = at.sessionManager.getSessionId?.() ?? "session";
		for (let again = true; ; again = false) {
			const sent = this.open(session, at.cwd);
			const ids = await sent.ids;
			// All of it is on its way before anything is awaited: a sibling's request comes after it.
			const { leaf, entries } = unseen(at.sessionManager, ids);
			const sends: Promise<unknown>[] = [];
			while (entries.length > BATCH) sends.push(this.engine.request("entries", { session, entries: entries.splice(0, BATCH) }));
			sends.push(this.engine.request(method, { ...params, session, leaf, entries }, signal));
			try {
				return (await Promise.all(sends)).at(-1);
			} catch (e) {
				if (!again || !(e instanceof Refused) || (e.code !== NO_SESSION && e.code !== NO_LEAF)) throw e;
				// Unless a sibling has opened it anew by now.
				if (this.sessions.get(session) === sent) this.sessions.delete(session);
			}
		}
	}

	/** The ids of the entries that the engine has of a session; the session is open when they are there. */
	private open(session: string, cwd: string): Sent {
		const known = this.sessions.get(session);
		if (known && known.generation === this.engine.generation && this.engine.alive && known.cwd === cwd) return known;
		const ids = this.engine.request("open", { session, cwd, home: homedir(), host: host() }).then((result) => {
			const problems = (result as { problems?: unknown } | undefined)?.problems;
			if (Array.isArray(problems) && problems.length > 0) this.onProblems(problems.map(String));
			return new Set<string>();
		});
		const sent = { generation: this.engine.generation, cwd, ids };
		this.sessions.set(session, sent);
		ids.catch(() => this.sessions.get(session) === sent && this.sessions.delete(session));
		return sent;
	}
}
