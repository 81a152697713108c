#ifndef COOPER_EXAMPLES_TIME_SERIES_TIME_SERIES_H_
#define COOPER_EXAMPLES_TIME_SERIES_TIME_SERIES_H_

// Predicts the next value and the shape of time series of several kinds, on generated data: buckets
// with string keys, two inputs, two losses, and a run that resumes after a kill.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/buckets/bucket_iter.h"
#include "module/bucketing/bucketing_module.h"
#include "module/interface/base_module.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

struct SeriesData {
  std::vector<std::string> kinds;          // "day": 24 values, "week": 42
  std::vector<std::vector<float>> series;  // with noise
  NDArray features;                        // (series, 2): level and amplitude
  std::vector<float> next;                 // the value after the last one, without noise
  std::vector<int> shapes;                 // 0: sine, 1: triangle
};

SeriesData MakeSeries(int64_t count, uint64_t seed);

// Returns batches with a bucket for each kind; a bucket's last batch is smaller.
absl::StatusOr<std::unique_ptr<BucketIter>> SeriesBatches(const SeriesData& data);

// Maps series (batch_size, steps) and features (batch_size, 2) to the next values (batch_size, 1)
// and the probabilities of the shapes (batch_size, 2).
BucketSymbol SeriesNetwork(const BucketKey& key);

absl::StatusOr<std::unique_ptr<BucketingModule>> MakeSeriesModel(const BucketIter& batches);

// Trains, and saves the state of the run in files that begin with `prefix`: a call after a kill
// resumes from them and ends with bitwise equal parameters.
absl::Status TrainSeries(BucketingModule& model, BucketIter& batches, const std::string& prefix,
                         int num_epoch, std::vector<BatchEndCallback> callbacks = {});

// Returns the mean squared error of the next values, and the fraction of shapes that are
// recognised.
absl::StatusOr<std::vector<std::pair<std::string, double>>> ScoreSeries(BucketingModule& model,
                                                                        const SeriesData& data);

}  // namespace cooper

#endif  // COOPER_EXAMPLES_TIME_SERIES_TIME_SERIES_H_
