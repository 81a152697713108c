#ifndef COOPER_MODULE_CHECK_IDS_H_
#define COOPER_MODULE_CHECK_IDS_H_

// Whether the ids in a batch, of words and of classes, are ones that the network has. Kernels clip
// those that are not, as MXNet's do, and learn something else without a word.

#include "absl/status/status.h"
#include "io/data_batch.h"
#include "module/base_module.h"

namespace cooper {

// Looks at every input of the batch that reaches, by operators that only move elements, the data of
// an Embedding or the label of a SoftmaxOutput, a softmax_cross_entropy or a CTCLoss (there the
// label to ignore, or the padding, is allowed). kOutOfRange, naming input, element and operator.
// The module's symbol must be that of the batch, as it is after Forward; for a module without a
// symbol nothing is looked at.
//
// Infers shapes and reads the batch element by element: for finding mistakes, not for every day.
absl::Status CheckIds(const BaseModule& module, const DataBatch& batch);

}  // namespace cooper

#endif  // COOPER_MODULE_CHECK_IDS_H_
