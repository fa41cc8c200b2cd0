"""Softmax over the rows of a matrix, for the tensors of any library that speaks DLPack."""

from ._kernel import Tensor, softmax, softmax_

__all__ = ["Tensor", "softmax", "softmax_"]
