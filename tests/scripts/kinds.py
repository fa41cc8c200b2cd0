"""Compares a caller of the kernels kinds_* with tests/kernels/testdata/kinds.txt."""

import pathlib

TABLE = pathlib.Path(__file__).parents[1] / "kernels" / "testdata" / "kinds.txt"
NUMBERS = True, 1, 1 << 63, 1.5, 1j


def compare_kinds(call, classes=None, without=(), numbers=NUMBERS):
    """Calls call(kernel, dtype, number) for each row and column. `classes`: the exceptions that the host
    raises instead of others. `without`: dtypes that it lacks. `numbers`: those that it passes."""
    rows = [line.split() for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    assert [len(row) for row in rows] == [1 + len(NUMBERS)] * 13
    for dtype, *results in rows:
        for number, want in zip(numbers, results):
            if dtype not in without:
                compare(call, dtype, number, (classes or {}).get(want, want))


def compare(call, dtype, number, want):
    kernel = {"i": "kinds_int", "u": "kinds_uint"}.get(dtype[0], "kinds_other")
    try:
        call(kernel, dtype, number)
        got = "ok"
    except Exception as e:
        got = f"{type(e).__name__}: {e}".split("\n")[0]
    text = f"expected {dtype}, got {type(number).__name__}"
    if want not in ("ok", "TypeError"):
        text = f"{dtype} cannot represent {number}"
    expected = want if want == "ok" else f"{want}: {kernel}(): argument 'a' (2nd): {text}"
    assert got == expected, f"{dtype}: {got}, not {expected}"
