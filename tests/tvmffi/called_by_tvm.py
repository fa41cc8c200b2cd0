"""Calls the kernels from TVM: from a module, as global functions, and from a compiled program."""

import os

import numpy as np
import tvm
import tvm_ffi
from tvm import relax

library = tvm.runtime.load_module(os.environ["LIBRARY"])
x = np.arange(6, dtype=np.float32).reshape(2, 3)

# A function of the module, with TVM's tensors.
a = tvm.runtime.tensor(x)
library["scale"](a, 3.0)
assert (a.numpy() == 3 * x).all()
try:
    library["scale"](a, "a")
except TypeError as e:
    assert str(e).splitlines()[0] == "scale(): argument 'by' (2nd): expected float32, got str", e
else:
    raise AssertionError("no error")

# A global function, by its name.
tvm_ffi.register_global_func("tried.copies", library["copies"])
out = tvm.runtime.tensor(np.zeros((2, 3), np.float32))
assert list(tvm.get_global_func("tried.copies")(a, 1, None, out)) == [1, -1.0, True]
assert (out.numpy() == 3 * x).all()

# A compiled Relax program calls it by name, with memory for the results as the last argument.
tvm_ffi.register_global_func("tried.pair", library["pair"])
builder = relax.BlockBuilder()
argument = relax.Var("x", relax.TensorType((3,), "float32"))
made = [relax.TensorType((3,), "float32")] * 2
with builder.function("main", [argument]):
    both = builder.emit(relax.call_dps_packed("tried.pair", (argument,), made))
    builder.emit_func_output(both)
program = relax.VirtualMachine(tvm.compile(builder.get(), target="llvm"), tvm.cpu())
one, two = program["main"](tvm.runtime.tensor(x[1].copy()))
assert (one.numpy() == x[1]).all() and (two.numpy() == 2 * x[1]).all()
print("called by TVM", tvm.__version__)
