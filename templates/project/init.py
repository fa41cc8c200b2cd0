"""Kernels that take the arrays of every library."""

from ._kernels import *  # noqa: F403
