"""Checks that a .pyi declares exactly the contents of its module: names and parameters. The stub is
in $STUB, and the module, _kernel of examples/py-kernel, is in the scripts' module folder."""

import ast
import inspect
import os

from check import *

import _kernel

with open(os.environ["STUB"]) as file:
    SOURCE = file.read()

ASKED = "stream", "max_version", "dl_device", "copy"  # the values that the array API specifies for consumers


def stub():
    """The definitions of the stub, by name: a stub is executable Python."""
    space = {}
    exec(compile(SOURCE, "stub", "exec"), space)
    return {n.name: space[n.name] for n in ast.parse(SOURCE).body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}


def functions():
    return {name: inspect.signature(f) for name, f in stub().items() if inspect.isfunction(f)}


def rejection(f, *args, **keywords):
    try:
        f(*args, **keywords)
    except TypeError as e:
        return str(e)
    raise AssertionError(f"taken: {args} {keywords}")


def test_names():
    equal(sorted(stub()), sorted(name for name in vars(_kernel) if not name.startswith("_")))
    for name, thing in stub().items():
        equal(isinstance(thing, type), isinstance(getattr(_kernel, name), type))


def test_parameters():
    assert functions()
    for name, signature in functions().items():
        f = getattr(_kernel, name)
        for i, (parameter, how) in enumerate(signature.parameters.items()):
            equal((how.kind, how.default), (how.POSITIONAL_OR_KEYWORD, how.empty))
            where = f"{name}(): argument '{parameter}' ({i + 1}"
            assert where in rejection(f, **{parameter: 5}), rejection(f, **{parameter: 5})
            assert where in rejection(f, *[New(2, 3)] * i), "it may be left out"
            assert f"'{parameter}_'" in rejection(f, **{parameter + "_": 5})
        count = len(signature.parameters)
        text = rejection(f, *[New(2, 3)] * (count + 1))
        assert f"{count + 1}" in text, text


def test_every_hint_is_there():
    for name, signature in functions().items():
        hints = [p.annotation for p in signature.parameters.values()] + [signature.return_annotation]
        assert signature.empty not in hints, name


def test_the_type():
    for name, claimed in stub().items():
        if not isinstance(claimed, type):
            continue
        real = getattr(_kernel, name)
        methods = {n for n, m in vars(claimed).items() if inspect.isfunction(m)}
        equal(methods, {n for n, m in vars(real).items() if callable(m)})
        assert claimed.__final__
        with raises(TypeError, "not an acceptable base type"):
            type("Derived", (real,), {})


def test_queries_of_a_tensor():
    t = _kernel.softmax(New(2, 3))
    equal(type(t), _kernel.Tensor)
    keywords = inspect.signature(stub()["Tensor"].__dlpack__).parameters
    for name in ASKED:
        t.__dlpack__(**{name: None})
        equal((keywords[name].kind, keywords[name].default), (inspect.Parameter.KEYWORD_ONLY, None))
    equal(list(keywords), ["self", *ASKED])
    rejection(t.__dlpack__, None)
    equal(list(inspect.signature(stub()["Tensor"].__dlpack_device__).parameters), ["self"])
    equal([type(x) for x in t.__dlpack_device__()], [int, int])


main()
