"""Calls rms_norm from NumPy, trains with it in torch, and jits it and its gradient in JAX."""

import sys

import numpy as np

import _kernels

X = np.random.default_rng(0).standard_normal((16, 8)).astype("float32")
WEIGHT = np.linspace(0.5, 1.5, 8, dtype="float32")
STEPS = 50


def use_numpy():
    y = _kernels.rms_norm(X, WEIGHT)
    want = X / np.sqrt((X.astype("float64") ** 2).mean(-1, keepdims=True) + 1e-6) * WEIGHT
    print(f"NumPy: at most {np.abs(y - want).max():.0e} from NumPy's own")
    try:
        _kernels.rms_norm(X, WEIGHT, eps=-1.0)
    except RuntimeError as error:
        print("NumPy: an error of Go is a RuntimeError:", error)


def torch_loss(norm):
    """Trains a row of weights, which begin as ones, until the norm of X is that with WEIGHT."""
    import torch

    x, weight = torch.from_numpy(X), torch.ones(8, requires_grad=True)
    target = torch.nn.functional.rms_norm(x, (8,), torch.from_numpy(WEIGHT), eps=1e-6)
    optimizer = torch.optim.SGD([weight], lr=0.5)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = ((norm(x, weight) - target) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def use_torch():
    import torch

    import kernels_torch

    kernels_torch.register()
    norm = torch.ops.gokernel.rms_norm
    own = lambda x, weight: torch.nn.functional.rms_norm(x, (8,), weight, eps=1e-6)
    inputs = [torch.from_numpy(a).double().requires_grad_() for a in (X, WEIGHT)]
    gradients = (torch.autograd.grad((f(*inputs) ** 3).sum(), inputs) for f in (norm, own))
    far = max(float((a - b).abs().max()) for a, b in zip(*gradients))
    assert far < 1e-6, far
    losses, want = torch_loss(norm), torch_loss(own)
    assert losses[-1] < losses[0] / 100, losses
    print(f"torch: gradients at most {far:.0e} from torch's own")
    print(f"torch: loss {losses[0]:.4f} before, {losses[-1]:.4f} after {STEPS} steps, by torch's own {want[-1]:.4f}")


def use_jax():
    import jax
    import jax.numpy as jnp

    import kernels_jax

    def loss(norm, x, weight):
        return (norm(x, weight) ** 3).sum()

    def own(x, weight):
        return x / jnp.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * weight

    both = (kernels_jax.rms_norm, own)
    got, want = (jax.jit(jax.value_and_grad(lambda x, w, f=f: loss(f, x, w), (0, 1))) for f in both)
    (value, gradients), (same, expected) = got(X, WEIGHT), want(X, WEIGHT)
    np.testing.assert_allclose(value, same, rtol=1e-4)
    far = max(float(abs(a - b).max()) for a, b in zip(gradients, expected))
    assert far < 1e-3, far
    print("JAX: jit of the kernel and of its gradients fit JAX's own")


for library in sys.argv[1:]:
    globals()["use_" + library]()
