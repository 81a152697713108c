"""Runs busy processes beside a measurement, as on a machine that is shared."""

import argparse
import contextlib
import subprocess
import sys
from typing import Iterator


def add_flag(parser: argparse.ArgumentParser) -> None:
    """Adds --neighbours, the number of processes."""
    parser.add_argument('--neighbours', type=int, default=0,
                        help='so many busy processes of normal priority run beside all')


@contextlib.contextmanager
def beside(count: int) -> Iterator[None]:
    """Runs `count` processes that only compute, until the context ends."""
    busy = []
    try:
        for _ in range(count):
            busy.append(subprocess.Popen([sys.executable, '-c', 'while True: pass']))
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()
