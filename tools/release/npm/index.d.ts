/** The folder of <dlpack/dlpack.h>, <dlpackgen/...> and <dlpackgen_python.h>. */
export function includeDir(): string;
/** The path of the dlpackgen program. */
export function program(): string;
