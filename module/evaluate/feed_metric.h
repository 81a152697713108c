#ifndef COOPER_MODULE_EVALUATE_FEED_METRIC_H_
#define COOPER_MODULE_EVALUATE_FEED_METRIC_H_

// Updates a metric with a batch for Fit and Score, through BaseModule::UpdateMetric, with masks for
// padding.

#include "absl/status/status.h"
#include "io/batch/data_batch.h"
#include "module/interface/base_module.h"
#include "module/metric/eval_metric.h"

namespace cooper {

// Labels go to the outputs by the names that the batch gives them (provide_label), as they go to
// the network, in whatever order they come.
//
// With `count_padding` rows of padding (the last DataBatch::pad ones) count as others do. A metric
// that uses lengths (StepMetric) leaves them out, and steps beyond the lengths, where the batch has
// some: kInvalidArgument, naming the label, if one has another number of rows than the batch has
// lengths.
//
// Excluded elements are given by one mask for each label. A batch without labels has one mask for
// each output that has samples (BaseModule::output_layouts; if the module does not know the layout,
// for an output whose first axis may be the batch's), under the output's name.
absl::Status FeedMetric(BaseModule& module, EvalMetric& metric, const DataBatch& batch,
                        bool count_padding);

}  // namespace cooper

#endif  // COOPER_MODULE_EVALUATE_FEED_METRIC_H_
