import { type ChildProcess, spawn } from "node:child_process";
import { findBinary } from "./binary.js";

const PROTOCOL = 1;
const TIMEOUT_MS = 2000;
const BACKOFF_MS = [1000, 2000, 5000, 15000, 60000];
const STEADY_MS = 60000; // a run that lasted so long does not count as one more failure in a row
const MAX_LINE = 64 << 20;
const CANCELLED = -32004;
const READY = 0; // the id under which the engine's first message is awaited

/** An answer of the engine that is an error of the request, not of the engine. */
export class Refused extends Error {
	code = 0;
}

/** Why the engine could not be asked; the reason is a code that status shows. */
export class Fault extends Error {
	reason = "";
}

const refused = (code: number, message: string) => Object.assign(new Refused(message), { code });
const fault = (reason: string, message: string) => Object.assign(new Fault(message), { reason });

type Pending = { resolve(value: unknown): void; reject(error: Error): void; timer: NodeJS.Timeout };
type Message = { id?: number | null; method?: string; params?: { protocol?: number }; result?: unknown; error?: { code: number; message: string } };

/** One run of `deja pi`. */
class Run {
	private readonly pending = new Map<number, Pending>();
	private next = READY + 1;
	private rest = "";
	ended?: Fault;
	readonly since = Date.now();
	readonly ready = this.await(READY, "start");

	constructor(private readonly child: ChildProcess) {
		this.ready.catch(() => {});
		child.stdout?.setEncoding("utf8").on("data", (text: string) => this.receive(text));
		child.stdin?.on("error", (e) => this.end(fault("engine_died", `the engine does not read: ${e.message}`)));
		child.on("error", (e) => this.end(fault("engine_missing", `the engine does not start: ${e.message}`)));
		child.on("exit", (code, signal) => this.end(fault("engine_died", `the engine ended (${signal ?? code})`)));
		// pi must be able to exit while the engine waits.
		for (const held of [child, child.stdin, child.stdout]) (held as { unref?(): void } | null)?.unref?.();
	}

	request(method: string, params: unknown, signal?: AbortSignal): Promise<unknown> {
		if (this.ended) return Promise.reject(this.ended);
		const id = this.next++;
		this.send({ jsonrpc: "2.0", id, method, params });
		const cancel = () => {
			this.send({ jsonrpc: "2.0", method: "cancel", params: { id } });
			this.settle(id)?.reject(refused(CANCELLED, "cancelled")); // pi does not wait for a stuck engine
		};
		signal?.addEventListener("abort", cancel, { once: true });
		return this.await(id, method).finally(() => signal?.removeEventListener("abort", cancel));
	}

	private await(id: number, what: string): Promise<unknown> {
		return new Promise((resolve, reject) => {
			const late = () => this.end(fault("timeout", `the engine did not answer within ${TIMEOUT_MS} ms (${what})`));
			this.pending.set(id, { resolve, reject, timer: setTimeout(late, TIMEOUT_MS) });
		});
	}

	private receive(text: string): void {
		this.rest += text;
		if (this.rest.length > MAX_LINE) this.end(fault("nonsense", "the engine sent an endless line"));
		if (this.ended || !text.includes("\n")) return;
		const lines = this.rest.split("\n");
		this.rest = lines.pop() ?? "";
		for (const line of lines) {
			try {
				if (line) this.message(JSON.parse(line));
			} catch {
				this.end(fault("nonsense", `the engine sent ${JSON.stringify(line.slice(0, 80))}`));
			}
		}
	}

	private message(m: Message): void {
		const id = m.method === "ready" ? READY : m.id;
		if (id === READY && m.params?.protocol !== PROTOCOL) {
			this.end(fault("protocol", `the engine speaks protocol ${m.params?.protocol}, this extension ${PROTOCOL}: update both`));
		}
		// It cannot be said which request this is about.
		if (id === null) this.end(fault("nonsense", `the engine did not understand: ${m.error?.message}`));
		if (m.error) this.settle(id)?.reject(refused(Number(m.error.code), String(m.error.message)));
		else this.settle(id)?.resolve(m.result);
	}

	/** Takes a request off the list of those under way. */
	private settle(id: number | null = -1): Pending | undefined {
		const waiting = this.pending.get(id ?? -1);
		clearTimeout(waiting?.timer);
		this.pending.delete(id ?? -1);
		return waiting;
	}

	private send(message: unknown): void {
		if (!this.ended) this.child.stdin?.write(`${JSON.stringify(message)}\n`);
	}

	/** Ends the run: what is under way fails with the reason, what comes later too. */
	end(why: Fault, patience = 0): void {
		if (this.ended) return;
		this.ended = why;
		for (const p of this.pending.values()) {
			clearTimeout(p.timer);
			p.reject(why);
		}
		this.pending.clear();
		this.child.stdin?.end();
		setTimeout(() => this.child.kill("SIGKILL"), patience).unref();
	}
}

/** The engine: started when first needed, and again, with back-off, when it fails. */
export class Engine {
	private run?: Run;
	private failures = 0;
	private notBefore = 0;
	private lastFault?: Fault;
	/** Counts the runs; what an earlier one was told is gone. */
	generation = 0;

	constructor(private readonly env: NodeJS.ProcessEnv = process.env) {}

	/** Whether a run is there; if not, the next request starts one. */
	get alive(): boolean {
		return this.run !== undefined && !this.run.ended;
	}

	/** Sends a request and returns its result. Throws Refused or Fault, nothing else. */
	async request(method: string, params: unknown, signal?: AbortSignal): Promise<unknown> {
		const run = this.alive && this.run ? this.run : this.start();
		try {
			await run.ready;
			return await run.request(method, params, signal);
		} catch (e) {
			throw e instanceof Refused ? e : this.failed(run, e instanceof Fault ? e : fault("defect", String(e)));
		}
	}

	/** Ends the present run because what it said makes no sense. */
	distrust(what: string): Fault {
		return this.failed(this.run, fault("nonsense", `the engine answered ${what}`));
	}

	private start(): Run {
		if (Date.now() < this.notBefore) throw fault("backoff", `waiting to restart: ${this.lastFault?.message}`);
		this.run = undefined;
		try {
			this.run = new Run(spawn(findBinary(this.env), ["pi"], { stdio: ["pipe", "pipe", "ignore"], env: this.env, windowsHide: true }));
		} catch (e) {
			throw this.failed(undefined, fault("engine_missing", e instanceof Error ? e.message : String(e)));
		}
		this.generation++;
		return this.run;
	}

	/** Notes a failure of a run; one that has been replaced is not held against the present one. */
	private failed(run: Run | undefined, why: Fault): Fault {
		run?.end(why);
		if (run !== this.run) return why;
		if (run && Date.now() - run.since > STEADY_MS) this.failures = 0;
		this.run = undefined;
		this.lastFault = why;
		this.notBefore = Date.now() + (BACKOFF_MS[Math.min(this.failures++, BACKOFF_MS.length - 1)] ?? 0);
		return why;
	}

	/** Ends the engine; it leaves by itself when its input ends, and is made to if it does not. */
	stop(): void {
		this.run?.end(fault("stopped", "the session ended"), TIMEOUT_MS);
		this.run = undefined;
	}
}
