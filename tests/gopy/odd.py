"""Rare cases without a framework: Python tensors whose deleters run Python code, exceptions that
only their producer can format, and forked processes."""

import ctypes
import os

from check import equal, main, raises
import children
from producers import Gives, New, Pythons

import gopy


def test_a_tensor_of_python_that_dies_of_an_exception():
    of = Pythons()

    def tensors():
        yield gopy.forward(of)
        raise KeyError("it")

    with raises(KeyError, "it"):
        tuple(tensors())  # drops its contents while the exception is set
    equal(of.deleted, [ctypes.addressof(of.tensor)])
    with raises(BufferError, "read-only"):
        gopy.fill(of, 1)  # the deleter runs before the exception
    equal(len(of.deleted), 2)


def test_copies_say_that_they_are():
    class Copying(New):
        def __dlpack__(self, **arguments):
            return self.tensor.__dlpack__(copy=True, **arguments)

    t = gopy.counting(2, 3, 0)
    equal((gopy.flags(New(t)), gopy.flags(Copying(t))), (0, 2))
    equal(gopy.flags(New(gopy.forward(Copying(t)))), 0)  # others may have it as well
    of = Pythons()
    of.number = (ctypes.c_float * 2)(5, 7)
    of.tensor.data, of.tensor.offset = ctypes.addressof(of.number), 4
    equal(gopy.sum(Copying(gopy.forward(of))), 7.0)


def test_a_forked_process_is_told():
    child = os.fork()
    if not child:
        try:
            gopy.echo(1, "int")
        except RuntimeError as e:
            os._exit(0 if "spawn or forkserver" in str(e) else 2)
        os._exit(1)
    equal(children.status_of(child), 0)


def test_a_type_that_cannot_be_queried():
    class Meta(type):
        def __getattribute__(cls, name):
            if name == "__dict__":
                raise ZeroDivisionError("not today")
            return super().__getattribute__(name)

    class Odd(New, metaclass=Meta):
        pass

    with raises(ZeroDivisionError, "not today"):
        gopy.sum(Odd(gopy.counting(2, 3, 0)))


def test_the_exception_of_a_producer_comes_through():
    class Own(Exception):
        pass

    class ValueError(Exception):  # not derived from Python's BaseException family
        pass

    for error in Own("it"), ValueError("it"):
        try:
            gopy.sum(Gives(error))
        except Exception as e:
            assert e is error, e
            equal(e.__traceback__.tb_next.tb_frame.f_code.co_name, "__dlpack__")
        else:
            raise AssertionError("no error")


main()
