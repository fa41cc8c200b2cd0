"""The stable ABI's consumer if torch fails to create a tensor: that ABI does not specify whether
the deleter was called."""

import ctypes
import os

import torch

import check
from check import UntrustedProducer, from_dlpack, rejected

helper = ctypes.CDLL(os.environ["LD_PRELOAD"])


def rejects(how):
    for _ in range(3):
        untrusted = UntrustedProducer((2,))
        helper.make_nothing(how)
        with rejected(BufferError):
            from_dlpack(untrusted.capsule())
        helper.make_nothing(0)
        assert untrusted.deleted == 1
    x = from_dlpack(UntrustedProducer((2,)).capsule())
    assert x.tolist() == [0, 1]


def test_what_torch_does_not_make():
    rejects(1)


def test_what_torch_deletes_itself():
    rejects(2)


def test_layouts_are_named():
    with rejected(BufferError, "no strided memory: pass to_dense()"):
        from_dlpack(torch.eye(3).to_sparse())


if __name__ == "__main__":
    check.run(globals())
