#ifndef COOPER_MODULE_PREDICT_PREDICTOR_H_
#define COOPER_MODULE_PREDICT_PREDICTOR_H_

// A trained network in service: one object that any number of threads ask at a time.
//
//   COOPER_ASSIGN_OR_RETURN(const auto predictor, Predictor::Load("resnet", 0));
//   COOPER_ASSIGN_OR_RETURN(const auto outputs, predictor->Predict({{"data", images}}));
//
// The threads share the parameters and what was compiled; each computes in an arena of its own. A
// network is compiled for the shapes of inputs that it meets: smaller ones use the plan of larger
// ones where the graph allows it, so that only what grows is compiled again.
//
// A recurrent network goes on from step to step where its states are inputs and outputs of the
// network: what one call returns, the next one is given.

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/batch/bucket_key.h"
#include "io/batch/data_desc.h"
#include "module/options/sym_gen.h"
#include "ndarray/array/array_map.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/default_seed.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/inference/infer_type.h"
#include "symbol/json/load_limits.h"

namespace cooper {

struct PredictorOptions {
  Context context = Context::Cpu();
  // Outputs of any nodes ("fc1_output") in place of the network's own.
  std::vector<std::string> output_names;
  // Of inputs. Parameters are converted to what follows. Inputs that are not named here have the
  // dtypes that follow from the parameters, else float32; where that is another float, Predict
  // takes float32 too, and computes as a module bound to it does.
  KnownTypes types;
  // How many shapes of inputs are kept ready. Of more, those of networks that are gone go first,
  // then those that fit into the plan of another of their network, then those that were used
  // longest ago.
  int max_programs = 32;
  // How many keys have their networks kept ready, where it is more than max_programs, which would
  // be of no use without them; those used last stay.
  int max_networks = 128;
  // How many arenas, with inputs for each shape, are kept while no call uses them: as many calls at
  // a time bind nothing anew. Those used last stay.
  int max_idle_workers = 32;
  // What a thread's activations and inputs may take for one shape.
  int64_t max_bytes = int64_t{1} << 40;
  // Of random operators that draw in prediction too (Dropout with mode='always'). Each arena
  // draws from a stream of its own, in which the calls that compute in it go on: calls at the same
  // time do not draw the same, and those of one thread alone draw the same in each process.
  uint64_t seed = DefaultSeed();
  LoadLimits load_limits;                 // of the symbol file, for Load
  std::set<std::string> disabled_passes;  // of those that PassNames() gives
};

class Predictor {
 public:
  // Labels of losses are no inputs, and need no values. Of the parameters, which are copied to the
  // context if they are elsewhere and shared otherwise, the network may use a part. kNotFound for
  // an output that is not there or a missing auxiliary state, kInvalidArgument for max_programs
  // or max_networks below 1, or max_idle_workers below 0. What does not fit together is found when
  // shapes are known: by Prepare or Predict.
  static absl::StatusOr<std::unique_ptr<const Predictor>> Create(const Symbol& symbol,
                                                                 const ArrayMap& args,
                                                                 const ArrayMap& auxs = {},
                                                                 PredictorOptions options = {});
  // A network for each key: `sym_gen` is that of the BucketingModule that was trained, and
  // automatic names start anew for each, as there. It is called for a key that is asked for, again
  // only where as many others as are kept have been asked for since, by one thread at a time. Calls
  // with keys that are known do not wait for it, and it may itself predict with other keys than the
  // one it is for.
  static absl::StatusOr<std::unique_ptr<const Predictor>> Create(SymGen sym_gen,
                                                                 const ArrayMap& args,
                                                                 const ArrayMap& auxs = {},
                                                                 PredictorOptions options = {});
  // Of MXNet's files prefix-symbol.json and prefix-0003.params.
  static absl::StatusOr<std::unique_ptr<const Predictor>> Load(const std::string& prefix, int epoch,
                                                               PredictorOptions options = {});
  ~Predictor();

  // The outputs for these inputs, in arrays of their own on the predictor's context, which nothing
  // overwrites while there is a handle on them. What large ones lie in is used again when they are
  // gone, by the predictor's next calls.
  //
  // kInvalidArgument, naming it, for an input that is missing, unknown, empty or of another dtype,
  // or for shapes that the network does not take; then nothing has changed. Labels of losses may be
  // given and are not looked at. Blocking; thread-safe.
  absl::StatusOr<std::vector<NDArray>> Predict(const ArrayMap& inputs) const {
    return Predict(BucketKey(), inputs);
  }
  absl::StatusOr<std::vector<NDArray>> Predict(const BucketKey& key, const ArrayMap& inputs) const;

  // Compiles for these shapes of the inputs, if they are new, and says what the outputs will be
  // (their layouts are empty). The errors are Predict's.
  absl::StatusOr<std::vector<DataDesc>> Prepare(const KnownShapes& shapes) const {
    return Prepare(BucketKey(), shapes);
  }
  absl::StatusOr<std::vector<DataDesc>> Prepare(const BucketKey& key,
                                                const KnownShapes& shapes) const;

  // The same for these shapes, and says in which dtypes Predict takes the inputs, in the order of
  // their names.
  absl::StatusOr<std::vector<DataDesc>> PrepareInputs(const BucketKey& key,
                                                      const KnownShapes& shapes) const;

  // What Predict has to be given, in the order of the network's arguments.
  absl::StatusOr<std::vector<std::string>> input_names(const BucketKey& key = {}) const;
  const PredictorOptions& options() const;

 private:
  class Impl;
  explicit Predictor(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_PREDICTOR_H_
