#ifndef COOPER_MODULE_ONNX_EXPORT_ONNX_H_
#define COOPER_MODULE_ONNX_EXPORT_ONNX_H_

// Writes a trained network as an ONNX model, which other programs run (docs/onnx.md).
//
//   COOPER_ASSIGN_OR_RETURN(const Checkpoint checkpoint, LoadCheckpoint("resnet", 0));
//   COOPER_RETURN_IF_ERROR(ExportOnnx("resnet.onnx", checkpoint.symbol, checkpoint.args,
//                                     checkpoint.auxs, {{"data", {{"batch"}, {"", 3}, {"", 224},
//                                                                 {"", 224}}}}));
//
// The model has the network's outputs under their names and its inputs with their dtypes. Labels
// are no inputs, and losses become the predictions that they return, as in Predictor.
//
// No library of protobuf is used or needed: wire_message.h has the reason.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "module/onnx/onnx_model.h"
#include "module/onnx/symbolic_shape.h"
#include "ndarray/array/array_map.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_type.h"

namespace cooper {

// Options of MakeOnnxModel and ExportOnnx.
struct OnnxOptions {
  // Version of ONNX's operators: 13 to 17. From 17 on LayerNorm is one operator.
  int opset = 17;
  // Outputs of any nodes ("fc1_output") instead of the network's own.
  std::vector<std::string> output_names;
  // Dtypes of inputs that do not follow from the parameters; others are float32, as those of the
  // indices of an Embedding.
  KnownTypes types;
  // Whether unrolled recurrent cells become layers over whole sequences. Otherwise each step is
  // exported as it is.
  bool fuse_recurrence = true;
};

// Returns the model of a network with these parameters. The model shares their arrays. `inputs` has
// the shape of each input: an extent with a name stays open, and all extents with that name are
// equal when the model runs. An unrolled network needs the length for which it was unrolled beside
// the name: {"length", 60}. The kernels of operators that are computed from parameters alone must
// be linked.
//
// Errors: kUnimplemented, naming node, operator and reason, for an operator or option that has no
// counterpart in ONNX; kInvalidArgument for a missing or unknown input, an unsupported opset, a
// dtype or a shape that the network does not accept, and an open extent on which it depends in
// another way; kNotFound for a missing output or auxiliary state. Thread-safe.
absl::StatusOr<OnnxModel> MakeOnnxModel(const Symbol& symbol, const ArrayMap& args,
                                        const ArrayMap& auxs, const InputDims& inputs,
                                        const OnnxOptions& options = {});

// Makes the model and then replaces the file at `path` by it. After an error the file stays as it
// was. Errors: those of MakeOnnxModel and WriteOnnxModel.
absl::Status ExportOnnx(const std::string& path, const Symbol& symbol, const ArrayMap& args,
                        const ArrayMap& auxs, const InputDims& inputs,
                        const OnnxOptions& options = {});

}  // namespace cooper

#endif  // COOPER_MODULE_ONNX_EXPORT_ONNX_H_
