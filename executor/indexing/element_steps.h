#ifndef COOPER_EXECUTOR_INDEXING_ELEMENT_STEPS_H_
#define COOPER_EXECUTOR_INDEXING_ELEMENT_STEPS_H_

// To which step of which sequence each element of an array belongs.

#include <cstdint>

#include "ndarray/host_device.h"
#include "ndarray/shape.h"

namespace cooper {

// Of an array in which one axis counts sequences and another their steps, wherever both stand.
struct ElementSteps {
  int64_t batch, batch_stride;
  int64_t time, time_stride;

  ElementSteps(const Shape& shape, int batch_axis, int time_axis)
      : batch(shape[batch_axis]),
        batch_stride(shape.Product(batch_axis + 1, shape.rank())),
        time(shape[time_axis]),
        time_stride(shape.Product(time_axis + 1, shape.rank())) {}

  COOPER_HOST_DEVICE int64_t sequence(int64_t element) const {
    return element / batch_stride % batch;
  }
  COOPER_HOST_DEVICE int64_t step(int64_t element) const { return element / time_stride % time; }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_INDEXING_ELEMENT_STEPS_H_
