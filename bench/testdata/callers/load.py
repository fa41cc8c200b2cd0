"""Times the first import of a library as a module of Python, and the loading of a copy of libm, in
nanoseconds.

Usage: load.py LIBRARY LIBM
"""

import _ctypes
import _imp
import importlib.util
import sys
import time

library, libm = sys.argv[1:]
spec = importlib.util.spec_from_file_location("_kernels", library)
start = time.perf_counter_ns()
module = _imp.create_dynamic(spec)
_imp.exec_dynamic(module)
loaded = time.perf_counter_ns()
_ctypes.dlopen(libm, 2)  # RTLD_NOW
print(loaded - start, time.perf_counter_ns() - loaded)
