#ifndef COOPER_MODULE_EVALUATE_BATCH_DESCS_H_
#define COOPER_MODULE_EVALUATE_BATCH_DESCS_H_

// Finds the names, shapes and layouts of a batch's arrays: those that the batch itself gives (as a
// bucket's batch does), else those that the module was bound with.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/batch/data_batch.h"
#include "io/batch/data_desc.h"
#include "module/interface/base_module.h"
#include "ndarray/base/shape.h"

namespace cooper {

// The descriptions of `batch.data`, in its order; none may be there for an array (a module without
// labels is fed batches that have some). The result belongs to the batch or to the module, and is
// valid until that one changes.
inline const std::vector<DataDesc>& DataDescs(const BaseModule& module, const DataBatch& batch) {
  return batch.provide_data.empty() ? module.data_shapes() : batch.provide_data;
}

// Returns the descriptions of `batch.label`, under the same conditions.
inline const std::vector<DataDesc>& LabelDescs(const BaseModule& module, const DataBatch& batch) {
  return batch.provide_label.empty() ? module.label_shapes() : batch.provide_label;
}

// The samples of a batch, with those of padding: the extent of the first of its data, of these
// descriptions, that has a batch axis. 0 if none has.
inline int64_t NumSamples(const DataBatch& batch, const std::vector<DataDesc>& data) {
  for (size_t i = 0; i < batch.data.size(); ++i) {
    const Shape& shape = batch.data[i].shape();
    const int axis = i < data.size() ? BatchAxis(data[i].layout) : 0;
    if (axis >= 0 && axis < shape.rank()) return shape[axis];
  }
  return 0;
}

}  // namespace cooper

#endif  // COOPER_MODULE_EVALUATE_BATCH_DESCS_H_
