#!/usr/bin/env python3
"""Makes a corpus of any size: shards whose lines are drawn at random from a text.

    stream_corpus.py --text=train.txt --sentences=60000000 --shards=64 --folder=corpus

The lengths of sentences and the frequencies of words are those of the text. 60 million sentences of
shakespeare.train.txt have about 4 GB.
"""

import argparse
import pathlib
import random


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--text', required=True)
    parser.add_argument('--sentences', type=int, required=True)
    parser.add_argument('--shards', type=int, default=16)
    parser.add_argument('--folder', required=True)
    flags = parser.parse_args()
    with open(flags.text, encoding='utf-8') as text:
        lines = [line for line in text if line.strip()]
    folder = pathlib.Path(flags.folder)
    folder.mkdir(parents=True, exist_ok=True)
    for shard in range(flags.shards):
        draws = random.Random(shard)
        left = flags.sentences * (shard + 1) // flags.shards - flags.sentences * shard // flags.shards
        with open(folder / f'shard-{shard:03}.txt', 'w', encoding='utf-8') as out:
            while left > 0:
                count = min(left, 100000)
                out.writelines(draws.choices(lines, k=count))
                left -= count


if __name__ == '__main__':
    main()
