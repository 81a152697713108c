#ifndef COOPER_IO_BATCH_DATA_DESC_H_
#define COOPER_IO_BATCH_DATA_DESC_H_

// An input that an iterator provides and a module binds: name, shape, dtype and layout.

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"

namespace cooper {

// A plain value. The shape is that of a whole batch. For layouts without 'N' a module does not know
// the batch axis: every device gets the whole array.
struct DataDesc {
  std::string name;
  Shape shape;
  DType dtype = DType::kFloat32;
  // One letter per axis; 'N' is the batch axis. "NT" and "TN" for sequences.
  std::string layout = "NCHW";

  // Describes the input for messages: "data (32, 10) float32 NT".
  std::string ToString() const;

  // Compares all four fields. (MXNet compares only name and shape.)
  friend bool operator==(const DataDesc& a, const DataDesc& b) {
    return a.name == b.name && a.shape == b.shape && a.dtype == b.dtype && a.layout == b.layout;
  }
};

std::ostream& operator<<(std::ostream& os, const DataDesc& desc);

// Returns the position of 'N' in the layout: 0 for an empty layout, -1 if there is no batch axis.
int BatchAxis(absl::string_view layout);

// Returns the extent of the first array's batch axis, or of its first axis if the layout names
// none; 1 for a scalar and for an empty list.
int64_t BatchSizeOf(const std::vector<DataDesc>& descs);

// Describes a list of inputs for messages: "data (32, 10) float32 NT, softmax_label (32,) float32
// N".
std::string DescsToString(const std::vector<DataDesc>& descs);

}  // namespace cooper

#endif  // COOPER_IO_BATCH_DATA_DESC_H_
