"""Functions that bypass the dispatcher, and have an equivalent operator."""

import torch


def point_to(function, op):
    """Makes torch.compile and torch.export call an operator instead of a C function, which they cannot trace, such as
    the function of target python for the same kernel. Direct calls do not change. A call with keywords that the
    operator lacks, such as out=, breaks the graph; with fullgraph=True it raises an error that names the operator.
    Returns the function."""
    name = getattr(function, "__qualname__", repr(function))
    known = [a.name for a in op.default._schema.arguments]
    message = f"{name}() has keywords that torch.ops.{op} lacks: inside torch.compile, call it without them"

    @torch.compiler.substitute_in_graph(function, skip_signature_check=True)
    def traced(*args, **kwargs):
        for keyword in kwargs:
            if keyword not in known:
                torch._dynamo.graph_break(msg=message)
                return function(*args, **kwargs)
        return op(*args, **kwargs)

    return function
