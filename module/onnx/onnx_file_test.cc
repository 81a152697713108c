#include "module/onnx/onnx_file.h"

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/onnx/onnx_model.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

// Returns a model with one node and one weight, of `count` floats.
OnnxModel OneNode(int64_t count) {
  OnnxModel model;
  model.graph_name = "g";
  model.nodes.push_back({.op_type = "Add", .name = "n", .inputs = {"x", "w"}, .outputs = {"y"}});
  model.initializers.push_back({"w", *NDArray::Empty({count})});
  model.inputs.push_back({"x", DType::kFloat32, {{"batch"}, {"", 2}}});
  model.outputs.push_back({"y", DType::kFloat32, {{"batch"}, {"", 2}}});
  return model;
}

TEST(OnnxFileTest, WritesTheWeightsOfTheArrays) {
  OnnxModel model = OneNode(2);
  COOPER_ASSERT_OK(model.initializers[0].array.Fill(1));
  const std::string path = ::testing::TempDir() + "/written.onnx";
  COOPER_ASSERT_OK(WriteOnnxModel(model, path));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string bytes, ReadFile(path));
  // Field 1 of ModelProto: version 8 of the format; the last field: opset 17 of the empty domain.
  EXPECT_EQ(bytes.substr(0, 2), std::string("\x08\x08", 2));
  EXPECT_EQ(bytes.substr(bytes.size() - 6), std::string("\x42\x04\x0a\x00\x10\x11", 6));
  // Field 9 of TensorProto: 8 bytes, two floats of 1.
  EXPECT_TRUE(absl::StrContains(bytes, std::string("\x4a\x08\0\0\x80\x3f\0\0\x80\x3f", 10)));
  // Field 2 of TensorShapeProto.Dimension.
  EXPECT_TRUE(absl::StrContains(bytes, std::string("\x12\x05"
                                                   "batch",
                                                   7)));
}

TEST(OnnxFileTest, RefusesTwoGigabytesAndKeepsTheOldFile) {
  const std::string path = ::testing::TempDir() + "/large.onnx";
  COOPER_ASSERT_OK(WriteFileAtomically(path, "old"));
  // The array of 2 GiB is allocated but neither written nor read, so it takes no memory.
  EXPECT_THAT(
      WriteOnnxModel(OneNode(int64_t{1} << 29), path),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("bytes, expected less than 2 GiB")));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string bytes, ReadFile(path));
  EXPECT_EQ(bytes, "old");
}

}  // namespace
}  // namespace cooper
