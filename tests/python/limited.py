"""Runs a script within a time and an amount of memory: a mutant may hang or grow."""

import resource
import runpy
import signal
import sys

resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
signal.alarm(60)
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
