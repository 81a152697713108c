// Writes a trained network as an ONNX model (docs/onnx.md).
//
// export_onnx --shapes=data:batch,3,224,224 resnet 0 resnet.onnx
// export_onnx --operators

#include "module/onnx/export_onnx.h"

#include <iostream>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "module/onnx/operator_table.h"
#include "module/parameters/checkpoint.h"
#include "ndarray/array/array_map.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/output_file.h"
#include "ndarray/base/status_macros.h"
#include "symbol/inference/infer_type.h"
#include "symbol/json/json.h"
#include "tools/onnx/dims_flag.h"
#include "tools/program_main.h"

ABSL_FLAG(std::string, shapes, "",
          "shapes of the inputs, with names for open extents: data:batch,3,224,224; an unrolled "
          "network needs its length too: data:batch,length=60");
ABSL_FLAG(std::string, types, "", "dtypes of inputs that are not float32: data:int32");
ABSL_FLAG(std::vector<std::string>, outputs, {},
          "outputs of any nodes, such as fc1_output, "
          "instead of the network's");
ABSL_FLAG(int, opset, 17, "version of ONNX's operators, 13 to 17");
ABSL_FLAG(bool, fuse_recurrence, true, "write unrolled recurrent cells as LSTM, GRU or RNN");
ABSL_FLAG(bool, operators, false, "print the table of operators");

namespace cooper {
namespace {

// PREFIX EPOCH FILE
std::vector<std::string>& Arguments() {
  static auto* arguments = new std::vector<std::string>();
  return *arguments;
}

absl::Status FlagError(absl::string_view flag, const std::string& value,
                       const absl::Status& status) {
  return absl::InvalidArgumentError(absl::StrCat(flag, value, ": ", status.message()));
}

absl::StatusOr<KnownTypes> ParseTypes(const std::string& text) {
  KnownTypes types;
  const std::vector<std::string> parts = absl::StrSplit(text, ';', absl::SkipWhitespace());
  for (const std::string& part : parts) {
    const size_t colon = part.rfind(':');
    if (colon == std::string::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", part, "': expected a name, a colon and a dtype, such as data:int32"));
    }
    COOPER_ASSIGN_OR_RETURN(types[part.substr(0, colon)], DTypeFromName(part.substr(colon + 1)));
  }
  return types;
}

absl::Status Run() {
  if (absl::GetFlag(FLAGS_operators)) {
    std::cout << OnnxOperatorTable() << std::flush;
    return absl::OkStatus();
  }
  const std::vector<std::string>& arguments = Arguments();
  int epoch = 0;
  if (arguments.size() != 3 || !absl::SimpleAtoi(arguments[1], &epoch) || epoch < 0) {
    return absl::InvalidArgumentError(
        "expected PREFIX EPOCH FILE: the prefix of MXNet's files, the number of the epoch, and "
        "the file to write, such as resnet 0 resnet.onnx");
  }
  COOPER_RETURN_IF_ERROR(CheckOutputFile("", arguments[2]));
  const std::string shapes = absl::GetFlag(FLAGS_shapes), types = absl::GetFlag(FLAGS_types);
  const auto inputs = ParseDimsFlag(shapes);
  if (!inputs.ok()) return FlagError("--shapes=", shapes, inputs.status());
  OnnxOptions options = {.opset = absl::GetFlag(FLAGS_opset),
                         .output_names = absl::GetFlag(FLAGS_outputs),
                         .fuse_recurrence = absl::GetFlag(FLAGS_fuse_recurrence)};
  const auto dtypes = ParseTypes(types);
  if (!dtypes.ok()) return FlagError("--types=", types, dtypes.status());
  options.types = *dtypes;
  COOPER_ASSIGN_OR_RETURN(const Symbol symbol, LoadSymbol(arguments[0] + "-symbol.json"));
  ArrayMap args, auxs;
  COOPER_RETURN_IF_ERROR(MapParamsFile(ParamsPath(arguments[0], epoch), &args, &auxs));
  return ExportOnnx(arguments[2], symbol, args, auxs, *inputs, options);
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  return cooper::ProgramMain({.name = "export_onnx",
                              .summary = "writes a trained network as an ONNX model: PREFIX EPOCH "
                                         "FILE",
                              .flags_of = "tools/onnx/",
                              .arguments = &cooper::Arguments()},
                             argc, argv, cooper::Run);
}
