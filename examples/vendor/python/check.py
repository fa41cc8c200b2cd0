"""The module over numpy: streams of a device of type kDLExtDev are ordered as those of CUDA."""

import numpy

import clusm
from held import held

EXTERNAL = 12


def host(tensor):
    return numpy.from_dlpack(tensor, device="cpu")


def loaded(values, device=0):
    tensor = clusm.empty(len(values), device)
    clusm.load(numpy.asarray(values, dtype=numpy.float32), tensor)
    return tensor


def rejected(call, text, kind=ValueError):
    try:
        call()
    except kind as error:
        assert text in str(error), error
        return
    raise AssertionError(f"not rejected: {text}")


class Producer:
    """A library of its own: it works on a queue, and orders the consumer's stream after that."""

    def __init__(self, tensor, queue):
        self.tensor, self.queue, self.asked = tensor, queue, []

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, *, stream=None, **others):
        self.asked.append(stream)
        clusm.order(stream or 0, self.queue)
        return self.tensor.__dlpack__(stream=-1, **others)


def given_tensors_reach_the_host():
    tensor = loaded([1, 2, 3])
    assert tensor.__dlpack_device__() == (EXTERNAL, 0)
    assert host(tensor).tolist() == [1, 2, 3]
    tensor.__dlpack__(dl_device=(1, 0), copy=True)


def producers_are_asked_with_the_stream():
    source, queues = loaded([1, 2, 3]), [clusm.queue(), clusm.queue()]
    for stream in queues[1], 0, None:
        middle, out = loaded([0, 0, 0]), loaded([0, 0, 0])
        producer = Producer(middle, queues[0])
        with held(queues[0]):
            clusm.copy(source, middle, stream=queues[0])
            clusm.copy(producer, out, stream=stream)
        clusm.finish(stream or 0)
        assert producer.asked == [stream or 0], producer.asked
        assert host(out).tolist() == [1, 2, 3], "the copy waits for the producer's work"


def numbers_of_streams_are_checked():
    x, out = loaded([1]), loaded([2])
    for number in 1, 2:
        rejected(
            lambda: clusm.copy(x, out, stream=number), f"{number} is invalid on extdev:0, where 0 is the default stream"
        )
        rejected(lambda: x.__dlpack__(stream=number), f"stream {number} is invalid on extdev:0", RuntimeError)
    if clusm.devices() > 1:
        there = clusm.queue(1)
        rejected(lambda: clusm.copy(x, out, stream=there), f"the stream {there:#x} is of device 1, not of device 0")
        clusm.copy(loaded([3], 1), loaded([4], 1), stream=there)
        rejected(lambda: clusm.copy(x, loaded([4], 1)), "extdev:1")


for check in given_tensors_reach_the_host, producers_are_asked_with_the_stream, numbers_of_streams_are_checked:
    check()
    print("ok", check.__name__)
