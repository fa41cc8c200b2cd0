"""Calls that must fail."""

import re


def rejected(f, *arguments, text):
    try:
        f(*arguments)
    except (BufferError, TypeError, ValueError, RuntimeError) as e:
        assert re.search(text, str(e)), f"the message says: {e}"
    else:
        raise AssertionError("not rejected")
