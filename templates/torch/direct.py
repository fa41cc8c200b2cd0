"""Functions that are called directly, beside operators that do the same."""

import torch


def set_compile_hint(function, op):
    """Lets torch.compile say what to call instead of a function in C, which it cannot
    trace: with fullgraph=True its error names the operator, and without, the function
    is called between two graphs. Direct calls are as they were."""
    name = getattr(function, "__qualname__", repr(function))
    message = f"{name}() is a function in C: inside torch.compile, call torch.ops.{str(op)}, which does the same"

    @torch.compiler.substitute_in_graph(function, skip_signature_check=True)
    def traced(*args, **kwargs):
        torch._dynamo.graph_break(msg=message)
        return function(*args, **kwargs)

    return function
