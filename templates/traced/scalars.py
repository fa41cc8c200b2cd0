# Scalars, texts and lists, with the messages of the Python module.


class _Parameter(_NamedTuple):
    name: str
    form: str  # the name of a value in C
    expected: str = "a tensor"  # in messages
    dtype: str = ""  # of a scalar
    binder: int = -1  # of a number: the argument whose dtype it has
    dtypes: tuple = ()  # the possible dtypes
    optional: bool = False
    written: bool = False
    leads: bool = False  # begins with `...`
    cpu: bool = False  # always in host memory
    column_major: bool = False
    default: object = _inspect.Parameter.empty


_WHOLE = _DTYPES["int8"][0], _DTYPES["uint8"][0]
_LARGEST = {"float16": 65504.0, "bfloat16": float.fromhex("0x1.fep127"), "float32": float.fromhex("0x1.fffffep127")}


#include "ordinals.py"


def _fail(kernel, i, kind, text):
    """Raises a message about an argument. A pair also names an item of a list."""
    i, item = i if isinstance(i, tuple) else (i, None)
    if item is not None:
        text = f"item {item}: {text}"
    raise kind(f"{kernel.name}(): argument '{kernel.parameters[i].name}' ({_ordinal(i + 1)}): {text}")


def _fail_kind(kernel, i, value, expected):
    kind = type(value)
    got = kind.__name__ if kind.__name__ != expected else f"{kind.__module__}.{kind.__name__}"
    if value is None:
        got = "None"
    if isinstance(value, _TRACED):
        got = _TRACED_HINT
    _fail(kernel, i, TypeError, f"expected {expected}, got {got}")


#include "foreign.py"


def _fail_again(kernel, i, error):
    """Raises an exception of foreign code again, about the argument."""
    _fail(kernel, i, *_builtin(error))


def _fail_range(kernel, i, dtype, number):
    """Python converts no int of more than 4300 digits, and other hosts none of more than 1023
    bits."""
    is_large = isinstance(number, int) and int.bit_length(number) > 1023
    _fail(kernel, i, OverflowError, f"{dtype} cannot represent {'an integer of that size' if is_large else number}")


def _convert(kernel, i, convert, value, expected):
    """Converts a value with __index__ or __float__."""
    try:
        return convert(value)
    except TypeError:
        _fail_kind(kernel, i, value, expected)
    except Exception as error:
        if isinstance(error, OverflowError) and isinstance(value, int):
            _fail_range(kernel, i, expected, _operator.index(value))
        _fail_again(kernel, i, error)


def _read_integer(kernel, i, value, expected="int"):
    number = _convert(kernel, i, _operator.index, value, expected)
    if not -(1 << 63) <= number < 1 << 63:
        _fail_range(kernel, i, "int64" if expected == "int" else expected, number)
    return number


def _read_other_integer(kernel, i, value, expected):
    """A number that must not be a bool."""
    if isinstance(value, bool):
        _fail_kind(kernel, i, value, expected)
    if expected == "uint64":
        return _convert(kernel, i, _operator.index, value, expected)
    return _read_integer(kernel, i, value, expected)


def _read_bits(kernel, i, value, dtype):
    """An integer of a dtype."""
    code, bits = _DTYPES[dtype]
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if code == _WHOLE[0] else (0, (1 << bits) - 1)
    high = 1 if dtype == "bool" else high
    number = _read_other_integer(kernel, i, value, dtype)
    if not low <= number <= high:
        _fail_range(kernel, i, dtype, number)
    return number


def _signed(number):
    """The int64_t of the same bits."""
    return number - (1 << 64) if number >= 1 << 63 else number


def _real(value):
    if isinstance(value, (str, bytes)):
        raise TypeError
    return float(value)


def _read_real(kernel, i, value, expected="float", most=float("inf")):
    """A foreign type's __index__ is called once, for the number and for the message."""
    kind = type(value)
    if most < float("inf") and hasattr(kind, "__index__") and not hasattr(kind, "__float__"):
        value = _convert(kernel, i, _operator.index, value, expected)
    number = _convert(kernel, i, _real, value, expected)
    if most < abs(number) < float("inf"):
        _fail_range(kernel, i, expected, _whole(value, number))
    return number


def _whole(value, number):
    """The integer of a value that is one, else the number."""
    try:
        return _operator.index(value)
    except TypeError:
        return number


def _read_truth(kernel, i, value):
    if not isinstance(value, (bool, _np.bool_)):
        _fail_kind(kernel, i, value, "bool")
    return bool(value)


def _read_text(kernel, i, value):
    if not isinstance(value, str):
        _fail_kind(kernel, i, value, "str")
    value = str.__str__(value)  # subclasses may have other methods
    if "\0" in value:
        _fail(kernel, i, ValueError, "expected a string without NUL")
    try:
        value.encode()
    except UnicodeEncodeError:
        _fail(kernel, i, ValueError, f"expected a string that UTF-8 can encode, got {ascii(value)}")
    return value


def _read_list(kernel, i, value):
    p = kernel.parameters[i]
    if isinstance(value, (str, bytes)) or not isinstance(value, _Sequence):
        _fail_kind(kernel, i, value, p.expected)
    try:
        items = tuple(value)
    except Exception as error:
        _fail_again(kernel, i, error)
    read, expected = (_read_other_integer, "int") if p.form == "integers" else (_read_real, "float")
    return tuple(read(kernel, (i, n), item, expected) for n, item in enumerate(items))


def _read_dtype(kernel, i, value, dtype):
    """A scalar of a dtype."""
    if dtype == "bool":
        return value if isinstance(value, bool) else bool(_read_bits(kernel, i, value, dtype))
    if _DTYPES[dtype][0] in _WHOLE:
        return _read_bits(kernel, i, value, dtype)
    return _read_real(kernel, i, value, dtype, _LARGEST.get(dtype, float("inf")))


_READERS = {"integer": _read_integer, "real": _read_real, "truth": _read_truth, "text": _read_text}


def _read_static(kernel, i, value):
    """A value that is known when JAX traces; a number waits for the dtype of its tensor."""
    p = kernel.parameters[i]
    if value is None:
        if not p.optional:
            _fail(kernel, i, TypeError, f"expected {p.expected}, got None")
        return None
    if p.form == "number":
        return _plain(kernel, i, value)
    if p.dtype:
        return _read_dtype(kernel, i, value, p.dtype)
    if p.form in ("integers", "reals"):
        return _read_list(kernel, i, value)
    return _READERS[p.form](kernel, i, value)


def _plain(kernel, i, value):
    """Converts to an int, a float or a bool; other objects are returned unchanged."""
    if isinstance(value, (bool, int, float, str, bytes, _TRACED)):
        return value
    if isinstance(value, _np.bool_):
        return bool(value)
    for convert in _operator.index, float:
        try:
            return convert(value)
        except TypeError:
            pass
        except Exception as error:
            _fail_again(kernel, i, error)
    return value


def _read_number(kernel, i, value, plain, arrays):
    """A scalar with the dtype of a tensor. The check reports a wrong dtype of the tensor."""
    p = kernel.parameters[i]
    binder = arrays[p.binder]
    dtype = "" if binder is None else _dtype_name(binder)
    if plain is None or dtype not in p.dtypes:
        return 0
    is_real = _DTYPES[dtype][0] not in (*_WHOLE, _DTYPES["bool"][0])
    if not isinstance(plain, (bool, int, float)) or (isinstance(plain, float) and not is_real):
        _fail_kind(kernel, i, value, dtype)
    return _read_dtype(kernel, i, plain, dtype)


# Arguments


def _arrange(kernel, arguments, words):
    """The values of all parameters, in their order."""
    parameters = kernel.parameters
    if len(arguments) > len(parameters):
        ending = "" if len(parameters) == 1 else "s"
        text = f"takes {len(parameters)} argument{ending}, got {len(arguments)}"
        raise TypeError(f"{kernel.name}() {text}")
    named = {p.name: value for p, value in zip(parameters, arguments)}
    for name, value in words.items():
        if name in named:
            raise TypeError(f"{kernel.name}() got multiple values for argument '{name}'")
        if not any(p.name == name for p in parameters):
            raise TypeError(f"{kernel.name}() got an unexpected keyword argument '{name}'")
        named[name] = value
    for i, p in enumerate(parameters):
        if named.setdefault(p.name, p.default) is _inspect.Parameter.empty:
            _fail(kernel, i, TypeError, "it is missing")
    return [named[p.name] for p in parameters]


def _read(kernel, values):
    """Static values and arrays, each with None at the indices of the others."""
    is_tensor = [p.form == "tensor" for p in kernel.parameters]
    statics = [None if t else _read_static(kernel, i, values[i]) for i, t in enumerate(is_tensor)]
    arrays = [_read_array(kernel, i, values[i]) if t else None for i, t in enumerate(is_tensor)]
    for i, p in enumerate(kernel.parameters):
        if p.form == "number":
            statics[i] = _read_number(kernel, i, values[i], statics[i], arrays)
    return tuple(statics), arrays


def _read_array(kernel, i, value):
    if value is None and kernel.parameters[i].optional:
        return None
    try:
        array = _array(value)
    except Exception as error:  # for example, JAX rejects an array of texts
        _fail_again(kernel, i, error)
    if array is not None:
        return array
    got = "None" if value is None else type(value).__name__
    expected, hint = "a tensor", "" if value is None else ", which has no __dlpack__"
    if hasattr(value, "__dlpack__"):
        expected, hint = _ARRAYS
    _fail(kernel, i, TypeError, f"expected {expected}, got {got}{hint}")


# Gradients


class _Backward(_NamedTuple):
    kernel: str
    saves: tuple
    of: tuple


def _reject_dropped(kernel, i, saving, way):
    """Rejects an argument whose gradient is not computed."""
    p, backward = kernel.parameters[i], kernel.backward
    if backward is None:
        text = f"it requires a gradient, but the kernel has no backward: {way}, or describe `backward:`"
    elif saving:
        text = f"it requires a second-order gradient, which no backward computes: {way}"
    elif p.name not in backward.of:
        text = f"it requires a gradient, which the backward does not compute: {way}, or name it under `of:`"
    else:
        return
    _fail(kernel, i, NotImplementedError, text)


def _key(value):
    """Distinguishes 0.0 from -0.0 and True from 1."""
    if isinstance(value, tuple):
        return tuple(map(_key, value))
    return type(value), _bits(value) if isinstance(value, float) else value


def _bits(value):
    return _struct.pack("d", value)
