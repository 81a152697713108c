#ifndef COOPER_MODULE_FIT_CHECK_IDS_H_
#define COOPER_MODULE_FIT_CHECK_IDS_H_

// Checks that the ids in a batch, of words and of classes, are in the network's range. Without the
// check the network would silently train on wrong ids, because kernels clip ids out of range, as
// MXNet's do.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "io/batch/data_batch.h"
#include "io/batch/data_iter.h"
#include "module/fit/id_sources.h"
#include "module/interface/base_module.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// Checks the batches of one training. Not thread-safe.
class IdChecker {
 public:
  // Neither is owned. `iter` serves the batches and knows the values with which it fills gaps.
  IdChecker(const BaseModule& module, const DataIter& iter) : module_(module), iter_(iter) {}

  // Checks every id in the batch (id_sources.h). Returns kOutOfRange, naming input, row, value and
  // operator, for an id that the operator does not have, unless it is
  //   - in a row of padding (DataBatch::pad, or a negative DataBatch::index),
  //   - behind a row's length (DataBatch::lengths, or the padding of a CTCLoss's label),
  //   - the label that the loss ignores, or the iterator's value for gaps (invalid_label).
  // A fraction counts as its integer part, as in the kernels. Each part of the module must
  // currently have the symbol of the batch, as after Forward; parts without a symbol are not
  // checked.
  //
  // The positions of ids are cached by graph and shapes. A batch costs one pass over its ids.
  // Arrays on the CPU are read in place, those on a GPU are copied to the CPU first.
  absl::Status Check(const DataBatch& batch);

 private:
  // The ids of a graph. The graph is kept with them, so that no other graph can get its address.
  struct Found {
    Symbol symbol;
    std::vector<IdSource> sources;
  };

  // Returns the ids among the inputs of `symbol`, which have the shapes in `known`. The result is
  // cached by graph and shapes, and valid until the next call.
  const std::vector<IdSource>& SourcesOf(const Symbol& symbol, const KnownShapes& known);

  const BaseModule& module_;
  const DataIter& iter_;
  std::map<std::pair<const Node*, std::string>, Found> found_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_FIT_CHECK_IDS_H_
