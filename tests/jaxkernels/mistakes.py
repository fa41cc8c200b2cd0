"""Mistakes in calls of described kernels: each has the same message here and in the Python
module."""

from loaded import run

import jax.numpy as jnp
import numpy as np

import _kernels
import kernels_jax
from cases import FINE, Counted, W, all_mistakes


def outcome(module, convert, name, args, words):
    try:
        made = getattr(module, name)(*map(convert, args), **words)
    except Exception as e:
        return type(e), str(e).split("\n")[0]
    return [np.asarray(array).tolist() for array in (made if isinstance(made, tuple) else (made,))]


def array(value):
    return jnp.asarray(value) if isinstance(value, np.ndarray) else value


def copied(value):
    return value.copy() if isinstance(value, np.ndarray) else value


def compare(case, raised):
    ours, theirs = outcome(kernels_jax, array, *case), outcome(_kernels, copied, *case)
    assert isinstance(theirs, tuple) == raised and isinstance(ours, tuple) == raised, (case, ours, theirs)
    if raised:
        assert ours == theirs, f"{case}\n  {ours}\n  {theirs}"


def test_the_sentences_are_those_of_the_module():
    for case in all_mistakes():
        compare(case, True)


def test_index_is_called_once():
    for module in kernels_jax, _kernels:
        number = Counted()
        kind, text = outcome(module, array, "words", (np.ones((3, 4), np.float32), [1, 5]), {"half": number})
        assert kind is OverflowError and text.endswith(f"float16 cannot represent {1 << 200}"), text
        assert number.calls == 1, (module, number.calls)


def test_what_is_fine_for_the_module_is_fine():
    for case in FINE:
        compare(case, False)


def test_wrong_calls_leave_nothing():
    import gc

    import jax

    for _ in range(2):
        for case in all_mistakes():
            outcome(kernels_jax, array, *case)
        gc.collect()
        alive = len(jax.live_arrays())
    for case in all_mistakes():
        outcome(kernels_jax, array, *case)
    gc.collect()
    assert len(jax.live_arrays()) <= alive, (alive, len(jax.live_arrays()))


def test_what_jax_has_no_tensor_for():
    import jax

    from loaded import raises

    class Foreign:
        def __dlpack__(self):
            raise AssertionError

    text = "rms_norm(): argument 'x' (1st): expected an array of JAX or NumPy, got Foreign: convert it with jax."
    raises(TypeError, text, kernels_jax.rms_norm, Foreign(), W)
    for wrong, kind in (
        (np.array(["a"]), TypeError), (np.array([object()]), TypeError), (np.ma.masked_array(W, W > 0), ValueError),
    ):  # fmt: skip
        raises(kind, "rms_norm(): argument 'weight' (2nd): ", kernels_jax.rms_norm, W, wrong)
    text = "rms_norm(): argument 'x' (1st): expected a dtype with a DLPack equivalent, got key<fry>"
    raises(TypeError, text, kernels_jax.rms_norm, jax.random.key(0), W)


if __name__ == "__main__":
    run(dict(globals()))
