"""Functions that are called directly, beside operators that do the same."""

import torch


def point_to(function, op):
    """Lets torch.compile and torch.export call an operator instead of a function in C, which they cannot trace, such as
    that of target python for the same kernel. Direct calls are as they were. A call with keywords that the operator
    lacks, as out=, breaks the graph; with fullgraph=True it is an error that names the operator. Gives the function."""
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
