#ifndef COOPER_TESTS_CONFORMANCE_MODULE_SCRIPT_H_
#define COOPER_TESTS_CONFORMANCE_MODULE_SCRIPT_H_

// The script of a module case: steps that call a module and compare what it has become.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/iterators/ndarray_iter.h"
#include "module/interface/base_module.h"
#include "module/kvstore/kvstore.h"
#include "module/metric/eval_metric.h"
#include "tests/conformance/case_data.h"

namespace cooper::conformance {

class ModuleScript {
 public:
  // `scratch` is an empty folder for checkpoints.
  ModuleScript(std::string folder, std::string scratch, Json json, Arrays trace);

  // Runs all steps in order. Returns the error of the first step whose result is not the expected
  // one.
  absl::Status Run();

 private:
  using StepFn = absl::Status (ModuleScript::*)(const Json& step);

  absl::Status RunStep(const Json& step);

  absl::Status Bind(const Json& step);
  absl::Status InitParams(const Json& step);
  absl::Status SetParams(const Json& step);
  absl::Status InitOptimizer(const Json& step);
  absl::Status Forward(const Json& step);
  absl::Status Backward(const Json& step);
  absl::Status Update(const Json& step);
  absl::Status Reshape(const Json& step);
  absl::Status SwitchBucket(const Json& step);
  absl::Status SetStates(const Json& step);
  absl::Status ZeroGrads(const Json& step);
  absl::Status ResetMetric(const Json& step);
  absl::Status UpdateMetric(const Json& step);
  absl::Status SaveCheckpoint(const Json& step);
  absl::Status LoadCheckpoint(const Json& step);
  absl::Status Predict(const Json& step);
  absl::Status Score(const Json& step);
  absl::Status Fit(const Json& step);

  // The steps below use a key-value store without a module.
  absl::Status KVCreate(const Json& step);
  absl::Status KVInit(const Json& step);
  absl::Status KVSetOptimizer(const Json& step);
  absl::Status KVPush(const Json& step);
  absl::Status KVExpectPull(const Json& step);

  absl::Status ExpectOutputs(const Json& step);
  absl::Status ExpectInputGrads(const Json& step);
  absl::Status ExpectStates(const Json& step);
  absl::Status ExpectGrads(const Json& step);
  absl::Status ExpectParams(const Json& step);
  absl::Status ExpectShapes(const Json& step);
  absl::Status ExpectMetric(const Json& step);

  absl::StatusOr<DataBatch> Batch(const Json& step) const;
  absl::StatusOr<std::unique_ptr<NDArrayIter>> MakeIter(const Json& step) const;
  absl::StatusOr<std::vector<NDArray>> ArraysOf(const Json& keys) const;
  // Compares arrays with those called PREFIX/KIND:0, ...
  absl::Status CompareList(const Json& step, const char* kind, absl::Span<const NDArray> got) const;
  absl::Status CompareArrayMap(const std::string& what, const Arrays& got,
                               const Arrays& expected) const;

  const std::string folder_;
  const std::string scratch_;
  const Json json_;
  const Arrays trace_;
  const Tolerance tolerance_;
  std::unique_ptr<BaseModule> module_;
  std::unique_ptr<EvalMetric> metric_;
  std::unique_ptr<KVStore> kvstore_;
};

}  // namespace cooper::conformance

#endif  // COOPER_TESTS_CONFORMANCE_MODULE_SCRIPT_H_
