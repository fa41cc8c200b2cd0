"""Runs scripts with a library that has mutants (internal/mutant), each in a process of its
own, which may crash, hang or grow; what takes long to import is imported once, before.

usage: python mutants.py MODULES NUMBER SCRIPT ...

MODULES are those to import first, with commas between them. A pair of NUMBER and SCRIPT (a
file and its arguments, with spaces between them) is run with that mutant; 0 is none. Before the
file may stand variables, NAME=VALUE; folders of PYTHONPATH are searched first. For each pair
it prints "caught NUMBER SCRIPT" if the script failed, or "missed NUMBER SCRIPT", and for 0 what
the script printed, each line after a tab. A mutant has ten times the CPU time that its script
took without one."""

import gc
import importlib
import os
import resource
import runpy
import shlex
import signal
import sys
import tempfile
import traceback

AT_ONCE = 2
MEMORY = 4 << 30
LEAST = 10  # seconds


def limit(seconds):
    """Ends this process after the given CPU time, and a mutant that waits forever by the clock."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    used = int(open("/proc/self/statm").read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    if "LD_PRELOAD" not in os.environ:  # a sanitizer reserves terabytes of addresses
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if seconds:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        signal.alarm(10 * seconds)


def renew_pool():
    """Replaces torch's pool of threads, if it was imported: fork leaves a pool without threads, and
    two threads that replace it at once end the process ("Invalid thread pool")."""
    torch = sys.modules.get("torch")
    if torch:
        torch.set_num_threads(torch.get_num_threads())


def set_variables(words):
    """Sets the variables before a file in the environment, and returns the words from the file
    on."""
    while "=" in words[0]:
        name, value = words.pop(0).split("=", 1)
        os.environ[name] = value
        if name == "PYTHONPATH":
            sys.path[:0] = value.split(os.pathsep)
    return words


def run(number, script, seconds, output):
    """Skips Python's shutdown, which takes longer than most tests."""
    failed = 1
    try:
        limit(seconds)
        renew_pool()
        os.environ["DLPACKGEN_MUTANT"] = number
        sys.stdout = sys.stderr = open(output.fileno(), "w", closefd=False)
        for stream in 1, 2:
            os.dup2(output.fileno(), stream)
        sys.argv = set_variables(shlex.split(script))
        if sys.argv[0] == "ending.py":  # is about Python's shutdown, which therefore runs
            os.execv(sys.executable, [sys.executable, *sys.argv])
        runpy.run_path(sys.argv[0], run_name="__main__")
        failed = 0
    except SystemExit as end:
        failed = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(failed)


def show(output, status):
    output.seek(0)
    for line in output.read().decode(errors="replace").splitlines():
        print("\t" + line)
    if status:
        print("\tended with status", status)
    sys.stdout.flush()


class Runs:
    def __init__(self):
        self.running = {}
        self.took = {}  # seconds of CPU time, by script, without a mutant

    def start(self, number, script):
        if len(self.running) == AT_ONCE:
            self.wait()
        output = tempfile.TemporaryFile()
        seconds = 0 if number == "0" else max(LEAST, 10 * int(self.took.get(script, 0)))
        child = os.fork()
        if child == 0:
            run(number, script, seconds, output)
        self.running[child] = number, script, output

    def wait(self):
        child, status, used = os.wait4(-1, 0)
        number, script, output = self.running.pop(child)
        print("missed" if status == 0 else "caught", number, script, flush=True)
        if number == "0":
            self.took[script] = used.ru_utime + used.ru_stime
            show(output, status)
        output.close()

    def wait_for_all(self):
        while self.running:
            self.wait()


def main(modules, *pairs):
    sys.path.insert(0, os.getcwd())
    for name in modules.split(","):
        if name:
            importlib.import_module(name)
    gc.freeze()  # so that collections are fast in all processes
    runs = Runs()
    everything = list(zip(pairs[::2], pairs[1::2]))
    for number, script in everything:
        if number == "0":
            runs.start(number, script)
    runs.wait_for_all()
    for number, script in everything:
        if number != "0":
            runs.start(number, script)
    runs.wait_for_all()


if __name__ == "__main__":
    main(*sys.argv[1:])
