// The tests load the real pi 0.73 ("make pi"), which runs on every Node that the extension runs on.
import { register } from "node:module";

const pi = new URL("../../../conformance/pi/0.73/node_modules/@mariozechner/pi-coding-agent/dist/index.js", import.meta.url).href;
const hook = `export const resolve = (name, context, next) =>
	name === "@mariozechner/pi-coding-agent" ? { url: ${JSON.stringify(pi)}, shortCircuit: true } : next(name, context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
