#ifndef COOPER_IO_STREAMS_STEP_PLAN_H_
#define COOPER_IO_STREAMS_STEP_PLAN_H_

// Chooses the buckets of the next steps of a stream from the samples that each part holds. Parts
// that know one another's samples choose the same buckets without further messages.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ndarray/random/random.h"

namespace cooper {

// The samples of one part.
struct HeldCounts {
  std::vector<int64_t> samples;  // by bucket
  bool at_end = false;           // the part has no other samples in this epoch

  // Returns a text that Parse reads, for the other parts.
  std::string ToString() const;
  // kInvalidArgument unless `text` is a text of ToString with `num_buckets` buckets.
  static absl::StatusOr<HeldCounts> Parse(absl::string_view text, size_t num_buckets);
};

// The options of the plan; all parts need the same ones.
struct StepPlanOptions {
  std::vector<int64_t> batch_sizes;  // by bucket, of one part
  int64_t max_steps = 1;
  bool shuffle = true;      // otherwise the first bucket of those that are equally good
  bool serve_rest = false;  // whether samples that fill no batch come in steps at the end
};

// Returns the buckets of the next steps, at most max_steps. In a step each part serves a full batch
// of the bucket or, if it has fewer samples, those that it has.
//
// A step's bucket is one of which most parts have a full batch; with `shuffle` at random, a bucket
// with more full batches more often. The plan ends before a step in which a part that is not
// at_end has no full batch, unless that is the first step: samples that the part reads before the
// next plan may fill one. Steps without any full batch come only when all parts are at_end, with
// serve_rest, until no part has a sample.
//
// An empty plan ends the epoch, provided that every part that is not at_end has a full batch.
// Equal arguments give equal plans and leave `random` in equal states.
std::vector<int> PlanSteps(absl::Span<const HeldCounts> parts, const StepPlanOptions& options,
                           RandomGenerator* random);

}  // namespace cooper

#endif  // COOPER_IO_STREAMS_STEP_PLAN_H_
