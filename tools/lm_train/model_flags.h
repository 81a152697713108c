#ifndef COOPER_TOOLS_LM_TRAIN_MODEL_FLAGS_H_
#define COOPER_TOOLS_LM_TRAIN_MODEL_FLAGS_H_

// The command-line flags that the language model's programs share: sizes, cell, buckets, optimizer.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/flags/declare.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "module/interface/base_module.h"
#include "ndarray/base/context.h"
#include "tools/lm_train/language_model.h"

ABSL_DECLARE_FLAG(std::string, buckets);
ABSL_DECLARE_FLAG(int, num_hidden);
ABSL_DECLARE_FLAG(int, batch_size);
ABSL_DECLARE_FLAG(bool, use_ignore);
ABSL_DECLARE_FLAG(uint64_t, seed);
ABSL_DECLARE_FLAG(std::string, gemm_precision);
ABSL_DECLARE_FLAG(int, contexts);
ABSL_DECLARE_FLAG(std::string, kvstore);
ABSL_DECLARE_FLAG(bool, label_probabilities);

namespace cooper {

// Returns the model's options from the flags, without its vocabulary.
LanguageModelOptions ModelOptionsFromFlags();
// Returns the optimizer from --optimizer, --lr, --mom, --wd and --kvstore. kInvalidArgument for
// --mom with an optimizer that has no momentum.
absl::StatusOr<InitOptimizerOptions> OptimizerFromFlags();
// Returns --disable_passes as names. kInvalidArgument, with the known names, for others.
absl::StatusOr<std::set<std::string>> DisabledPassesFromFlags();
// Applies --threads to the loops of this thread and --gemm_precision to all products.
// kInvalidArgument for an unknown precision; SetGemmPrecision's errors where bfloat16 is not
// available.
absl::Status ApplyComputeFlags();
// Returns the contexts of --context, or else cpu(0), cpu(1), ..., as many as --contexts.
// kInvalidArgument for a --context that cannot be parsed.
absl::StatusOr<std::vector<Context>> ContextsFromFlags();
// The values of --buckets, --max_buckets, --bucket_cost and --max_length as options of a
// BucketSentenceIter.
struct BucketFlags {
  std::vector<int64_t> lengths;  // rising; empty: chosen, as in MXNet if max_buckets is 0
  int max_buckets = 0;
  double bucket_cost = 0;
  int64_t max_length = 0;
};
// Reads the flags. kInvalidArgument, with the text, if --buckets is neither lengths nor auto nor
// mxnet.
absl::StatusOr<BucketFlags> BucketsFromFlags();
// Returns kInvalidArgument, naming the flag, if a size is not positive or another flag is out of
// range.
absl::Status CheckModelFlags();

}  // namespace cooper

#endif  // COOPER_TOOLS_LM_TRAIN_MODEL_FLAGS_H_
