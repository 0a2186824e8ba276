import { accessSync, constants, statSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";

function runnable(file: string): boolean {
	try {
		accessSync(file, constants.X_OK);
		return statSync(file).isFile();
	} catch {
		return false;
	}
}

/** Finds the deja binary: DEJA_BIN, then the platform package of this one, then PATH (spec 10.3). */
export function findBinary(env: NodeJS.ProcessEnv): string {
	if (env.DEJA_BIN) {
		if (runnable(env.DEJA_BIN)) return env.DEJA_BIN;
		throw new Error(`DEJA_BIN is ${env.DEJA_BIN}, which is not a program`);
	}
	const exe = process.platform === "win32" ? "deja.exe" : "deja";
	const platform = `pi-readcache-${process.platform}-${process.arch}`;
	const places = (env.PATH ?? "").split(delimiter).flatMap((dir) => (dir ? [join(dir, exe)] : []));
	try {
		places.unshift(createRequire(import.meta.url).resolve(`${platform}/bin/${exe}`));
	} catch {
		// The platform package is optional.
	}
	const found = places.find(runnable);
	if (!found) throw new Error(`no deja in DEJA_BIN, the package ${platform} or PATH`);
	return found;
}
