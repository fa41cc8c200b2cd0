"""Ends Python, in each of the ways in its first argument, separated by commas, while tensors are
alive on both sides. The exit code is the result, or tests/endings.py reports several."""

import atexit
import socket
import threading
import types

from check import *
import endings

if len(sys.argv) > 2:
    import importlib

    library = importlib.import_module(sys.argv[2])
how = endings.each(sys.argv[1].split(","))
if len(sys.argv) > 2:
    x = library.ones((2, 3)) if sys.argv[2] != "jax" else importlib.import_module("jax.numpy").ones((2, 3))
else:
    x = New(2, 3)
t = checked.give(x, 0)


class AtTheEnd:
    """Calls back while the interpreter clears the modules."""

    def __init__(self, function):
        self.function = function
        sys.modules["ending_later"] = types.ModuleType("ending_later")
        sys.modules["ending_later"].alive = self

    def __del__(self):
        self.function()


if how == "objects":  # never released
    kept = [t, t.__dlpack__(), t.__dlpack__(max_version=(1, 0)), checked.take(x, 0)]
    kept.append(kept)
elif how == "consumed":  # a consumer never calls the deleter
    untrusted.consume(t.__dlpack__(max_version=(1, 0)))
elif how == "after":  # called after Python has ended
    untrusted.release_late(untrusted.consume(t.__dlpack__(max_version=(1, 0))))
    own = checked.zeros(FLOAT32, [3])
    untrusted.release_late(untrusted.by_table("own", checked.Tensor.__dlpack_c_exchange_api__, own))
elif how == "while":  # called on another thread while Python ends
    address = untrusted.consume(t.__dlpack__(max_version=(1, 0)))
    AtTheEnd(
        lambda release=untrusted.release_ending, address=address, print=print: (
            release(address),
            print("released while it ends"),
        )
    )
elif how == "late":  # calls while Python ends
    AtTheEnd(lambda read=read, x=x, t=t, print=print: (read(x), read(t), print("called while it ends")))
    atexit.register(read, x)
elif how == "daemon":  # a thread requests the GIL while Python ends
    f = function(any_tensor())
    ours, theirs = socket.socketpair()
    threading.Thread(target=checked.unlocked, args=(f.which, theirs.fileno(), x), daemon=True).start()
    ours.recv(1)
    AtTheEnd(lambda send=ours.send, kept=theirs: send(b" "))
print("end of", how, flush=True)
