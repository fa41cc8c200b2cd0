"""Every form of registration, called through torch.ops: all of them behave the same."""

import torch
from check import ALL, FORMS, ops, raises, run


def mixes():
    return {form: getattr(ops, "mix_" + form) for form in FORMS}


def test_every_form_is_there():
    assert FORMS == ALL


def test_every_form_returns_and_writes():
    for form, mix in mixes().items():
        x, w, out = torch.arange(4.0), torch.full((4,), 5.0), torch.ones(4)
        first, y = mix(x, 2.5, 3, True, w, out)
        assert first.tolist() == [3, 5.5, 8, 10.5], form
        assert y.tolist() == [6, 6, 6, 6], form
        assert out.tolist() == [2, 2, 2, 2], form
        first, y = mix(x, 1.0, 0, False, None, out)
        assert (first.tolist(), y.tolist(), out.tolist()) == ([0, 1, 2, 3], [2] * 4, [1] * 4), form


def test_by_name():
    for form, mix in mixes().items():
        out = torch.zeros(1)
        first, _ = mix(x=torch.ones(1), a=2.0, n=1, on=True, w=None, to=out)
        assert (first.item(), out.item()) == (3, 1), form


def test_every_kind_of_argument_comes_through_boxes():
    def seen(*args, **words):
        return ops.all_boxed(*args, **words).tolist()

    x = torch.ones(2, 3)
    assert seen(x, 4.5, [7, 8], "abc") == [6, 4, 8, 3, -1, -1, -1, -1, -1]
    assert seen(x.int(), 5, [], "") == [6, 5, 0, 0, -1, -1, -1, -1, -1]
    assert seen(x, 1, [1], "a", [], [2.0, 9.5], "four", 11, 12.5) == [6, 1, 1, 1, 0, 9, 4, 11, 12]
    raises(TypeError, "argument 'by' (2nd): expected int32, got float", ops.all_boxed, x.int(), 1.5, [], "")


def test_errors_come_through_every_form():
    for form, mix in mixes().items():
        raises(
            ValueError,
            f"mix_{form}(): argument 'to' (6th): expected a C-contiguous tensor, got strides",
            mix,
            torch.ones(2, 2),
            1.0,
            1,
            True,
            None,
            torch.ones(2, 2).t(),
        )
        raises(
            NotImplementedError,
            f"mix_{form}(): an argument requires a gradient",
            mix,
            torch.ones(2, requires_grad=True),
            1.0,
            1,
            True,
            None,
            torch.ones(2),
        )
        raises(RuntimeError, "", mix, torch.ones(2), "a", 1, True, None, torch.ones(2))


def test_every_form_raises_the_version():
    for form, mix in mixes().items():
        out = torch.ones(2)
        mix(torch.ones(2), 1.0, 1, True, None, out)
        assert out._version == 1, form
        weight = torch.ones(2, requires_grad=True)
        product = weight * out
        mix(torch.ones(2), 1.0, 1, True, None, out)
        raises(RuntimeError, "modified by an inplace operation", product.sum().backward)


def test_inference_mode():
    with torch.inference_mode():
        for form, mix in mixes().items():
            out = torch.ones(2)
            mix(torch.ones(2), 1.0, 1, True, None, out)
            assert out.tolist() == [2, 2], form
    outside = torch.ones(2)
    with torch.inference_mode():
        made = torch.ones(2)
    for form, mix in mixes().items():
        for x in (outside, made):
            raises(
                RuntimeError,
                "Inplace update to inference tensor outside InferenceMode",
                mix,
                x,
                1.0,
                1,
                True,
                None,
                made,
            )
        assert mix(made, 1.0, 1, True, None, outside)[0].tolist() == [2, 2], form
    assert made.tolist() == [1, 1]


def test_every_form_raises_the_version_below_autograd():
    x = torch.ones(2, requires_grad=True)  # autograd rejects it
    with torch._C._AutoDispatchBelowAutograd():
        for form, mix in mixes().items():
            out = torch.ones(2)
            mix(x, 1.0, 1, True, None, out)
            assert out._version == 1, form


def test_overlapping_threads():
    from concurrent.futures import ThreadPoolExecutor

    def work(seed):
        x, out = torch.full((16,), float(seed)), torch.zeros(16)
        for _ in range(200):
            for mix in mixes().values():
                first, _ = mix(x, 2.0, 1, True, None, out)
                assert first.tolist() == [2.0 * seed + 1] * 16
        assert out.tolist() == [200.0 * len(FORMS)] * 16

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(8)))


run(globals())
