#!/usr/bin/env python3
"""Compares the images that ImageRecordIter serves per second, with MXNet 1.9.1.

    ./bazelw build //benchmarks:image_records
    bazel-bin/benchmarks/image_records --imgrec=images.rec --make=1000
    benchmarks/peers/images.py --cooper=bazel-bin/benchmarks/image_records \\
      --mxnet_python=PYTHON --imgrec=images.rec

JPEG images of 256 x 256 pixels, cropped at random to 224 x 224, mirrored and normalized, in batches of 32.
Workers take turns for --rounds rounds; the second epoch of each counts. MXNet decodes on one thread and
hands batches over from another.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from typing import Dict, List


def work(imgrec: str) -> None:
    """Runs two epochs of MXNet."""
    import mxnet  # pylint: disable=import-outside-toplevel

    batches = mxnet.io.ImageRecordIter(
        path_imgrec=imgrec, batch_size=32, round_batch=False, data_shape=(3, 224, 224), rand_crop=True,
        rand_mirror=True, mean_r=124, mean_g=117, mean_b=104, std_r=58, std_g=57, std_b=57,
        preprocess_threads=1, verbose=False)
    for _ in range(2):
        start = time.perf_counter()
        images = sum(batch.data[0].shape[0] - batch.pad for batch in batches)
        mxnet.nd.waitall()
        print(json.dumps({'images': images, 'seconds': time.perf_counter() - start}), flush=True)
        batches.reset()


def main(argv: List[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--cooper', default='')
    parser.add_argument('--mxnet_python', default='', help='a Python with mxnet')
    parser.add_argument('--imgrec', required=True)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--worker', action='store_true', help=argparse.SUPPRESS)
    flags = parser.parse_args(argv)
    if flags.worker:
        work(flags.imgrec)
        return 0
    imgrec = f'--imgrec={flags.imgrec}'
    commands = {'mxnet': [flags.mxnet_python, '-W', 'ignore', __file__, '--worker', imgrec],
                'cooper': [flags.cooper, imgrec, '--threads=1'],
                'cooper-2-threads': [flags.cooper, imgrec, '--threads=2']}
    commands = {name: command for name, command in commands.items() if command[0]}
    speeds: Dict[str, List[float]] = {name: [] for name in commands}
    names = list(commands)
    for turn in range(flags.rounds):
        for i in range(len(names)):
            name = names[(turn + i) % len(names)]
            done = subprocess.run(commands[name], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise RuntimeError(f'{name}: {done.stderr[-500:]}')
            result = json.loads(done.stdout.splitlines()[-1])
            speeds[name].append(result['images'] / result['seconds'])
    print(f'{"worker":18} {"images/s":>9} {"from":>9} {"to":>9}   worker / mxnet')
    for name, own in speeds.items():
        line = f'{name:18} {statistics.median(own):9,.0f} {min(own):9,.0f} {max(own):9,.0f}'
        if name != 'mxnet' and 'mxnet' in speeds:
            ratios = [ours / theirs for ours, theirs in zip(own, speeds['mxnet'])]
            line += f'   {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})'
        print(line)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
