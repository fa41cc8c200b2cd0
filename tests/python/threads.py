"""Threads, forks and subinterpreters."""

import socket
import threading

from check import *
import children


def test_threads():
    """Each has separate types, so they evict each other's."""
    two = function(any_tensor(), any_tensor())
    failures = []

    def work():
        try:
            for i in range(300):
                kind = type("T", (New,), {})
                equal(two(kind(2), Tabled(3))[0]["shape"], (2,))
                with raises(BufferError, "no memory"):
                    two(Old(1), kind(2, data=0))
                checked.give(New(2), 0).__dlpack__()
        except BaseException as e:
            failures.append(e)

    with frees_all():
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        equal(failures, [])


def test_one_thread_consumes_a_capsule():
    """Also without a GIL."""

    class Shares(New):
        def __dlpack__(self, **asked):
            return self.capsule

    def work():
        together.wait()
        try:
            read(shared)
        except BufferError:
            return
        took.append(1)

    shared = Shares(2)
    read(New(2))
    with frees_all():
        for make in untrusted.capsule, untrusted.legacy:
            for _ in range(100):
                took, together = [], threading.Barrier(4)
                shared.capsule = make(desc(2))
                threads = [threading.Thread(target=work) for _ in range(4)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                equal(len(took), 1)
        del shared.capsule


def test_others_run_while_a_function_works():
    f = function(any_tensor())
    ours, theirs = socket.socketpair()
    done = []
    thread = threading.Thread(target=lambda: done.append(checked.unlocked(f.which, theirs.fileno(), New(2))["shape"]))
    thread.start()
    ours.recv(1)
    equal(done, [])  # this line runs while the other thread waits without the GIL
    ours.send(b" ")
    thread.join()
    equal(done, [(2,)])


def test_deleters_on_other_threads():
    with frees_all():
        for _ in range(50):
            t = checked.give(New(2), 0)
            untrusted.release_in_thread(untrusted.consume(t.__dlpack__(max_version=(1, 0))))
            address = untrusted.consume(t.__dlpack__(max_version=(1, 0)))
            del t
            untrusted.release_in_thread(address)


def test_forks():
    f = function(any_tensor())
    t = checked.give(New(2), 0)
    capsule = t.__dlpack__(max_version=(1, 0))
    child = os.fork()
    if not child:
        try:
            equal(f(New(2))[0]["shape"], (2,))
            untrusted.release_in_thread(untrusted.consume(capsule))
            equal(f(t)[0]["shape"], (2,))
            os._exit(0)
        finally:
            os._exit(1)
    equal(children.status_of(child), 0)
    equal(f(t)[0]["shape"], (2,))


def test_other_interpreters_are_rejected():
    try:
        import _xxsubinterpreters as interpreters
    except ImportError:
        import _interpreters as interpreters
    script = """
import sys
sys.path.insert(0, %r)
try:
    import checked
    told = "it was let in"
except ImportError as e:
    told = str(e)
with open(%r, "w") as f:
    f.write(told)
"""
    told = os.path.join(os.environ["SCRATCH"], "told")
    other = interpreters.create()
    try:
        interpreters.run_string(other, script % (os.environ["MODULES"], told))
    finally:
        interpreters.destroy(other)
    with open(told) as f:
        text = f.read()
    assert "main interpreter" in text or "does not support loading in subinterpreters" in text, text
    read(New(2))


main()
