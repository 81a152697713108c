#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/files/npz_file.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

constexpr struct {
  const char* code;
  DType dtype;
} kDTypes[] = {
    {"f4", DType::kFloat32}, {"f8", DType::kFloat64}, {"f2", DType::kFloat16},
    {"u1", DType::kUint8},   {"i4", DType::kInt32},   {"i1", DType::kInt8},
    {"i8", DType::kInt64},   {"b1", DType::kBool},
};

// The parameter is the file.
class NumPyGoldenTest : public testing::TestWithParam<const char*> {};

TEST_P(NumPyGoldenTest, IsReadBitForBit) {
  COOPER_ASSERT_OK_AND_ASSIGN(const NpzFile file,
                              NpzFile::Open(absl::StrCat("tests/interchange/", GetParam())));
  EXPECT_EQ(file.names().size(), 5 * std::size(kDTypes) + 1);
  for (const auto& [code, dtype] : kDTypes) {
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray numbers,
                                NDArray::FromVector<float>({2, 3}, {0, 1, 2, 3, 4, 5}));
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray expected, numbers.AsType(dtype));
    for (const char* kind : {"", "_fortran", "_big"}) {
      SCOPED_TRACE(absl::StrCat(code, kind));
      COOPER_ASSERT_OK_AND_ASSIGN(const NDArray array, file.Load(absl::StrCat(code, kind)));
      EXPECT_EQ(array.ToString(), expected.ToString());
      EXPECT_EQ(array.ToVector<double>().value(), expected.ToVector<double>().value());
    }
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray scalar, file.Load(absl::StrCat(code, "_scalar")));
    EXPECT_EQ(scalar.shape(), Shape());
    EXPECT_EQ(scalar.ToVector<double>().value(),
              std::vector<double>{dtype == DType::kBool ? 1. : 4.});
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray empty, file.Load(absl::StrCat(code, "_empty")));
    EXPECT_EQ(empty.shape(), Shape({0, 3}));
    EXPECT_EQ(empty.dtype(), dtype);
  }
  EXPECT_THAT(file.Load("text"),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("entry 'text.npy' at offset ")));
}

INSTANTIATE_TEST_SUITE_P(Files, NumPyGoldenTest, testing::Values("numpy_1.npz", "numpy_2.npz"),
                         [](const auto& info) { return std::string(info.param).substr(0, 7); });

}  // namespace
}  // namespace cooper
