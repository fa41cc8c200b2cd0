"""Loads the JAX functions in BUILD, or those with the mutant DLPACKGEN_MUTANT, and runs tests."""

import os
import sys

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"
os.environ["JAX_PLATFORMS"] = "cpu"
BUILD = os.environ["BUILD"]
MUTANT = os.path.join(BUILD, "mutants", os.environ.get("DLPACKGEN_MUTANT", "0"))
sys.path[:0] = [MUTANT if os.path.isdir(MUTANT) else os.path.join(BUILD, "jax"), BUILD]
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scripts"))

import jax  # noqa: E402
from running import raises, run  # noqa: E402, F401

jax.config.update("jax_enable_x64", True)
