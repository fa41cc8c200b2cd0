"""The tests of threads, children of fork and unloading under a sanitizer, by the hosts that run with one quickly.

Usage: sanitized.py FOLDER
"""

import runpy
import sys

sys.modules["torch"] = None  # tvm-ffi imports it if possible

import hosts

HOSTS = ["python", "tvmffi", "onnxruntime", "ufunc"]
# They need torch, or a newly started process.
LEFT_OUT = {"test_serial_kernels_take_turns", "test_processes_of_multiprocessing", "test_tvm_ffi"}

for name in set(hosts.ALL) - set(HOSTS):
    del hosts.ALL[name]
for script in ("threads.py", "forked.py", "unloaded.py"):
    tests = runpy.run_path(script)
    tests.get("WORK_IN_CHILDREN", [])[:] = [name for name in tests.get("WORK_IN_CHILDREN", []) if name in HOSTS]
    for name, test in tests.items():
        if name.startswith("test_") and name not in LEFT_OUT:
            test()
            print("ok", name, flush=True)
