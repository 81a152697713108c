#!/bin/bash
# check_pages_test.py, where there is a Python to run it.
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 0; }
exec python3 -B "$1"
