"""Installs the wheels of pip's settings for other platforms, and prints which ones pip accepts.

Usage: tags.py FOLDER TAG...

One process runs pip for all of them, since starting it takes longer than its work.
"""

import contextlib
import io
import sys

from pip._internal.cli.main import main

folder, *tags = sys.argv[1:]
for tag in tags:
    argv = ["install", "--quiet", "--platform", tag, "--only-binary=:all:", "--no-deps", "--target", f"{folder}/{tag}"]
    with contextlib.redirect_stderr(io.StringIO()) as printed:
        failed = main([*argv, "dlpackgen"])
    if failed:
        assert "No matching distribution" in printed.getvalue(), printed.getvalue()
    print("rejected" if failed else "accepted", tag)
