"""python -m dlpackgen runs the program."""

import os
import subprocess
import sys

from dlpackgen import program

if __name__ == "__main__":
    command = [program(), *sys.argv[1:]]
    if os.name == "nt":  # on Windows, exec returns to the shell at once
        sys.exit(subprocess.run(command).returncode)
    os.execv(command[0], command)
