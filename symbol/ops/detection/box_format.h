#ifndef COOPER_SYMBOL_OPS_DETECTION_BOX_FORMAT_H_
#define COOPER_SYMBOL_OPS_DETECTION_BOX_FORMAT_H_

// The formats of a box: what its four numbers mean.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cooper {

enum class BoxFormat : uint8_t {
  kCorner,  // xmin, ymin, xmax, ymax
  kCenter   // x and y of the center, width, height
};

// Returns MXNet's names of the formats, for parameters.
inline std::vector<std::pair<std::string, BoxFormat>> BoxFormatNames() {
  return {{"corner", BoxFormat::kCorner}, {"center", BoxFormat::kCenter}};
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_DETECTION_BOX_FORMAT_H_
