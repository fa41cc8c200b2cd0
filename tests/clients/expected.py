"""One tensor of a library, and its expected outcome."""


class Case:
    """One tensor. run(f) calls f with it, where it exists, and gives f's result.

    rejected is None where the rules let the tensor be read, else the name of the
    exception's class and a pattern of its text (the name is a pattern too), or the pattern alone of a BufferError,
    which is what the rules want for what cannot be exported; written the same for an
    argument that is written to, and the same as rejected unless it is said. truth gives
    the bytes of the elements in row-major order, or is None where there is none; with
    shape they say what the strides mean.
    """

    def __init__(
        self, library, name, run, shape=None, dtype=None, rejected=None, written="", truth=None, read_only=False
    ):
        self.library, self.name, self.run, self.truth, self.read_only = library, name, run, truth, read_only
        self.shape, self.dtype = shape, DTYPES.get(dtype)
        self.rejected = rejection(rejected)
        self.written = self.rejected if written == "" else rejection(written)

    def __str__(self):
        return f"{self.library}: {self.name}"


DTYPES = {
    "bool": (6, 8, 1),
    "int8": (0, 8, 1),
    "int16": (0, 16, 1),
    "int32": (0, 32, 1),
    "int64": (0, 64, 1),
    "uint8": (1, 8, 1),
    "uint16": (1, 16, 1),
    "uint32": (1, 32, 1),
    "uint64": (1, 64, 1),
    "float16": (2, 16, 1),
    "float32": (2, 32, 1),
    "float64": (2, 64, 1),
    "bfloat16": (4, 16, 1),
    "complex32": (5, 32, 1),
    "complex64": (5, 64, 1),
    "complex128": (5, 128, 1),
    "float8_e3m4": (7, 8, 1),
    "float8_e4m3": (8, 8, 1),
    "float8_e4m3b11fnuz": (9, 8, 1),
    "float8_e4m3fn": (10, 8, 1),
    "float8_e4m3fnuz": (11, 8, 1),
    "float8_e5m2": (12, 8, 1),
    "float8_e5m2fnuz": (13, 8, 1),
    "float8_e8m0fnu": (14, 8, 1),
    "float4_e2m1fn_x2": (17, 4, 2),
    "int4": (0, 4, 1),
    "uint4": (1, 4, 1),
    "float4_e2m1fn": (17, 4, 1),
    "float6_e2m3fn": (15, 6, 1),
    "float32x4": (2, 32, 4),
}


def rejection(output):
    """The class and the text of an expected exception, or None."""
    return ("BufferError", output) if isinstance(output, str) else output


NO_TENSOR = ("TypeError", "no __dlpack__")
NINE = (1, 2, 1, 1, 1, 1, 1, 1, 2)
READ_ONLY = "read-only"
READ_ONLY_HERE = "it is read-only, but the parameter is writable"  # as its library reports
SHARED = "its elements may overlap"  # although it can be exported


def of(make):
    """Runs with the result of make, created for each run."""
    return lambda f: f(make())
