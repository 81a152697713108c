#include "executor/kernels/convolution/cudnn_handle.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cudnn.h"
#include "executor/kernels/convolution/cudnn_descriptor.h"
#include "executor/kernels/convolution/cudnn_plan.h"
#include "executor/kernels/convolution/cudnn_trial.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/device_scope.h"

namespace cooper {

absl::StatusOr<Cudnn*> Cudnn::Of(int device_id) {
  COOPER_RETURN_IF_ERROR(CheckCudnnInstalled());
  static auto* mutex = new std::mutex;
  static auto* handles = new std::map<int, Cudnn*>;  // never destroyed: may outlive the driver
  const std::lock_guard<std::mutex> lock(*mutex);
  Cudnn*& cudnn = (*handles)[device_id];
  if (cudnn == nullptr) {
    const CudaDeviceScope scope(device_id);
    COOPER_RETURN_IF_ERROR(scope.status());
    cudnnHandle_t handle = nullptr;
    COOPER_RETURN_IF_ERROR(CudnnStatus(GetCudnnFunctions()->create_handle(&handle), "cudnnCreate"));
    cudnn = new Cudnn(handle);
  }
  return cudnn;
}

absl::StatusOr<CudnnPlan> Cudnn::Plan(const CudnnConvolution& convolution,
                                      const CudnnChoice& choice) {
  // More shapes than programs have. Nodes keep the plans that they use, so dropping the cache is
  // safe.
  constexpr size_t kMaxPlans = 4096;
  const std::string key = absl::StrCat(convolution.ToString(), ", ", choice.max_workspace_bytes,
                                       choice.by_time ? " by time" : "");
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = plans_.find(key);
  if (found != plans_.end()) return found->second;
  if (plans_.size() >= kMaxPlans) plans_.clear();
  bool is_final = true;
  absl::StatusOr<CudnnPlan> plan = Choose(convolution, choice, &is_final);
  if (is_final && (plan.ok() || absl::IsUnimplemented(plan.status()))) plans_.emplace(key, plan);
  return plan;
}

absl::StatusOr<CudnnPlan> Cudnn::Choose(const CudnnConvolution& convolution,
                                        const CudnnChoice& choice, bool* is_final) {
  constexpr size_t kMaxTried = 12;  // later plans are hardly ever faster
  COOPER_ASSIGN_OR_RETURN(
      const std::vector<CudnnPlan> plans,
      PlanConvolution(convolution, {.handle = handle_, .description = ""},
                      choice.max_workspace_bytes, choice.by_time ? kMaxTried : 1));
  if (plans.size() == 1) return plans[0];
  const CudnnTrial trial(convolution, plans);
  const CudnnPlan* fastest = &*std::min_element(
      plans.begin(), plans.end(),
      [](const CudnnPlan& a, const CudnnPlan& b) { return a.workspace_bytes < b.workspace_bytes; });
  *is_final = false;  // a later call may have memory for all of them
  if (!trial.status().ok()) return *fastest;
  double least = std::numeric_limits<double>::infinity();
  bool is_any_left_out = false;
  for (const CudnnPlan& plan : plans) {
    if (plan.workspace_bytes > trial.workspace_bytes()) {
      is_any_left_out = true;
      continue;
    }
    const absl::StatusOr<double> seconds = trial.Seconds(
        [&] { return RunLocked(trial.stream(), plan, trial.arrays(), trial.workspace()); });
    if (!seconds.ok() || *seconds >= least) continue;
    least = *seconds;
    fastest = &plan;
  }
  *is_final = !is_any_left_out && std::isfinite(least);
  return *fastest;
}

absl::Status Cudnn::Run(cudaStream_t stream, const CudnnPlan& plan, const CudnnArrays& arrays,
                        void* workspace) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return RunLocked(stream, plan, arrays, workspace);
}

absl::Status Cudnn::RunLocked(cudaStream_t stream, const CudnnPlan& plan, const CudnnArrays& arrays,
                              void* workspace) {
  const int64_t ids[] = {kCudnnImage, kCudnnWeight, kCudnnMap};
  const void* const pointers[] = {arrays.image, arrays.weight, arrays.map};
  CudnnDescriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.SetArray(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, ids);
  pack.SetArray(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, pointers);
  pack.Set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace);
  pack.Finalize();
  if (!pack.status().ok()) return AddContext(pack.status(), plan.name);
  auto* handle = static_cast<cudnnHandle_t>(handle_);
  COOPER_RETURN_IF_ERROR(
      CudnnStatus(GetCudnnFunctions()->set_stream(handle, stream), "cudnnSetStream"));
  const cudnnStatus_t status =
      GetCudnnFunctions()->execute(handle, plan.descriptor.get(), pack.get());
  if (status == CUDNN_STATUS_SUCCESS) return absl::OkStatus();  // saves building a message
  return CudnnStatus(status, absl::StrCat("cudnnBackendExecute, ", plan.name));
}

}  // namespace cooper
