#include "module/predict/c_api/c_predict_api.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "module/predict/bound_predictor.h"
#include "module/predict/c_api/c_predict_call.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

struct Handle {
  std::unique_ptr<BoundPredictor> predictor;
  std::vector<uint32_t> shape;  // the result of the last MXPredGetOutputShape
};

absl::StatusOr<Handle*> HandleOf(PredictorHandle handle) {
  COOPER_RETURN_IF_ERROR(CheckPointer(handle, "the handle"));
  return static_cast<Handle*>(handle);
}

PredictorHandle Give(std::unique_ptr<BoundPredictor> predictor) {
  return new Handle{.predictor = std::move(predictor)};
}

// The names and shapes of inputs in a call.
struct InputArgs {
  uint32_t count;
  const char** keys;
  const uint32_t* indptr;
  const uint32_t* data;

  absl::StatusOr<KnownShapes> Shapes() const {
    KnownShapes shapes;
    if (count == 0) return shapes;
    COOPER_RETURN_IF_ERROR(CheckPointer(keys, "input_keys"));
    COOPER_RETURN_IF_ERROR(CheckPointer(indptr, "input_shape_indptr"));
    if (indptr[count] > 0) COOPER_RETURN_IF_ERROR(CheckPointer(data, "input_shape_data"));
    for (uint32_t i = 0; i < count; ++i) {
      COOPER_RETURN_IF_ERROR(CheckPointer(keys[i], "the name of an input"));
      if (indptr[i] > indptr[i + 1]) {
        return absl::InvalidArgumentError(absl::StrCat("input '", keys[i],
                                                       "': input_shape_indptr falls from ",
                                                       indptr[i], " to ", indptr[i + 1]));
      }
      const std::vector<int64_t> dims(data + indptr[i], data + indptr[i + 1]);
      shapes[keys[i]] = PartialShape::FromMXNet(dims);
    }
    return shapes;
  }
};

// The arguments that all create functions have.
struct CreateArgs {
  const char* symbol_json;
  const void* param_bytes;
  int param_size;
  int dev_type;
  int dev_id;
  InputArgs inputs;
};

absl::Status Create(const CreateArgs& args, BoundPredictorOptions options, PredictorHandle* out) {
  COOPER_RETURN_IF_ERROR(CheckPointer(args.symbol_json, "symbol_json_str"));
  COOPER_RETURN_IF_ERROR(CheckPointer(out, "out"));
  if (args.param_size < 0 || (args.param_size > 0 && args.param_bytes == nullptr)) {
    return absl::InvalidArgumentError(
        absl::StrCat("there are no ", args.param_size, " bytes of parameters"));
  }
  if (args.dev_type != 1 && args.dev_type != 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("dev_type is ", args.dev_type, ", expected 1 (CPU) or 2 (GPU)"));
  }
  options.symbol_json = args.symbol_json;
  options.params = absl::string_view(static_cast<const char*>(args.param_bytes),
                                     static_cast<size_t>(args.param_size));
  options.context = {static_cast<DeviceType>(args.dev_type), args.dev_id};
  COOPER_ASSIGN_OR_RETURN(options.shapes, args.inputs.Shapes());
  COOPER_ASSIGN_OR_RETURN(auto predictors, BoundPredictor::Create(options));
  for (size_t i = 0; i < predictors.size(); ++i) out[i] = Give(std::move(predictors[i]));
  return absl::OkStatus();
}

}  // namespace
}  // namespace cooper

// The interface's functions. NOLINTBEGIN(readability-identifier-naming): their names are MXNet's.

using cooper::Call;

int MXPredCreate(const char* symbol_json_str, const void* param_bytes, int param_size, int dev_type,
                 int dev_id, uint32_t num_input_nodes, const char** input_keys,
                 const uint32_t* input_shape_indptr, const uint32_t* input_shape_data,
                 PredictorHandle* out) {
  return MXPredCreateMultiThread(symbol_json_str, param_bytes, param_size, dev_type, dev_id,
                                 num_input_nodes, input_keys, input_shape_indptr, input_shape_data,
                                 1, out);
}

int MXPredCreateEx(const char* symbol_json_str, const void* param_bytes, int param_size,
                   int dev_type, int dev_id, uint32_t num_input_nodes, const char** input_keys,
                   const uint32_t* input_shape_indptr, const uint32_t* input_shape_data,
                   uint32_t num_provided_arg_dtypes, const char** provided_arg_dtype_names,
                   const int* provided_arg_dtypes, PredictorHandle* out) {
  return Call([&]() -> absl::Status {
    cooper::BoundPredictorOptions options;
    if (num_provided_arg_dtypes > 0) {
      COOPER_RETURN_IF_ERROR(
          cooper::CheckPointer(provided_arg_dtype_names, "provided_arg_dtype_names"));
      COOPER_RETURN_IF_ERROR(cooper::CheckPointer(provided_arg_dtypes, "provided_arg_dtypes"));
    }
    for (uint32_t i = 0; i < num_provided_arg_dtypes; ++i) {
      const char* name = provided_arg_dtype_names[i];
      COOPER_RETURN_IF_ERROR(cooper::CheckPointer(name, "the name of an argument"));
      COOPER_ASSIGN_OR_RETURN(options.types[name], cooper::DTypeFromCode(provided_arg_dtypes[i]));
    }
    return cooper::Create({symbol_json_str,
                           param_bytes,
                           param_size,
                           dev_type,
                           dev_id,
                           {num_input_nodes, input_keys, input_shape_indptr, input_shape_data}},
                          std::move(options), out);
  });
}

int MXPredCreatePartialOut(const char* symbol_json_str, const void* param_bytes, int param_size,
                           int dev_type, int dev_id, uint32_t num_input_nodes,
                           const char** input_keys, const uint32_t* input_shape_indptr,
                           const uint32_t* input_shape_data, uint32_t num_output_nodes,
                           const char** output_keys, PredictorHandle* out) {
  return Call([&]() -> absl::Status {
    cooper::BoundPredictorOptions options;
    if (num_output_nodes > 0) {
      COOPER_RETURN_IF_ERROR(cooper::CheckPointer(output_keys, "output_keys"));
    }
    for (uint32_t i = 0; i < num_output_nodes; ++i) {
      COOPER_RETURN_IF_ERROR(cooper::CheckPointer(output_keys[i], "the name of an output"));
      options.output_names.push_back(absl::StrCat(output_keys[i], "_output"));
    }
    return cooper::Create({symbol_json_str,
                           param_bytes,
                           param_size,
                           dev_type,
                           dev_id,
                           {num_input_nodes, input_keys, input_shape_indptr, input_shape_data}},
                          std::move(options), out);
  });
}

int MXPredCreateMultiThread(const char* symbol_json_str, const void* param_bytes, int param_size,
                            int dev_type, int dev_id, uint32_t num_input_nodes,
                            const char** input_keys, const uint32_t* input_shape_indptr,
                            const uint32_t* input_shape_data, int num_threads,
                            PredictorHandle* out) {
  return Call([&]() -> absl::Status {
    if (num_threads < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("num_threads is ", num_threads, ", expected at least 1"));
    }
    return cooper::Create({symbol_json_str,
                           param_bytes,
                           param_size,
                           dev_type,
                           dev_id,
                           {num_input_nodes, input_keys, input_shape_indptr, input_shape_data}},
                          {.count = num_threads}, out);
  });
}

int MXPredReshape(uint32_t num_input_nodes, const char** input_keys,
                  const uint32_t* input_shape_indptr, const uint32_t* input_shape_data,
                  PredictorHandle handle, PredictorHandle* out) {
  return Call([&]() -> absl::Status {
    COOPER_ASSIGN_OR_RETURN(const cooper::Handle* old, cooper::HandleOf(handle));
    COOPER_RETURN_IF_ERROR(cooper::CheckPointer(out, "out"));
    const cooper::InputArgs inputs = {num_input_nodes, input_keys, input_shape_indptr,
                                      input_shape_data};
    COOPER_ASSIGN_OR_RETURN(const auto shapes, inputs.Shapes());
    COOPER_ASSIGN_OR_RETURN(auto predictor, old->predictor->Reshape(shapes));
    *out = cooper::Give(std::move(predictor));
    return absl::OkStatus();
  });
}

int MXPredGetOutputShape(PredictorHandle handle, uint32_t index, uint32_t** shape_data,
                         uint32_t* shape_ndim) {
  return Call([&]() -> absl::Status {
    COOPER_ASSIGN_OR_RETURN(cooper::Handle * h, cooper::HandleOf(handle));
    COOPER_RETURN_IF_ERROR(cooper::CheckPointer(shape_data, "shape_data"));
    COOPER_RETURN_IF_ERROR(cooper::CheckPointer(shape_ndim, "shape_ndim"));
    COOPER_ASSIGN_OR_RETURN(const cooper::Shape shape, h->predictor->OutputShape(index));
    h->shape = cooper::Dims(shape);
    *shape_data = h->shape.data();
    *shape_ndim = static_cast<uint32_t>(h->shape.size());
    return absl::OkStatus();
  });
}

int MXPredGetOutputType(PredictorHandle handle, uint32_t out_index, int* out_dtype) {
  return Call([&]() -> absl::Status {
    COOPER_ASSIGN_OR_RETURN(const cooper::Handle* h, cooper::HandleOf(handle));
    COOPER_RETURN_IF_ERROR(cooper::CheckPointer(out_dtype, "out_dtype"));
    COOPER_ASSIGN_OR_RETURN(const cooper::DType type, h->predictor->OutputType(out_index));
    out_dtype[out_index] = static_cast<int>(type);
    return absl::OkStatus();
  });
}

int MXPredSetInput(PredictorHandle handle, const char* key, const float* data, uint32_t size) {
  return Call([&]() -> absl::Status {
    COOPER_ASSIGN_OR_RETURN(const cooper::Handle* h, cooper::HandleOf(handle));
    COOPER_RETURN_IF_ERROR(cooper::CheckPointer(key, "key"));
    COOPER_RETURN_IF_ERROR(cooper::CheckPointer(data, "data"));
    return h->predictor->SetInput(key, data, size);
  });
}

int MXPredForward(PredictorHandle handle) {
  return Call([&]() -> absl::Status {
    COOPER_ASSIGN_OR_RETURN(const cooper::Handle* h, cooper::HandleOf(handle));
    return h->predictor->Forward();
  });
}

int MXPredPartialForward(PredictorHandle handle, int step, int* step_left) {
  return Call([&]() -> absl::Status {
    COOPER_ASSIGN_OR_RETURN(const cooper::Handle* h, cooper::HandleOf(handle));
    COOPER_RETURN_IF_ERROR(cooper::CheckPointer(step_left, "step_left"));
    const int steps = std::max(1, h->predictor->executor().compiled()->num_forward());
    if (step < 0) {
      return absl::InvalidArgumentError(absl::StrCat("step is ", step, ", expected at least 0"));
    }
    *step_left = std::max(0, steps - 1 - step);
    return step == steps - 1 ? h->predictor->Forward() : absl::OkStatus();
  });
}

int MXPredGetOutput(PredictorHandle handle, uint32_t index, float* data, uint32_t size) {
  return Call([&]() -> absl::Status {
    COOPER_ASSIGN_OR_RETURN(const cooper::Handle* h, cooper::HandleOf(handle));
    COOPER_RETURN_IF_ERROR(cooper::CheckPointer(data, "data"));
    return h->predictor->GetOutput(index, data, size);
  });
}

int MXPredFree(PredictorHandle handle) {
  delete static_cast<cooper::Handle*>(handle);
  return 0;
}

int MXPredSetMonitorCallback(PredictorHandle handle, PredMonitorCallback callback,
                             void* callback_handle, bool monitor_all) {
  return Call([&]() -> absl::Status {
    COOPER_ASSIGN_OR_RETURN(const cooper::Handle* h, cooper::HandleOf(handle));
    cooper::Executor::MonitorCallback call;
    if (callback != nullptr) {
      call = [=](const std::string& name, const cooper::NDArray& array) {
        cooper::NDArray copy = array;
        callback(name.c_str(), &copy, callback_handle);
      };
    }
    h->predictor->executor().SetMonitorCallback(std::move(call), monitor_all);
    return absl::OkStatus();
  });
}

// NOLINTEND(readability-identifier-naming)
