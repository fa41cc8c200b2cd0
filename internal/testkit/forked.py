"""Runs a script in a fork of a process that has imported what takes long, such as torch.

usage: python -S -E -c SOURCE OWNER MODULES [-W ACTION] SCRIPT ARGUMENT ...

SCRIPT may also be -c CODE or -m MODULE. This program passes its folder, environment and standard
streams to a server, and ends as the script does. If there is no server for this Python, MODULES
(with commas between them) and the variables that matter to imports, it starts one. The server ends
with the process OWNER. As in tests/mutants.py, Python's shutdown is skipped; if this program is
ended, so is the script. A script with a preloaded library, such as a sanitizer, replaces this
program instead: a fork of the server does not have the library."""

import json
import os
import socket
import struct
import sys

SOURCE = sys.orig_argv[sys.orig_argv.index("-c") + 1]
IMPORTS = "LD_", "OMP_WAIT_POLICY", "OPENBLAS_", "MKL_", "CUDA_", "PYTHONMALLOC"  # variables that matter


def address():
    settings = [f"{k}={v}" for k, v in sorted(os.environ.items()) if k.startswith(IMPORTS)]
    import hashlib

    key = hashlib.sha256("\0".join([sys.executable, SOURCE, *sys.argv[1:3], *settings]).encode())
    return "\0dlpackgen-forked-" + key.hexdigest()


def is_own(connection):
    """Reports whether this user runs the process at the other end. Every user may connect to an
    abstract address, and a server runs what it receives."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return struct.unpack("3i", credentials)[1] == os.getuid()


def ask():
    """A connection to the server, which is started if there is none."""
    import subprocess
    import time

    server = None
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(address())
            if not is_own(connection):
                sys.exit("the server of forked.py belongs to another user")
            return connection
        except ConnectionRefusedError:
            connection.close()
        if server is None:
            env = {k: v for k, v in os.environ.items() if k.startswith(IMPORTS) or not k.startswith(("PYTHON", "OMP_"))}
            command = [sys.executable, "-c", SOURCE, *sys.argv[1:3]]
            env["DLPACKGEN_FORKED"] = address()[1:]
            env["JAX_PLATFORMS"] = "cpu"  # is read at the import
            null = subprocess.DEVNULL
            server = subprocess.Popen(
                command, env=env, cwd="/", stdin=null, stdout=null, stderr=null, start_new_session=True
            )
        time.sleep(0.01)


def client():
    if "LD_PRELOAD" in os.environ:
        os.execv(sys.executable, [sys.executable, *sys.argv[3:]])
    request = json.dumps([sys.argv[3:], os.getcwd(), dict(os.environ)]).encode()
    with ask() as connection:
        socket.send_fds(connection, [len(request).to_bytes(8, "little")], [0, 1, 2])
        connection.sendall(request)
        status = connection.makefile("rb").read()
    if not status:
        sys.exit("the server of forked.py has ended")
    status = int(status)
    if status < 0:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.kill(os.getpid(), -status)
    os._exit(status)


def run(words):
    """Runs the script of a command line as Python would."""
    import runpy
    import warnings

    if "MALLOC_PERTURB_" in os.environ:  # which the C library reads when a process starts
        import ctypes

        ctypes.CDLL(None).mallopt(-6, int(os.environ["MALLOC_PERTURB_"]))
    while words[0] == "-W":
        warnings.simplefilter(words[1])
        sys.warnoptions.append(words[1])
        del words[:2]
    places = [os.path.abspath(p) for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    if words[0] in ("-c", "-m"):
        option, what = words[:2]
        sys.argv = [option, *words[2:]]
        sys.path[:0] = ["" if option == "-c" else os.getcwd(), *places]
        if option == "-c":
            exec(compile(what, "<string>", "exec"), {"__name__": "__main__", "__builtins__": __builtins__})
        else:
            runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        sys.argv = words
        sys.path[:0] = [os.path.dirname(os.path.abspath(words[0])), *places]
        runpy.run_path(words[0], run_name="__main__")


def child(words, folder, variables, streams):
    """Never returns."""
    import threading
    import traceback

    status = 1
    try:
        for to, stream in enumerate(streams):
            os.dup2(stream, to)
            os.close(stream)
        os.chdir(folder)
        for name in os.environ.keys() - variables.keys():
            del os.environ[name]
        os.environ.update(variables)
        if "torch" in sys.modules and "OMP_NUM_THREADS" in variables:
            sys.modules["torch"].set_num_threads(int(variables["OMP_NUM_THREADS"]))
        if "multiprocessing.process" in sys.modules:  # finds scripts from the first folder
            sys.modules["multiprocessing.process"].ORIGINAL_DIR = folder
        try:
            run(words)
            status = 0
        except SystemExit as end:
            status = end.code
            if not isinstance(status, int):
                print(status or "", end="\n" if status else "", file=sys.stderr)
                status = int(bool(status))
        except BaseException:
            traceback.print_exc()
        threading._shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status & 0xFF)


def serve(name, owner, modules):
    import gc
    import importlib
    import selectors
    import signal

    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.bind("\0" + name)
    except OSError:  # another server was faster
        return
    listener.listen(64)
    sys.path[:] = [p for p in sys.path if p]  # without the current folder
    for module in modules.split(","):
        try:
            importlib.import_module(module)
        except ImportError:
            pass  # the script will report it
    gc.collect()
    gc.freeze()  # so that collections are fast in all processes
    reader, writer = socket.socketpair()
    for end in reader, writer, listener:
        end.setblocking(False)
    signal.set_wakeup_fd(writer.fileno())
    selector = selectors.DefaultSelector()
    for source in reader, listener, os.pidfd_open(int(owner)):
        selector.register(source, selectors.EVENT_READ)
    running = {}

    def start():
        try:
            connection, _ = listener.accept()
        except BlockingIOError:
            return
        if not is_own(connection):
            connection.close()
            return
        connection.setblocking(True)
        length, streams, _, _ = socket.recv_fds(connection, 8, 3)
        text = connection.makefile("rb").read(int.from_bytes(length, "little"))
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for end in connection, listener, reader, writer, selector, *running.values():
                end.close()
            child(*json.loads(text), streams)
        for stream in streams:
            os.close(stream)
        running[pid] = connection
        selector.register(connection, selectors.EVENT_READ)

    def wait():
        while running:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            connection = running.pop(pid)
            if connection in ended:
                ended.remove(connection)
            else:
                selector.unregister(connection)
                try:
                    connection.sendall(b"%d" % os.waitstatus_to_exitcode(status))
                except OSError:
                    pass
            connection.close()

    ended = []  # connections whose client was ended
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        for key, _ in selector.select():
            if key.fileobj is listener:
                start()
            elif key.fileobj is reader:
                reader.recv(4096)
            elif key.fileobj in running.values():
                ended.append(key.fileobj)
                selector.unregister(key.fileobj)
                os.kill(next(p for p, c in running.items() if c is key.fileobj), signal.SIGKILL)
            elif isinstance(key.fileobj, int):
                for pid in running:
                    os.kill(pid, signal.SIGKILL)
                return
        wait()


if "DLPACKGEN_FORKED" in os.environ:
    serve(os.environ.pop("DLPACKGEN_FORKED"), *sys.argv[1:3])
else:
    client()
