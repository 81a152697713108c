#include "tests/passes/run_graph.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/random/random.h"

namespace cooper {
namespace {

// Returns normal numbers, or class ids below `classes`.
absl::StatusOr<NDArray> RandomArray(const Shape& shape, DType dtype, uint64_t stream,
                                    int64_t classes = 0) {
  RandomGenerator random(/*seed=*/1, stream);
  std::vector<double> values(static_cast<size_t>(shape.num_elements()));
  for (double& value : values) {
    value = classes > 0 ? static_cast<double>(random.NextBelow(classes)) : random.NextNormal() / 2;
  }
  COOPER_ASSIGN_OR_RETURN(const NDArray numbers, NDArray::FromVector(shape, values));
  COOPER_ASSIGN_OR_RETURN(NDArray array, NDArray::Empty(shape, dtype));
  COOPER_RETURN_IF_ERROR(array.CopyFrom(numbers));
  return array;
}

absl::Status Take(const NDArray& array, const std::string& what, RunResults* results) {
  COOPER_ASSIGN_OR_RETURN((*results)[what], array.ToVector<double>());
  return absl::OkStatus();
}

absl::Status TakeOutputs(const Executor& executor, const char* what, RunResults* results) {
  COOPER_ASSIGN_OR_RETURN(const auto outputs, executor.outputs());
  for (size_t i = 0; i < outputs.size(); ++i) {
    COOPER_RETURN_IF_ERROR(
        Take(outputs[i], absl::StrCat(what, " ", i, " ", executor.output_names()[i]), results));
  }
  return absl::OkStatus();
}

absl::Status FillArrays(const RandomGraph& graph, const Executor& executor) {
  uint64_t stream = 0;
  for (const std::string& name : executor.arg_names()) {
    const NDArray array = executor.arg(name);
    const auto classes = graph.classes.find(name);
    COOPER_ASSIGN_OR_RETURN(const NDArray values,
                            RandomArray(array.shape(), array.dtype(), stream++,
                                        classes == graph.classes.end() ? 0 : classes->second));
    COOPER_RETURN_IF_ERROR(array.CopyFrom(values));
  }
  for (const auto& [name, array] : executor.grad_dict()) {
    COOPER_RETURN_IF_ERROR(array.Fill(0.25));
  }
  for (const auto& [name, array] : executor.aux_dict()) COOPER_RETURN_IF_ERROR(array.Fill(0.5));
  return absl::OkStatus();
}

absl::Status GiveNewOutputs(Executor& executor) {
  COOPER_ASSIGN_OR_RETURN(const auto outputs, executor.outputs());
  std::vector<NDArray> arrays;
  for (const NDArray& output : outputs) {
    COOPER_ASSIGN_OR_RETURN(arrays.emplace_back(), output.Copy());
    COOPER_RETURN_IF_ERROR(arrays.back().Fill(std::numeric_limits<double>::quiet_NaN()));
  }
  for (size_t i = 0; i < arrays.size(); ++i) {
    const auto output = static_cast<int>(i);
    if (!executor.TakesOutput(output)) continue;
    COOPER_RETURN_IF_ERROR(executor.SetOutput(output, arrays[i]));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<GraphRunner>> GraphRunner::Create(
    const RandomGraph& graph, const std::set<std::string>& disabled_passes,
    std::shared_ptr<const CompiledProgram> compiled) {
  std::unique_ptr<GraphRunner> runner(new GraphRunner(graph));
  COOPER_ASSIGN_OR_RETURN(runner->executor_,
                          Executor::SimpleBind(graph.symbol,
                                               {.shapes = graph.shapes,
                                                .types = graph.types,
                                                .grad_reqs = graph.grad_reqs,
                                                .random = runner->random_,
                                                .disabled_passes = disabled_passes},
                                               std::move(compiled)));
  return runner;
}

absl::Status GraphRunner::Fill() {
  *random_ = {.seed = 5};
  return FillArrays(graph_, *executor_);
}

absl::StatusOr<RunResults> GraphRunner::Run() {
  RunResults results;
  COOPER_RETURN_IF_ERROR(Fill());
  COOPER_RETURN_IF_ERROR(executor_->Forward(/*is_train=*/true));
  COOPER_RETURN_IF_ERROR(TakeOutputs(*executor_, "output", &results));
  std::vector<NDArray> heads;
  COOPER_ASSIGN_OR_RETURN(const auto outputs, executor_->outputs());
  for (const NDArray& output : outputs) {
    COOPER_ASSIGN_OR_RETURN(heads.emplace_back(),
                            RandomArray(output.shape(), output.dtype(), 1000 + heads.size()));
  }
  if (!executor_->grad_dict().empty()) COOPER_RETURN_IF_ERROR(executor_->Backward(heads));
  for (const auto& [name, array] : executor_->grad_dict()) {
    COOPER_RETURN_IF_ERROR(Take(array, absl::StrCat("gradient ", name), &results));
  }
  for (const auto& [name, array] : executor_->aux_dict()) {
    COOPER_RETURN_IF_ERROR(Take(array, absl::StrCat("auxiliary state ", name), &results));
  }
  COOPER_RETURN_IF_ERROR(executor_->Forward(/*is_train=*/false));
  COOPER_RETURN_IF_ERROR(TakeOutputs(*executor_, "prediction", &results));
  return results;
}

absl::StatusOr<Prediction> Predict(const RandomGraph& graph, const PredictionOptions& how) {
  BindOptions options{.shapes = graph.shapes,
                      .types = graph.types,
                      .grad_req = WriteReq::kNull,
                      .unbound_outputs = how.unbound_outputs,
                      .disabled_passes = how.disabled_passes};
  COOPER_ASSIGN_OR_RETURN(auto executor, Executor::SimpleBind(graph.symbol, options));
  COOPER_RETURN_IF_ERROR(FillArrays(graph, *executor));
  options.args = executor->arg_dict();
  options.auxs = executor->aux_dict();
  for (const auto& [name, array] : options.args) {
    const bool varies = graph.shapes.contains(name) || graph.classes.contains(name);
    if (how.constants && !varies) options.constants.insert(name);
  }
  for (const auto& [name, array] : options.auxs) {
    if (how.constants) options.constants.insert(name);
  }
  COOPER_ASSIGN_OR_RETURN(executor, Executor::SimpleBind(graph.symbol, options));
  COOPER_RETURN_IF_ERROR(executor->Forward(/*is_train=*/false));
  if (how.unbound_outputs) {
    COOPER_RETURN_IF_ERROR(GiveNewOutputs(*executor));
    COOPER_RETURN_IF_ERROR(executor->Forward(/*is_train=*/false));
  }
  Prediction prediction{.results = {}, .program = executor->DebugString()};
  COOPER_RETURN_IF_ERROR(TakeOutputs(*executor, "prediction", &prediction.results));
  return prediction;
}

}  // namespace cooper
