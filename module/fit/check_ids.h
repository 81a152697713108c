#ifndef COOPER_MODULE_FIT_CHECK_IDS_H_
#define COOPER_MODULE_FIT_CHECK_IDS_H_

// Checks that the ids in a batch, of words and of classes, are in the network's range. Kernels clip
// ids out of range, as MXNet's do, so that the network would silently train on wrong ids.

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

class IdChecker {
 public:
  // Neither is owned. `iter` gives the batches and says what it fills gaps with.
  IdChecker(const BaseModule& module, const DataIter& iter) : module_(module), iter_(iter) {}

  // Looks at every element of the batch that is an id (id_sources.h). kOutOfRange, naming input,
  // row, value and operator, for one that the operator does not have, unless it is
  //   - in a row of padding (DataBatch::pad, or an index of -1),
  //   - behind a row's length (DataBatch::lengths, or the padding of a CTCLoss's label),
  //   - the label that a loss ignores, or what the iterator fills gaps with (invalid_label).
  // A fraction counts as its whole part, which kernels take. The modules' symbols must be those of
  // the batch, as they are after Forward; parts without a symbol are not looked at.
  //
  // The ids' positions are cached by graph and shapes. A batch costs one pass over its ids: arrays
  // on the CPU are read where they are, those of a GPU are copied to the CPU first.
  absl::Status Check(const DataBatch& batch);

 private:
  // A graph that has been looked at. It is kept with its ids, so that its address stays its own.
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
