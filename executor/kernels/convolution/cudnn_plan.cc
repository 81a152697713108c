#include "executor/kernels/convolution/cudnn_plan.h"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cudnn.h"
#include "executor/kernels/convolution/cudnn_descriptor.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/tf32.h"

namespace cooper {
namespace {

cudnnDataType_t DataType(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return CUDNN_DATA_DOUBLE;
    case DType::kFloat16:
      return CUDNN_DATA_HALF;
    case DType::kBfloat16:
      return CUDNN_DATA_BFLOAT16;
    default:
      return CUDNN_DATA_FLOAT;
  }
}

CudnnDescriptor TensorOf(int64_t id, const CudnnConvolution& c,
                         const std::vector<int64_t>& extents) {
  std::vector<int64_t> strides(extents.size(), 1);
  for (size_t i = extents.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * extents[i];
  CudnnDescriptor d(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  d.Set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, id);
  d.Set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, DataType(c.dtype));
  d.Set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, c.alignment);
  d.Set(CUDNN_ATTR_TENSOR_DIMENSIONS, extents);
  d.Set(CUDNN_ATTR_TENSOR_STRIDES, strides);
  d.Finalize();
  return d;
}

CudnnDescriptor WindowOf(const CudnnConvolution& c) {
  CudnnDescriptor d(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  d.Set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64,
        static_cast<int64_t>(c.stride.size()));
  d.Set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE,
        c.dtype == DType::kFloat64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT);
  d.Set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION);
  d.Set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, c.pad);
  d.Set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, c.pad);
  d.Set(CUDNN_ATTR_CONVOLUTION_DILATIONS, c.dilate);
  d.Set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, c.stride);
  d.Finalize();
  return d;
}

// The cuDNN names of one pass's attributes.
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

// Returns the convolution as a graph of one operation.
CudnnDescriptor GraphOf(const CudnnConvolution& c, const CudnnDevice& device) {
  const PassNames names = NamesOf(c.pass);
  CudnnDescriptor operation(names.type);
  operation.Set(names.image, TensorOf(kCudnnImage, c, c.image));
  operation.Set(names.weight, TensorOf(kCudnnWeight, c, c.weight));
  operation.Set(names.map, TensorOf(kCudnnMap, c, c.map));
  operation.Set(names.window, WindowOf(c));
  if (c.dtype == DType::kFloat64) {
    operation.Set(names.alpha, CUDNN_TYPE_DOUBLE, 1.0);
    operation.Set(names.beta, CUDNN_TYPE_DOUBLE, 0.0);
  } else {
    operation.Set(names.alpha, CUDNN_TYPE_FLOAT, 1.0F);
    operation.Set(names.beta, CUDNN_TYPE_FLOAT, 0.0F);
  }
  operation.Finalize();
  CudnnDescriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.Set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
  if (device.handle != nullptr) {
    graph.Set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, device.handle);
  }
  graph.Finalize();
  return graph;
}

// Returns whether an engine with these notes follows the numerics of cooper's products
// (Cublas::Gemm).
bool IsWanted(const std::vector<cudnnBackendNumericalNote_t>& notes, DType dtype) {
  for (cudnnBackendNumericalNote_t note : notes) {
    switch (note) {
      // For float32, tensor cores multiply in TF32.
      case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
        if (dtype == DType::kFloat32 && !Tf32IsAllowed()) return false;
        break;
      case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
      case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
      case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
      // A transform spreads an infinity or a NaN of one window over its neighbours, and rounds
      // results that would be exact.
      case CUDNN_NUMERICAL_NOTE_FFT:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13:
        return false;
      default:
        break;
    }
  }
  return true;
}

absl::StatusOr<std::vector<cudnnBackendNumericalNote_t>> NotesOf(const CudnnDescriptor& config) {
  const CudnnDescriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  COOPER_RETURN_IF_ERROR(engine.status());
  cudnnBackendDescriptor_t handle = engine.get();
  COOPER_RETURN_IF_ERROR(
      config.Get(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &handle).status());
  std::vector<cudnnBackendNumericalNote_t> notes(CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  COOPER_ASSIGN_OR_RETURN(const int64_t count,
                          engine.Get(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                                     static_cast<int64_t>(notes.size()), notes.data()));
  notes.resize(static_cast<size_t>(count));
  return notes;
}

// Returns the engine configurations that cuDNN proposes for the graph, the likely fastest first.
absl::StatusOr<std::vector<CudnnDescriptor>> ConfigsOf(const CudnnDescriptor& graph,
                                                       const CudnnDescriptor* properties,
                                                       cudnnBackendHeurMode_t mode) {
  CudnnDescriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.Set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  heuristics.Set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
  if (properties != nullptr) heuristics.Set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *properties);
  heuristics.Finalize();
  COOPER_ASSIGN_OR_RETURN(
      const int64_t proposed,
      heuristics.Get(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, nullptr));
  std::vector<CudnnDescriptor> configs;
  std::vector<cudnnBackendDescriptor_t> handles;
  for (int64_t i = 0; i < proposed; ++i) {
    configs.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    COOPER_RETURN_IF_ERROR(configs.back().status());
    handles.push_back(configs.back().get());
  }
  COOPER_ASSIGN_OR_RETURN(const int64_t count,
                          heuristics.Get(CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                         CUDNN_TYPE_BACKEND_DESCRIPTOR, proposed, handles.data()));
  while (static_cast<int64_t>(configs.size()) > count) configs.pop_back();
  return configs;
}

// Returns the plan of a configuration. Errors: kUnimplemented if it needs more workspace, kInternal
// if cuDNN cannot create it.
absl::StatusOr<CudnnPlan> PlanOf(CudnnDescriptor config, const CudnnDescriptor* properties,
                                 const CudnnDevice& device, const std::string& name,
                                 int64_t max_workspace_bytes) {
  // The configuration must live as long as the plan.
  struct Parts {
    CudnnDescriptor config, plan;
  };
  auto parts = std::make_shared<Parts>(
      Parts{std::move(config), CudnnDescriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)});
  CudnnDescriptor& plan = parts->plan;
  plan.Set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, parts->config);
  if (properties != nullptr) {
    plan.Set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *properties);
  } else {
    plan.Set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, device.handle);
  }
  plan.Finalize();
  int64_t bytes = 0;
  COOPER_RETURN_IF_ERROR(
      plan.Get(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &bytes).status());
  if (bytes > max_workspace_bytes) {
    return absl::UnimplementedError(
        absl::StrCat("its workspace has ", bytes, " bytes, more than ", max_workspace_bytes));
  }
  void* descriptor = plan.get();
  return CudnnPlan{.descriptor = std::shared_ptr<void>(std::move(parts), descriptor),
                   .workspace_bytes = bytes,
                   .name = name};
}

absl::StatusOr<std::vector<CudnnPlan>> Plans(const CudnnConvolution& c, const CudnnDevice& device,
                                             int64_t max_workspace_bytes, size_t most_plans) {
  std::unique_ptr<CudnnDescriptor> properties;
  if (device.handle == nullptr) {
    properties = std::make_unique<CudnnDescriptor>(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
    properties->SetArray(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                         static_cast<int64_t>(device.description.size()),
                         device.description.data());
    properties->Finalize();
  }
  const std::string name = c.ToString();
  const CudnnDescriptor graph = GraphOf(c, device);
  COOPER_RETURN_IF_ERROR(graph.status());
  absl::Status refusal = absl::UnimplementedError("no engine was proposed");
  std::vector<CudnnPlan> plans;
  // For 154 convolutions of ResNet-50 and MobileNet v2 on an H100, the first proposals of mode A
  // take 1.15 times as long in total as those of mode B, and are nowhere more than a fifth faster.
  for (cudnnBackendHeurMode_t mode :
       {CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    auto configs = ConfigsOf(graph, properties.get(), mode);
    if (!configs.ok()) {
      refusal = configs.status();
      continue;
    }
    for (CudnnDescriptor& config : *configs) {
      const auto notes = NotesOf(config);
      if (!notes.ok()) refusal = notes.status();
      if (!notes.ok() || !IsWanted(*notes, c.dtype)) continue;
      auto plan = PlanOf(std::move(config), properties.get(), device, name, max_workspace_bytes);
      if (!plan.ok()) {
        refusal = plan.status();
        continue;
      }
      plans.push_back(*std::move(plan));
      if (plans.size() >= most_plans) return plans;
    }
  }
  if (!plans.empty()) return plans;
  // A later call may find memory.
  if (absl::IsResourceExhausted(refusal)) return refusal;
  return absl::UnimplementedError(absl::StrCat("cuDNN has no plan: ", refusal.message()));
}

}  // namespace

absl::Status CheckCudnnInstalled() { return GetCudnnFunctions().status(); }

absl::StatusOr<std::vector<CudnnPlan>> PlanConvolution(const CudnnConvolution& convolution,
                                                       const CudnnDevice& device,
                                                       int64_t max_workspace_bytes,
                                                       size_t most_plans) {
  COOPER_RETURN_IF_ERROR(CheckCudnnInstalled());
  auto plans = Plans(convolution, device, max_workspace_bytes, most_plans);
  if (plans.ok()) return plans;
  return AddContext(plans.status(), convolution.ToString());
}

}  // namespace cooper
