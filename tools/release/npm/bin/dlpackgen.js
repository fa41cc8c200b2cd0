#!/usr/bin/env node
"use strict";

const { spawnSync } = require("child_process");

let program;
try {
  program = require("..").program();
} catch (error) {
  console.error(`dlpackgen: error: ${error.message}`);
  process.exit(2);
}
const ended = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (ended.signal) {
  process.kill(process.pid, ended.signal);
} else if (ended.error) {
  console.error(`dlpackgen: error: ${ended.error.message}`);
  process.exit(2);
}
process.exitCode = ended.status;
