// A test extension that does to a session what other extensions and users may
// do: rewrite results, prune them from requests, edit the context, move about
// in the tree. It knows nothing of deja. One source serves both lines of pi, so
// the types are loose on purpose.
//
// Every command answers with one notification "t: {json}"; {"error": …} is a
// failure, with "unsupported": true where this line of pi has no such thing.
//
//   /t-leaf                              the leaf's id ("" for none)
//   /t-tree <entryId>                    ctx.navigateTree
//   /t-reset-leaf                        leaf before the first entry
//   /t-edit <entryId> omit|replace TEXT  context_edit at once (0.87)
//   /t-at turn_end|settle omit|replace last|<entryId> [TEXT]
//   /t-at turn_end|settle compact        one draft at that boundary (0.87)
//   /t-append <customType> <json>        pi.appendEntry
//   /t-mode <mode> [tool…]               one mode at a time, see below
//
// Modes. pi loads extensions anew with every new, forked or switched session,
// and the mode goes back to DEJA_T_MODE="<mode> [tool…]", or none:
//
//   none
//   redact        SECRET → [redacted], and a last line is added, in the result
//   fliperror     isError = true on the result
//   deny          the call is blocked before the tool runs
//   throw         the tool_result handler throws
//   delay=<ms>    the result is held back
//   prune[=<n>]   in the request only: all but the last n (default 1) results
//                 become a placeholder
//   drop[=<n>]    in the request only: they are left out
//   cut=<chars>   in the request only: every result is cut after so many chars
const PLACEHOLDER = "[pruned by t-mode]";
const NOTE = "\n[rewritten by t-mode]";

export default function hostile(pi: any) {
  let mode = "none";
  let value = "";
  let tools: string[] = [];
  const armed: { when: string; what: string; target: string; text: string }[] = [];

  const setMode = (args: string) => {
    const [name = "none", ...rest] = args.trim().split(/\s+/);
    const [kind, v = ""] = name.split("=");
    const known = ["none", "redact", "fliperror", "deny", "throw", "delay", "prune", "drop", "cut"];
    if (!known.includes(kind)) throw new Error(`unknown mode ${kind}`);
    [mode, value, tools] = [kind, v, rest];
  };
  if (process.env.DEJA_T_MODE) setMode(process.env.DEJA_T_MODE);
  const aims = (tool: string) => tools.length === 0 || tools.includes(tool);

  const command = (name: string, run: (args: string, ctx: any) => Promise<object> | object) =>
    pi.registerCommand(name, {
      description: "test extension",
      handler: async (args: string, ctx: any) => {
        let answer: object;
        try {
          answer = await run((args ?? "").trim(), ctx);
        } catch (err: any) {
          answer = { error: String(err?.message ?? err), unsupported: err?.unsupported === true };
        }
        ctx.ui.notify(`t: ${JSON.stringify(answer)}`, "info");
      },
    });
  const unsupported = (what: string) => Object.assign(new Error(`no ${what}`), { unsupported: true });
  const leaf = (ctx: any) => ctx.sessionManager.getLeafId() ?? "";

  command("t-leaf", (_args, ctx) => ({ leaf: leaf(ctx) }));

  command("t-tree", async (id, ctx) => {
    const r = await ctx.navigateTree(id, { summarize: false });
    if (r?.cancelled) throw new Error("navigation cancelled");
    return { leaf: leaf(ctx) };
  });

  command("t-reset-leaf", async (_args, ctx) => {
    // navigateTree refreshes the agent's messages; its target is the first user
    // message, whose parent still holds model and thinking-level entries. The
    // rest of the way needs the session manager itself.
    const first = ctx.sessionManager.getBranch().find((e: any) => e.type === "message" && e.message.role === "user");
    if (first) await ctx.navigateTree(first.id, { summarize: false });
    ctx.sessionManager.resetLeaf();
    return { leaf: leaf(ctx) };
  });

  command("t-edit", (args, ctx) => {
    if (typeof ctx.sessionManager.appendContextEdit !== "function") throw unsupported("context_edit");
    const [id, what, ...text] = args.split(" ");
    ctx.sessionManager.appendContextEdit(id, replacement(what, text.join(" ")));
    return { leaf: leaf(ctx) };
  });

  command("t-at", (args, ctx) => {
    if (typeof ctx.sessionManager.appendContextEdit !== "function") throw unsupported("boundary drafts");
    const [when, what, target = "", ...text] = args.split(" ");
    if (!["turn_end", "settle"].includes(when)) throw new Error(`unknown boundary ${when}`);
    if (!["omit", "replace", "compact"].includes(what)) throw new Error(`unknown change ${what}`);
    armed.push({ when, what, target, text: text.join(" ") });
    return { armed: armed.length };
  });

  command("t-append", (args, ctx) => {
    const at = args.indexOf(" ");
    pi.appendEntry(args.slice(0, at), JSON.parse(args.slice(at + 1)));
    return { leaf: leaf(ctx) };
  });

  command("t-mode", (args) => {
    setMode(args);
    return { mode, value, tools };
  });

  pi.on("tool_call", async (event: any) => {
    if (mode === "deny" && aims(event.toolName)) return { block: true, reason: "denied by t-mode" };
  });

  pi.on("tool_result", async (event: any) => {
    if (!aims(event.toolName)) return;
    if (mode === "delay") await new Promise((done) => setTimeout(done, Number(value)));
    if (mode === "throw") throw new Error("thrown by t-mode");
    if (mode === "fliperror") return { isError: true };
    if (mode !== "redact") return;
    const content = event.content.map((part: any) =>
      part.type === "text" ? { ...part, text: part.text.replaceAll("SECRET", "[redacted]") + NOTE } : part,
    );
    return { content };
  });

  pi.on("context", async (event: any) => {
    if (!["prune", "drop", "cut"].includes(mode)) return;
    const results = event.messages.filter((m: any) => m.role === "toolResult" && aims(m.toolName));
    const old = new Set(mode === "cut" ? results : results.slice(0, Math.max(0, results.length - Number(value || 1))));
    const messages = event.messages
      .filter((m: any) => !(mode === "drop" && old.has(m)))
      .map((m: any) => (old.has(m) ? { ...m, content: [{ type: "text", text: shrink(m) }] } : m));
    return { messages };
  });

  const shrink = (m: any) => {
    if (mode === "prune") return PLACEHOLDER;
    return m.content.map((part: any) => part.text ?? "").join("").slice(0, Number(value));
  };

  const replacement = (what: string, text: string) => (what === "omit" ? null : { content: text });

  // boundary makes the armed changes for one boundary. "last" is the newest
  // tool result of the branch.
  const boundary = (when: string) => async (event: any, ctx: any) => {
    // turn_end also ends the final turn, after which no request follows.
    if (when === "turn_end" && event.toolResults?.length === 0) return;
    const due = armed.filter((a) => a.when === when);
    if (due.length === 0) return;
    armed.splice(0, armed.length, ...armed.filter((a) => a.when !== when));
    const branch = ctx.sessionManager.getBranch();
    const results = branch.filter((e: any) => e.type === "message" && e.message.role === "toolResult");
    const drafts = due.map((a) =>
      a.what === "compact"
        ? { type: "compaction", summary: "compacted by t-at", firstKeptEntryId: null }
        : {
            type: "context_edit",
            targetId: a.target === "last" ? results.at(-1)?.id : a.target,
            replacement: replacement(a.what, a.text),
          },
    );
    return { entries: [...(event.entries ?? []), ...drafts], continue: event.continue };
  };
  pi.on("turn_end", boundary("turn_end"));
  pi.on("agent_before_settle", boundary("settle"));
}
