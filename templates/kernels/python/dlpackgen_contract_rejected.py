"""Violates one requirement of a description at a time. Each function changes a valid call, and
returns the call, the exception and its message. dlpackgen_contract.py uses them."""

import math
import re
import types

import numpy as np
import pytest
from dlpackgen_contract_calls import (
    MOST,
    Call,
    Case,
    Library,
    Tensor,
    attempts,
    call_with,
    either,
    elements,
    evaluate,
    extents,
    has_two,
    holds,
    memory,
    numpy_type,
    shapes,
    spread,
    start,
)

OTHER_DTYPES = ["int32", "uint8", "float64", "float32", "int64", "bool", "int8", "float16"]
LARGEST = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38}


def rejected(kernel):
    cases = []
    for p in kernel.args:
        cases += [Case(b, p.name) for b in (tensor_mistakes if isinstance(p, Tensor) else scalar_mistakes)(kernel, p)]
        if isinstance(p, Tensor):
            cases += [Case(extent, p.name, i, f"{p.name}-{i}") for i in compared(kernel, p)]
    cases += [Case(overlap, a, i, f"{a}-{b}") for i, (a, b) in enumerate(kernel.apart)]
    cases += [Case(condition, "", i, c.text) for i, c in enumerate(kernel.where)]
    for i, (name, p) in enumerate(zip(kernel.outs, kernel.made)):
        breaks = [out_dtype, out_rank, out_layout, out_read_only] + ([out_extent] if p.shape else [])
        cases += [Case(b, name, i) for b in breaks]
    return cases + [Case(too_many), Case(unknown_keyword)] + ([Case(twice)] if kernel.args else [])


def tensor_mistakes(kernel, p):
    breaks = [missing] if p.required else []
    breaks += [not_a_tensor] if p.optional else [none, not_a_tensor]
    breaks += [dtype] if p.dtypes or p.variable else []
    breaks += [other_dtype] if p.variable and kernel.symbols[p.variable] != p.name else []
    breaks += [rank] if p.shape != ("...",) and least_rank(p) + (not has_group(p)) else []
    breaks += [layout] if p.layout not in ("strided", "copied") and p.shape else []
    breaks += [alignment] if p.aligned > 1 else []
    breaks += [read_only] if p.access != "in" else []
    return breaks + [requires_grad]


def scalar_mistakes(kernel, p):
    breaks = ([missing] if p.required else []) + ([] if p.optional else [none]) + [kind]
    breaks += [too_large] if p.kind == "number" else []
    breaks += [item] if p.kind in ("ints", "floats") else []
    return breaks + ([count] if p.count or p.least else [])


def has_group(p):
    return any(isinstance(e, str) and e.startswith("...") for e in p.shape)


def least_rank(p):
    return len(p.shape) - has_group(p)


def compared(kernel, p):
    """The indices of extents that are checked."""
    seen = set()
    for i, e in enumerate(p.shape):
        binds = i in p.solved or kernel.symbols.get(e) == p.name and e not in seen
        seen.add(e)
        if e != "_" and not (binds and factor_of(p, i) < 2):
            yield i


def factor_of(p, i):
    """The factor of an extent such as 2 * k that gives k, or 1."""
    found = re.match(r"(\d+) \*", str(p.shape[i])) if i in p.solved else None
    return int(found[1]) if found else 1


def check_rejected(kernel, library, case):
    call, raises, text = case.breaks(kernel, start(kernel, library, case.breaks is read_only), case)
    before = call.contents()
    expected = f"{raises.__name__}: {text}"
    try:
        call.run()
    except Exception as error:
        got = f"{type(error).__name__}: {error}"
    else:
        pytest.fail(f"{kernel.name}() accepted the call\nexpected {expected}")
    if got != expected:
        pytest.fail(f"{kernel.name}() raised a different error\nexpected {expected}\ngot      {got}")
    assert call.contents() == before, "a rejected call wrote to a tensor"


def say(kernel, name, text):
    return f"{kernel.name}(): {kernel.argument(name)}: {text}"


def missing(kernel, library, case):
    call = call_with(kernel, library)
    del call.arguments[case.name]
    return call, TypeError, say(kernel, case.name, "it is missing")


def none(kernel, library, case):
    call = call_with(kernel, library)
    call.arguments[case.name] = None
    expected = getattr(kernel.arg(case.name), "expected", "a tensor")
    return call, TypeError, say(kernel, case.name, f"expected {expected}, got None")


def not_a_tensor(kernel, library, case):
    call = call_with(kernel, library)
    call.arguments[case.name] = "text"
    return call, TypeError, say(kernel, case.name, "expected a tensor, got str, which has no __dlpack__")


def kind(kernel, library, case):
    call, p = call_with(kernel, library), kernel.arg(case.name)
    call.arguments[p.name] = wrong = 3 if p.kind == "str" else "text"
    expected = p.expected
    if p.kind == "number":
        expected = call.values[p.variable] if p.variable else p.dtypes[0]
    return call, TypeError, say(kernel, p.name, f"expected {expected}, got {type(wrong).__name__}")


def too_large(kernel, library, case):
    call, p = call_with(kernel, library), kernel.arg(case.name)
    name = call.values[p.variable] if p.variable else p.dtypes[0]
    if name == "float64":
        pytest.skip("float64 holds every float of Python")
    if name in ("int64", "uint64"):
        wrong = 2**64
    else:
        wrong = LARGEST[name] * 1.5 if name in LARGEST else 2 if name == "bool" else np.iinfo(name).max + 1
    call.arguments[p.name] = wrong
    return call, OverflowError, say(kernel, p.name, f"{name} cannot represent {wrong!r}")


def item(kernel, library, case):
    call, p = call_with(kernel, library), kernel.arg(case.name)
    valid = call.arguments[p.name] or []
    call.arguments[p.name] = [*valid, "text"]
    expected = {"ints": "int", "floats": "float"}[p.kind]
    return call, TypeError, say(kernel, p.name, f"item {len(valid)}: expected {expected}, got str")


def count(kernel, library, case):
    call, p = call_with(kernel, library), kernel.arg(case.name)
    wanted, wrong = p.count or p.least, p.count + 1 if p.count else p.least - 1
    call.arguments[p.name] = call.arguments[p.name][:1] * wrong
    items = f"{'' if p.count else 'at least '}{wanted} item{'' if wanted == 1 else 's'}"
    return call, ValueError, say(kernel, p.name, f"expected {items}, got {wrong}")


def dtype(kernel, library, case):
    call, p = call_with(kernel, library), kernel.arg(case.name)
    listed = p.dtypes or kernel.types[p.variable]
    wrong = next((d for d in OTHER_DTYPES if d not in listed and library.supports(d)), None)
    if not wrong:
        pytest.skip(f"{library.name} has no dtype that the kernel does not take")
    call.put(p, memory(call.shapes[p.name], numpy_type(wrong), call.order(p)))
    return call, TypeError, say(kernel, p.name, f"expected {either(listed)}, got {wrong}")


def other_dtype(kernel, library, case):
    """A dtype of the variable, but different from the argument that determines it."""
    call, p = call_with(kernel, library), kernel.arg(case.name)
    chosen = call.values[p.variable]
    wrong = next((d for d in kernel.types[p.variable] if d != chosen and library.supports(d)), None)
    if not wrong:
        pytest.skip(f"{library.name} has no other dtype of {p.variable}")
    call.put(p, memory(call.shapes[p.name], numpy_type(wrong), call.order(p)))
    binder = kernel.argument(kernel.symbols[p.variable])
    return call, TypeError, say(kernel, p.name, f"expected {chosen}, the dtype of {binder}, got {wrong}")


def rank(kernel, library, case):
    call, p = call_with(kernel, library), kernel.arg(case.name)
    least, got = least_rank(p), len(call.shapes[p.name]) + 1
    if has_group(p):
        got = least - 1
    call.put(p, memory((1,) * got, call.dtype(p), call.order(p)))
    dimensions = f"{'at least ' if has_group(p) else ''}{least} dimension{'' if least == 1 else 's'}"
    return call, ValueError, say(kernel, p.name, f"expected {dimensions}, got {got}")


def extent(kernel, library, case):
    call, p = call_with(kernel, library), kernel.arg(case.name)
    shape, places = extents(p, call.values | known_shapes(call))
    at = places.index(case.at)
    wrong = shape[:at] + (shape[at] + 1,) + shape[at + 1 :]
    call.put(p, call.fill(p, memory(wrong, call.dtype(p), call.order(p))))
    return call, ValueError, say(kernel, p.name, mismatch(kernel, p, case.at, shape, wrong, at, places))


def known_shapes(call):
    return {n: types.SimpleNamespace(shape=s, size=math.prod(s)) for n, s in call.shapes.items()}


def mismatch(kernel, p, place, shape, wrong, at, places):
    """The message for a wrong extent."""
    written, got = p.shape[place], wrong[at]
    if place in p.solved:
        return f"expected a multiple of {factor_of(p, place)} in dimension {at}, which is {written}, got {got}"
    if isinstance(written, int):
        return f"expected {written} in dimension {at}, got {got}"
    if written.startswith("..."):
        group = [d for d, i in enumerate(places) if i == place]
        want, have = (tuple(s[d] for d in group) for s in (shape, wrong))
        return f"expected {written} = {want}, as in {kernel.argument(kernel.symbols[written])}, got {have}"
    text = f"expected {written} = {shape[at]} in dimension {at}"
    if written in kernel.symbols:
        text += f", as in {kernel.argument(kernel.symbols[written])}"
    return f"{text}, got {got}"


LAYOUTS = {
    "contiguous": "expected a C-contiguous tensor",
    "inner": "expected a contiguous last dimension",
    "any_order": "expected a tensor that is contiguous in some order of its dimensions",
    "column_major": "expected a column-major tensor",
}


def layout(kernel, library, case):
    library.needs_strides()
    call, p = call_with(kernel, library, has_two(case.name)), kernel.arg(case.name)
    call.put(p, spread(call, p, call.shapes[p.name]))
    return call, ValueError, say(kernel, p.name, f"{LAYOUTS[p.layout]}, got {strides(call.masters[p.name])}")


def strides(array):
    counted = tuple(s // array.itemsize for s in array.strides)
    return f"strides {counted} for shape {array.shape}"


def alignment(kernel, library, case):
    library.needs_strides()
    call, p = call_with(kernel, library, has_two(case.name)), kernel.arg(case.name)
    if call.dtype(p).itemsize % p.aligned == 0:
        pytest.skip("every element is aligned so")
    call.put(p, memory(call.shapes[p.name], call.dtype(p), call.order(p), offset=call.dtype(p).itemsize))
    address = call.masters[p.name].ctypes.data
    return call, BufferError, say(kernel, p.name, f"expected data aligned to {p.aligned} bytes, got {address:#x}")


def unwritable(library, p, master):
    """A read-only array: a view by NumPy, or an array of JAX."""
    if library.name == "jax":
        if not library.supports(master.dtype.name) or p.layout == "column_major" or p.aligned > 64:
            pytest.skip("arrays of JAX do not have this dtype, layout or alignment")
        return library.array(master)
    view = master[...]
    view.flags.writeable = False
    return view


def not_written(library):
    why = "JAX arrays are immutable" if library.name == "jax" else "it is read-only"
    return f"{why}, but the parameter is writable"


def needs_read_only(library):
    if library.name not in ("numpy", "jax"):
        pytest.skip("only arrays of NumPy and JAX can be read-only")


def read_only(kernel, library, case):
    """The other arrays belong to NumPy, because a kernel may write to several."""
    needs_read_only(library)
    call, p = call_with(kernel, Library("numpy")), kernel.arg(case.name)
    call.arguments[p.name] = unwritable(library, p, call.masters[p.name])
    call.foreign = {p.name}
    return call, BufferError, say(kernel, case.name, not_written(library))


def requires_grad(kernel, library, case):
    if library.name != "torch":
        pytest.skip("only tensors of torch require a gradient")
    call = call_with(kernel, library)
    tensor = call.arguments[case.name]
    if not (tensor.is_floating_point() or tensor.is_complex()):
        pytest.skip("only tensors of floats require a gradient")
    tensor.requires_grad_()
    why = "it requires grad, but autograd would not record this call: pass detach(), or call this under torch.no_grad()"
    return call, BufferError, say(kernel, case.name, why)


def overlap(kernel, library, case):
    library.needs_strides()
    a, b = (kernel.arg(name) for name in kernel.apart[case.at])
    call = call_with(kernel, library, lambda made: math.prod(made[a.name]) and math.prod(made[b.name]))
    sizes = [math.prod(call.shapes[p.name]) * call.dtype(p).itemsize for p in (a, b)]
    common = memory((max(sizes),), np.dtype(np.uint8))
    for p in (a, b):
        view = np.ndarray(call.shapes[p.name], call.dtype(p), common.data, order=call.order(p))
        call.put(p, view)
    why = f"it is writable, but overlaps {kernel.argument(b.name)}"
    return call, BufferError, say(kernel, a.name, why)


def condition(kernel, library, case):
    broken = kernel.where[case.at]
    for values in attempts(kernel, library, broken=True):
        made = shapes(kernel, values)
        if made is None or elements(made) > MOST or holds(kernel, broken, values, made):
            continue
        if all(holds(kernel, c, values, made) for c in kernel.where[: case.at]):
            return Call(kernel, library, values), broken.raises, unmet(kernel, broken, values, made)
    pytest.skip("no small sizes break the condition")


def unmet(kernel, broken, values, made):
    known = values | {n: types.SimpleNamespace(shape=s, size=math.prod(s)) for n, s in made.items()}
    shown = []
    for name in broken.names:
        value = evaluate(name, known)
        is_text = isinstance(value, str) and name not in kernel.types
        shown.append(f"{name} = '{value}'" if is_text else f"{name} = {value}")
    try:
        evaluate(broken.python, known)
    except ZeroDivisionError:
        return f"{kernel.name}(): {broken.text} divides by zero, where {', '.join(shown)}"
    return f"{kernel.name}(): expected {broken.text}, where {', '.join(shown)}"


def with_out(kernel, library, case, change, fits=lambda made: True):
    """A call with memory for one result, which `change` creates from a shape and a dtype."""
    library.needs_writable_out()
    call = call_with(kernel, library, fits)
    p = kernel.made[case.at]
    made = change(call.shapes[p.name], call.dtype(p))
    call.masters[case.name] = made
    call.out[case.at] = library.array(made)
    return call, p


def out_dtype(kernel, library, case):
    p = kernel.made[case.at]
    chosen = call_with(kernel, library).dtype(p).name
    others = (d for d in OTHER_DTYPES if d not in kernel.types.get(p.variable, p.dtypes) and library.supports(d))
    wrong = next(others, None)
    if wrong is None:
        pytest.skip("the kernel takes every dtype")
    call, p = with_out(kernel, library, case, lambda shape, _: memory(shape, numpy_type(wrong)))
    return call, TypeError, say(kernel, case.name, f"expected {chosen}, got {wrong}")


def out_rank(kernel, library, case):
    call, p = with_out(kernel, library, case, lambda shape, dtype: memory(shape + (1,), dtype))
    wanted = len(call.shapes[p.name])
    text = f"expected {wanted} dimension{'' if wanted == 1 else 's'}, got {wanted + 1}"
    return call, ValueError, say(kernel, case.name, text)


def out_extent(kernel, library, case):
    fits = has_rank(kernel.made[case.at].name)
    call, p = with_out(
        kernel, library, case, lambda shape, dtype: memory(shape[:-1] + (shape[-1] + 1,), dtype), fits
    )
    shape = call.shapes[p.name]
    text = f"expected {shape[-1]} in dimension {len(shape) - 1}, got {shape[-1] + 1}"
    return call, ValueError, say(kernel, case.name, text)


def has_rank(name):
    return lambda made: bool(made[name])


def out_layout(kernel, library, case):
    library.needs_strides()
    call, p = with_out(
        kernel,
        library,
        case,
        lambda shape, dtype: memory(shape[:-1] + (2 * shape[-1],), dtype)[..., ::2],
        has_two(kernel.made[case.at].name),
    )
    text = f"expected a C-contiguous tensor, got {strides(call.masters[case.name])}"
    return call, ValueError, say(kernel, case.name, text)


def out_read_only(kernel, library, case):
    needs_read_only(library)
    call, p = with_out(kernel, Library("numpy"), case, memory)
    call.out[case.at] = unwritable(library, p, call.out[case.at])
    return call, BufferError, say(kernel, case.name, not_written(library))


class Placed(Call):
    """A call with positional arguments, with one argument too many, or one that is also passed by
    keyword."""

    def run(self):
        return self.kernel.function(*self.placed, **self.named)


def placed(kernel, library):
    call = call_with(kernel, library)
    call.__class__ = Placed
    call.placed, call.named = list(call.arguments.values()), {}
    return call


def too_many(kernel, library, case):
    call, takes = placed(kernel, library), len(kernel.args)
    call.placed.append(None)
    arguments = f"{takes} argument{'' if takes == 1 else 's'}"
    return call, TypeError, f"{kernel.name}() takes {arguments}, got {takes + 1}"


def unknown_keyword(kernel, library, case):
    call = placed(kernel, library)
    call.named = {"no_such_keyword": 1}
    return call, TypeError, f"{kernel.name}() got an unexpected keyword argument 'no_such_keyword'"


def twice(kernel, library, case):
    call, name = placed(kernel, library), kernel.args[0].name
    call.named = {name: call.placed[0]}
    return call, TypeError, f"{kernel.name}() got multiple values for argument '{name}'"
