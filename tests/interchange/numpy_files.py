"""numpy_files.py ARRAYS: converts NumPy's files with the program //tools/arrays and compares bits.

NumPy writes arrays of every kind that cooper reads, and reads what cooper writes.
"""

import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np

PROGRAM = None  # the path of //tools/arrays
CODES = ['f4', 'f8', 'f2', 'u1', 'i4', 'i1', 'i8', 'b1']


def Cases():
    """Returns arrays by name: every dtype, both orders in memory and of bytes, odd shapes."""
    rng = np.random.RandomState(5)
    cases = {}
    for code in CODES:
        bits = np.frombuffer(rng.bytes(120 * np.dtype(code).itemsize), code)
        if code == 'b1':
            bits = bits.view('u1') % 2 == 1
        for shape in [(120,), (4, 30), (2, 3, 4, 5), (1, 120, 1)]:
            array = bits.reshape(shape)
            name = code + 'x'.join(map(str, shape))
            cases[name] = array
            cases[name + '_fortran'] = np.asfortranarray(array)
            cases[name + '_big'] = array.astype(array.dtype.newbyteorder('>'))
        cases[code + '_scalar'] = bits[7].reshape(())
        cases[code + '_empty'] = bits[:0].reshape(3, 0, 2)
    cases['arg:weight/é'] = np.zeros(3, 'f4')
    return cases


def Convert(source, target, *flags):
    subprocess.run([PROGRAM, '--input=' + source, '--output=' + target, *flags], check=True)


class NumPyFilesTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        os.chdir(self.folder.name)

    def tearDown(self):
        os.chdir('/')
        self.folder.cleanup()

    def assertSameBits(self, array, expected):
        self.assertEqual(array.shape, expected.shape)
        self.assertEqual(array.dtype, expected.dtype.newbyteorder('<'))
        native = expected.astype(array.dtype)  # another order of bytes alone
        self.assertEqual(array.tobytes(), native.tobytes())

    def testArchives(self):
        cases = Cases()
        for save in (np.savez, np.savez_compressed):
            save('theirs.npz', **cases)
            for flags in ([], ['--compress']):
                Convert('theirs.npz', 'ours.npz', *flags)
                with np.load('ours.npz', allow_pickle=False) as ours:
                    self.assertEqual(list(ours.files), list(cases))
                    for name, expected in cases.items():
                        with self.subTest(name=name, save=save.__name__, flags=flags):
                            self.assertSameBits(ours[name], expected)

    def testArrays(self):
        for name, expected in Cases().items():
            if 'x' in name and not name.startswith('f4'):
                continue
            with self.subTest(name=name):
                np.save('theirs.npy', expected)
                Convert('theirs.npy', 'ours.params')
                Convert('ours.params', 'ours.npy')
                self.assertSameBits(np.load('ours.npy', allow_pickle=False), expected)

    def testVersions(self):
        expected = np.arange(6, dtype='f4').reshape(2, 3)
        for version in [(1, 0), (2, 0), (3, 0)]:
            with open('theirs.npy', 'wb') as file:
                np.lib.format.write_array(file, expected, version=version)
            Convert('theirs.npy', 'ours.npy')
            self.assertSameBits(np.load('ours.npy'), expected)

    def testRefusals(self):
        others = {
            'uint16': np.zeros(2, 'u2'), 'int16': np.zeros(2, 'i2'), 'uint32': np.zeros(2, 'u4'),
            'uint64': np.zeros(2, 'u8'), 'complex numbers': np.zeros(2, 'c8'),
            'text': np.array(['a', 'bc']), 'dates': np.zeros(2, 'M8[s]'),
            'records': np.zeros(2, [('a', 'f4'), ('b', 'i8')]),
            'Python objects, which are pickled and never read': np.array([{}, None], object),
        }
        for name, array in others.items():
            np.savez('theirs.npz', x=array, good=np.ones(1, 'f4'))
            done = subprocess.run([PROGRAM, '--input=theirs.npz', '--output=ours.npz'], text=True,
                                  stderr=subprocess.PIPE, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn('the elements are ' + name, done.stderr)
            Convert('theirs.npz', 'ours.npz', '--names=good')
            self.assertEqual(np.load('ours.npz')['good'].tolist(), [1])

    def testBfloat16(self):
        try:
            import ml_dtypes
        except ImportError:
            print('SKIPPED: bfloat16: there is no ml_dtypes')
            return
        expected = np.arange(6).astype(ml_dtypes.bfloat16)
        np.save('theirs.npy', expected)
        Convert('theirs.npy', 'ours.params')
        listed = subprocess.run([PROGRAM, '--input=ours.params'], text=True, check=True,
                                stdout=subprocess.PIPE)
        self.assertEqual(listed.stdout, 'theirs  (6,) bfloat16\n')
        Convert('ours.params', 'ours.npy')
        ours = np.load('ours.npy').view(ml_dtypes.bfloat16)
        self.assertEqual(ours.tobytes(), expected.tobytes())


if __name__ == '__main__':
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
