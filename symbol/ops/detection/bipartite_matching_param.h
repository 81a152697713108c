#ifndef COOPER_SYMBOL_OPS_DETECTION_BIPARTITE_MATCHING_PARAM_H_
#define COOPER_SYMBOL_OPS_DETECTION_BIPARTITE_MATCHING_PARAM_H_

// Arrays and parameters of _contrib_bipartite_matching. The schema is in bipartite_matching.cc.
// MXNet: src/operator/contrib/bounding_box.cc.

#include <cstdint>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Input: data (..., rows, columns), the score of each pair. Outputs: row_match (..., rows), the
// column of each row, and column_match (..., columns), the row of each column; -1 stands for no
// match. All arrays have one dtype, float32 or float64. The gradient is 0.
struct BipartiteMatchingArrays {
  enum Output { kRowMatch, kColumnMatch };
};

// The pair with the best score is matched, then the best one of the rows and columns that remain,
// and so on; the first pair in memory order wins a tie. Pairs whose score is NaN do not match.
struct BipartiteMatchingParam {
  // Whether the least score is the best.
  bool is_ascend = false;
  // A pair matches only if its score is above this or, with is_ascend, below it.
  float threshold = 0;
  // The matching ends after this number of matches and one more, as in MXNet; unlimited if not
  // above 0.
  int64_t topk = -1;

  static void Declare(ParamDeclaration<BipartiteMatchingParam>& d) {
    d.Field("is_ascend", &BipartiteMatchingParam::is_ascend)
        .Doc("whether the least score is the best");
    d.Field("threshold", &BipartiteMatchingParam::threshold)
        .Required()
        .Doc("scores not above this, or not below it with is_ascend, do not match");
    d.Field("topk", &BipartiteMatchingParam::topk)
        .Doc("one less than the most matches; unlimited if not above 0");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_DETECTION_BIPARTITE_MATCHING_PARAM_H_
