"""Functions of a module that is generated from a description, for the attacks of attackers.py."""

import ctypes

import attacked
import check
import hostile

check.read = hostile.read = attacked.read  # the number of cached types


class Entry(ctypes.Structure):
    """The values that the C function received for a tensor with one dimension."""

    _fields_ = [(name, ctypes.c_int64) for name in ("data", "ndim", "shape", "stride")]


library = ctypes.CDLL(attacked.__file__)
library.attacked_seen.restype = ctypes.POINTER(Entry)
done = 0


def calls(f):
    def call(*arguments):
        """Returns the values that the C function received. A call that raises names the argument,
        and has not called the function."""
        global done
        try:
            f(*arguments)
        except (BufferError, TypeError, ValueError) as e:
            assert str(e).startswith(f"{f.__name__}(): argument '"), str(e)
            raise
        else:
            done += 1
        finally:
            assert library.attacked_runs() == done, "a call that failed has run its function"
        seen = [library.attacked_seen(i).contents for i in range(3)]
        return [{"data": e.data, "shape": (e.shape,) * e.ndim, "strides": (e.stride,) * e.ndim} for e in seen]

    return call


def functions(kind):
    """Those with a tensor or a scalar from hostile code, at each position."""
    names = sorted(name for name in dir(attacked) if name.startswith(kind))
    return [(int(name.split("_")[1]), calls(getattr(attacked, name))) for name in names]
