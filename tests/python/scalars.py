"""Scalars, names of arguments, and omitted arguments."""

from check import *


def test_scalars():
    f = function({"kind": INT}, {"kind": FLOAT}, {"kind": BOOL})

    class Index:
        def __index__(self):
            return 5

    class Float:
        def __float__(self):
            return 2.5

    equal(f(-(2**63), 1.5, True)[:3], (-(2**63), 1.5, 1))
    equal(f(Index(), Float(), False)[:3], (5, 2.5, 0))
    equal(f(-1, -1.0, False)[:3], (-1, -1.0, 0))
    equal(f(True, 3, False)[:3], (1, 3.0, 0))
    with raises(TypeError, "f(): argument 'a' (1st): expected int, got float"):
        f(1.0, 1.0, True)
    with raises(TypeError, "f(): argument 'b' (2nd): expected float, got str"):
        f(1, "1", True)
    with raises(TypeError, "f(): argument 'c' (3rd): expected bool, got int"):
        f(1, 1.0, 1)
    with raises(OverflowError, "f(): argument 'a' (1st): "):
        f(2**63, 1.0, True)

    class Stops:
        def __index__(self):
            raise KeyboardInterrupt

    with raises(KeyboardInterrupt):
        f(Stops(), 1.0, True)


def test_bools_of_numpy():
    f = function({"kind": BOOL})

    class Bool:
        def __bool__(self):
            if self.truth is None:
                raise ValueError("neither")
            return self.truth

        def __init__(self, truth):
            self.truth = truth

    with raises(TypeError, "f(): argument 'a' (1st): expected bool, got Bool"):
        f(Bool(True))
    sys.modules["numpy"] = types.ModuleType("numpy")
    sys.modules["numpy"].bool_ = Bool
    try:
        equal((f(Bool(True))[0], f(Bool(False))[0]), (1, 0))
        with raises(ValueError, "f(): argument 'a' (1st): neither"):
            f(Bool(None))
        with raises(TypeError, "f(): argument 'a' (1st): expected bool, got int"):
            f(1)
    finally:
        del sys.modules["numpy"]
    try:
        import numpy
    except ImportError:
        return
    equal((f(numpy.bool_(True))[0], f(numpy.float32(0) > 1)[0]), (1, 0))
    with raises(TypeError, "f(): argument 'a' (1st): expected bool, got float32"):
        f(numpy.float32(1))


def test_types_of_the_same_name():
    """They are identified by their modules, whatever these are."""

    class Fails(type):
        __module__ = property(lambda cls: 1 / 0)

    for kind, name in (INT, "int"), (FLOAT, "float"), (BOOL, "bool"):
        f = function({"kind": kind})
        for module, text in ("ml", f"ml.{name}"), (5, f"another {name}"):
            with raises(TypeError, f"f(): argument 'a' (1st): expected {name}, got {text}"):
                f(type(name, (), {"__module__": module})())
        with raises(TypeError, f"expected {name}, got another {name}"):
            f(Fails(name, (), {})())
    streamed = function(any_tensor(), takes_stream=1)
    with raises(TypeError, "f(): argument 'stream': expected int or None, got ml.int"):
        streamed(New(2, device=CUDA), stream=type("int", (), {"__module__": "ml"})())


def test_names_and_numbers():
    f = function(any_tensor(), {"kind": INT}, {"kind": INT, "optional": 1, "int_default": 9}, name="g")
    want = f(New(2), 1, 2)
    equal(f(New(2), 1, c=2), want)
    equal(f(c=2, b=1, a=New(2)), want)
    equal(f(New(2), 1)[2], 9)
    equal(f(New(2), 1, None)[2], 9)
    with raises(TypeError, "g() takes 3 arguments, got 4"):
        f(New(2), 1, 2, 3)
    with raises(TypeError, "g(): argument 'b' (2nd): it is missing"):
        f(New(2), c=2)
    with raises(TypeError, "g(): argument 'b' (2nd): expected int, got None"):
        f(New(2), None)
    with raises(TypeError, "g(): argument 'a' (1st): expected a tensor, got None"):
        f(None, 1)
    with raises(TypeError, "g() got an unexpected keyword argument 'd'"):
        f(New(2), 1, d=2)
    with raises(TypeError, "g() got an unexpected keyword argument 'stream'"):
        f(New(2), 1, stream=2)
    with raises(TypeError, "g() got multiple values for argument 'b'"):
        f(New(2), 1, b=2)
    one = function({"kind": INT})
    with raises(TypeError, "f() takes 1 argument, got 2"):
        one(1, 2)


def test_left_out_tensors():
    f = function(any_tensor(optional=1), {"kind": FLOAT, "optional": 1, "float_default": 0.5})
    equal(f()[:2], (None, 0.5))
    equal(f(None)[:2], (None, 0.5))
    equal(f(a=New(2))[0]["shape"], (2,))
    slow = function(any_tensor(optional=1), any_tensor())
    equal(slow(None, New(2))[0], None)


def test_ordinals():
    f = function(*[{"kind": INT}] * 8)
    for i, text in enumerate(["1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th"]):
        values = [0] * 8
        values[i] = "x"
        with raises(TypeError, f"argument '{'abcdefgh'[i]}' ({text}): expected int, got str"):
            f(*values)


main()
