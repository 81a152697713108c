// The C++ of ndarray.md, run: check_snippets.sh holds them together.

#include <iostream>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/files/params_file.h"
#include "ndarray/products/gemm.h"

namespace cooper {
namespace {

absl::Status SaveAndRead(const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(const NDArray a, NDArray::FromVector<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
  COOPER_ASSIGN_OR_RETURN(const NDArray row, a.At(1));                     // (3,): a view of 4 5 6
  COOPER_RETURN_IF_ERROR(row.Fill(0));                                     // a is 1 2 3 0 0 0 now
  COOPER_ASSIGN_OR_RETURN(const NDArray half, a.AsType(DType::kFloat16));  // elements of its own
  COOPER_RETURN_IF_ERROR(SaveNamedArrays(path, {{"arg:a", a}, {"arg:half", half}}));

  COOPER_ASSIGN_OR_RETURN(const NamedArrays read, LoadNamedArrays(path));
  COOPER_ASSIGN_OR_RETURN(const absl::Span<float> values, read[0].second.Data<float>());
  std::cout << read[1].second.ToString() << ", the first element is " << values[0] << "\n";
  return absl::OkStatus();
}

TEST(NDArrayPageTest, SavesAndReads) {
  testing::internal::CaptureStdout();
  COOPER_ASSERT_OK(SaveAndRead(testing::TempDir() + "two.params"));
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "(2, 3) float16 cpu(0), the first element is 1\n");
}

void UseBfloat16() {
  // Later products take a fraction of the time, where the processor can do that.
  const absl::Status faster = SetGemmPrecision(GemmPrecision::kBfloat16);
  if (!faster.ok()) std::cerr << faster.message() << "\n";
}

TEST(NDArrayPageTest, UsesBfloat16OrSaysWhyNot) {
  testing::internal::CaptureStderr();
  UseBfloat16();
  const bool refused = GetGemmPrecision() == GemmPrecision::kFloat32;
  EXPECT_EQ(testing::internal::GetCapturedStderr().empty(), !refused);
  COOPER_ASSERT_OK(SetGemmPrecision(GemmPrecision::kFloat32));
}

}  // namespace
}  // namespace cooper
