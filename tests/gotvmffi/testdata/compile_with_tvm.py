"""Compiles a TVM function, and a program that calls a global function, to a folder."""

import sys

import tvm
from tvm import relax, te

a = te.placeholder((3,), "float32", name="a")
b = te.compute((3,), lambda i: a[i] + 1.0, name="b")
function = te.create_prim_func([a, b]).with_attr("global_symbol", "add_one")
tvm.compile(tvm.IRModule({"add_one": function}), target="llvm").export_library(sys.argv[1] + "/add_one.so")

builder = relax.BlockBuilder()
x = relax.Var("x", relax.TensorType((3,), "float32"))
with builder.function("main", [x]):
    with builder.dataflow():
        twice = builder.emit(relax.op.add(x, x))
        out = relax.call_dps_packed("tried.go", (twice,), relax.TensorType((3,), "float32"))
        made = builder.emit_output(builder.emit(out))
    builder.emit_func_output(made)
tvm.compile(builder.get(), target="llvm").export_library(sys.argv[1] + "/program.so")
