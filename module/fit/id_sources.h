#ifndef COOPER_MODULE_FIT_ID_SOURCES_H_
#define COOPER_MODULE_FIT_ID_SOURCES_H_

// Which elements of a network's inputs are ids: numbers of words that an Embedding looks up, or of
// classes that a loss compares with its predictions. A fact about graph and shapes, found once;
// check_ids.h reads batches by it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"

namespace cooper {

struct IdSource {
  std::string input;              // the variable
  std::string reader;             // "the data of Embedding 'embed'"
  int64_t limit = 0;              // ids are in [0, limit)
  std::optional<double> ignored;  // and this one, which stands for no id
  // Row-major indices of the input's elements that are read, in rising order; absent: all.
  std::optional<std::vector<int64_t>> elements;
  // Labels of a CTCLoss are (rows, row_length), and padded: in each row from the first `row_end` on
  // or, where an input of the name `lengths` says them, from that length on. 0: no such rows.
  int64_t row_length = 0;
  double row_end = 0;
  std::string lengths;
};

// The ids among the variables in `known`, which have full shapes there: of data of Embedding, and
// labels of SoftmaxOutput, softmax_cross_entropy, SVMOutput and CTCLoss, that come there by
// operators which only move elements or convert their dtype. What else becomes of an input is not
// followed: no id is found in what is computed. Operators whose shapes do not follow from `known`
// are left out. Takes time in proportion to the graph, and, where parts of an input are read, to
// its elements.
absl::StatusOr<std::vector<IdSource>> FindIdSources(const Symbol& symbol, const KnownShapes& known);

}  // namespace cooper

#endif  // COOPER_MODULE_FIT_ID_SOURCES_H_
