#!/usr/bin/env python3
"""Renames the public names, once (names.md). Run in the root of a clean worktree; then regen."""

import os
import re
import subprocess

files = [f for f in subprocess.check_output(["git", "ls-files"], text=True).split("\n") if f]
SKIP = re.compile(
    r"^(gen/|backends/|golden/|examples/[^/]*/generated/|dlpackgen\.lock|.*\.lock$|LICENSE|tests/abi/testdata/facts|go\.(mod|sum))"
)
files = [f for f in files if not SKIP.match(f) and os.path.isfile(f) and not os.path.islink(f)]

texts = {}
for f in files:
    try:
        texts[f] = open(f, encoding="utf-8", newline="").read()
    except UnicodeDecodeError:
        pass
before = dict(texts)


def sub(pattern, new, where=r".*", flags=0):
    p, w = re.compile(pattern, flags), re.compile(where)
    for f in texts:
        if w.search(f):
            texts[f] = p.sub(new, texts[f])


def tokens(table, where=r".*"):
    p = re.compile(
        r"(?<![A-Za-z0-9_])(" + "|".join(sorted(map(re.escape, table), key=len, reverse=True)) + r")(?![A-Za-z0-9_])"
    )
    w = re.compile(where)
    for f in texts:
        if w.search(f):
            texts[f] = p.sub(lambda m: table[m.group(1)], texts[f])


# ---- C helpers ---------------------------------------------------------------------------
C = {
    "dlpack_error": "dlpackgen_error_code",
    "dlpack_error_text": "dlpackgen_error_string",
    "dlpack_count": "dlpackgen_size",
    "dlpack_span": "dlpackgen_byte_range",
    "dlpack_nbytes": "dlpackgen_nbytes",
    "dlpack_is_row_major": "dlpackgen_is_contiguous",
    "dlpack_is_dense": "dlpackgen_is_contiguous_any_order",
    "dlpackgen_is_row_major": "dlpackgen_is_plainly_contiguous",
    "dlpackgen_is_dense": "dlpackgen_is_contiguous_anyhow",
    "dlpack_compact_strides": "dlpackgen_compact_strides",
    "dlpack_validate": "dlpackgen_validate",
    "dlpack_validate_versioned": "dlpackgen_validate_versioned",
    "dlpack_find_exchange_api": "dlpackgen_find_exchange_api",
    "dlpack_element_bits": "dlpackgen_element_bits",
    "dlpack_alignment": "dlpackgen_alignment",
    "dlpack_device_is_host_readable": "dlpackgen_device_is_host_readable",
    "dlpack_device_has_addresses": "dlpackgen_device_is_opaque",  # inverted: see flip()
    "dlpack_device_type_name": "dlpackgen_device_type_name",
    "dlpack_type_code_name": "dlpackgen_type_code_name",
    "DLPACK_OK": "DLPACKGEN_OK",
    "DLPACK_MAX_NDIM": "DLPACKGEN_MAX_NDIM",
    "DLPACK_MAX_EXCHANGE_APIS": "DLPACKGEN_MAX_EXCHANGE_APIS",
    "DLPACK_DLPACK_UTIL_H_": "DLPACKGEN_TENSOR_H_",
    "DLPACK_DLPACK_CODES_H_": "DLPACKGEN_CODES_H_",
    "DLPACK_ABI_CHECK_H_": "DLPACKGEN_ABI_CHECK_H_",
}
# ---- Python base -------------------------------------------------------------------------
C |= {
    "dlpackgen_tensor": "DLPACKGEN_KIND_TENSOR",
    "dlpackgen_int": "DLPACKGEN_KIND_INT",
    "dlpackgen_float": "DLPACKGEN_KIND_FLOAT",
    "dlpackgen_bool": "DLPACKGEN_KIND_BOOL",
    "dlpackgen_density": "dlpackgen_layout",
    "dlpackgen_strided": "DLPACKGEN_LAYOUT_ANY",
    "dlpackgen_row_major": "DLPACKGEN_LAYOUT_C_CONTIGUOUS",
    "dlpackgen_dense": "DLPACKGEN_LAYOUT_CONTIGUOUS_ANY_ORDER",
    "dlpackgen_rows": "DLPACKGEN_LAYOUT_INNER_CONTIGUOUS",
    "dlpackgen_bad_density": "dlpackgen_bad_layout",
    "DLPACKGEN_SYMBOL": "DLPACKGEN_DIM",
    "DLPACKGEN_MAX_SYMBOLS": "DLPACKGEN_MAX_DIMS",
    "dlpackgen_symbol_text": "dlpackgen_dim_text",
    "dlpackgen_begin": "dlpackgen_call_begin",
    "dlpackgen_begin_inline": "dlpackgen_call_begin_inline",
    "dlpackgen_end": "dlpackgen_call_end",
    "dlpackgen_empty": "dlpackgen_new_empty",
    "dlpackgen_wrap": "dlpackgen_to_py_object",
    "dlpackgen_take": "dlpackgen_from_py_object_no_sync",
    "dlpackgen_give": "dlpackgen_export_object",
    "dlpackgen_capsule": "dlpackgen_export_capsule",
    "dlpackgen_of_object": "dlpackgen_from_owner",
    "dlpackgen_register": "dlpackgen_register_exchange_api",
    "dlpackgen_use_device": "dlpackgen_use_backend",
    "dlpackgen_device_for": "dlpackgen_backend_for",
    "dlpackgen_device_in": "dlpackgen_backend_from_capsule",
    "dlpackgen_device_capsule": "dlpackgen_backend_to_capsule",
    "dlpackgen_fault": "dlpackgen_argument_error",
    "want_write": "writable",
}
# ---- the table of a backend --------------------------------------------------------------
C |= {
    "dlpackgen_device": "dlpackgen_backend",
    "dlpackgen_device_error": "dlpackgen_backend_error",
    "dlpackgen_device_facts": "dlpackgen_driver_info",
    "dlpackgen_device_pointer": "dlpackgen_pointer_attributes",
    "dlpackgen_device_request": "dlpackgen_allocation",
    "dlpackgen_device_source": "dlpackgen_stream_source",
    "dlpackgen_device_stream": "dlpackgen_stream",
    "dlpackgen_device_code": "dlpackgen_backend_code",
    "DLPACKGEN_DEVICE_ABI_VERSION": "DLPACKGEN_BACKEND_ABI_VERSION",
    "DLPACKGEN_DEVICE_H_": "DLPACKGEN_BACKEND_H_",
    "DLPACKGEN_DEVICE_PEERS": "DLPACKGEN_BACKEND_PEER_ACCESS",
}
for old, new in {
    "OK": "OK",
    "ABSENT": "DRIVER_NOT_FOUND",
    "STUB": "DRIVER_STUB",
    "OLD_DRIVER": "DRIVER_TOO_OLD",
    "NO_DEVICE": "NO_DEVICE",
    "UNAVAILABLE": "UNAVAILABLE",
    "FORKED": "FORKED",
    "BAD_ARGUMENT": "INVALID_ARGUMENT",
    "BAD_TYPE": "INVALID_DEVICE_TYPE",
    "BAD_DEVICE": "INVALID_DEVICE",
    "BAD_STREAM": "INVALID_STREAM",
    "STREAM_DEVICE": "STREAM_DEVICE_MISMATCH",
    "CAPTURING": "CAPTURING",
    "OTHER_CONTEXT": "CONTEXT_MISMATCH",
    "NOT_MAPPED": "NOT_MAPPED",
    "NOT_LINEAR": "NOT_LINEAR",
    "WRONG_MEMORY": "MEMORY_MISMATCH",
    "LAYOUT": "UNSUPPORTED_LAYOUT",
    "OTHER_TENSOR": "NOT_ALLOCATED_HERE",
    "OUT_OF_MEMORY": "OUT_OF_MEMORY",
    "UNSUPPORTED": "UNSUPPORTED",
    "ENDED": "SHUTTING_DOWN",
    "LOST": "DEVICE_LOST",
    "DRIVER": "DRIVER_ERROR",
    "HOST_MEMORY": "HOST_MEMORY",
    "NUMBERING": "DEVICE_IDS_UNKNOWN",
}.items():
    C["DLPACKGEN_DEVICE_" + old] = "DLPACKGEN_BACKEND_" + new
C |= {
    "DLPACKGEN_SHM_AGAIN": "DLPACKGEN_SHM_WOULD_BLOCK",
    "DLPACKGEN_SHM_MESSAGE": "DLPACKGEN_SHM_INVALID_MESSAGE",
    "DLPACKGEN_SHM_SEALS": "DLPACKGEN_SHM_NOT_SEALED",
}

spec = open("spec/dlpack.yaml").read()
for name in re.findall(r"\{name: (\w+), code:", spec):
    C["DLPACKGEN_" + name.upper()] = "DLPACKGEN_DTYPE_" + name.upper()

MOVES = {
    "templates/device/dlpackgen_device.h": "templates/device/dlpackgen_backend.h",
    "templates/device/dlpackgen_device.hpp": "templates/device/dlpackgen_backend.hpp",
}

PY = r"^(templates/(python|c|checker|torch|device)/|tests/(python|clients|safety|gopy|devices|torch|torchops|oneapi|shm|gpu|c)/|bench/|docs/|examples/|README)"
CPP = r"^(templates/(cpp|torch|device|shm)/|tests/(cpp|torch|torchops|clients|safety|devices|oneapi|shm|gobind|recipes|house|gpu)/|bench/|docs/|examples/|README|internal/emit/(cpp|torch)/)"
CSRC = r"(^templates/|\.(c|h|cpp|hpp|go|md|tmpl)$)"


def flip():
    """What had addresses is opaque: the other truth."""
    sub(r"!dlpackgen_device_is_opaque\b", "\0", CSRC)
    sub(
        r"\bdlpackgen_device_is_opaque(?=\((?!DLDeviceType|DLDevice|int32_t|device\) \{))",
        "!dlpackgen_device_is_opaque",
        CSRC,
    )
    sub("\0", "dlpackgen_device_is_opaque", CSRC)


def params():
    w = PY
    sub(r"\bdensity\b", "layout", w)
    sub(r"\bdensities\b", "layouts", w)
    sub(r"\bdtype_as\b", "same_dtype_as", w)
    sub(r"\bshape_as\b", "same_shape_as", w)
    sub(r"\bunlocks\b", "releases_gil", w)
    sub(r"((?:p|parameter|parameters\[\w+\]|theirs|earlier)(?:\.|->))writes\b", r"\1writable", w)
    sub(r"(\.)writes = ", r"\1writable = ", w)
    sub(r"uint8_t writes;", "uint8_t writable;", w)
    sub(r'"writes"', '"writable"', w)
    sub(r"\bwrites=", "writable=", r"^tests/(python|clients|safety)/.*\.(py|go)$")
    sub(r"((?:p|parameter)(?:\.|->))rank\b", r"\1ndim", w)
    sub(r"(?<=[{ ,\t(])\.rank = ", ".ndim = ", w)
    sub(r"uint8_t rank;", "uint8_t ndim;", w)
    sub(r'"rank"', '"ndim"', r"^tests/(python|safety|clients)/")
    sub(r"\brank=", "ndim=", r"^tests/(python|safety)/.*\.(py|go)$")
    sub(r"((?:p|parameter)(?:\.|->))more\b", r"\1leading_dims", w)
    sub(r"(?<=[{ ,\t(])\.more = ", ".leading_dims = ", w)
    sub(r"uint8_t more;", "uint8_t leading_dims;", w)
    sub(r'"more"', '"leading_dims"', r"^tests/(python|safety)/.*\.(py|c|h)$")
    sub(r"\bmore=", "leading_dims=", r"^tests/(python|safety)/.*\.py$")
    sub(r"\.symbols = ", ".dim_names = ", w)
    sub(r"\bfunction(->|\.)symbols\b", r"function\1dim_names", w)
    sub(r"\bcall(->|\.)symbols\b", r"call\1dims", w)
    sub(r"const char \*symbols\[", "const char *dim_names[", w)
    sub(r"int64_t symbols\[", "int64_t dims[", w)
    sub(r"\bfunction(->|\.)count\b", r"function\1nparameters", w)
    sub(r"(\.parameters = [^{};]*?)\.count = ", r"\1.nparameters = ", w)
    sub(r"uint8_t count; /\*\*< of the parameters", "uint8_t nparameters; /**<", w)


def backend():
    sub(
        r"(->|\.)order_after\b",
        r"\1stream_wait",
        r"^(templates|tests|examples|docs|bench|internal)/.*\.(c|h|cpp|hpp|md|go|tmpl)$",
    )
    sub(r"\(\*order_after\)", "(*stream_wait)")
    sub(r"\(\*finish\)", "(*stream_synchronize)", "dlpackgen_device")
    sub(r"\(\*pointer_info\)", "(*pointer_attributes)")
    sub(r"(->|\.)pointer_info\b", r"\1pointer_attributes", CSRC)
    sub(r"\(\*alloc\)", "(*allocate)", "dlpackgen_device")
    sub(r"\(\*free\)", "(*deallocate)", "dlpackgen_device")
    sub(r"\(\*current_stream\)", "(*current_work_stream)", "dlpackgen_device")


def messages():
    for old, new in {
        "the major version of DLPack is not ours": "unsupported major version of DLPack",
        "the function writes to it, and its strides may put several elements in one place": "its elements may overlap, but the parameter is writable: pass a contiguous copy",
        "it went to another device or stream during the call": "its device or current stream changed while the arguments were read",
    }.items():
        sub(re.escape(old), new)


def go():
    g = r"\.(go|md|c|h|tmpl|txtar|py)$"
    table = {
        "IsDense": "IsContiguous",
        "ErrNotDense": "ErrNotContiguous",
        "IsColumnMajor": "IsFContiguous",
        "MutableData": "WritableData",
        "MutableRuns": "WritableRuns",
        "MutablePackedData": "WritablePackedData",
        "MutablePacked": "WritablePacked",
        "ForbidWriting": "SetReadOnly",
        "OpenExchangeAPI": "FindExchangeAPI",
    }
    tokens(table, g)


DEVICE = r"(?<=[^\w])((?:device|d|table|TABLE|cl|backend|from|found->table|TABLE->device|shm->device|DLPACKGEN_SHM_ENTRY\(\)->device|dlpackgen_\w+\(\))->)"
SLOTS = {
    "alloc": "allocate",
    "free": "deallocate",
    "pointer_info": "pointer_attributes",
    "order_after": "stream_wait",
    "finish": "stream_synchronize",
    "current_stream": "current_work_stream",
}


def backend():
    w = r"^(templates|tests|examples|docs|bench|internal)/.*\.(c|h|cpp|hpp|md|go|tmpl)$"
    for old, new in SLOTS.items():
        sub(DEVICE + old + r"\b", r"\1" + new, w)
        sub(r"\(\*" + old + r"\)", "(*" + new + ")", r"templates/device/dlpackgen_(device|backend)")


KINDS = {
    "bad_device": "invalid_device",
    "bad_stream": "invalid_stream",
    "driver": "driver_error",
    "ended": "shutting_down",
    "lost": "device_lost",
    "old_driver": "driver_too_old",
    "stub": "driver_stub",
}


def kinds():
    for old, new in KINDS.items():
        sub(r"(kind: )" + old + r"\b", r"\1" + new)
        sub(r'"' + old + '"', '"' + new + '"', r"^internal/backend/backend\.go$")
    sub(r"DLPACKGEN_DEVICE_(?=\{\{)", "DLPACKGEN_BACKEND_")
    sub(r'DLPACKGEN_DEVICE_(?="\+strings)', "DLPACKGEN_BACKEND_")


def examples():
    for old, new in {
        "OpenExchangeAPI": "FindExchangeAPI",
        "MutablePackedData": "WritablePackedData",
        "MutableData": "WritableData",
        "MutableRuns": "WritableRuns",
        "Tensor_IsColumnMajor": "Tensor_IsFContiguous",
        "Tensor_IsDense": "Tensor_IsContiguous",
    }.items():
        sub(r"\bExample" + old + r"\b", "Example" + new, r"\.go$")


def opaque():
    p = "templates/c/dlpack_codes.h.tmpl"
    t = texts[p]
    i = t.index("dlpackgen_device_is_opaque(")
    head, body = t[:i], t[i:]
    j = body.index("\n}")
    fun = body[:j]
    fun = fun.replace("return 0", "\0").replace("return 1", "return 0").replace("\0", "return 1")
    texts[p] = head + fun + body[j:]


def names_go():
    sub(
        r'"DLPACKGEN_" \+ strings\.ToUpper\(d\.Name\)',
        '"DLPACKGEN_DTYPE_" + strings.ToUpper(d.Name)',
        r"^internal/emit/",
    )


def after():
    flip()
    params()
    messages()
    go()
    backend()
    kinds()
    examples()
    opaque()
    names_go()


tokens(C)
sub(r"\bDLPACK_(ERROR|ACCEPT|UTIL|CODES|ABI)_(?!VERSION\b)", r"DLPACKGEN_\1_")
sub(
    r"\bdlpack_(multiply_|add_|magnitude_|bytes_of_|check_shape_|check_memory_|check_dtype_|bits_of_code_)",
    r"dlpackgen_\1",
)
sub(r"\bdlpack_abi_(?=\w)", "dlpackgen_abi_")
after()

changed = 0
for f, t in texts.items():
    if t != before[f]:
        open(f, "w", encoding="utf-8", newline="").write(t)
        changed += 1
for old, new in MOVES.items():
    if os.path.exists(old):
        os.makedirs(os.path.dirname(new), exist_ok=True)
        subprocess.check_call(["git", "mv", old, new])
print(changed, "files")
