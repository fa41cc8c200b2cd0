"""Module extension that brings a dlpackgen program with its toolchain (bzlmod)."""

load(":repositories.bzl", "dlpackgen_download", "dlpackgen_local")

def _dlpackgen_impl(ctx):
    for module in ctx.modules:
        for tag in module.tags.download:
            dlpackgen_download(
                name = tag.name,
                exec_compatible_with = tag.exec_compatible_with,
                program = tag.program,
                sha256 = tag.sha256,
                strip_prefix = tag.strip_prefix,
                urls = tag.urls,
            )
        for tag in module.tags.local:
            dlpackgen_local(name = tag.name, path = tag.path)

dlpackgen = module_extension(
    implementation = _dlpackgen_impl,
    tag_classes = {
        "download": tag_class(attrs = {
            "exec_compatible_with": attr.string_list(),
            "name": attr.string(mandatory = True),
            "program": attr.string(default = "dlpackgen"),
            "sha256": attr.string(mandatory = True),
            "strip_prefix": attr.string(),
            "urls": attr.string_list(mandatory = True),
        }),
        "local": tag_class(attrs = {
            "name": attr.string(mandatory = True),
            "path": attr.string(),
        }),
    },
)
