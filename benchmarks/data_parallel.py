#!/usr/bin/env python3
"""Compares data-parallel training with one context: two CPU contexts, and two processes of one thread each.

    ./bazelw build //benchmarks:lm_training_mpi
    benchmarks/data_parallel.py --cooper=bazel-bin/benchmarks/lm_training_mpi

All make the same steps of the bucketed language model on the same number of sentences. They take
turns for --rounds rounds; a ratio is taken within a round. Padded tokens per second; the medians and
ranges of the ratios are what counts.
"""

import argparse
import json
import os
import statistics
import subprocess

WORKS = {
    "W1": ["--vocab=10000", "--num_hidden=200", "--num_embed=200"],
    "W2": ["--vocab=100", "--num_hidden=200", "--num_embed=200"],
    "W3": ["--vocab=1000", "--num_hidden=64", "--num_embed=64"],
}


def run(command, processes):
    """Runs one program to its end. Returns the padded tokens per second of all its processes together."""
    environment = dict(os.environ)
    if processes > 1:
        environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        command = ["mpirun", "-np", str(processes), "--bind-to", "none", "--oversubscribe"] + command
    text = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    reports = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return sum(report["padded_tokens_per_s"] for report in reports)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cooper", required=True, help="the program lm_training_mpi")
    parser.add_argument("--work", default="W1,W2,W3")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2, help="of all contexts or processes together")
    parser.add_argument("--batch_size", type=int, default=32, help="likewise")
    parser.add_argument("--repeat", type=int, default=3, help="passes over the buckets in each turn")
    args = parser.parse_args()
    n = args.threads
    base = [args.cooper, "--buckets=10,20,30,40,50,60", "--optimizer=sgd", "--lr=0.01",
            f"--repeat={args.repeat}"]
    whole = [f"--batch_size={args.batch_size}", f"--threads={n}"]
    part = [f"--batch_size={args.batch_size // n}", "--threads=1", "--kvstore=dist_sync"]
    kinds = {
        "one context": (whole, 1),
        f"{n} contexts": (whole + [f"--contexts={n}"], 1),
        f"{n} processes": (part, n),
    }
    for work in args.work.split(","):
        speeds = {kind: [] for kind in kinds}
        for _ in range(args.rounds):
            for kind, (flags, processes) in kinds.items():
                speeds[kind].append(run(base + WORKS[work] + flags, processes))
        print(f"{work}: {args.rounds} rounds")
        for kind, values in speeds.items():
            ratios = [a / b for a, b in zip(values, speeds["one context"])]
            print(f"  {kind:14} {statistics.median(values):10,.0f} padded tokens/s"
                  f"   / one context {statistics.median(ratios):5.2f}"
                  f"   ({min(ratios):.2f} to {max(ratios):.2f})")


if __name__ == "__main__":
    main()
