"""torch_dlpack.py LIBRARY: passes tensors between PyTorch and cooper through DLPack, both ways.

LIBRARY is libdlpack_peer.so (dlpack_peer.cc). Capsules are made and opened through the C API of
Python, so that nothing but PyTorch is needed.
"""

import ctypes
import gc
import sys
import unittest
import weakref

import torch

PEER = None  # the library
DTYPES = ['float32', 'float64', 'float16', 'uint8', 'int32', 'int8', 'int64', 'bool', 'bfloat16']

_API = ctypes.pythonapi
_API.PyCapsule_New.restype = ctypes.py_object
_API.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_API.PyCapsule_GetPointer.restype = ctypes.c_void_p
_API.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_API.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
_API.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]

# Names of capsules, which must outlive them.
NAMES = {False: b'dltensor', True: b'dltensor_versioned'}
USED = {False: b'used_dltensor', True: b'used_dltensor_versioned'}


def Load(path):
    peer = ctypes.CDLL(path)
    peer.PeerExport.restype = ctypes.c_void_p
    peer.PeerExport.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_int]
    peer.PeerImport.restype = ctypes.c_void_p
    peer.PeerImport.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_char_p]
    peer.PeerRelease.argtypes = [ctypes.c_void_p]
    peer.PeerAddress.restype = ctypes.c_void_p
    peer.PeerAddress.argtypes = [ctypes.c_void_p]
    peer.PeerDType.restype = ctypes.c_char_p
    peer.PeerDType.argtypes = [ctypes.c_void_p]
    peer.PeerElements.restype = ctypes.c_int64
    peer.PeerElements.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_double), ctypes.c_int64]
    peer.PeerFill.argtypes = [ctypes.c_void_p, ctypes.c_double]
    return peer


def FromCooper(dtype, versioned):
    """Returns a tensor with the elements of an array of cooper's: 0 to 5, of shape (2, 3)."""
    pointer = PEER.PeerExport(dtype.encode(), versioned, 0)
    assert pointer
    return torch.utils.dlpack.from_dlpack(_API.PyCapsule_New(pointer, NAMES[versioned], None))


class Imported:
    """An array of cooper's that has taken a tensor."""

    def __init__(self, tensor, versioned, copy=False):
        capsule = (tensor.__dlpack__(max_version=(1, 0)) if versioned
                   else torch.utils.dlpack.to_dlpack(tensor))
        pointer = _API.PyCapsule_GetPointer(capsule, NAMES[versioned])
        message = ctypes.create_string_buffer(1000)
        self.array = PEER.PeerImport(pointer, versioned, copy, message)
        if not self.array:
            raise ValueError(message.value.decode())  # the capsule still owns the tensor
        _API.PyCapsule_SetName(capsule, USED[versioned])

    def __del__(self):
        if self.array:
            PEER.PeerRelease(self.array)

    def Elements(self):
        out = (ctypes.c_double * 100)()
        count = PEER.PeerElements(self.array, out, 100)
        assert count >= 0
        return list(out[:count])


class TorchDLPackTest(unittest.TestCase):

    def testTorchTakesArraysOfEveryDType(self):
        for versioned in (False, True):
            for dtype in DTYPES:
                with self.subTest(dtype=dtype, versioned=versioned):
                    tensor = FromCooper(dtype, versioned)
                    self.assertEqual(tensor.dtype, getattr(torch, dtype))
                    expected = torch.arange(6).reshape(2, 3).to(tensor.dtype)
                    self.assertTrue(torch.equal(tensor, expected))
                    view = tensor[1]
                    del tensor
                    gc.collect()
                    self.assertTrue(PEER.PeerExportedLives())
                    del view
                    gc.collect()
                    self.assertFalse(PEER.PeerExportedLives())

    def testCooperTakesTensorsOfEveryDType(self):
        for versioned in (False, True):
            for dtype in DTYPES:
                with self.subTest(dtype=dtype, versioned=versioned):
                    tensor = torch.arange(6).reshape(2, 3).to(getattr(torch, dtype))
                    array = Imported(tensor, versioned)
                    self.assertEqual(PEER.PeerAddress(array.array), tensor.data_ptr())
                    self.assertEqual(PEER.PeerDType(array.array).decode(), dtype)
                    self.assertEqual(array.Elements(), tensor.double().flatten().tolist())
                    self.assertTrue(PEER.PeerFill(array.array, 1))
                    self.assertTrue(torch.equal(tensor, torch.ones_like(tensor)))

    def testAnArrayKeepsTheTensorAndLetsItGo(self):
        for versioned in (False, True):
            tensor = torch.arange(6.)
            storage = weakref.ref(tensor.untyped_storage())
            array = Imported(tensor, versioned)
            del tensor
            gc.collect()
            self.assertEqual(array.Elements(), [0, 1, 2, 3, 4, 5])
            del array
            gc.collect()
            self.assertIsNone(storage())

    def testAThousandRoundTripsKeepNothing(self):
        before = len(gc.get_objects())
        for i in range(1000):
            Imported(FromCooper('float32', i % 2 == 0), i % 2 == 1)
        gc.collect()
        self.assertFalse(PEER.PeerExportedLives())
        self.assertLess(len(gc.get_objects()) - before, 100)

    def testViewsAndScalars(self):
        tensor = torch.arange(6.)
        self.assertEqual(Imported(tensor[2:5], True).Elements(), [2, 3, 4])
        self.assertEqual(Imported(tensor[3], False).Elements(), [3])
        self.assertEqual(Imported(tensor[:0], True).Elements(), [])

    def testOtherStridesAreAnErrorOrACopy(self):
        tensor = torch.arange(6.).reshape(2, 3).t()
        with self.assertRaisesRegex(ValueError, r'have strides \(1, 3\), expected row-major order'):
            Imported(tensor, True)
        self.assertEqual(Imported(tensor, True, copy=True).Elements(), [0, 3, 1, 4, 2, 5])

    def testOtherDTypesAreRefusedByName(self):
        for dtype, name in [(torch.int16, 'int16'), (torch.complex64, 'complex64')]:
            with self.assertRaisesRegex(ValueError, 'elements are ' + name):
                Imported(torch.zeros(2, dtype=dtype), False)


if __name__ == '__main__':
    PEER = Load(sys.argv.pop(1))
    unittest.main()
