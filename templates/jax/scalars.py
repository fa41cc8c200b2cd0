# Scalars, texts and lists, with the sentences of the module of Python.


class _Parameter(_NamedTuple):
    name: str
    form: str  # as values.h names it
    expected: str = "a tensor"  # in sentences
    dtype: str = ""  # of a scalar
    binder: int = -1  # of a number: the argument whose dtype it has
    dtypes: tuple = ()  # those that it may be
    optional: bool = False
    written: bool = False
    leads: bool = False  # begins with `...`
    column_major: bool = False
    default: object = _inspect.Parameter.empty


_WHOLE = _DTYPES["int8"][0], _DTYPES["uint8"][0]
_LARGEST = {"float16": 65504.0, "bfloat16": float.fromhex("0x1.fep127"), "float32": float.fromhex("0x1.fffffep127")}


def _fail(kernel, i, kind, text):
    number = i + 1
    ending = "th" if number // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    raise kind(f"{kernel.name}(): argument '{kernel.parameters[i].name}' ({number}{ending}): {text}")


def _fail_kind(kernel, i, value, expected):
    kind = type(value)
    got = kind.__name__ if kind.__name__ != expected else f"{kind.__module__}.{kind.__name__}"
    if isinstance(value, _jax.core.Tracer):
        got = "a traced value: name the argument under static_argnames of jax.jit"
    _fail(kernel, i, TypeError, f"expected {expected}, got {got}")


def _convert(kernel, i, convert, value, expected):
    """Converts a value by __index__ or __float__."""
    try:
        return convert(value)
    except TypeError:
        _fail_kind(kernel, i, value, expected)
    except (ValueError, OverflowError) as error:
        _fail(kernel, i, type(error), str(error))


def _read_integer(kernel, i, value, expected="int"):
    number = _convert(kernel, i, _operator.index, value, expected)
    if not -(1 << 63) <= number < 1 << 63:
        held = "int64" if expected in ("int", "a list of int") else expected
        is_int = isinstance(value, int)
        _fail(kernel, i, OverflowError, f"{held} does not hold {value}" if is_int else "int too big to convert")
    return number


def _read_other_integer(kernel, i, value, expected):
    """One that must not be a bool."""
    if isinstance(value, bool):
        _fail_kind(kernel, i, value, expected)
    return _read_integer(kernel, i, value, expected)


def _read_bits(kernel, i, value, dtype):
    """An integer of a dtype."""
    low, high = (0, 1) if dtype == "bool" else (_jnp.iinfo(dtype).min, _jnp.iinfo(dtype).max)
    if dtype != "uint64":
        number = _read_other_integer(kernel, i, value, dtype)
    elif isinstance(value, int) and not isinstance(value, bool):
        number = value
    else:
        _fail_kind(kernel, i, value, dtype)
    if not low <= number <= high:
        _fail(kernel, i, OverflowError, f"{dtype} does not hold {number}")
    return number


def _signed(number):
    """The int64_t of the same bits."""
    return number - (1 << 64) if number >= 1 << 63 else number


def _real(value):
    if isinstance(value, (str, bytes)):
        raise TypeError
    return float(value)


def _read_real(kernel, i, value, expected="float", most=float("inf")):
    number = _convert(kernel, i, _real, value, expected)
    if most < abs(number) < float("inf"):
        _fail(kernel, i, OverflowError, f"{expected} does not hold {value!r}")
    return number


def _read_truth(kernel, i, value):
    if not isinstance(value, (bool, _np.bool_)):
        _fail_kind(kernel, i, value, "bool")
    return bool(value)


def _read_text(kernel, i, value):
    if not isinstance(value, str):
        _fail_kind(kernel, i, value, "str")
    if "\0" in value:
        _fail(kernel, i, ValueError, "expected a text without NUL")
    return value


def _read_list(kernel, i, value):
    p = kernel.parameters[i]
    if not isinstance(value, (list, tuple)):
        _fail_kind(kernel, i, value, p.expected)
    read = _read_other_integer if p.form == "integers" else _read_real
    return tuple(read(kernel, i, item, p.expected) for item in value)


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
    """An int, a float or a bool; what is none of them stays as it is."""
    if isinstance(value, (bool, int, float, str, bytes, _jax.core.Tracer)):
        return value
    for convert in _operator.index, float:
        try:
            return convert(value)
        except TypeError:
            pass
        except (ValueError, OverflowError) as error:
            _fail(kernel, i, type(error), str(error))
    return value


def _read_number(kernel, i, value, plain, arrays):
    """A scalar of the dtype that a tensor has. Where that is none of its own, the check says so."""
    p = kernel.parameters[i]
    binder = arrays[p.binder]
    if plain is None or binder is None or str(binder.dtype) not in p.dtypes:
        return 0
    dtype = str(binder.dtype)
    is_real = _DTYPES[dtype][0] not in (*_WHOLE, _DTYPES["bool"][0])
    if not isinstance(plain, (bool, int, float)) or (isinstance(plain, float) and not is_real):
        _fail_kind(kernel, i, value, dtype)
    return _read_dtype(kernel, i, plain, dtype)
