"""Calls the modules three and more with arrays of one library, the first argument."""
import gc
import sys
import threading

import more
import numpy
import three

library = sys.argv[1]
checks = 0


def holds(condition, what=""):
    global checks
    checks += 1
    assert condition, what


def make(values, dtype="float32"):
    """Creates an array of the library."""
    array = numpy.array(values, dtype)
    if library == "torch":
        import torch

        return torch.from_numpy(array)
    if library == "jax":
        import jax

        jax.config.update("jax_enable_x64", True)
        return jax.numpy.asarray(array)
    return array


def values(array):
    return numpy.asarray(array).tolist()


def raises(kind, text, function, *arguments, **keywords):
    """Expects the exact class and message."""
    global checks
    checks += 1
    try:
        function(*arguments, **keywords)
    except Exception as e:
        assert (type(e), str(e)) == (kind, text), (type(e), str(e))
    else:
        raise AssertionError("no exception: " + text)


def fixed(array):
    """The same array, read-only."""
    array = numpy.array(array)
    array.flags.writeable = False
    return array


def keeps_references(function, *arguments):
    """Returns whether a call keeps no reference to its arguments, on success or failure."""
    def count():
        for _ in range(20):
            try:
                function(*arguments)
            except Exception:
                pass
        gc.collect()
        return [sys.getrefcount(a) for a in arguments]

    return count() == count()


class Producer:
    """Exports a NumPy array only by its method, so that a call owns the tensor."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def results():
    a, x = make([[1, 2, 3], [4, 5, 6]]), make([1, 2, 3])
    made = three.matvec(a, x)
    holds(type(made) is type(x) and values(made) == [14, 32])
    holds(str(made.dtype).endswith("float32") and made.shape == (2,))
    holds(values(three.matvec(a.T, make([1, 10]))) == [41, 52, 63], "column-major")
    holds(values(three.matvec(x=x, a=a)) == [14, 32], "by name")
    empty = make(numpy.zeros((0, 3)))
    holds(values(three.matvec(empty, x)) == [])
    gram = more.gram(make([[1, 2], [3, 4]], "float64"))
    holds(type(gram) is type(x) and values(gram) == [[5, 11], [11, 25]])
    made = three.matvec(Producer(numpy.array([[1, 2, 3]], "float32")), x)
    holds(numpy.from_dlpack(made).tolist() == [14], "of a library without from_dlpack()")
    holds(keeps_references(lambda y: three.matvec(a, Producer(y)), numpy.ones(3, "float32")), "an owned tensor")
    holds(keeps_references(three.matvec, a, x) and keeps_references(more.gram, x))


def written():
    x = make([1, 2, 3])
    y = make([1, 1, 1])
    if library == "jax":
        text = "axpy(): argument 'y' (3rd): JAX arrays are immutable, but the parameter is writable"
        raises(BufferError, text, three.axpy, 2, x, y)
        holds(values(y) == [1, 1, 1])
        raises(BufferError, "JAX arrays are immutable, but the parameter is writable", more.zero,
               make([1], "float64"))
        return
    holds(three.axpy(2, x, y) is None and values(y) == [3, 5, 7])
    three.axpy(1, x, y[:])
    holds(values(y) == [4, 7, 10])
    a = make([[3, 4, 0], [0, 5, 12]])
    three.normalize(a.T)
    holds(numpy.allclose(values(a), [[1, 4 / 41 ** 0.5, 0], [0, 5 / 41 ** 0.5, 1]]))
    z = make([1, 2], "float64")
    more.zero(z)
    holds(values(z) == [0, 0])
    holds(keeps_references(three.axpy, 2, x, y) and keeps_references(more.zero, z))


def rejected():
    x, y = make([1, 2, 3]), make([1, 2, 3])
    n = "axpy(): argument 'y' (3rd): expected n = 3 in dimension 0, as in argument 'x' (2nd), got 2"
    raises(ValueError, n, three.axpy, 2, x, numpy.zeros(2, "float32"))
    at_x = "axpy(): argument 'x' (2nd): "
    raises(TypeError, at_x + "expected float32, got float64", three.axpy, 2, make([1], "float64"), y)
    raises(ValueError, at_x + "expected 1 dimension, got 2", three.axpy, 2, make([[1]]), y)
    raises(TypeError, at_x + "expected a tensor, got None", three.axpy, 2, None, y)
    raises(TypeError, at_x + "expected a tensor, got list, which has no __dlpack__", three.axpy, 2, [1.0], y)
    read_only = "axpy(): argument 'y' (3rd): it is read-only, but the parameter is writable"
    raises(BufferError, read_only, three.axpy, 2, x, fixed(numpy.zeros(3, "float32")))
    inner = numpy.lib.stride_tricks.as_strided(numpy.zeros(3, "float32"), (3,), (0,), writeable=True)
    shared = "axpy(): argument 'y' (3rd): its elements may overlap, but the parameter is writable, "
    raises(BufferError, shared + "got strides (0,) for shape (3,): pass a contiguous copy", three.axpy, 2, x, inner)
    raises(TypeError, "trace(): argument 'a' (1st): expected float64, got float32", more.trace, make([[1, 2], [3, 4]]))
    raises(ValueError, "trace(): argument 'a' (1st): expected 2 in dimension 1, got 3", more.trace,
           make([[1, 2, 3], [3, 4, 5]], "float64"))
    raises(ValueError, "gram(): argument 'a' (1st): expected 2 dimensions, got 1", more.gram, make([1], "float64"))
    try:
        three.axpy("two", x, y)
    except TypeError as e:
        holds("incompatible function arguments" in str(e), e)
    holds(keeps_references(three.axpy, 2, x, None) and keeps_references(three.axpy, 2, x, x[:2]))


def kinds():
    """Each type of arguments and results."""
    d = make([[1, 2, 3], [4, 5, 6]], "float64")
    line = make([1, 2, 3, 4], "float64")
    holds(more.rank(d) == 2 and more.rank(make(7)) == 0 and more.rank(any=line) == 1)
    holds("The number of dimensions." in more.rank.__doc__)
    holds(more.total(d) == 21 and more.total(make(5, "float64")) == 5)
    holds(more.trace(make([[1, 2], [3, 4]], "float64")) == 5)
    holds(more.named("x", d, 2) == "x12" and more.named(times=1, a=d, name="y") == "y6")
    raises(ValueError, "named(): argument 'a' (2nd): expected 3 in dimension 1, got 2", more.named, "x",
           make([[1, 2]], "float64"), 1)
    holds(more.same(d[:1, :1], d[:1, :1]) and more.same(a=d[:2, :2], b=d[:2, :2]))
    raises(ValueError, "same(): argument 'b' (2nd): expected k = 3 in dimension 0, as in argument 'a' (1st), got 2",
           more.same, d, d)
    if library != "jax":  # their transposed arrays are contiguous
        text = "total(): argument 'flat' (1st): expected a C-contiguous tensor, got strides (1, 3) for shape (3, 2)"
        raises(ValueError, text, more.total, d.T)
    scaler = more.Scaler(2)
    holds(values(scaler.scaled(line)) == [2, 4, 6, 8] and type(scaler.scaled(line)) is type(line))
    scaler.grow(line)
    holds(values(scaler.scaled(more=0.5, x=line)) == [6, 12, 18, 24] and "Scales x." in scaler.scaled.__doc__)
    holds(scaler.both(line, y=line) == 8 and keeps_references(scaler.both, line, line))
    raises(ValueError, "both(): argument 'y' (3rd): expected n = 4 in dimension 0, as in argument 'x' (2nd), got 2",
           scaler.both, line, line[:2])
    raises(TypeError, "scaled(): argument 'x' (2nd): expected float64, got float32", scaler.scaled, make([1]))
    holds(more.either(None, line) is not None and type(more.either(None, line)) is type(line))
    holds(values(more.either(line, y=line)) == [2, 4, 6, 8] and keeps_references(more.either, None, line))
    raises(TypeError, "either(): argument 'y' (2nd): expected a tensor, got None", more.either, line, None)
    if library != "jax":
        holds(more.sum_by(d.T) == 21, "in the order of the type")
        order = "sum_by(): argument 'columns' (1st): "
        raises(ValueError, order + "the strides do not match the required layout", more.sum_by, d)
        more.doubled(d)
        more.shifted(line, None)
        more.shifted(line[:2], line[2:])
        holds(values(d) == [[2, 4, 6], [8, 10, 12]] and values(line) == [4, 6, 3, 4])
        wrong = "doubled(): argument 'rows' (1st): the strides do not match the required layout"
        raises(ValueError, wrong, more.doubled, d.T)
        d, line = make([[1, 2, 3], [4, 5, 6]], "float64"), make([1, 2, 3, 4], "float64")
    holds(more.none(d[:0, 0]) == 0 and more.is_read_only(d))
    raises(ValueError, "none(): argument 'x' (1st): expected 0 in dimension 0, got 4", more.none, line)
    holds(more.approve(line[:2]) is None and more.count(d) == 6 and more.tripled(2) == 6)
    raises(ValueError, "approve(): a dimension has a different extent: expected 2, got 4, in dimension 0", more.approve,
           line)
    holds(numpy.from_dlpack(more.ones(3)).tolist() == [1, 1, 1], "of no library")
    if library != "jax":
        half = more.halves(line)
        holds(type(half) is type(line) and values(half) == [0.5, 1])
        raises(ValueError, "halves(): a dimension has a different extent", more.halves, line[:3])
        rows = make([[1, 2], [3, 4]], "int64")
        more.fill(rows)
        holds(values(rows) == [[7, 7], [7, 7]])
        more.fill(rows, value=9)
        holds(values(rows) == [[9, 9], [9, 9]])
    holds(more.rejections, "mistakes in def()")


def exceptions():
    x = make([1, 2], "float64")
    for fails in (more.fails, more.fails_without_gil):
        name = fails.__name__ if fails.__name__ else "fails"
        raises(TypeError, name + "(): the elements have a different type: expected float32, got float64", fails,
               make([[1]], "float64"), 0)
        raises(ValueError, name + "(): the tensor has a different number of dimensions: expected 2, got 1", fails, x, 0)
        raises(IndexError, "beyond the end", fails, x, 1)
        raises(MemoryError, "std::bad_alloc", fails, x, 2)
        raises(MemoryError, name + "(): out of memory", fails, x, 3)
        raises(RuntimeError, "the callee failed and has reported the reason", fails, x, 4)
        raises(OverflowError, "another", fails, x, 5)
        raises(IndexError, "another", fails, x, 6)
        raises(RuntimeError, "another", fails, x, 7)
        holds(fails(x, 9) is None)
        holds(all(keeps_references(lambda a, how=how: fails(a, how), x) for how in range(8)), name)
    holds(more.has_gil(x) and not more.has_no_gil(x))
    raises(RuntimeError, "nothing(): the function returned no tensor", more.nothing, x)


def by_hand():
    """The functions of python.hpp."""
    x = make([1, 2, 3], "float64")
    holds(more.sum_of(x) == 6 and more.later(make([4, 5], "float64")) == 9)
    raises(ValueError, "the tensor has a different number of dimensions: expected 2, got 3", more.sum_of,
           make([[[1]]], "float64"))
    raises(TypeError, "the elements have a different type: expected float64, got float32", more.sum_of, make([1]))
    raises(TypeError, "expected a tensor, got int, which has no __dlpack__", more.sum_of, 3)
    raises(BufferError, "it is read-only, but the parameter is writable", more.zero, fixed([1.0]))
    raises(BufferError, "the pointer is NULL", more.empty)
    raises(BufferError, "the pointer is NULL", more.empty_like, x)
    echo = more.echo(x)
    holds(type(echo).__name__ == "Tensor" and numpy.from_dlpack(echo).tolist() == [1, 2, 3])
    same = more.like(numpy.ones(2), x)
    holds(type(same) is type(x) and values(same) == [1, 1])
    holds("dltensor_versioned" in repr(more.capsule(x, {"max_version": (1, 0)})))
    holds('"dltensor"' in repr(more.capsule(numpy.ones(2), {})))
    raises(TypeError, "max_version is not a tuple of two integers", more.capsule, x, {"max_version": 1})
    holds(all(keeps_references(f, x) for f in (more.sum_of, more.zero, more.echo)))
    holds(keeps_references(more.like, x, x) and keeps_references(more.capsule, x, {}))


def threads():
    """The hidden module is created once, by the first thread; without the GIL, no states mix."""
    x, wrong = make([1, 2, 3], "float64"), []

    def work():
        for _ in range(200):
            if more.sum_of(x) != 6 or more.has_no_gil(x) or more.rank(x) != 1:
                wrong.append(1)

    all_of_them = [threading.Thread(target=work) for _ in range(4)]
    for t in all_of_them:
        t.start()
    for t in all_of_them:
        t.join()
    holds(not wrong)


threads()
results()
written()
rejected()
kinds()
exceptions()
by_hand()
print(checks, "checks")
