"""Serves a worker whose network is bound once: times passes (worker.py)."""

import json
import sys
import time
from typing import Any, Callable


def serve(run: Callable[[int], None], **ready: Any) -> None:
    """Announces that the worker is ready, then runs the passes that each line requests, until "quit"."""
    print(json.dumps({'ready': True, **ready}), flush=True)
    for line in sys.stdin:
        words = line.split()
        if words == ['quit']:
            break
        begin = time.perf_counter()
        run(int(words[1]))
        answer = {'passes': int(words[1]), 'elapsed_s': time.perf_counter() - begin}
        print(json.dumps(answer), flush=True)
