#!/usr/bin/env python3
"""tools/compile_times.py [--top=N] PROFILE...: what a build took, from Bazel's profiles of it.

  ./bazelw build --disk_cache= --profile=/tmp/build.gz //...    of what is not built yet
  tools/compile_times.py /tmp/build.gz

Prints a Markdown table of the actions that took longest, over all profiles, and the sum of each kind.
A profile has the time that passed, not the processor's: nothing else should be running.
"""

import argparse
import collections
import gzip
import json


def actions(path):
    """Yields (kind, what, seconds) of each action, such as ("Compiling", "ndarray/base/shape.cc", 2.5)."""
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    for event in events:
        if event.get("cat") == "action processing":
            kind, _, what = event["name"].partition(" ")
            yield kind, what, event["dur"] / 1e6


def report(found, top):
    """Returns the lines of both tables."""
    found = sorted(found, key=lambda action: -action[2])
    lines = ["| action | seconds |", "| --- | ---: |"]
    lines += ["| %s `%s` | %.1f |" % action for action in found[:top]]
    count = collections.Counter()
    total = collections.Counter()
    for kind, _, seconds in found:
        count[kind] += 1
        total[kind] += seconds
    lines += ["", "| kind | actions | seconds |", "| --- | ---: | ---: |"]
    lines += ["| %s | %d | %.1f |" % (k, count[k], s) for k, s in total.most_common() if s >= 0.05]
    lines.append("| all | %d | %.1f |" % (len(found), sum(total.values())))
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--top", type=int, default=10)
    parser.add_argument("profiles", nargs="+")
    arguments = parser.parse_args()
    found = [action for path in arguments.profiles for action in actions(path)]
    print("\n".join(report(found, arguments.top)))


if __name__ == "__main__":
    main()
