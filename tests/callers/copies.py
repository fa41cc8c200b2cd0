"""Two packages in one process whose kernels have the same names, and one library under two names.

Usage: copies.py FOLDER, which has the packages of testdata/packages
"""

import importlib.util
import pathlib
import shutil
import sys
import tempfile

import numpy as np

import hosts

FOLDER = pathlib.Path(sys.argv[1])
sys.path[:0] = [str(FOLDER / "first"), str(FOLDER / "other")]
X = np.arange(1, 7, dtype="float32").reshape(2, 3)
WANT = {"first": X * 3, "other": X + 3}


def test_a_model_has_operators_of_both():
    """ONNX Runtime reuses memory for tensors whose dimensions have the same names. It is the first test: both
    libraries count their names from 0."""
    import onnxruntime as ort
    from model import FLOAT, model, node

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    for package in WANT:
        options.register_custom_ops_library(hosts.library_of(package))
    nodes = [node("mix", package, [f"{package}{i}"], [f"{package}{i + 1}"], times=2)
             for package in WANT for i in range(3)]
    ends = [(package, FLOAT, 2) for package in WANT]
    data = model(nodes, [(p + "0", t, rank) for p, t, rank in ends], [(p + "3", t, rank) for p, t, rank in ends])
    session = ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    for first, other in ((2, 300), (300, 2)):  # the first one
        given = {"first0": np.ones((first, 5), "float32"), "other0": np.ones((other, 5), "float32")}
        multiplied, added = session.run(None, given)
        np.testing.assert_array_equal(multiplied, given["first0"] * 8)
        np.testing.assert_array_equal(added, given["other0"] + 6)


def test_each_host_calls_both():
    """In turn, so that each package runs after the other one."""
    for name, host in hosts.ALL.items():
        packages = {package: host(package) for package in WANT}
        for package in ("first", "other", "first"):
            np.testing.assert_array_equal(packages[package].mix(X, 3), WANT[package], err_msg=f"{name}, {package}")
            output = hosts.error_of(lambda: packages[package].mix(X, -5))
            assert "mix(): expected times > 0, where times = -5" in output, (name, output)
            assert "mix(): an even status" in hosts.error_of(lambda: packages[package].mix(X, 102)), name


def test_graphs_of_paddle_call_both():
    import paddle

    for package in ("first", "other", "first"):
        kernels = importlib.import_module(package + ".kernels_paddle")

        def traced(x):
            return kernels.mix(x, 3) * 1

        made = paddle.jit.to_static(traced, full_graph=True)(paddle.to_tensor(X))
        np.testing.assert_array_equal(made.numpy(), WANT[package], err_msg=package)


def module_of(name, file):
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_one_file_as_two_modules():
    """The loader loads each library file once; each module has a separate state."""
    file = hosts.library_of("first")
    one, two = module_of("one._kernels", file), module_of("two._kernels", file)
    assert one is not two
    np.testing.assert_array_equal(two.mix(one.mix(X, 2), 2), X * 4)
    del one
    np.testing.assert_array_equal(two.mix(X, 3), X * 3)


def twin_of(package, folder):
    """A package with a different name, and with the same names for hosts."""
    made = pathlib.Path(folder) / "twin"
    shutil.copytree(FOLDER / package / package, made, ignore=shutil.ignore_patterns("*.c", "*.h", "__pycache__"))
    for file in made.glob("*.py"):
        file.write_text(file.read_text().replace(f"{package}._kernels", "twin._kernels"))
    sys.path.insert(0, folder)


def test_names_that_hosts_have_once():
    """torch, JAX and ONNX Runtime have one operator per name. The second one is always an error
    with that reason, and the first one still works."""
    import onnxruntime as ort
    from model import FLOAT, model, node

    torch, jax = hosts.torch("first"), hosts.jax("first")
    with tempfile.TemporaryDirectory() as folder:
        twin_of("first", folder)
        np.testing.assert_array_equal(hosts.python("twin").mix(X, 3), X * 3)
        np.testing.assert_array_equal(hosts.tvmffi("twin").mix(X, 3), X * 3)
        np.testing.assert_array_equal(hosts.ufunc("twin").mix(X, 3), X * 3)
        for _ in range(2):
            output = hosts.error_of(lambda: hosts.torch("twin"), ImportError)
            assert "twin._kernels: operators are missing: torch did not define the operator mix" in output, output
            output = hosts.error_of(lambda: hosts.jax("twin"), ImportError)
            assert output.startswith("first.mix: JAX did not register its handler") and "`namespace:`" in output, output
        options = ort.SessionOptions()
        for package in ("first", "twin"):
            options.register_custom_ops_library(hosts.library_of(package))
        data = model([node("mix", "first", ["x"], ["y"], times=3)], [("x", FLOAT, 2)], [("y", FLOAT, 2)])
        output = hosts.error_of(lambda: ort.InferenceSession(data, options, providers=["CPUExecutionProvider"]))
        assert "Domain already set in registry" in output, output
    np.testing.assert_array_equal(torch.mix(X, 3), X * 3)
    np.testing.assert_array_equal(jax.mix(X, 3), X * 3)


if __name__ == "__main__":
    hosts.main()
