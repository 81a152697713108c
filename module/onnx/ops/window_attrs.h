#ifndef COOPER_MODULE_ONNX_OPS_WINDOW_ATTRS_H_
#define COOPER_MODULE_ONNX_OPS_WINDOW_ATTRS_H_

// Attributes of windows that move over the spatial axes of an image, for convolutions and poolings.

#include "symbol/ops/nn/window_param.h"

namespace cooper {

// Returns the tuple with `absent` for each of `axes` axes if it is empty. In MXNet an empty tuple
// stands for the default; ONNX has no such form.
inline WindowTuple FullTuple(const WindowTuple& tuple, int axes, int64_t absent) {
  return tuple.empty() ? WindowTuple(axes, absent) : tuple;
}

// Returns ONNX's pads: first those before each axis, then those after each.
inline WindowTuple Pads(WindowTuple before, const WindowTuple& after) {
  before.insert(before.end(), after.begin(), after.end());
  return before;
}
// Returns ONNX's pads for MXNet's, which are the same before and after an axis.
inline WindowTuple BothSides(const WindowTuple& pad) { return Pads(pad, pad); }

}  // namespace cooper

#endif  // COOPER_MODULE_ONNX_OPS_WINDOW_ATTRS_H_
