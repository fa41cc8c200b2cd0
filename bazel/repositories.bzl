"""Repositories with a dlpackgen program and its toolchain, for WORKSPACE and for extensions.bzl."""

_BUILD = """\
load("@dlpackgen//:defs.bzl", "dlpackgen_toolchain")

dlpackgen_toolchain(
    name = "tool",
    tool = "{program}",
)

toolchain(
    name = "toolchain",
    exec_compatible_with = {constraints},
    toolchain = ":tool",
    toolchain_type = "@dlpackgen//:toolchain_type",
)
"""

def _write_build(ctx, program):
    ctx.file("BUILD.bazel", _BUILD.format(
        constraints = repr(ctx.attr.exec_compatible_with),
        program = program,
    ))

_CONSTRAINTS = {
    "exec_compatible_with": attr.string_list(
        doc = "Constraints of the machines that run the program, as @platforms//os:linux.",
    ),
}

def _download_impl(ctx):
    ctx.download_and_extract(
        url = ctx.attr.urls,
        sha256 = ctx.attr.sha256,
        stripPrefix = ctx.attr.strip_prefix,
    )
    _write_build(ctx, ctx.attr.program)

dlpackgen_download = repository_rule(
    doc = "A program from the archive of a release. SHA256SUMS of the release has its sha256.",
    implementation = _download_impl,
    attrs = dict(
        _CONSTRAINTS,
        program = attr.string(doc = "Its path in the archive.", default = "dlpackgen"),
        sha256 = attr.string(mandatory = True),
        strip_prefix = attr.string(),
        urls = attr.string_list(mandatory = True),
    ),
)

def _local_impl(ctx):
    program = ctx.attr.path or ctx.which("dlpackgen")
    if not program:
        fail("dlpackgen is not in PATH: install it, or give dlpackgen_local its path")
    ctx.symlink(program, "dlpackgen")
    _write_build(ctx, "dlpackgen")

dlpackgen_local = repository_rule(
    doc = "A program that is installed on this machine: by default the one in PATH.",
    implementation = _local_impl,
    attrs = dict(_CONSTRAINTS, path = attr.string(doc = "An absolute path.")),
    environ = ["PATH"],
    local = True,
)
