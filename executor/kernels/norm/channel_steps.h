#ifndef COOPER_EXECUTOR_KERNELS_NORM_CHANNEL_STEPS_H_
#define COOPER_EXECUTOR_KERNELS_NORM_CHANNEL_STEPS_H_

// Maps each element of a channel to its sequence and its step.
//
// The CPU and GPU kernels of batch norm use it for inputs with sequence lengths: padding must not
// enter the statistics.

#include <cstdint>

#include "ndarray/base/host_device.h"
#include "ndarray/base/shape.h"

namespace cooper {

// The strides of the batch and time axes within a channel, for an array with axes for channels,
// sequences and steps in any order. Elements of a channel are numbered as if the array had no other
// channel. Batch norm uses it to leave out the steps beyond each sequence's length.
//
// For example, (steps, sequences, channels) with channel, batch and time axes 2, 1, 0 gives
// batch_stride 1 and time_stride = sequences.
struct ChannelSteps {
  // The number of sequences; elements of the channel from one sequence to the next.
  int64_t batch = 1, batch_stride = 1;
  // The number of steps; elements of the channel from one step to the next.
  int64_t time = 1, time_stride = 1;
  int64_t row = 1;  // elements of one step of one sequence

  // The three axes may be negative: then they count from the end of `shape`.
  ChannelSteps(const Shape& shape, int64_t channel_axis, int64_t batch_axis, int64_t time_axis) {
    const auto is = [&shape](int i, int64_t axis) {
      return i == (axis < 0 ? axis + shape.rank() : axis);
    };
    int64_t stride = 1;
    for (int i = shape.rank() - 1; i >= 0; --i) {
      if (is(i, channel_axis)) continue;
      if (is(i, batch_axis)) {
        batch = shape[i];
        batch_stride = stride;
      } else if (is(i, time_axis)) {
        time = shape[i];
        time_stride = stride;
      } else {
        row *= shape[i];
      }
      stride *= shape[i];
    }
  }

  int64_t size() const { return batch * time * row; }  // of a channel
  // Returns the sequence of an element of the channel.
  COOPER_HOST_DEVICE int64_t sequence(int64_t element) const {
    return element / batch_stride % batch;
  }
  // Returns the time step of an element of the channel.
  COOPER_HOST_DEVICE int64_t step(int64_t element) const { return element / time_stride % time; }
  // Returns the number of elements of a channel that belong to a sequence of `length` steps: row *
  // length, with the length limited to [0, time].
  COOPER_HOST_DEVICE int64_t NumReal(int64_t length) const {
    return row * (length < 0 ? 0 : (length < time ? length : time));
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_NORM_CHANNEL_STEPS_H_
