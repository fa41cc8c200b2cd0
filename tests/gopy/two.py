"""Two modules in Go, each of which reads the other's tensors."""

from check import equal, main, no_leak, outstanding

import gopy
import gotorch


def test_each_imports_the_others_tensors():
    before = outstanding()
    t = gopy.counting(2, 3, 0)
    gotorch.softmax_(t)
    equal(round(gopy.sum(t), 5), 2.0)
    equal(gotorch.Tensor is gopy.Tensor, False)
    del t
    equal(outstanding(), before)


def test_many_rounds_without_a_leak():
    """Without rows, for which softmax_ would start goroutines."""
    no_leak(lambda: gotorch.softmax_(gopy.counting(0, 3, 0)))


main()
