import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { findBinary } from "../src/binary.js";
import { folder } from "./fake.js";

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
