#ifndef COOPER_MODULE_FIT_ID_SOURCES_H_
#define COOPER_MODULE_FIT_ID_SOURCES_H_

// Finds the elements of a network's inputs that are ids: numbers of words that an Embedding looks
// up, or of classes that a loss compares with its predictions. They depend only on the graph and
// its shapes; check_ids.h uses them to check batches.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"

namespace cooper {

// Elements of one input that one operator reads as ids.
struct IdSource {
  std::string input;              // name of the variable
  std::string reader;             // "the data of Embedding 'embed'"
  int64_t limit = 0;              // ids are in [0, limit)
  std::optional<double> ignored;  // the one other value that is allowed and stands for no id
  // Row-major indices, in rising order, of the elements that are read; absent: all are.
  std::optional<std::vector<int64_t>> elements;
  // For a label of CTCLoss, (rows, row_length), which may have padding: a row ends at its first
  // `row_end` or, if `lengths` is not empty, at the length in the input of that name. 0: the label
  // has no such rows.
  int64_t row_length = 0;
  double row_end = 0;
  std::string lengths;
};

// Returns the ids among the variables in `known`, whose shapes there are full: the data of
// Embedding and the labels of SoftmaxOutput, softmax_cross_entropy, SVMOutput and CTCLoss. An input
// is followed only through operators that move elements or convert their dtype; a computed value
// holds no ids. Operators whose shapes do not follow from `known` are left out. Takes time in
// proportion to the graph and, if only parts of an input are read, to its elements.
//
// Errors: those of the symbol and of shape inference.
absl::StatusOr<std::vector<IdSource>> FindIdSources(const Symbol& symbol, const KnownShapes& known);

}  // namespace cooper

#endif  // COOPER_MODULE_FIT_ID_SOURCES_H_
