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

  // The axes are of the shape; negative ones count from its end.
  ElementSteps(const Shape& shape, int64_t batch_axis, int64_t time_axis) {
    const auto from_front = [&shape](int64_t axis) {
      return static_cast<int>(axis < 0 ? axis + shape.rank() : axis);
    };
    const int b = from_front(batch_axis), t = from_front(time_axis);
    batch = shape[b];
    batch_stride = shape.Product(b + 1, shape.rank());
    time = shape[t];
    time_stride = shape.Product(t + 1, shape.rank());
  }

  COOPER_HOST_DEVICE int64_t sequence(int64_t element) const {
    return element / batch_stride % batch;
  }
  COOPER_HOST_DEVICE int64_t step(int64_t element) const { return element / time_stride % time; }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_INDEXING_ELEMENT_STEPS_H_
