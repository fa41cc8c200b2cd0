"""Exchanges arrays between real NumPy and Go, both ways, and checks each claim:
same address, flags and strides kept, errors raised, nothing leaked."""

import gc
import os
import sys

import numpy as np

import gonumpy
from gonumpy import Matrix, Taken

CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def raises(text, function, *arguments):
    try:
        function(*arguments)
    except BufferError as error:
        assert text in str(error), f"another error than {text!r}: {error}"
        return
    raise AssertionError(f"{function} did not raise {text!r}")


def address(array):
    return array.__array_interface__["data"][0]


@check
def go_sees_the_memory_of_numpy():
    for legacy in (False, True):
        array = np.arange(6.0).reshape(2, 3)
        taken = Taken(array, legacy)
        assert taken.layout() == (address(array), int(legacy), (2, 3), (3, 1))
        assert taken.sum() == 15.0
        taken.scale(2)
        assert array.tolist() == [[0, 2, 4], [6, 8, 10]], "Go wrote into NumPy's memory"
        taken.close()


@check
def strides_of_numpy_are_kept():
    base = np.arange(24.0).reshape(4, 6)
    broadcast = np.broadcast_to(base[0], (3, 6))  # read-only, so no legacy capsule
    for array in (base.T, base[:, ::2], base[::-1], base[::-2, ::-3], base[1:3, 2:5], broadcast):
        for legacy in (False, True) if array.flags.writeable else (False,):
            taken = Taken(array, legacy)
            strides = tuple(stride // 8 for stride in array.strides)
            read_only = int(legacy or not array.flags.writeable)  # a legacy capsule cannot say that it is not
            assert taken.layout() == (address(array), read_only, array.shape, strides)
            raises("not C-contiguous", taken.sum)


@check
def scalars_and_empty_arrays_cross():
    for array in (np.array(7.0), np.zeros((3, 0)), np.zeros((1,) * 12)):
        taken = Taken(array)
        assert taken.layout()[2] == array.shape
        assert taken.sum() == array.sum()


@check
def read_only_arrays_are_not_written():
    array = np.arange(3.0)
    array.flags.writeable = False
    taken = Taken(array)
    assert taken.layout()[1] == 1, "the flag READ_ONLY"
    assert taken.sum() == 3.0
    raises("read-only", taken.scale, 2)
    assert array.tolist() == [0, 1, 2]


class OnlyLegacy:
    """A consumer or producer of before DLPack 1.0, which knows no max_version."""

    def __init__(self, producer):
        self.producer = producer

    def __dlpack__(self, stream=None):
        return self.producer.__dlpack__(stream=stream)

    def __dlpack_device__(self):
        return self.producer.__dlpack_device__()


@check
def numpy_sees_the_memory_of_go():
    for wrap in (lambda matrix: matrix, OnlyLegacy):
        matrix = Matrix(2, 3)
        array = np.from_dlpack(wrap(matrix))
        assert address(array) == matrix.address
        assert array.dtype == np.float64 and array.tolist() == [[0, 1, 2], [3, 4, 5]]
        assert array.strides == (24, 8)


@check
def strides_of_go_are_kept():
    for wrap in (lambda matrix: matrix, OnlyLegacy):
        array = np.from_dlpack(wrap(Matrix(2, 3, transposed=True)))
        assert array.strides == (8, 16)
        assert array.tolist() == [[0, 2, 4], [1, 3, 5]]


@check
def numpy_honours_the_flag_of_go():
    assert np.from_dlpack(Matrix(2, 2)).flags.writeable
    array = np.from_dlpack(Matrix(2, 2, read_only=True))
    assert not array.flags.writeable
    raises("a legacy tensor has no read-only flag", np.from_dlpack, OnlyLegacy(Matrix(2, 2, read_only=True)))


@check
def arrays_outlive_the_matrix():
    array = np.from_dlpack(Matrix(100, 100))
    matrices = [Matrix(100, 100) for _ in range(200)]  # which would fall on freed memory
    assert array.sum() == 9999 * 10000 / 2
    assert len(matrices) == 200


@check
def memory_of_go_comes_back_through_numpy():
    array = np.from_dlpack(Matrix(2, 2))
    taken = Taken(array)
    assert taken.layout()[0] == address(array)
    taken.scale(10)
    assert array.tolist() == [[0, 10], [20, 30]]


@check
def both_kinds_of_capsule_are_used():
    for producer in (np.arange(3.0), Matrix(1, 3)):
        assert '"dltensor"' in repr(producer.__dlpack__())
        capsule = producer.__dlpack__(max_version=(1, 0))
        assert '"dltensor_versioned"' in repr(capsule)
        gonumpy.drop(gonumpy.take(capsule))
        assert '"used_dltensor_versioned"' in repr(capsule)
        raises("was taken", gonumpy.take, capsule)


@check
def what_cannot_be_exchanged_is_an_error():
    raises("requested float64", Taken(np.arange(3, dtype=np.int32)).sum)
    raises("not a capsule", gonumpy.take, object())
    raises("no streams", lambda: Matrix(1, 1).__dlpack__(stream=1))
    raises("as it is", lambda: np.from_dlpack(Matrix(1, 1), copy=True))
    raises("", Taken, np.arange(3.0, dtype=">f8"))  # NumPy's own, whose words may change


@check
def a_capsule_without_a_consumer_frees_its_tensor():
    capsule = Matrix(1, 1).__dlpack__(max_version=(1, 3))
    assert gonumpy.live() == 1, "an export that nobody has taken"
    del capsule
    assert gonumpy.live() == 0


def one_round(array, frozen, matrix, locked):
    for legacy in (False, True):
        taken = Taken(array, legacy)
        taken.sum()
        taken.close()
    Taken(array).scale(1)  # closed by its own end
    raises("read-only", Taken(frozen).scale, 2)
    np.from_dlpack(matrix)
    np.from_dlpack(OnlyLegacy(matrix))
    np.from_dlpack(locked)
    matrix.__dlpack__(max_version=(1, 3))  # dropped unused
    matrix.__dlpack__()
    raises("a legacy tensor has no read-only flag", locked.__dlpack__)
    np.from_dlpack(Matrix(3, 4, transposed=True))


def resident():
    """Bytes of memory that this process has once both collectors have run."""
    gc.collect()
    gonumpy.collect()
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def leaks(rounds):
    array, matrix, locked = np.arange(12.0), Matrix(3, 4), Matrix(3, 4, read_only=True)
    frozen = np.arange(12.0)
    frozen.flags.writeable = False
    references = sys.getrefcount(array), sys.getrefcount(frozen)
    for _ in range(rounds // 10):  # pools and caches fill
        one_round(array, frozen, matrix, locked)
    before = resident()
    for _ in range(rounds):
        one_round(array, frozen, matrix, locked)
    grown = resident() - before
    assert (sys.getrefcount(array), sys.getrefcount(frozen)) == references, "Go holds arrays of NumPy"
    assert gonumpy.live() == 2, "the two matrices and nothing else"
    assert grown < 4 << 20, f"{grown} bytes more after {rounds} rounds"
    return grown


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    print(f"NumPy {np.__version__}, Python {sys.version.split()[0]}")
    for function in CHECKS:
        function()
        gc.collect()
        assert gonumpy.live() == 0, f"{function.__name__} left something behind"
        print("ok  ", function.__name__.replace("_", " "))
    print(f"ok   {rounds} rounds, {leaks(rounds) >> 10} KiB more resident memory")
    gc.collect()
    assert gonumpy.live() == 0
    print("all is given back")


if __name__ == "__main__":
    main()
