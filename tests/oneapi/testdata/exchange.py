"""Exchanges tensors with dpnp, both ways, on every device that SYCL lists: the same
pointer, and ids that agree. Usage: exchange.py FOLDER-OF-table.py LIBRARY levelzero|sycl.
Prints a line for each device."""

import ctypes as c
import sys

import dpctl
import dpnp
import numpy

sys.path.insert(0, sys.argv[1])
from table import Backend, Device, Error, Managed, Pointer, Rejected, Stream  # noqa: E402
from table import Table, Tensor, Wrapped, function  # noqa: E402

ONEAPI, HOST_MEMORY = 14, 24


class Usm(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("abi_version", c.c_uint32),
        ("handles", c.c_uint32),
        ("device_only", c.POINTER(Table)),
        ("all_kinds", c.POINTER(Table)),
        ("id", function(c.c_int32, c.POINTER(c.c_int32))),
        ("set_device_ids", function(c.c_void_p, c.c_size_t)),
        ("check_tensor", function(c.POINTER(Tensor), c.c_uint32, c.POINTER(Pointer))),
    ]


back_end = Backend(sys.argv[2], "dlpackgen_oneapi")
find = c.CDLL(sys.argv[2]).dlpackgen_usm
find.restype = c.POINTER(Usm)
usm = find().contents
assert usm.size == c.sizeof(Usm) and usm.handles == {"levelzero": 1, "sycl": 2}[sys.argv[3]]
# A capsule is a new object of a type without attributes; its pointer is read here.
pointer_of = c.pythonapi.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = c.c_void_p, [c.py_object, c.c_char_p]


def imported(tensor, flags=0):
    error, info = Error(), Pointer(c.sizeof(Pointer))
    if usm.check_tensor(c.byref(tensor), flags, c.byref(info), c.byref(error)):
        raise Rejected(error)
    return info


def taken(array):
    """The DLTensor of an array, with its capsule, which retains it."""
    capsule = array.__dlpack__(max_version=(1, 0))
    return c.cast(pointer_of(capsule, b"dltensor_versioned"), c.POINTER(Managed)).contents.tensor, capsule


def address(array):
    return array.__sycl_usm_array_interface__["data"][0]


def stream_of(queue, index):
    """A dpctl queue is a sycl::queue; Level Zero in C has separate streams."""
    return Stream(queue.addressof_ref() if usm.handles == 2 else None, Device(ONEAPI, index), 0, 0)


def host(array):
    """A one-dimensional DLTensor over a numpy array."""
    shape = (c.c_int64 * 1)(array.size)
    return Tensor(array.ctypes.data, Device(1, 0), 1, (2, 32, 1), shape, None, 0), shape


def from_dpnp(queue, index):
    values = numpy.arange(12, dtype=numpy.float32) + index
    array = dpnp.asarray(values, sycl_queue=queue)
    queue.wait()
    assert tuple(map(int, array.__dlpack_device__())) == (ONEAPI, index), array.__dlpack_device__()
    tensor, _capsule = taken(array)
    assert tensor.data + tensor.byte_offset == address(array)
    info = imported(tensor)
    assert (info.device.type, info.device.id) == (ONEAPI, index)
    back = numpy.zeros(12, numpy.float32)
    view, _shape = host(back)
    back_end.call("copy", c.byref(view), c.byref(tensor), c.byref(stream_of(queue, index)))
    assert (back == values).all(), back


def to_dpnp(queue, index):
    values = numpy.arange(12, dtype=numpy.float32) * 2 + index
    managed = back_end.alloc(12, (ONEAPI, index))
    tensor, (view, _shape) = managed.contents.tensor, host(values)
    where, stream = tensor.data, stream_of(queue, index)
    back_end.call("copy", c.byref(tensor), c.byref(view), c.byref(stream))
    back_end.call("keep_until", managed, c.byref(stream))
    array = dpnp.from_dlpack(Wrapped(managed, (ONEAPI, index)))
    assert address(array) == where
    assert (dpnp.asnumpy(array) == values).all(), array
    assert back_end.info(where)[0] == (ONEAPI, index)
    del array
    return where


def other_kinds(queue, index):
    """Memory kinds that dpnp allocates, and torch would reject."""
    for kind in "shared", "host":
        tensor, _capsule = taken(dpnp.asarray(numpy.zeros(3, numpy.float32), sycl_queue=queue, usm_type=kind))
        try:
            imported(tensor)
            raise AssertionError("strict, and took memory of kind " + kind)
        except Rejected as rejection:
            assert rejection.code == HOST_MEMORY, rejection
        info = imported(tensor, 1)
        assert info.device.type == ONEAPI and (kind == "host" or info.device.id == index)


def on(device, index):
    queue = dpctl.SyclQueue(device)
    from_dpnp(queue, index)
    freed = to_dpnp(queue, index)
    other_kinds(queue, index)
    if device.backend == dpctl.backend_type.opencl:  # Level Zero's memory is returned to a pool of SYCL
        assert back_end.info(freed)[0] == (1, 0), "its deleter freed it"


def parts(device, index):
    """Tensors on the parts of a device have its id."""
    try:
        found = device.create_sub_devices(partition="next_partitionable")
    except dpctl.SyclSubDeviceCreationError:
        return 0
    for part in found:
        from_dpnp(dpctl.SyclQueue(device.sycl_platform.default_context, part), index)
    return len(found)


def main():
    for index, device in enumerate(dpctl.get_devices()):
        on(device, index)
        print("device", index, device.backend.name, "parts", parts(device, index))


main()
