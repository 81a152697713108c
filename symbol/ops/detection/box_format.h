#ifndef COOPER_SYMBOL_OPS_DETECTION_BOX_FORMAT_H_
#define COOPER_SYMBOL_OPS_DETECTION_BOX_FORMAT_H_

// The formats of a box: what its four numbers mean. box_iou and box_nms take the format as a
// parameter; the operators of SSD (MultiBox*) use corners only.

#include <cstdint>

#include "symbol/schema/param_schema.h"

namespace cooper {

// The four consecutive numbers of a box. Coordinates have any unit, as long as all boxes of an
// array share it: pixels, or parts of the image's extents. Corners are not checked to be in order.
enum class BoxFormat : uint8_t {
  kCorner,  // xmin, ymin, xmax, ymax
  kCenter   // x and y of the center, width, height
};

// MXNet's names of the formats: the values of an operator's `format` parameter.
inline constexpr EnumNames<BoxFormat> kBoxFormatNames = {{"corner", BoxFormat::kCorner},
                                                         {"center", BoxFormat::kCenter}};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_DETECTION_BOX_FORMAT_H_
