// A test extension for comparisons with a pi that has no read cache. It offers a model that can see
// (its server is DEJA_T_URL), and renders a read result with pi's own renderer:
//
//   /t-render <toolCallId>    notifies the lines a user would see, as a JSON list
import { createReadToolDefinition } from "@mariozechner/pi-coding-agent";

export default function plain(pi: any) {
  pi.registerProvider("eyes", {
    baseUrl: process.env.DEJA_T_URL,
    apiKey: "x",
    api: "openai-completions",
    models: [
      {
        id: "eyes", name: "eyes", reasoning: false, input: ["text", "image"], contextWindow: 200000, maxTokens: 4096,
        cost: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
      },
    ],
  });

  pi.registerCommand("t-render", {
    description: "test extension",
    handler: async (id: string, ctx: any) => {
      const branch = ctx.sessionManager.getBranch().map((e: any) => e.message).filter(Boolean);
      const result = branch.find((m: any) => m.role === "toolResult" && m.toolCallId === id.trim());
      const calls = branch.flatMap((m: any) => (m.role === "assistant" ? m.content : []));
      const args = calls.find((c: any) => c.type === "toolCall" && c.id === id.trim()).arguments;
      const shown = (createReadToolDefinition(ctx.cwd) as any).renderResult(
        { content: result.content, details: result.details },
        { expanded: true, isPartial: false },
        ctx.ui.theme,
        { args, cwd: ctx.cwd, expanded: true, showImages: false, isError: result.isError },
      );
      ctx.ui.notify(JSON.stringify(shown.render(200).map((l: string) => l.replace(/\x1b\[[0-9;]*m/g, "").trimEnd())), "info");
    },
  });
}
