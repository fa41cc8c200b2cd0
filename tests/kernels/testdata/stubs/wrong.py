"""Calls that a type checker rejects, each with the code of its error."""

import numpy
from tried import _kernels as k

x = numpy.ones((2, 3), numpy.float32)
k.scale([1.0, 2.0])  # arg-type
k.scale(x, by="2")  # arg-type
k.scale()  # call-arg
k.scale(x, 2.0, 3.0)  # call-arg
k.scale(x, of=2.0)  # call-arg
k.usual(x, None, x)  # call-overload
k.usual(x, x, x, None, x)  # call-overload
k.pair(x, out=x)  # arg-type
k.pair(x, out=(x, x, x))  # arg-type
k.scalars(3, [1, 2, 3])  # call-overload
k.scalars("mean", [1.5, 2, 3])  # call-overload
k.scalars("mean", 3)  # call-overload
k.scalars("mean", {1, 2, 3})  # call-overload
k.scalars("max", [1, 2, 3])  # call-overload
k.scalars(str(x), [1, 2, 3])  # call-overload
k.scalars("mean", [1, 2, 3], like=4)  # call-overload
k.on_device(x, stream="7")  # call-overload
k.usual(x, x, x, out=[1.0])  # call-overload
k.usual(x, x, x, out=(x,))  # call-overload
k.copies(x, out="x")  # call-overload
k.pair(x, out=(x, 3))  # arg-type
k.layouts(x, x, x, mask="a")  # call-arg
k.axpy(1.0, x, x)  # attr-defined
n: int = k.usual(x, x, x)  # assignment
y: str = k.copies(x)[1]  # assignment
k.scale(x).shape  # func-returns-value
