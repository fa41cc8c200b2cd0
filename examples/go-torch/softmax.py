"""Compares softmax in Go with torch's: the results, and the time."""

import statistics
import sys
import time

import numpy as np
import torch

import gotorch

rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 30


def rejected(kind, *texts, of):
    try:
        gotorch.softmax_(of)
    except kind as e:
        assert all(text in str(e) for text in texts), e
    else:
        raise AssertionError(f"no {kind.__name__}")


def seconds(function, x):
    began = time.perf_counter()
    function(x)
    return time.perf_counter() - began


torch.manual_seed(1)
for shape in (1, 1), (3, 5), (1000, 17), (64, 4096), (0, 4), (4, 0):
    x = torch.randn(shape) * 10
    want = torch.softmax(x, 1)
    y = x.numpy().copy()
    address = x.data_ptr()
    assert gotorch.softmax_(x) is x and x.data_ptr() == address
    assert torch.allclose(x, want, rtol=1e-5, atol=1e-7), (x - want).abs().max()
    gotorch.softmax_(y)
    assert np.array_equal(y, x.numpy())
    print("ok  ", shape)

infinite = torch.tensor([[0.0, -torch.inf], [-torch.inf, -torch.inf], [1.0, torch.nan]])
want = torch.softmax(infinite, 1)
assert torch.equal(gotorch.softmax_(infinite).isnan(), want.isnan()) and infinite[0].tolist() == [1, 0]
print("ok   infinities")

rejected(BufferError, "float64", "float32", of=torch.ones(2, 2, dtype=torch.float64))
rejected(BufferError, "read-only", of=torch.ones(2, 2, requires_grad=True))
rejected(BufferError, "C-contiguous", of=torch.ones(2, 3).T)
rejected(ValueError, "3 dimensions", of=np.ones((1, 1, 1), np.float32))
print("ok   rejections")

x = torch.randn(2048, 1024)
ratios = [seconds(gotorch.softmax_, x) / seconds(lambda x: torch.softmax(x, 1, out=x), x) for _ in range(rounds)]
print(
    f"Go takes {statistics.median(ratios):.2f} times as long as torch, with {torch.get_num_threads()} threads of torch"
)
