"""Trains one small model twice, with torchop.silu and with PyTorch's own, from the
same weights on the same data: the losses must agree, step by step."""

import torch

import torchop


def losses(activation):
    torch.manual_seed(1)
    first, second = torch.nn.Linear(8, 32), torch.nn.Linear(32, 1)
    optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.05, momentum=0.9)
    x = torch.randn(64, 8)
    wanted = (x[:, :1] * x[:, 1:2]).sin()
    seen = []
    for _ in range(50):
        loss = torch.nn.functional.mse_loss(second(activation(first(x))), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen.append(loss.item())
    return seen


ours, theirs = losses(torchop.silu), losses(torch.nn.functional.silu)
assert ours[-1] < ours[0] / 2, ours
torch.testing.assert_close(torch.tensor(ours), torch.tensor(theirs), rtol=1e-4, atol=1e-6)
print(f"ok eager: from {ours[0]:.4f} to {ours[-1]:.4f}")

compiled = losses(torch.compile(torchop.silu, backend="aot_eager", fullgraph=True))
torch.testing.assert_close(torch.tensor(compiled), torch.tensor(theirs), rtol=1e-4, atol=1e-6)
print("ok compiled")

torch.autograd.gradcheck(torchop.silu, torch.randn(4, 3, dtype=torch.float64, requires_grad=True))
try:
    torchop.silu(torch.ones(3, dtype=torch.int32))
except TypeError as e:
    assert "silu(): argument 'x' (1st): expected float32 or float64, got int32" in str(e), e
    print("ok rejected")
