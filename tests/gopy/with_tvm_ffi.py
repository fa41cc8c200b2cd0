from check import equal, framework, main, no_leak, outstanding, raises

tvm_ffi, np = framework("tvm_ffi", "numpy")
import gopy


# Its tensors have no table, so Go uses their capsules; it reads Go's tensors through the table of
# their type.
def test_go_sees_a_tensor_in_place():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    t = tvm_ffi.from_dlpack(x)
    equal(gopy.describe(t)[:4], (x.ctypes.data, "float32", (2, 3), (3, 1)))
    equal(gopy.sum(t), 15.0)
    gopy.fill(t, 2)
    equal(x.tolist(), [[2, 2, 2], [2, 2, 2]])


def test_functions_accept_tensors_of_go():
    t = gopy.counting(2, 3, 0)
    echo = tvm_ffi.convert(lambda x: x)
    back = np.from_dlpack(echo(t))
    equal(back.ctypes.data, gopy.describe(t)[0])
    equal(back.tolist(), [[0, 1, 2], [3, 4, 5]])


def test_results_come_as_tensors_of_go_or_of_tvm():
    t = gopy.counting(2, 3, 0)
    back = tvm_ffi.convert(lambda x: x)(t)
    equal(gopy.sum(back), 15.0)
    del t
    equal(gopy.sum(back), 15.0)


def test_from_dlpack():
    t = gopy.counting(2, 3, 0)
    x = tvm_ffi.from_dlpack(t)
    equal((tuple(x.shape), gopy.describe(x)[0]), ((2, 3), gopy.describe(t)[0]))


def test_the_slice_lives_while_somebody_looks():
    before = outstanding()
    x = tvm_ffi.from_dlpack(gopy.counting(100, 10, 0))
    equal(outstanding(), before + 1)
    del x
    equal(outstanding(), before)


def test_many_rounds_without_a_leak():
    echo = tvm_ffi.convert(lambda x: None)
    no_leak(lambda: echo(gopy.counting(2, 3, 0)))
    no_leak(lambda: tvm_ffi.from_dlpack(gopy.counting(2, 3, 0)))
    x = tvm_ffi.from_dlpack(np.ones(3, np.float32))
    no_leak(lambda: gopy.sum(x))
    equal(outstanding(), 0)


main()
