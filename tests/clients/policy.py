"""The result for a tensor that requires grad, for the mode in which the module was built."""

import sys

import clients
import torch


def reads(x):
    try:
        clients.read(x)
        return True
    except BufferError as e:
        assert "requires grad" in str(e), e
        return False


x = torch.ones(3, requires_grad=True)
on = reads(x)
with torch.no_grad():
    off = reads(x)
print("read with grad mode on:", on, "off:", off, "without:", reads(torch.ones(3)))
sys.exit()
