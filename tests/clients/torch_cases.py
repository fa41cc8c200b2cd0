"""PyTorch's tensors, and their expected outcomes; see cases.py."""

from expected import Case, DTYPES, NINE, SHARED, of

# The versions of torch whose shim supports a dtype.
SHIM_KNOWS = {"float8_e8m0fnu": (2, 12), "float4_e2m1fn_x2": (2, 12)}


def torch_version():
    import torch

    return tuple(int(n) for n in torch.__version__.split(".")[:2])


def torch_bytes(x):
    x = x.detach().resolve_conj().resolve_neg().clone(memory_format=__import__("torch").contiguous_format)
    return bytes(x.untyped_storage().tolist())


def torch_cases():
    import torch

    def case(name, shape, make, dtype="float32", **keywords):
        return Case("torch", name, of(make), shape, dtype, truth=lambda: torch_bytes(make()), **keywords)

    def rejected(name, make, pattern, run=None, **keywords):
        return Case("torch", name, run or of(make), rejected=pattern, **keywords)

    def three():
        return torch.arange(24.0).reshape(2, 3, 4)

    def raw(dtype):
        x = torch.arange(1, 33, dtype=torch.uint8)
        return (x % 2).view(getattr(torch, dtype)) if dtype == "bool" else x.view(getattr(torch, dtype))

    for dtype in list(DTYPES)[:25]:
        if hasattr(torch, dtype) and torch_version() < SHIM_KNOWS.get(dtype, (0, 0)):
            yield rejected(dtype, lambda dtype=dtype: raw(dtype), "has no DLPack equivalent")
        elif hasattr(torch, dtype):
            yield case(dtype, (32 * 8 // (DTYPES[dtype][1] * DTYPES[dtype][2]),), lambda dtype=dtype: raw(dtype), dtype)
    yield case("transposed", (3, 4, 2), lambda: three().permute(1, 2, 0))
    yield case("every second", (2, 2, 4), lambda: three()[:, ::2])
    yield case(
        "channels last",
        (1, 2, 3, 4),
        lambda: torch.arange(24.0).reshape(1, 2, 3, 4).to(memory_format=torch.channels_last),
    )
    yield case("zero strides", (4, 3), lambda: torch.arange(3.0).expand(4, 3), written=SHARED)
    yield case("0-d", (), lambda: torch.tensor(2.5))
    yield case("empty", (0, 3), lambda: torch.ones(0, 3))
    yield case("size 1, odd stride", (1, 3), lambda: torch.arange(8.0).as_strided((1, 3), (77, 2)))
    yield case("9 dimensions", NINE, lambda: torch.arange(4.0).reshape([1, 2] + [1] * 6 + [2]))
    yield case("64 dimensions", (1,) * 64, lambda: torch.ones([1] * 64))
    yield rejected(
        "4000 dimensions",
        lambda: torch.ones([1] * 4000),
        "4000 dimensions",
        truth=lambda: torch_bytes(torch.ones(1)),
    )
    yield rejected(
        "65 dimensions", lambda: torch.ones([1] * 65), "65 dimensions", truth=lambda: torch_bytes(torch.ones(1))
    )
    yield case("byte_offset", (19,), lambda: torch.arange(24.0)[5:])
    yield case("resolved conjugate", (1,), lambda: torch.tensor([1 + 2j]).conj().resolve_conj(), "complex64")
    yield case("copy on write", (2, 3, 4), lambda: torch._lazy_clone(three()))
    yield case("plain subclass", (2, 3, 4), lambda: three().as_subclass(type("Plain", (torch.Tensor,), {})))
    yield from torch_bits(torch, rejected)
    yield from torch_grad(torch, case, rejected)
    yield from torch_without_memory(torch, rejected)
    yield from torch_wrapped(torch, rejected)


def torch_bits(torch, rejected):
    def bits(name, make, pattern):
        return rejected(name, make, pattern, truth=lambda: torch_bytes(make()))

    yield bits("conjugate", lambda: torch.tensor([1 + 2j, 3 + 4j]).conj(), "conjugated values")
    yield bits("negative float32", lambda: torch.tensor([1 + 2j, 3 + 4j]).conj().imag, "negated values")
    yield bits("negative float64", lambda: torch._neg_view(torch.ones(3, dtype=torch.float64)), "negated values")
    yield bits("negative complex64", lambda: torch._neg_view(torch.tensor([1 + 2j])), "negated values")
    yield bits("negative conjugate", lambda: torch._neg_view(torch.tensor([1 + 2j]).conj()), "negated values")
    yield bits(
        "negative subclass",
        lambda: torch._neg_view(torch.ones(3)).as_subclass(type("Plain", (torch.Tensor,), {})),
        "negated values",
    )


def torch_grad(torch, case, rejected):
    def no_grad(make):
        def run(f):
            with torch.no_grad():
                return f(make())

        return run

    def leaf():
        return torch.ones(3, requires_grad=True)

    for name, make in (
        ("leaf", leaf),
        ("result", lambda: leaf() * 2),
        ("Parameter", lambda: torch.nn.Parameter(torch.ones(3))),
    ):
        yield rejected(f"requires grad: {name}", make, "requires grad", truth=lambda make=make: torch_bytes(make()))
        yield Case(
            "torch",
            f"requires grad: {name}, no_grad",
            no_grad(make),
            (3,),
            "float32",
            truth=lambda make=make: torch_bytes(make()),
        )
    yield case("detached", (3,), lambda: leaf().detach())
    yield case("frozen Parameter", (3,), lambda: torch.nn.Parameter(torch.ones(3), requires_grad=False))


def torch_without_memory(torch, rejected):
    from torch._subclasses.fake_tensor import FakeTensorMode

    def resized():
        x = torch.ones(3)
        x.untyped_storage().resize_(0)
        return x

    def fake():
        with FakeTensorMode():
            return torch.ones(3)

    class Logs(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    two = [torch.ones(2), torch.ones(3)]
    yield rejected("storage resized to 0", resized, "storage was freed")
    yield rejected("zero tensor", lambda: torch._efficientzerotensor(3), "fake or zero tensor")
    yield rejected("meta", lambda: torch.ones(3, device="meta"), "its device is meta")
    yield rejected("sparse", lambda: torch.eye(3).to_sparse(), "no strided memory")
    yield rejected("sparse rows", lambda: torch.eye(3).to_sparse_csr(), "no strided memory")
    yield rejected("mkldnn", lambda: torch.ones(3).to_mkldnn(), "no strided memory")
    yield rejected(
        "quantized", lambda: torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8), "has no DLPack equivalent"
    )
    for name in "uint4 int4 bits8".split():
        yield rejected(name, lambda name=name: torch.empty(2, dtype=getattr(torch, name)), "has no DLPack equivalent")
    yield rejected("nested strided", lambda: torch.nested.nested_tensor(two), "nested")
    yield rejected(
        "nested jagged", lambda: torch.nested.nested_tensor(two, layout=torch.jagged), "NestedTensor.*torch.ops"
    )
    yield rejected("FakeTensor", fake, "FakeTensor.*torch.ops")
    yield rejected("dispatching subclass", lambda: torch.ones(3).as_subclass(Logs), "Logs.*torch.ops")


def torch_wrapped(torch, rejected):
    def inside(transform):
        def run(f):
            seen = []

            def probe(x):
                try:
                    seen.append((f(x), None))
                except Exception as e:
                    seen.append((None, e))
                return x.sum()

            transform(probe)
            if seen[0][1]:
                raise seen[0][1]
            return seen[0][0]

        return run

    x = torch.arange(6.0).reshape(2, 3)
    func = torch.func
    yield rejected("vmap", None, "or a wrapper inside", inside(lambda f: torch.vmap(f)(x)))
    yield rejected("grad", None, "requires grad|or a wrapper inside", inside(lambda f: func.grad(f)(x)))
    yield rejected("jvp", None, "or a wrapper inside", inside(lambda f: func.jvp(f, (x,), (x,))))
    wrapped = inside(lambda f: func.functionalize(f)(x))
    yield rejected("functionalize", None, "functionalized|or a wrapper inside", wrapped)
