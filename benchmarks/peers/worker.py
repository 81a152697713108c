"""A worker process as compare.py sees it: started, asked to run, watched while idle, stopped."""

import contextlib
import json
import os
import queue
import subprocess
import tempfile
import threading
from typing import Any, Dict, List, Sequence

_TICKS_PER_SECOND = os.sysconf('SC_CLK_TCK')


class WorkerError(Exception):
    """The worker could not start, died, was silent for too long or broke the protocol."""


class Worker:
    """A process that speaks the protocol of protocol.md. The constructor does not start it."""

    def __init__(self, name: str, command: List[str]):
        self.name = name
        self.command = command
        self.ready: Dict[str, Any] = {}
        self._process = None
        self._reader = None
        self._lines: 'queue.Queue[str]' = queue.Queue()
        self._stderr = tempfile.TemporaryFile()

    def start(self, timeout_s: float) -> None:
        """Starts the process and waits until it is bound and warm; raises WorkerError."""
        try:
            self._process = subprocess.Popen(self.command, stdin=subprocess.PIPE,
                                             stdout=subprocess.PIPE, stderr=self._stderr,
                                             text=True)
        except OSError as error:
            raise WorkerError(f'cannot start {self.command[0]}: {error.strerror}') from error
        self._reader = threading.Thread(target=self._read_lines, daemon=True)
        self._reader.start()
        self.ready = self._answer(timeout_s)
        if self.ready.get('ready') is not True:
            raise WorkerError(f'first line should have "ready": true, got {self.ready}')

    def run(self, passes: int, timeout_s: float,
            required: Sequence[str] = ('padded_tokens_per_s', 'elapsed_s')) -> Dict[str, Any]:
        """Lets the worker time `passes` passes. Returns its answer, which has the required keys.

        Raises WorkerError.
        """
        return self.ask(f'run {passes}', timeout_s, required)

    def ask(self, command: str, timeout_s: float, required: Sequence[str]) -> Dict[str, Any]:
        """Returns the answer to a command. Raises WorkerError unless the required keys are above 0."""
        self._write(command + '\n')
        result = self._answer(timeout_s)
        for key in required:
            if not result.get(key, 0) > 0:
                raise WorkerError(f'no positive "{key}" in the answer {result}')
        return result

    def bind(self, symbol: str, shapes: str, mode: str, timeout_s: float) -> None:
        """Lets a worker of networks.py bind another network. Raises WorkerError."""
        self._write(f'bind {symbol} {shapes} {mode}\n')
        self._answer(timeout_s)

    def cpu_seconds(self) -> float:
        """Returns the processor time that the process and its threads have used."""
        try:
            with open(f'/proc/{self._process.pid}/stat', encoding='ascii') as stat:
                fields = stat.read().rpartition(')')[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / _TICKS_PER_SECOND  # utime, stime

    def peak_mb(self) -> float:
        """Returns the peak resident set of the process, in units of 2^20 bytes."""
        with contextlib.suppress(OSError):
            with open(f'/proc/{self._process.pid}/status', encoding='ascii') as status:
                for line in status:
                    if line.startswith('VmHWM:'):
                        return round(int(line.split()[1]) / 1024, 1)
        return 0.0

    def stop(self) -> None:
        """Ends the process, by "quit" first. May be called in any state, and repeatedly."""
        if self._process and self._process.poll() is None:
            try:
                self._write('quit\n')
                self._process.wait(timeout=10)
            except (WorkerError, subprocess.TimeoutExpired):
                self._process.kill()
                self._process.wait()
        if self._reader:
            self._reader.join()
            self._process.stdout.close()
            with contextlib.suppress(OSError):  # what a dead process did not read
                self._process.stdin.close()
            self._reader = None
        self._stderr.close()

    def _read_lines(self) -> None:
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put('')

    def _write(self, text: str) -> None:
        try:
            self._process.stdin.write(text)
            self._process.stdin.flush()
        except (OSError, ValueError) as error:
            raise WorkerError(self._last_words()) from error

    def _answer(self, timeout_s: float) -> Dict[str, Any]:
        try:
            line = self._lines.get(timeout=timeout_s)
        except queue.Empty:
            raise WorkerError(f'no answer within {timeout_s:g} s') from None
        if not line:
            raise WorkerError(self._last_words())
        try:
            answer = json.loads(line)
        except ValueError:
            raise WorkerError(f'not a line of JSON: {line.strip()[:200]}') from None
        if not isinstance(answer, dict) or 'error' in answer:
            raise WorkerError(f'unexpected answer: {line.strip()[:200]}')
        return answer

    def _last_words(self) -> str:
        """Returns how the process ended: its exit status and its last line on stderr."""
        try:
            status = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return 'closed its stdout'
        self._stderr.seek(0)
        lines = self._stderr.read().decode(errors='replace').strip().splitlines()
        return f'exit status {status}: {lines[-1].strip()[:200] if lines else "no message"}'
