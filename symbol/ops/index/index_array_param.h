#ifndef COOPER_SYMBOL_OPS_INDEX_INDEX_ARRAY_PARAM_H_
#define COOPER_SYMBOL_OPS_INDEX_INDEX_ARRAY_PARAM_H_

// Parameters of _contrib_index_array (index_array.cc): the positions of all elements of an array.
// MXNet: src/operator/contrib/index_array.cc.

#include <cstdint>
#include <optional>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// The output (..., m) has data's shape and m positions for each element, on data's axes in order,
// or on the m given `axes`, of which negative ones count from the end.
struct IndexArrayParam {
  std::optional<std::vector<int64_t>> axes;

  static void Declare(ParamDeclaration<IndexArrayParam>& d) {
    d.Field("axes", &IndexArrayParam::axes).Doc("axes whose positions are given; None: all");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_INDEX_INDEX_ARRAY_PARAM_H_
