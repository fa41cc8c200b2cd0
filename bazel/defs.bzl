"""Rules that generate DLPack headers and kernel interfaces, and build C libraries of them."""

TOOLCHAIN_TYPE = "@dlpackgen//:toolchain_type"

# Where each target's headers are, unless the config gives the target another path.
_DEFAULT_INCLUDES = ["c", "cpp", "kernels"]

def _toolchain_impl(ctx):
    return [platform_common.ToolchainInfo(tool = ctx.executable.tool)]

dlpackgen_toolchain = rule(
    doc = "A dlpackgen program, for toolchain() of type @dlpackgen//:toolchain_type.",
    implementation = _toolchain_impl,
    attrs = {
        "tool": attr.label(
            doc = "The dlpackgen program.",
            allow_single_file = True,
            cfg = "exec",
            executable = True,
            mandatory = True,
        ),
    },
)

def _selection(ctx, out):
    """Returns the flags that say what is generated, and the files that they name."""
    flags = ["--out", out.path]
    inputs = []
    if ctx.file.config:
        flags += ["--config", ctx.file.config.path]
        inputs.append(ctx.file.config)
    else:
        flags.append("--no-config")
    if ctx.file.spec:
        flags += ["--spec", ctx.file.spec.path]
        inputs.append(ctx.file.spec)
    if ctx.attr.dlpack:
        flags += ["--dlpack", ctx.attr.dlpack]
    if ctx.attr.targets:
        flags += ["--only", ",".join(ctx.attr.targets)]
    return flags, inputs

# In the sandbox, inputs are links, and the program reads templates only from regular files.
_WITH_TEMPLATES = """
set -eu
tool=$1 flags=$2 copy=$3.inputs
shift 3
for file; do
    mkdir -p "$copy/$(dirname "$file")"
    cp -L "$file" "$copy/$file"
done
"$tool" generate --quiet --config "$copy/$1" $flags
rm -r "$copy"
"""

def _generated_impl(ctx):
    tool = ctx.toolchains[TOOLCHAIN_TYPE].tool
    tree = ctx.actions.declare_directory(ctx.attr.name)
    flags, inputs = _selection(ctx, tree)
    if ctx.files.templates:
        if not ctx.file.config:
            fail("templates needs config, which names their folder")
        flags = [flag for flag in flags if flag not in ["--config", ctx.file.config.path]]
        copied = [file.path for file in [ctx.file.config] + ctx.files.templates]
        ctx.actions.run_shell(
            mnemonic = "Dlpackgen",
            progress_message = "Generating %{label}",
            command = _WITH_TEMPLATES,
            arguments = [tool.path, " ".join(flags), tree.path] + copied,
            inputs = inputs + ctx.files.templates,
            tools = [tool],
            outputs = [tree],
        )
    else:
        ctx.actions.run(
            mnemonic = "Dlpackgen",
            progress_message = "Generating %{label}",
            executable = tool,
            arguments = ["generate", "--quiet"] + flags,
            inputs = inputs,
            outputs = [tree],
        )
    return [DefaultInfo(files = depset([tree]))]

_SELECTION = {
    "config": attr.label(
        doc = "The dlpackgen.yaml; without one, the targets at their default paths.",
        allow_single_file = [".yaml", ".yml"],
    ),
    "dlpack": attr.string(doc = "The release of DLPack, instead of the config's."),
    "spec": attr.label(doc = "A spec, instead of the program's own.", allow_single_file = True),
    "targets": attr.string_list(doc = "The targets to generate; default: all of the config."),
}

dlpackgen_generated = rule(
    doc = "The files of a config, as one folder.",
    implementation = _generated_impl,
    attrs = dict(_SELECTION, templates = attr.label_list(
        doc = "The templates of the config's own targets, which are below the config's folder.",
        allow_files = True,
    )),
    toolchains = [TOOLCHAIN_TYPE],
)

# The program names the outputs; awk keeps those that one target compiles.
_COPY_UNITS = """
set -eu
"$1" list outputs $2 | awk -F '\\t' '$2 == "kernels" && $3 == "unit" { print $1 }' > "$3.list"
[ -s "$3.list" ] || { echo "the config has no target kernels with a described kernel" >&2; exit 1; }
while read -r file; do cp "$file" "$3/"; done < "$3.list"
rm "$3.list"
"""

def _units_impl(ctx):
    tool = ctx.toolchains[TOOLCHAIN_TYPE].tool
    generated = ctx.file.generated
    units = ctx.actions.declare_directory(ctx.attr.name)
    flags, inputs = _selection(ctx, generated)
    ctx.actions.run_shell(
        mnemonic = "DlpackgenUnits",
        progress_message = "Collecting sources of %{label}",
        command = _COPY_UNITS,
        arguments = [tool.path, " ".join(flags), units.path],
        inputs = inputs + [generated],
        tools = [tool],
        outputs = [units],
    )
    return [DefaultInfo(files = depset([units]))]

dlpackgen_units = rule(
    doc = "The generated C files of a config's kernels, as a folder for srcs.",
    implementation = _units_impl,
    attrs = dict(_SELECTION, generated = attr.label(
        doc = "The dlpackgen_generated of the same config.",
        allow_single_file = True,
        mandatory = True,
    )),
    toolchains = [TOOLCHAIN_TYPE],
)

def _includes(folder, includes):
    return [folder + "/" + path for path in (includes or _DEFAULT_INCLUDES)]

def _cc_library(rule_of_caller, **kwargs):
    # Bazel 9 has no native one: load rules_cc's and pass it.
    (rule_of_caller or native.cc_library)(**kwargs)

def dlpackgen_library(
        name,
        config = None,
        dlpack = None,
        spec = None,
        templates = [],
        targets = ["c"],
        includes = None,
        cc_library = None,
        **kwargs):
    """A cc_library of generated headers.

    Args:
      name: the name of the library; NAME_generated is the folder of the headers.
      config: the dlpackgen.yaml; without one, the targets at their default paths.
      dlpack: the release of DLPack, instead of the config's.
      spec: a spec, instead of the program's own.
      templates: the templates of the config's own targets, which are below the config's folder.
      targets: the targets to generate. Empty: all of the config.
      includes: the folders to include from, relative to the config's out. Default: the default
        paths of targets c, cpp and kernels.
      cc_library: the rule, where Bazel has no native one.
      **kwargs: passed to cc_library.
    """
    generated = name + "_generated"
    dlpackgen_generated(
        name = generated,
        config = config,
        dlpack = dlpack,
        spec = spec,
        tags = kwargs.get("tags"),
        templates = templates,
        targets = targets,
    )
    _cc_library(
        cc_library,
        name = name,
        hdrs = [generated],
        includes = _includes(generated, includes),
        **kwargs
    )

def dlpackgen_kernels(
        name,
        config,
        srcs,
        dlpack = None,
        spec = None,
        includes = None,
        cc_library = None,
        **kwargs):
    """A cc_library of the kernels that a config describes: their C, the checks and the headers.

    Args:
      name: the name of the library; NAME_generated is the folder of the generated files.
      config: the dlpackgen.yaml with targets c and kernels.
      srcs: the C files of the kernels.
      dlpack: the release of DLPack, instead of the config's.
      spec: a spec, instead of the program's own.
      includes: the folders to include from, relative to the config's out. Default: the default
        paths of targets c, cpp and kernels.
      cc_library: the rule, where Bazel has no native one.
      **kwargs: passed to cc_library.
    """
    generated = name + "_generated"
    units = name + "_units"
    kwargs.setdefault("linkstatic", True)  # its functions are hidden outside of one binary
    selection = dict(
        config = config,
        dlpack = dlpack,
        spec = spec,
        tags = kwargs.get("tags"),
        targets = ["c", "kernels"],
    )
    dlpackgen_generated(name = generated, **selection)
    dlpackgen_units(name = units, generated = generated, **selection)
    _cc_library(
        cc_library,
        name = name,
        srcs = srcs + [units],
        hdrs = [generated],
        includes = _includes(generated, includes),
        **kwargs
    )
