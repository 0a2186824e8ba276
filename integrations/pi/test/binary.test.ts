import assert from "node:assert/strict";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { findBinary } from "../src/binary.js";
import { folder } from "./fake.js";

// spec 10.3
test("findBinary: DEJA_BIN, then PATH, programs only", (t) => {
	const dir = folder(t);
	for (const name of ["first", "second", "third"]) mkdirSync(join(dir, name));
	mkdirSync(join(dir, "first", "deja")); // a folder is no program
	writeFileSync(join(dir, "second", "deja"), ""); // nor is a file that cannot be run
	const good = join(dir, "third", "deja");
	writeFileSync(good, "");
	chmodSync(good, 0o755);
	const PATH = ["", "first", "absent", "second", "third"].map((d) => (d ? join(dir, d) : "")).join(delimiter);
	assert.equal(findBinary({ PATH }), good);
	assert.equal(findBinary({ PATH, DEJA_BIN: "" }), good);
	assert.equal(findBinary({ DEJA_BIN: good }), good);
	assert.throws(() => findBinary({ PATH, DEJA_BIN: join(dir, "second", "deja") }), /DEJA_BIN is .*second.*not a program/);
	assert.throws(() => findBinary({ PATH, DEJA_BIN: "deja" }), /not a program/);
	assert.throws(() => findBinary({ PATH: join(dir, "first") }), /no deja in DEJA_BIN, the package pi-readcache-\w+-\w+ or PATH/);
	assert.throws(() => findBinary({}), /no deja/);
});

// spec 10.3
test("findBinary: the platform package comes after DEJA_BIN and before PATH", (t) => {
	const home = fileURLToPath(new URL(`../node_modules/pi-readcache-${process.platform}-${process.arch}`, import.meta.url));
	t.after(() => rmSync(home, { recursive: true, force: true }));
	const dir = folder(t);
	const [packaged, other] = [join(home, "bin", "deja"), join(dir, "deja")];
	mkdirSync(join(home, "bin"), { recursive: true });
	writeFileSync(join(home, "package.json"), "{}");
	for (const file of [packaged, other]) {
		writeFileSync(file, "");
		chmodSync(file, 0o755);
	}
	assert.equal(findBinary({ PATH: dir }), packaged);
	assert.equal(findBinary({ PATH: dir, DEJA_BIN: other }), other);
	chmodSync(packaged, 0o644); // there, but no program
	assert.equal(findBinary({ PATH: dir }), other);
});
