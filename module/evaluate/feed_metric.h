#ifndef COOPER_MODULE_EVALUATE_FEED_METRIC_H_
#define COOPER_MODULE_EVALUATE_FEED_METRIC_H_

// Updates a metric with a batch for Fit and Score, through BaseModule::UpdateMetric, with masks
// that exclude padding.

#include "absl/status/status.h"
#include "io/batch/data_batch.h"
#include "module/interface/base_module.h"
#include "module/metric/eval_metric.h"

namespace cooper {

// Updates `metric` with `batch` and the module's current outputs. Labels are matched by the names
// that the batch gives them (provide_label), in whatever order they come.
//
// With `count_padding` the last DataBatch::pad rows count like others. If the batch has lengths, a
// metric that uses lengths (StepMetric) counts neither these rows nor steps beyond the lengths:
// kInvalidArgument, naming the label, if a label and the lengths have different numbers of rows.
// lengths.
// Excluded elements are given by one mask for each label. If the batch has no labels, each output
// that has samples gets a mask under the output's name. The samples' axis follows from
// BaseModule::output_layouts; an output of unknown layout gets a mask if its first axis may be the
// batch's.
// for an output whose first axis may be the batch's), under the output's name.
absl::Status FeedMetric(BaseModule& module, EvalMetric& metric, const DataBatch& batch,
                        bool count_padding);

}  // namespace cooper

#endif  // COOPER_MODULE_EVALUATE_FEED_METRIC_H_
