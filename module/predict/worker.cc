#include "module/predict/worker.h"

#include "ndarray/array/device.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::StatusOr<std::vector<NDArray>> RunOnWorker(Worker& worker, Executor& executor,
                                                 OutputArrays& arrays) {
  const Program& program = executor.compiled()->program();
  const auto count = static_cast<int>(program.outputs.size());
  DeviceQueue& queue = *worker.arena->queue();
  const auto compute = [&]() -> absl::StatusOr<std::vector<NDArray>> {
    std::vector<NDArray> results(count);
    for (int i = 0; i < count; ++i) {
      const ProgramValue& value = program.values[program.outputs[i]];
      COOPER_ASSIGN_OR_RETURN(results[i], arrays.Take(value.shape, value.dtype));
      if (executor.TakesOutput(i)) COOPER_RETURN_IF_ERROR(executor.SetOutput(i, results[i]));
    }
    COOPER_RETURN_IF_ERROR(executor.Forward(/*is_train=*/false));
    COOPER_ASSIGN_OR_RETURN(const auto outputs, executor.outputs());
    for (int i = 0; i < count; ++i) {
      if (program.values[program.outputs[i]].counted) {  // in the first elements
        COOPER_ASSIGN_OR_RETURN(results[i], results[i].Reshape({results[i].size()}));
        COOPER_ASSIGN_OR_RETURN(results[i], results[i].Slice(0, outputs[i].size()));
        COOPER_ASSIGN_OR_RETURN(results[i], results[i].Reshape(outputs[i].shape()));
      }
      if (executor.TakesOutput(i)) continue;
      COOPER_RETURN_IF_ERROR(queue.Copy(results[i].raw_data(), results[i].context(),
                                        outputs[i].raw_data(), outputs[i].context(),
                                        outputs[i].size() * SizeOf(outputs[i].dtype())));
    }
    // Wait for the device, because other results may reuse the memory.
    COOPER_RETURN_IF_ERROR(queue.Synchronize());
    return results;
  };
  auto results = compute();
  for (int i = 0; i < count; ++i) {
    if (executor.TakesOutput(i)) COOPER_RETURN_IF_ERROR(executor.SetOutput(i, NDArray()));
  }
  return results;
}

}  // namespace cooper
