"""Describes the machine of a measurement and its load."""

import os
import pathlib
import platform
import subprocess
from typing import Any, Dict

_HERE = pathlib.Path(__file__).resolve().parent


def busy_seconds() -> float:
    """Returns the processor time that the whole machine has spent on anything but idling and waiting."""
    with open('/proc/stat', encoding='ascii') as stat:
        user, nice, system, _, _, irq, softirq, steal = map(int, stat.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf('SC_CLK_TCK')


def describe() -> Dict[str, Any]:
    """Returns the processor, the memory, the kernel and the load average."""
    cpuinfo = pathlib.Path('/proc/cpuinfo').read_text(encoding='utf-8')
    models = [line.partition(':')[2].strip() for line in cpuinfo.splitlines()
              if line.startswith('model name')]
    words = set(cpuinfo.split())
    return {'cpu': models[0] if models else 'unknown', 'cores': os.cpu_count(),
            'isa': [name for name in ('avx2', 'avx512f', 'amx_tile') if name in words],
            'kernel': platform.release(),
            'memory_gb': round(os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30, 1),
            'load_average': os.getloadavg()}


def revision() -> str:
    """Returns the commit of the tree that has this file, or 'unknown'."""
    done = subprocess.run(['git', 'describe', '--always', '--dirty'], cwd=_HERE, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout.strip() or 'unknown'
