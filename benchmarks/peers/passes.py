"""Serves a worker whose network is bound once: times passes (worker.py)."""

import json
import sys
import time
from typing import Any, Callable


def serve(run: Callable[[int], None], **ready: Any) -> None:
    """Says that it is ready, then makes as many passes as each line asks for, until one says "quit"."""
    print(json.dumps({'ready': True, **ready}), flush=True)
    for line in sys.stdin:
        words = line.split()
        if words == ['quit']:
            break
        begin = time.perf_counter()
        run(int(words[1]))
        answer = {'passes': int(words[1]), 'elapsed_s': time.perf_counter() - begin}
        print(json.dumps(answer), flush=True)
