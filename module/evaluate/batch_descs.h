#ifndef COOPER_MODULE_EVALUATE_BATCH_DESCS_H_
#define COOPER_MODULE_EVALUATE_BATCH_DESCS_H_

// Finds the names, shapes and layouts of a batch's arrays: those of the batch if it describes
// itself (as a bucket's batch does), else those with which the module was bound.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/batch/data_batch.h"
#include "io/batch/data_desc.h"
#include "module/interface/base_module.h"
#include "ndarray/base/shape.h"

namespace cooper {

// Returns the descriptions of `batch.data`, in its order. There may be fewer descriptions than
// arrays: a module without labels may get a batch that has some. The result belongs to the batch or
// to the module, and is valid until that one changes.
inline const std::vector<DataDesc>& DataDescs(const BaseModule& module, const DataBatch& batch) {
  return batch.provide_data.empty() ? module.data_shapes() : batch.provide_data;
}

// Returns the descriptions of `batch.label`. There may be fewer than arrays; the lifetime is that
// of DataDescs.
inline const std::vector<DataDesc>& LabelDescs(const BaseModule& module, const DataBatch& batch) {
  return batch.provide_label.empty() ? module.label_shapes() : batch.provide_label;
}

// Returns the number of samples in a batch, padding included: the extent of the batch axis of its
// first data array that has one by the descriptions `data`. 0 if none has. An array without a
// description counts along axis 0.
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
