// Reduces each line of standard input with the extension's own code.
import { createInterface } from "node:readline";
import { reduce } from "../../../integrations/pi/src/entries.ts";

for await (const line of createInterface({ input: process.stdin })) console.log(JSON.stringify(reduce(JSON.parse(line))));
