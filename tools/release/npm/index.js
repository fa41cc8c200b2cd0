"use strict";

const path = require("path");

const platforms = {
  "linux x64": "@dlpackgen/linux-x64",
  "linux arm64": "@dlpackgen/linux-arm64",
  "darwin x64": "@dlpackgen/darwin-x64",
  "darwin arm64": "@dlpackgen/darwin-arm64",
  "win32 x64": "@dlpackgen/win32-x64",
  "win32 arm64": "@dlpackgen/win32-arm64",
};

/** The folder of <dlpack/dlpack.h>, <dlpackgen/...> and <dlpackgen_python.h>. */
exports.includeDir = () => path.join(__dirname, "include");

/** The path of the dlpackgen program. */
exports.program = () => {
  const name = platforms[`${process.platform} ${process.arch}`];
  if (!name) {
    throw new Error(`dlpackgen has no program for ${process.platform} on ${process.arch}: build it by go install`);
  }
  const file = process.platform === "win32" ? "dlpackgen.exe" : "dlpackgen";
  try {
    return require.resolve(`${name}/bin/${file}`);
  } catch {
    throw new Error(`dlpackgen needs the package ${name}: install dlpackgen without --omit=optional`);
  }
};
