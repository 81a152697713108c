#include "ndarray/array/ndarray.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/as_scalar.h"
#include "ndarray/array/storage.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr DType kEveryDType[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                                 DType::kUint8,   DType::kInt32,   DType::kInt8,
                                 DType::kInt64,   DType::kBool,    DType::kBfloat16};

NDArray Floats(Shape shape, std::vector<float> values) {
  return *NDArray::FromVector(std::move(shape), values);
}

TEST(NDArrayTest, NullArray) {
  NDArray array;
  EXPECT_TRUE(array.is_null());
  EXPECT_EQ(array.size(), 0);
  EXPECT_EQ(array.raw_data(), nullptr);
  EXPECT_EQ(array.ToString(), "null array");
  EXPECT_THAT(array.Data<float>(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("null")));
  EXPECT_THAT(array.Fill(1), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("null")));
  EXPECT_THAT(array.CopyFrom(array),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("null")));
}

TEST(NDArrayTest, FillsEveryDType) {
  for (DType dtype : kEveryDType) {
    SCOPED_TRACE(DTypeName(dtype));
    COOPER_ASSERT_OK_AND_ASSIGN(NDArray zeros, NDArray::Zeros({2, 3}, dtype));
    EXPECT_EQ(zeros.dtype(), dtype);
    EXPECT_EQ(zeros.size_bytes(), 6 * SizeOf(dtype));
    EXPECT_THAT(zeros.ToVector<double>(), IsOkAndHolds(ElementsAre(0, 0, 0, 0, 0, 0)));
    COOPER_ASSERT_OK_AND_ASSIGN(NDArray ones, NDArray::Full({2, 3}, 1, dtype));
    EXPECT_THAT(ones.ToVector<double>(), IsOkAndHolds(Each(1)));
  }
}

TEST(NDArrayTest, ConvertsBetweenAllDTypes) {
  const NDArray source = Floats({3}, {0, 1, 1});
  for (DType from : kEveryDType) {
    COOPER_ASSERT_OK_AND_ASSIGN(NDArray first, source.AsType(from));
    for (DType to : kEveryDType) {
      COOPER_ASSERT_OK_AND_ASSIGN(NDArray second, first.AsType(to));
      EXPECT_EQ(second.dtype(), to);
      EXPECT_THAT(second.ToVector<float>(), IsOkAndHolds(ElementsAre(0, 1, 1)))
          << DTypeName(from) << " to " << DTypeName(to);
    }
  }
}

TEST(NDArrayTest, FromVectorChecksTheNumber) {
  EXPECT_THAT(NDArray::FromVector<float>({2, 2}, {1, 2, 3}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("(2, 2) has 4 elements"), HasSubstr("3 values"))));
  EXPECT_THAT(NDArray::Zeros({-1}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("-1")));
}

TEST(NDArrayTest, TypedAccessIsChecked) {
  const NDArray array = Floats({2}, {1, 2});
  COOPER_ASSERT_OK_AND_ASSIGN(absl::Span<float> data, array.Data<float>());
  data[1] = 5;
  EXPECT_THAT(array.ToVector<float>(), IsOkAndHolds(ElementsAre(1, 5)));
  EXPECT_THAT(array.Data<double>(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("are float32"), HasSubstr("as float64"))));
}

TEST(NDArrayTest, OneElementIsANumber) {
  EXPECT_THAT(AsScalar<float>(*NDArray::Full({1, 1}, 2.5)), IsOkAndHolds(2.5f));
  EXPECT_THAT(AsScalar<int64_t>(*NDArray::Full({}, 3, DType::kFloat16)), IsOkAndHolds(3));
  EXPECT_THAT(AsScalar<float>(*NDArray::Zeros({2, 3})),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("AsScalar: (2, 3) float32 cpu(0) has 6 elements, expected one; "
                                 "read them with ToVector")));
  EXPECT_THAT(AsScalar<float>(*NDArray::Zeros({0})),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("has 0 elements")));
  EXPECT_EQ(AsScalar<float>(NDArray()).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(NDArrayTest, CopiesOfHandlesShareElements) {
  const NDArray array = Floats({2}, {1, 2});
  const NDArray handle = array;
  COOPER_ASSERT_OK_AND_ASSIGN(NDArray copy, array.Copy());
  COOPER_ASSERT_OK(array.Fill(9));
  EXPECT_THAT(handle.ToVector<float>(), IsOkAndHolds(ElementsAre(9, 9)));
  EXPECT_THAT(copy.ToVector<float>(), IsOkAndHolds(ElementsAre(1, 2)));
}

TEST(NDArrayTest, ViewsShareElements) {
  const NDArray array = Floats({3, 2}, {0, 1, 2, 3, 4, 5});
  COOPER_ASSERT_OK_AND_ASSIGN(NDArray rows, array.Slice(1, 3));
  EXPECT_EQ(rows.shape(), (Shape{2, 2}));
  EXPECT_THAT(rows.ToVector<float>(), IsOkAndHolds(ElementsAre(2, 3, 4, 5)));
  COOPER_ASSERT_OK_AND_ASSIGN(NDArray row, rows.At(1));
  EXPECT_EQ(row.shape(), (Shape{2}));
  EXPECT_THAT(row.ToVector<float>(), IsOkAndHolds(ElementsAre(4, 5)));
  COOPER_ASSERT_OK_AND_ASSIGN(NDArray element, row.At(0));
  EXPECT_EQ(element.shape(), Shape());
  COOPER_ASSERT_OK(element.Fill(-1));
  COOPER_ASSERT_OK_AND_ASSIGN(NDArray flat, array.Reshape({6}));
  EXPECT_THAT(flat.ToVector<float>(), IsOkAndHolds(ElementsAre(0, 1, 2, 3, -1, 5)));
  COOPER_ASSERT_OK_AND_ASSIGN(NDArray none, array.Slice(3, 3));
  EXPECT_THAT(none.ToVector<float>(), IsOkAndHolds(IsEmpty()));
}

TEST(NDArrayTest, ViewsOutsideAreRefused) {
  const NDArray array = Floats({3, 2}, {0, 1, 2, 3, 4, 5});
  for (auto [begin, end] : {std::pair{-1, 2}, {0, 4}, {2, 1}}) {
    EXPECT_THAT(array.Slice(begin, end),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("(3, 2)")));
  }
  EXPECT_THAT(array.At(3), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("row 3")));
  EXPECT_THAT(array.At(-1), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("row -1")));
  EXPECT_FALSE(Floats({}, {1}).At(0).ok());
  EXPECT_THAT(array.Reshape({4}), StatusIs(absl::StatusCode::kInvalidArgument,
                                           AllOf(HasSubstr("(3, 2)"), HasSubstr("(4,)"))));
}

TEST(NDArrayTest, ViewOfStorageMustFit) {
  COOPER_ASSERT_OK_AND_ASSIGN(std::shared_ptr<Storage> storage,
                              Storage::Allocate(16, Context::Cpu()));
  COOPER_ASSERT_OK_AND_ASSIGN(NDArray view, NDArray::View(storage, 8, {2}, DType::kFloat32));
  EXPECT_EQ(view.raw_data(), static_cast<char*>(storage->data()) + 8);
  EXPECT_FALSE(NDArray::View(storage, 12, {2}, DType::kFloat32).ok());
  EXPECT_FALSE(NDArray::View(storage, -4, {1}, DType::kFloat32).ok());
  EXPECT_FALSE(NDArray::View(nullptr, 0, {1}, DType::kFloat32).ok());
  EXPECT_FALSE(NDArray::View(storage, 0, {int64_t{1} << 61}, DType::kFloat32).ok());
}

TEST(NDArrayTest, CopyFromChecksShapesAndConverts) {
  COOPER_ASSERT_OK_AND_ASSIGN(NDArray ints, NDArray::Zeros({2}, DType::kInt32));
  COOPER_ASSERT_OK(ints.CopyFrom(Floats({2}, {1.9f, -1.9f})));
  EXPECT_THAT(ints.ToVector<int32_t>(), IsOkAndHolds(ElementsAre(1, -1)));
  EXPECT_THAT(
      ints.CopyFrom(Floats({1, 2}, {0, 0})),
      StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("(1, 2)"), HasSubstr("(2,)"))));
}

TEST(NDArrayTest, CopiesBetweenCpus) {
  COOPER_ASSERT_OK_AND_ASSIGN(NDArray copy, Floats({2}, {1, 2}).CopyTo(Context::Cpu(1)));
  EXPECT_EQ(copy.context(), Context::Cpu(1));
  EXPECT_THAT(copy.ToVector<float>(), IsOkAndHolds(ElementsAre(1, 2)));
  EXPECT_EQ(copy.ToString(), "(2,) float32 cpu(1)");
}

TEST(NDArrayTest, EmptyArraysAreArrays) {
  COOPER_ASSERT_OK_AND_ASSIGN(NDArray empty, NDArray::Full({2, 0}, 3));
  EXPECT_FALSE(empty.is_null());
  EXPECT_EQ(empty.size(), 0);
  EXPECT_THAT(empty.ToVector<float>(), IsOkAndHolds(IsEmpty()));
  COOPER_EXPECT_OK(empty.CopyFrom(*NDArray::Zeros({2, 0}, DType::kInt8)));
}

TEST(NDArrayTest, ConcatRowsJoinsWhatDiffersInRowsAlone) {
  const NDArray one = Floats({1, 2}, {1, 2});
  COOPER_ASSERT_OK_AND_ASSIGN(
      const NDArray all, ConcatRows({one, *NDArray::Zeros({0, 2}), Floats({2, 2}, {3, 4, 5, 6})}));
  EXPECT_EQ(all.shape(), Shape({3, 2}));
  EXPECT_THAT(all.ToVector<float>(), IsOkAndHolds(ElementsAre(1, 2, 3, 4, 5, 6)));
  for (const NDArray& other : {Floats({1, 3}, {1, 2, 3}), Floats({2}, {1, 2}), Floats({}, {1}),
                               *NDArray::Zeros({1, 2}, DType::kInt32), NDArray()}) {
    EXPECT_THAT(ConcatRows({one, other}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("array 1"), HasSubstr("(1, 2) float32"))));
  }
  EXPECT_FALSE(ConcatRows({}).ok());
}

}  // namespace
}  // namespace cooper
