"""Calls axpy and softmax with the tensors of each library that is named: ./run.sh numpy torch"""

import importlib
import sys

import _kernels


def arrays(library):
    module = importlib.import_module({"jax": "jax.numpy"}.get(library, library))
    return module.asarray([[0.0, 1.0, 2.0], [3.0, 3.0, 3.0]], dtype=module.float32)


def rows(array):
    return [[round(float(v), 4) for v in row] for row in array]


for library in sys.argv[1:] or ["numpy", "torch"]:
    x = arrays(library)
    y = _kernels.softmax(x)
    assert type(y) is type(x), f"softmax gave {type(y)}"
    assert rows(y) == [[0.09, 0.2447, 0.6652], [0.3333, 0.3333, 0.3333]], rows(y)
    if library == "jax":  # its arrays are immutable
        print("jax: softmax agrees")
        continue
    _kernels.axpy(2.0, x, y)
    assert rows(y)[0] == [0.09, 2.2447, 4.6652], rows(y)
    try:
        _kernels.axpy(2.0, x, y[0])
    except ValueError as e:
        message = str(e)
    assert message == "axpy(): argument 'y' (3rd): expected ... = (2, 3), as in argument 'x' (2nd), got (3,)", message
    print(f"{library}: softmax and axpy agree; {message}")
