"""A child process of a command: one of our modules, run while the command works."""

import os
import subprocess
import sys

Process = subprocess.Popen[str]


def start_child(module: str, *words: str) -> Process:
    """Run a module by this interpreter, with pipes, out of reach of Ctrl-C.

    Modules are found where this process finds them: the folder that it works in may
    hold a file with the name of one. OSError if the system starts no process.
    """
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        errors="surrogateescape",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        process_group=0,
    )
