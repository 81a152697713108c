#include "executor/cuda/nn/cudnn_plan.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cudnn.h"
#include "ndarray/status_macros.h"
#include "third_party/cuda/library_functions.h"

namespace cooper {
namespace {

std::string LibraryName() { return absl::StrCat("libcudnn.so.", CUDNN_MAJOR); }

struct Functions {
  decltype(&cudnnBackendCreateDescriptor) create = nullptr;
  decltype(&cudnnBackendDestroyDescriptor) destroy = nullptr;
  decltype(&cudnnBackendSetAttribute) set = nullptr;
  decltype(&cudnnBackendGetAttribute) get = nullptr;
  decltype(&cudnnBackendFinalize) finalize = nullptr;
  decltype(&cudnnGetErrorString) error_string = nullptr;
  decltype(&cudnnGetLastErrorString) last_error = nullptr;
};

absl::StatusOr<Functions> LoadFunctions() {
  LibraryFunctions library(LibraryName());
  Functions functions;
  library.Find("cudnnBackendCreateDescriptor", functions.create);
  library.Find("cudnnBackendDestroyDescriptor", functions.destroy);
  library.Find("cudnnBackendSetAttribute", functions.set);
  library.Find("cudnnBackendGetAttribute", functions.get);
  library.Find("cudnnBackendFinalize", functions.finalize);
  library.Find("cudnnGetErrorString", functions.error_string);
  library.Find("cudnnGetLastErrorString", functions.last_error);
  COOPER_RETURN_IF_ERROR(library.status());
  return functions;
}

const absl::StatusOr<Functions>& TheFunctions() {
  static const auto* functions = new absl::StatusOr<Functions>(LoadFunctions());
  return *functions;
}

// Requires that the functions are there.
absl::Status CudnnStatus(cudnnStatus_t status, absl::string_view call) {
  if (status == CUDNN_STATUS_SUCCESS) return absl::OkStatus();
  char reason[512] = "";
  TheFunctions()->last_error(reason, sizeof(reason));
  return absl::InternalError(
      absl::StrCat(call, ": ", TheFunctions()->error_string(status), " ", reason));
}

// A descriptor of cuDNN's graph API. Errors are kept: the first one is status().
class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type) {
    Keep(TheFunctions()->create(type, &descriptor_), "cudnnBackendCreateDescriptor");
  }
  Descriptor(Descriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, nullptr)), status_(std::move(other.status_)) {}
  Descriptor(const Descriptor&) = delete;
  ~Descriptor() {
    if (descriptor_ != nullptr) TheFunctions()->destroy(descriptor_);
  }

  template <typename T>
  void Set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
           const T* values) {
    if (!status_.ok()) return;
    Keep(TheFunctions()->set(descriptor_, name, type, count, values), "cudnnBackendSetAttribute");
  }
  template <typename T>
  void Set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const T& value) {
    Set(name, type, 1, &value);
  }
  void Set(cudnnBackendAttributeName_t name, const std::vector<int64_t>& values) {
    Set(name, CUDNN_TYPE_INT64, static_cast<int64_t>(values.size()), values.data());
  }
  void Set(cudnnBackendAttributeName_t name, const Descriptor& other) {
    if (status_.ok()) status_ = other.status_;
    Set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, other.descriptor_);
  }
  void Finalize() {
    if (!status_.ok()) return;
    Keep(TheFunctions()->finalize(descriptor_), "cudnnBackendFinalize");
  }

  const absl::Status& status() const { return status_; }
  cudnnBackendDescriptor_t get() const { return descriptor_; }

 private:
  void Keep(cudnnStatus_t status, absl::string_view call) { status_ = CudnnStatus(status, call); }

  cudnnBackendDescriptor_t descriptor_ = nullptr;
  absl::Status status_;
};

Descriptor TensorOf(int64_t id, const std::vector<int64_t>& extents) {
  std::vector<int64_t> strides(extents.size(), 1);
  for (size_t i = extents.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * extents[i];
  Descriptor d(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  d.Set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, id);
  d.Set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  d.Set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, int64_t{16});
  d.Set(CUDNN_ATTR_TENSOR_DIMENSIONS, extents);
  d.Set(CUDNN_ATTR_TENSOR_STRIDES, strides);
  d.Finalize();
  return d;
}

Descriptor WindowOf(const CudnnConvolution& c) {
  Descriptor d(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  d.Set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64,
        static_cast<int64_t>(c.stride.size()));
  d.Set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  d.Set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION);
  d.Set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, c.pad);
  d.Set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, c.pad);
  d.Set(CUDNN_ATTR_CONVOLUTION_DILATIONS, c.dilate);
  d.Set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, c.stride);
  d.Finalize();
  return d;
}

// The names of one pass's attributes.
struct PassNames {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t image, weight, map, window, alpha, beta;
};

PassNames NamesOf(ConvolutionPass pass) {
  switch (pass) {
    case ConvolutionPass::kDataGradient:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
    case ConvolutionPass::kWeightGradient:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
    case ConvolutionPass::kForward:
      break;
  }
  return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
}

absl::StatusOr<CudnnPlan> Plan(const CudnnConvolution& c, const std::string& device) {
  Descriptor properties(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  properties.Set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                 static_cast<int64_t>(device.size()), device.data());
  properties.Finalize();

  const PassNames names = NamesOf(c.pass);
  Descriptor operation(names.type);
  const Descriptor image = TensorOf(1, c.image), weight = TensorOf(2, c.weight),
                   map = TensorOf(3, c.map), window = WindowOf(c);
  operation.Set(names.image, image);
  operation.Set(names.weight, weight);
  operation.Set(names.map, map);
  operation.Set(names.window, window);
  operation.Set(names.alpha, CUDNN_TYPE_FLOAT, 1.0F);
  operation.Set(names.beta, CUDNN_TYPE_FLOAT, 0.0F);
  operation.Finalize();

  Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.Set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
  graph.Finalize();
  Descriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.Set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  heuristics.Set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, CUDNN_HEUR_MODE_A);
  heuristics.Set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, properties);
  heuristics.Finalize();
  COOPER_RETURN_IF_ERROR(heuristics.status());

  constexpr int64_t kMost = 8;
  std::vector<Descriptor> engines;
  std::vector<cudnnBackendDescriptor_t> handles;
  for (int64_t i = 0; i < kMost; ++i) {
    engines.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    COOPER_RETURN_IF_ERROR(engines.back().status());
    handles.push_back(engines.back().get());
  }
  int64_t proposed = 0;
  COOPER_RETURN_IF_ERROR(CudnnStatus(
      TheFunctions()->get(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                          CUDNN_TYPE_BACKEND_DESCRIPTOR, kMost, &proposed, handles.data()),
      "cudnnBackendGetAttribute of the engines"));
  absl::Status refusal = absl::InternalError("no engine was proposed");
  for (int64_t i = 0; i < proposed; ++i) {
    Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    plan.Set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, engines[i]);
    plan.Set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, properties);
    plan.Finalize();
    if (!plan.status().ok()) {
      refusal = plan.status();
      continue;
    }
    CudnnPlan result;
    int64_t count = 0;
    COOPER_RETURN_IF_ERROR(
        CudnnStatus(TheFunctions()->get(plan.get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                        CUDNN_TYPE_INT64, 1, &count, &result.workspace_bytes),
                    "cudnnBackendGetAttribute of the workspace"));
    return result;
  }
  return absl::UnimplementedError(absl::StrCat("cuDNN has no plan: ", refusal.message()));
}

}  // namespace

std::string CudnnConvolution::ToString() const {
  const auto tuple = [](const std::vector<int64_t>& values) {
    return absl::StrCat("(", absl::StrJoin(values, ", "), ")");
  };
  const char* name = pass == ConvolutionPass::kForward        ? "forward"
                     : pass == ConvolutionPass::kDataGradient ? "data gradient"
                                                              : "weight gradient";
  return absl::StrCat(name, " of image ", tuple(image), ", weight ", tuple(weight), ", map ",
                      tuple(map), ", pad ", tuple(pad), ", stride ", tuple(stride), ", dilate ",
                      tuple(dilate));
}

absl::Status CheckCudnnInstalled() { return TheFunctions().status(); }

absl::StatusOr<CudnnPlan> PlanConvolution(const CudnnConvolution& convolution,
                                          const std::string& device) {
  COOPER_RETURN_IF_ERROR(CheckCudnnInstalled());
  absl::StatusOr<CudnnPlan> plan = Plan(convolution, device);
  if (plan.ok()) return plan;
  return absl::Status(plan.status().code(),
                      absl::StrCat(convolution.ToString(), ": ", plan.status().message()));
}

}  // namespace cooper
