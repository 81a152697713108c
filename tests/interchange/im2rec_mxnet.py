#!/usr/bin/env python3
"""im2rec_mxnet.py IM2REC: checks that MXNet 1.9.1 reads what im2rec writes.

Packs images of two classes with several flags, and compares ids, labels and pixels that
mx.recordio and mx.io.ImageRecordIter find with those of the images.
"""

import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

import mxnet as mx
import numpy as np


def png(pixels):
    """Returns a PNG file of an array (height, width, 3)."""
    def chunk(kind, data):
        return (struct.pack('>I', len(data)) + kind + data +
                struct.pack('>I', zlib.crc32(kind + data)))
    height, width, _ = pixels.shape
    rows = b''.join(b'\0' + row.tobytes() for row in pixels)
    return (b'\x89PNG\r\n\x1a\n' +
            chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, 8, 2, 0, 0, 0)) +
            chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))


def records(prefix):
    """Returns header and decoded image (RGB) of each record by key."""
    reader = mx.recordio.MXIndexedRecordIO(prefix + '.idx', prefix + '.rec', 'r')
    found = {}
    for key in reader.keys:
        header, payload = mx.recordio.unpack(reader.read_idx(key))
        found[key] = (header, mx.image.imdecode(payload, to_rgb=1).asnumpy())
    return found


def main():
    im2rec = sys.argv[1]
    random = np.random.RandomState(1)
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / 'images'
        images = {}
        for label, name in enumerate(('cats', 'dogs')):
            (root / name).mkdir(parents=True)
            for i in range(5):
                # Smooth, so that JPEG changes little.
                corners = random.randint(0, 256, (2, 2, 3)).astype(float)
                y, x = np.mgrid[0:1:24j, 0:1:32j][:, :, :, None]
                image = (corners[0, 0] * (1 - y) * (1 - x) + corners[0, 1] * (1 - y) * x +
                         corners[1, 0] * y * (1 - x) + corners[1, 1] * y * x).astype(np.uint8)
                (root / name / f'{i}.png').write_bytes(png(image))
                images[f'{name}/{i}.png'] = (label, image)
        prefix = str(pathlib.Path(folder) / 'data')
        subprocess.run([im2rec, '--list', '--recursive', prefix, str(root)], check=True)
        lines = [line.split('\t') for line in open(prefix + '.lst', encoding='utf-8')]
        assert len(lines) == 10
        for flags, tolerance, crop in ((['--encoding=.png'], 0, False),
                                       (['--quality=95', '--num-thread=3'], 12, False),
                                       (['--pass-through'], 0, False),
                                       (['--center-crop', '--encoding=.png', '--pack-label'], 0,
                                        True)):
            subprocess.run([im2rec, *flags, prefix, str(root)], check=True)
            found = records(prefix)
            for key, label, path in lines:
                header, image = found[int(key)]
                expected_label, expected = images[path.strip()]
                if crop:
                    expected = expected[:, 4:28]
                assert header.id == int(key) and header.label == float(label) == expected_label
                assert image.shape == expected.shape, (image.shape, expected.shape)
                worst = np.abs(image.astype(int) - expected.astype(int)).max()
                assert worst <= tolerance, worst
            height, width = expected.shape[:2]
            batches = mx.io.ImageRecordIter(path_imgrec=prefix + '.rec', path_imgidx=prefix + '.idx',
                                            data_shape=(3, height, width), batch_size=5,
                                            preprocess_threads=1)
            labels = np.concatenate([batch.label[0].asnumpy() for batch in batches])
            assert labels.tolist() == [float(label) for _, label, _ in lines]
            print(' '.join(flags), 'equal')


if __name__ == '__main__':
    main()
