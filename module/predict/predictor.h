#ifndef COOPER_MODULE_PREDICT_PREDICTOR_H_
#define COOPER_MODULE_PREDICT_PREDICTOR_H_

// Predicts with a trained network, on any number of threads at a time.
//
//   COOPER_ASSIGN_OR_RETURN(const auto predictor, Predictor::Load("resnet", 0));
//   COOPER_ASSIGN_OR_RETURN(const auto outputs, predictor->Predict({{"data", images}}));
//
// The threads share the parameters and the compiled programs; each computes in an arena of its own.
// A network is compiled for the shapes of inputs that it gets: smaller shapes use the plan of
// larger ones if the graph allows it, so that only larger shapes are compiled again.
//
// A recurrent network continues from step to step if its states are inputs and outputs of the
// network: pass the returned states to the next call.

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

// Options of Predictor::Create and Load.
struct PredictorOptions {
  Context context = Context::Cpu();
  // Outputs of any nodes ("fc1_output") instead of the network's own.
  std::vector<std::string> output_names;
  // Dtypes of inputs; parameters are converted to those that follow. An input that is missing here
  // has the dtype that follows from the parameters, else float32; if that is another floating
  // dtype, Predict also accepts float32, and computes like a module bound to float32.
  KnownTypes types;
  // How many compiled programs, one for each set of input shapes, are kept. Of more, programs of
  // networks that were dropped go first, then those that fit into another plan of their network,
  // then the least recently used ones.
  int max_programs = 32;
  // How many networks are kept, by key, but at least max_programs, since a program is useless
  // without its network. The least recently used one is dropped.
  int max_networks = 128;
  // How many idle arenas, each with inputs for each shape, are kept: this many calls at a time bind
  // nothing anew. The least recently used one is dropped.
  int max_idle_workers = 32;
  // Limit of a thread's activations and inputs for one shape, in bytes.
  int64_t max_bytes = int64_t{1} << 40;
  // Seed of random operators that draw in prediction too (Dropout with mode='always'). Each arena
  // draws from a stream of its own: concurrent calls draw different numbers, and the calls of a
  // single thread draw the same in each process.
  uint64_t seed = DefaultSeed();
  LoadLimits load_limits;                 // of the symbol file, for Load
  std::set<std::string> disabled_passes;  // passes to switch off (PassNames())
};

// See the top of the file. Thread-safe.
class Predictor {
 public:
  // Creates a predictor. Labels of losses are not inputs and need no values. Parameters are copied
  // to the context if they are elsewhere, and shared otherwise; the network need not use all of
  // them.
  //
  // Errors: kNotFound for a missing output or auxiliary state; kInvalidArgument for max_programs or
  // max_networks below 1, or max_idle_workers below 0. Shapes that do not fit are reported by
  // Prepare and Predict, when they are known.
  static absl::StatusOr<std::unique_ptr<const Predictor>> Create(const Symbol& symbol,
                                                                 const ArrayMap& args,
                                                                 const ArrayMap& auxs = {},
                                                                 PredictorOptions options = {});
  // Creates a predictor with a network for each key: `sym_gen` is that of the trained
  // BucketingModule, and automatic names start anew in each call, as there. It is called on the
  // first use of a key, and again only if as many other keys as are kept were used since, by one
  // thread at a time. Calls with known keys do not wait for it, and it may itself predict with
  // other keys than its own.
  static absl::StatusOr<std::unique_ptr<const Predictor>> Create(SymGen sym_gen,
                                                                 const ArrayMap& args,
                                                                 const ArrayMap& auxs = {},
                                                                 PredictorOptions options = {});
  // Loads MXNet's files prefix-symbol.json and prefix-0003.params.
  static absl::StatusOr<std::unique_ptr<const Predictor>> Load(const std::string& prefix, int epoch,
                                                               PredictorOptions options = {});
  ~Predictor();

  // Returns the outputs for these inputs, in arrays on the predictor's context that stay valid and
  // unchanged while there is a handle on them. The memory of large outputs is reused by later calls
  // once the last handle is destroyed.
  //
  // Errors: kInvalidArgument, naming it, for an input that is missing, unknown, empty or of another
  // dtype, and for shapes that the network does not accept. Labels of losses are accepted and
  // ignored. Blocking; thread-safe.
  absl::StatusOr<std::vector<NDArray>> Predict(const ArrayMap& inputs) const {
    return Predict(BucketKey(), inputs);
  }
  absl::StatusOr<std::vector<NDArray>> Predict(const BucketKey& key, const ArrayMap& inputs) const;

  // Compiles for these shapes of the inputs, if they are new, and returns descriptions of the
  // outputs (with empty layouts). Errors as for Predict.
  absl::StatusOr<std::vector<DataDesc>> Prepare(const KnownShapes& shapes) const {
    return Prepare(BucketKey(), shapes);
  }
  absl::StatusOr<std::vector<DataDesc>> Prepare(const BucketKey& key,
                                                const KnownShapes& shapes) const;

  // Like Prepare, but returns the inputs with the dtypes in which Predict accepts them, in the
  // order of their names.
  absl::StatusOr<std::vector<DataDesc>> PrepareInputs(const BucketKey& key,
                                                      const KnownShapes& shapes) const;

  // The names of the inputs that Predict requires, in the order of the network's arguments.
  absl::StatusOr<std::vector<std::string>> input_names(const BucketKey& key = {}) const;
  const PredictorOptions& options() const;

 private:
  class Impl;
  explicit Predictor(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_PREDICTOR_H_
