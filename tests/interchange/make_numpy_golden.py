"""make_numpy_golden.py FILE: writes the arrays of numpy_golden_test.cc with this Python's NumPy.

  python -m pip install numpy==1.23.5 && python make_numpy_golden.py numpy_1.npz
  python -m pip install 'numpy>=2' && python make_numpy_golden.py numpy_2.npz

NumPy 1 stores the archive and NumPy 2 compresses it, so that both kinds are there.
"""

import sys

import numpy as np


def Arrays():
    arrays = {}
    for code in ['f4', 'f8', 'f2', 'u1', 'i4', 'i1', 'i8', 'b1']:
        array = np.arange(6).reshape(2, 3).astype(code)
        arrays[code] = array
        arrays[code + '_fortran'] = np.asfortranarray(array)
        arrays[code + '_big'] = array.astype(array.dtype.newbyteorder('>'))
        arrays[code + '_scalar'] = array[1, 1]
        arrays[code + '_empty'] = array[:0]
    arrays['text'] = np.array(['never', 'read'])
    return arrays


save = np.savez if np.__version__.startswith('1.') else np.savez_compressed
save(sys.argv[1], **Arrays())
