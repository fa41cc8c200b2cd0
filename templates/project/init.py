"""Kernels that accept the arrays of every library."""

from ._kernels import *  # noqa: F403
