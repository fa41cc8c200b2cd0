"""PyTorch's tensors on the backend: PrivateUse1, which DLPack knows as kDLExtDev."""

import numpy
import torch

import clusm
import clusm_torch
from held import held

torch.utils.rename_privateuse1_backend("clusm")
torch._register_device_module("clusm", clusm_torch)
clusm_torch.use(clusm.backend())


def on_device(values, device=0):
    return torch.empty(len(values), device=f"clusm:{device}").copy_(torch.tensor(values, dtype=torch.float32))


def tensors_are_copied():
    x = on_device([1, 2, 3])
    assert x.device == torch.device("clusm:0") and x.cpu().tolist() == [1, 2, 3]
    assert torch.empty_like(x).copy_(x).cpu().tolist() == [1, 2, 3]


def torch_and_the_module_share_memory():
    x, out = on_device([1, 2, 3]), clusm.empty(3)
    clusm.copy(x, out)
    assert numpy.from_dlpack(out, device="cpu").tolist() == [1, 2, 3]
    taken = torch.from_dlpack(out)
    assert taken.device == torch.device("clusm:0") and taken.cpu().tolist() == [1, 2, 3]
    taken.copy_(on_device([4, 5, 6]))
    clusm.finish(0)
    assert numpy.from_dlpack(out, device="cpu").tolist() == [4, 5, 6]


def calls_work_on_the_stream_of_torch():
    source, x, out, mine = on_device([1, 2]), on_device([0, 0]), clusm.empty(2), clusm.queue()
    clusm_torch.set_queue(0, mine)
    with held(mine):
        x.copy_(source)
        clusm.copy(x, out)
    clusm.finish(mine)
    clusm_torch.set_queue(0, 0)
    assert numpy.from_dlpack(out, device="cpu").tolist() == [1, 2]


def another_stream_waits_for_that_of_torch():
    source, x, out, mine, other = on_device([1, 2]), on_device([0, 0]), clusm.empty(2), clusm.queue(), clusm.queue()
    clusm_torch.set_queue(0, mine)
    with held(mine):
        x.copy_(source)
        clusm.copy(x, out, stream=other)
    clusm.finish(other)
    clusm_torch.set_queue(0, 0)
    assert numpy.from_dlpack(out, device="cpu").tolist() == [1, 2]


def the_other_device_has_its_own():
    if clusm.devices() > 1:
        x = on_device([7, 8], 1)
        assert x.device.index == 1 and x.cpu().tolist() == [7, 8]
        assert torch.from_dlpack(torch.utils.dlpack.to_dlpack(x)).data_ptr() == x.data_ptr()


for check in (
    tensors_are_copied,
    torch_and_the_module_share_memory,
    calls_work_on_the_stream_of_torch,
    another_stream_waits_for_that_of_torch,
    the_other_device_has_its_own,
):
    check()
    print("ok", check.__name__)
