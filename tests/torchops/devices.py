"""Devices other than the CPU: the tensor's own is made current, and its stream is passed."""

import ctypes
import os

import torch
from check import raises, run

look = torch.ops.ops_devices.look
host = torch.ops.ops_host


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("type", ctypes.c_int32),
        ("id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("offset", ctypes.c_uint64),
    ]


class Seen(ctypes.Structure):
    _fields_ = [("x", Tensor), ("out", Tensor), ("stream", ctypes.c_void_p)]


def seen():
    return Seen.in_dll(ctypes.CDLL(os.environ["LIBRARY"]), "ops_seen")


def test_the_cpu_has_no_stream():
    before = host.entered()
    x, out = torch.ones(2), torch.ones(2)
    look(x, out)
    assert (seen().x.type, seen().x.data, seen().out.data, seen().stream) == (1, x.data_ptr(), out.data_ptr(), None)
    assert host.entered() == before


def test_the_device_is_current_and_its_stream_handed_over():
    for device in (0, 1):
        x, out = host.make(device, 3), host.make(device, 3)
        look(x, out)
        assert (seen().x.type, seen().x.id, seen().x.bits) == (12, device, 32)
        assert seen().stream == 0x5000 + device
        assert host.current() == 0, "and the device before is current again"


def test_tensors_of_two_devices():
    expected = "argument 'out' (2nd): expected a tensor on extdev:0, as argument 'x' (1st) is, got one on "
    raises(ValueError, expected + "extdev:1", look, host.make(0, 3), host.make(1, 3))
    raises(ValueError, expected + "cpu:0", look, host.make(0, 3), torch.ones(3))
    assert host.current() == 0


def test_the_version_rises():
    out = host.make(1, 3)
    look(host.make(1, 3), out)
    assert out._version == 1


run(globals())
