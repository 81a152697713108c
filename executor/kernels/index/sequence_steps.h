#ifndef COOPER_EXECUTOR_KERNELS_INDEX_SEQUENCE_STEPS_H_
#define COOPER_EXECUTOR_KERNELS_INDEX_SEQUENCE_STEPS_H_

// The positions of the steps of sequences in an array, for SequenceMask, SequenceReverse and
// SequenceLast on every device.

#include <cstdint>

#include "ndarray/base/host_device.h"
#include "ndarray/base/shape.h"

namespace cooper {

// The rows of an array (time, batch, ...) or (batch, time, ...): the elements of one time step of
// one sequence. The data has at least two axes. A value that GPU kernels take by value. For data
// (5, 4, 3) and the axis 0, step t of sequence b is row 4 * t + b, of 3 elements.
struct SequenceSteps {
  int64_t time, batch, size;          // size: elements of a row
  int64_t time_stride, batch_stride;  // in rows

  // `axis` is the axis of time, 0 or 1.
  SequenceSteps(const Shape& data, int axis)
      : time(data[axis]),
        batch(data[1 - axis]),
        size(data.Product(2, data.rank())),
        time_stride(axis == 0 ? batch : 1),
        batch_stride(axis == 0 ? 1 : time) {}

  // Returns the index of the row of step t in sequence b; its first element is at the index times
  // `size`.
  COOPER_HOST_DEVICE int64_t at(int64_t t, int64_t b) const {
    return t * time_stride + b * batch_stride;
  }
  // Returns the length `given`, limited to [0, time]. Lengths are data, which no inference checks.
  COOPER_HOST_DEVICE int64_t Length(int64_t given) const {
    return given < 0 ? 0 : (given < time ? given : time);
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_INDEX_SEQUENCE_STEPS_H_
