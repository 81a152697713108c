#include "ndarray/dlpack/dlpack.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/dlpack/dlpack_layout.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr dlpack::DataType kFloat32 = {dlpack::kFloat, 32, 1};
constexpr DType kDTypes[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                             DType::kUint8,   DType::kInt32,   DType::kInt8,
                             DType::kInt64,   DType::kBool,    DType::kBfloat16};

// The other library: exports tensors over memory of its own and counts calls of their deleters.
template <typename Managed>
class Exporter {
 public:
  // Points the tensor at `floats`, in row-major order. Tests change fields afterwards.
  Exporter(std::vector<float> floats, std::vector<int64_t> shape)
      : floats_(std::move(floats)), shape_(std::move(shape)) {
    managed_.manager_ctx = this;
    managed_.deleter = [](Managed* self) { ++static_cast<Exporter*>(self->manager_ctx)->deleted; };
    managed_.tensor = {floats_.data(),
                       {dlpack::kCpu, 0},
                       static_cast<int32_t>(shape_.size()),
                       kFloat32,
                       shape_.data(),
                       nullptr,
                       0};
    if constexpr (kVersioned) managed_.version = {1, 2};
  }

  auto* get() {
    if constexpr (kVersioned) {
      return reinterpret_cast<DLManagedTensorVersioned*>(&managed_);
    } else {
      return reinterpret_cast<DLManagedTensor*>(&managed_);
    }
  }
  Managed* operator->() { return &managed_; }
  dlpack::Tensor& tensor() { return managed_.tensor; }

  int deleted = 0;

 private:
  static constexpr bool kVersioned = std::is_same_v<Managed, dlpack::ManagedTensorVersioned>;

  std::vector<float> floats_;
  std::vector<int64_t> shape_;
  Managed managed_ = {};
};
using Unversioned = Exporter<dlpack::ManagedTensor>;
using Versioned = Exporter<dlpack::ManagedTensorVersioned>;

const dlpack::ManagedTensor& Layout(const DLManagedTensorPtr& tensor) {
  return *reinterpret_cast<const dlpack::ManagedTensor*>(tensor.get());
}
const dlpack::ManagedTensorVersioned& Layout(const DLManagedTensorVersionedPtr& tensor) {
  return *reinterpret_cast<const dlpack::ManagedTensorVersioned*>(tensor.get());
}

TEST(ToDLPackTest, DescribesTheArray) {
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray array, NDArray::Zeros({4, 2, 3}));
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray rows, array.Slice(1, 3));
  COOPER_ASSERT_OK_AND_ASSIGN(const DLManagedTensorPtr exported, ToDLPack(rows));
  const dlpack::Tensor& tensor = Layout(exported).tensor;
  EXPECT_EQ(tensor.data, rows.raw_data());
  EXPECT_EQ(tensor.byte_offset, 0u);
  EXPECT_EQ(tensor.device.type, dlpack::kCpu);
  EXPECT_EQ(std::vector(tensor.shape, tensor.shape + tensor.ndim), std::vector<int64_t>({2, 2, 3}));
  EXPECT_EQ(std::vector(tensor.strides, tensor.strides + tensor.ndim),
            std::vector<int64_t>({6, 3, 1}));
  EXPECT_THAT(ToDLPack(NDArray()),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("a null array")));
  EXPECT_THAT(ToDLPackVersioned(NDArray(), {.copy = true}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("a null array")));
}

// The device of CPU memory is 0 whatever the logical context.
TEST(ToDLPackTest, EveryCpuIsDeviceZero) {
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray array,
                              NDArray::Zeros({1}, DType::kInt8, Context::Cpu(3)));
  COOPER_ASSERT_OK_AND_ASSIGN(const DLManagedTensorPtr exported, ToDLPack(array));
  EXPECT_EQ(Layout(exported).tensor.device.id, 0);
}

TEST(ToDLPackTest, StatesVersionAndFlags) {
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray array, NDArray::Zeros({1}));
  const struct {
    ToDLPackOptions options;
    uint64_t flags;
  } cases[] = {
      {{}, 0},
      {{.read_only = true}, dlpack::kReadOnly},
      {{.copy = true}, dlpack::kIsCopied},
      {{.read_only = true, .copy = true}, dlpack::kReadOnly | dlpack::kIsCopied},
  };
  for (const auto& c : cases) {
    COOPER_ASSERT_OK_AND_ASSIGN(const auto exported, ToDLPackVersioned(array, c.options));
    EXPECT_EQ(Layout(exported).version.major, 1u);
    EXPECT_EQ(Layout(exported).flags, c.flags);
    EXPECT_EQ(Layout(exported).tensor.data == array.raw_data(), !c.options.copy);
  }
}

TEST(ToDLPackTest, KeepsTheStorageUntilItsDeleterIsCalled) {
  COOPER_ASSERT_OK_AND_ASSIGN(NDArray array, NDArray::Full({2}, 7));
  const std::weak_ptr<Storage> storage = array.storage();
  COOPER_ASSERT_OK_AND_ASSIGN(DLManagedTensorPtr first, ToDLPack(array));
  COOPER_ASSERT_OK_AND_ASSIGN(DLManagedTensorVersionedPtr second, ToDLPackVersioned(array));
  array = NDArray();
  EXPECT_EQ(static_cast<const float*>(Layout(first).tensor.data)[1], 7);
  first.reset();
  EXPECT_FALSE(storage.expired());
  // A consumer's own thread may end the life of a tensor.
  std::thread([&] { second.reset(); }).join();
  EXPECT_TRUE(storage.expired());
}

TEST(FromDLPackTest, SharesTheElements) {
  Unversioned other({1, 2, 3, 4, 5, 6}, {2, 3});
  COOPER_ASSERT_OK_AND_ASSIGN(NDArray array, FromDLPack(other.get()));
  EXPECT_EQ(array.raw_data(), other.tensor().data);
  EXPECT_EQ(array.ToString(), "(2, 3) float32 cpu(0)");
  COOPER_ASSERT_OK_AND_ASSIGN(NDArray row, array.At(1));
  COOPER_ASSERT_OK(row.Fill(9));
  EXPECT_EQ(static_cast<const float*>(other.tensor().data)[3], 9);
  array = NDArray();
  EXPECT_EQ(other.deleted, 0) << "the row shares the elements";
  row = NDArray();
  EXPECT_EQ(other.deleted, 1);
}

TEST(FromDLPackTest, TakesTensorsWithoutADeleter) {
  Unversioned other({1}, {1});
  other->deleter = nullptr;
  COOPER_EXPECT_OK(FromDLPack(other.get()));
  COOPER_EXPECT_OK(FromDLPack(other.get(), {.copy = DLPackCopy::kAlways}));
  Versioned versioned({1}, {1});
  versioned->deleter = nullptr;
  COOPER_EXPECT_OK(FromDLPack(versioned.get()));
}

TEST(FromDLPackTest, CopiesOnRequest) {
  Unversioned other({1, 2}, {2});
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray array,
                              FromDLPack(other.get(), {.copy = DLPackCopy::kAlways}));
  EXPECT_EQ(other.deleted, 1) << "a copy needs the tensor no more";
  EXPECT_NE(array.raw_data(), other.tensor().data);
  EXPECT_THAT(array.ToVector<float>(), IsOkAndHolds(ElementsAre(1, 2)));
  Unversioned shared({1, 2}, {2});
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray same,
                              FromDLPack(shared.get(), {.copy = DLPackCopy::kIfNeeded}));
  EXPECT_EQ(same.raw_data(), shared.tensor().data);
}

TEST(FromDLPackTest, HonoursByteOffset) {
  Unversioned other({1, 2, 3}, {2});
  other.tensor().byte_offset = 4;
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray array, FromDLPack(other.get()));
  EXPECT_THAT(array.ToVector<float>(), IsOkAndHolds(ElementsAre(2, 3)));
}

TEST(FromDLPackTest, TakesScalarsAndArraysWithoutElements) {
  Unversioned scalar({7}, {});
  scalar.tensor().shape = nullptr;
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray one, FromDLPack(scalar.get()));
  EXPECT_EQ(one.shape(), Shape());
  EXPECT_THAT(one.ToVector<float>(), IsOkAndHolds(ElementsAre(7)));

  Unversioned none({}, {3, 0});
  none.tensor().data = nullptr;
  int64_t strides[] = {77, -5};  // without elements any strides will do
  none.tensor().strides = strides;
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray empty, FromDLPack(none.get()));
  EXPECT_EQ(empty.shape(), Shape({3, 0}));
  COOPER_EXPECT_OK(empty.Copy());
  COOPER_ASSERT_OK_AND_ASSIGN(const DLManagedTensorPtr exported, ToDLPack(empty));
  EXPECT_EQ(Layout(exported).tensor.data, nullptr);
  Unversioned copied({}, {3, 0});
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray copy,
                              FromDLPack(copied.get(), {.copy = DLPackCopy::kAlways}));
  EXPECT_EQ(copy.shape(), Shape({3, 0}));
}

TEST(FromDLPackTest, GathersOtherStridesOnRequest) {
  const struct {
    const char* name;
    std::vector<int64_t> shape;
    std::vector<int64_t> strides;
    uint64_t byte_offset;
    std::vector<float> expected;
    bool shared;
  } cases[] = {
      {"RowMajor", {2, 3}, {3, 1}, 0, {0, 1, 2, 3, 4, 5}, true},
      {"AnAxisOfOneHasAnyStride", {1, 3}, {-9, 1}, 4, {1, 2, 3}, true},
      {"Transposed", {3, 2}, {1, 3}, 0, {0, 3, 1, 4, 2, 5}, false},
      {"EverySecond", {3}, {2}, 4, {1, 3, 5}, false},
      {"Columns", {2, 2}, {3, 1}, 0, {0, 1, 3, 4}, false},
      {"Backwards", {6}, {-1}, 20, {5, 4, 3, 2, 1, 0}, false},
      {"Broadcast", {2, 2}, {0, 1}, 0, {0, 1, 0, 1}, false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Unversioned other({0, 1, 2, 3, 4, 5}, c.shape);
    std::vector<int64_t> strides = c.strides;
    other.tensor().strides = strides.data();
    other.tensor().byte_offset = c.byte_offset;
    const absl::StatusOr<NDArray> copy = FromDLPack(other.get(), {.copy = DLPackCopy::kIfNeeded});
    COOPER_ASSERT_OK(copy);
    EXPECT_THAT(copy->ToVector<float>(), IsOkAndHolds(c.expected));
    EXPECT_EQ(other.deleted, c.shared ? 0 : 1);
    if (c.shared) continue;
    const int deleted = other.deleted;
    EXPECT_THAT(FromDLPack(other.get()),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("have strides ("), HasSubstr("expected row-major order; "
                                                                      "copy the elements"))));
    EXPECT_EQ(other.deleted, deleted) << "the caller still owns the tensor";
  }
}

TEST(FromDLPackTest, TakesEveryDType) {
  for (const DType dtype : kDTypes) {
    SCOPED_TRACE(DTypeName(dtype));
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray floats, NDArray::FromVector<float>({3}, {0, 1, 1}));
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray array, floats.AsType(dtype));
    COOPER_ASSERT_OK_AND_ASSIGN(DLManagedTensorPtr exported, ToDLPack(array));
    EXPECT_EQ(Layout(exported).tensor.dtype.bits, 8 * SizeOf(dtype));
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray imported, FromDLPack(exported.release()));
    EXPECT_EQ(imported.ToString(), array.ToString());
    EXPECT_EQ(imported.raw_data(), array.raw_data());
    // Elements that are not aligned are copied, never used in place.
    std::vector<char> bytes(32);
    char* const odd = bytes.data() + (reinterpret_cast<uintptr_t>(bytes.data()) % 2 == 0 ? 1 : 0);
    std::memcpy(odd, array.raw_data(), static_cast<size_t>(array.size_bytes()));
    Unversioned other({}, {3});
    other.tensor().data = odd;
    COOPER_ASSERT_OK_AND_ASSIGN(const DLManagedTensorPtr again, ToDLPack(array));
    other.tensor().dtype = Layout(again).tensor.dtype;
    if (SizeOf(dtype) > 1) {
      EXPECT_THAT(FromDLPack(other.get()), StatusIs(absl::StatusCode::kInvalidArgument,
                                                    HasSubstr("bytes beyond a multiple of ")));
    }
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray copy,
                                FromDLPack(other.get(), {.copy = DLPackCopy::kIfNeeded}));
    EXPECT_THAT(copy.ToVector<float>(), IsOkAndHolds(ElementsAre(0, 1, 1)));
  }
}

TEST(FromDLPackTest, ABoolIsZeroOrOne) {
  uint8_t bytes[] = {0, 1, 2, 255};
  Unversioned other({}, {4});
  other.tensor().data = bytes;
  other.tensor().dtype = {dlpack::kBool, 8, 1};
  EXPECT_THAT(FromDLPack(other.get()), StatusIs(absl::StatusCode::kInvalidArgument,
                                                HasSubstr("has bools other than 0 and 1")));
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray copy,
                              FromDLPack(other.get(), {.copy = DLPackCopy::kIfNeeded}));
  EXPECT_THAT(copy.ToVector<int32_t>(), IsOkAndHolds(ElementsAre(0, 1, 1, 1)));
}

TEST(FromDLPackTest, RefusesBadTensors) {
  constexpr int64_t kHuge = int64_t{1} << 62;
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;
  static std::vector<int64_t> minus = {2, -1}, huge = {kHuge, 4}, far = {kHuge, 1}, sum = {2, 2, 2};
  using Tensor = dlpack::Tensor;
  const struct {
    const char* name;
    void (*change)(Tensor&);
    absl::StatusCode code;
    const char* message;
  } cases[] = {
      {"Lanes", [](Tensor& t) { t.dtype.lanes = 4; }, kInvalid,
       "DLPack: elements are vectors of 4 lanes of float32, expected one lane"},
      {"NoLanes", [](Tensor& t) { t.dtype.lanes = 0; }, kInvalid, "vectors of 0 lanes"},
      {"Complex",
       [](Tensor& t) {
         t.dtype = {dlpack::kComplex, 64, 1};
       },
       kUnimplemented,
       "elements are complex64, expected one of float32, float64, float16, uint8, int32, int8, "
       "int64, bool, bfloat16; convert them"},
      {"Uint16",
       [](Tensor& t) {
         t.dtype = {dlpack::kUInt, 16, 1};
       },
       kUnimplemented, "elements are uint16"},
      {"Handles",
       [](Tensor& t) {
         t.dtype = {dlpack::kOpaqueHandle, 64, 1};
       },
       kUnimplemented, "elements are opaque handles"},
      {"Bits",
       [](Tensor& t) {
         t.dtype = {dlpack::kBool, 1, 1};
       },
       kUnimplemented, "elements are bool of 1 bits"},
      {"Float8",
       [](Tensor& t) {
         t.dtype = {10, 8, 1};
       },
       kUnimplemented, "elements are type code 10 of 8 bits"},
      {"Axes", [](Tensor& t) { t.ndim = -1; }, kInvalid, "ndim is -1, expected 0 to 64"},
      {"ManyAxes", [](Tensor& t) { t.ndim = 65; }, kInvalid, "ndim is 65, expected 0 to 64"},
      {"NoShape", [](Tensor& t) { t.shape = nullptr; }, kInvalid,
       "the shape of a tensor of 2 axes is null"},
      {"Negative", [](Tensor& t) { t.shape = minus.data(); }, kInvalid,
       "negative extent -1 in shape (2, -1)"},
      {"Overflow", [](Tensor& t) { t.shape = huge.data(); }, kInvalid, "has too many elements"},
      {"NoData", [](Tensor& t) { t.data = nullptr; }, kInvalid,
       "data is null for a tensor of shape (2, 2)"},
      {"ByteOffset", [](Tensor& t) { t.byte_offset = ~uint64_t{0}; }, kInvalid,
       "byte_offset 18446744073709551615 is beyond the address space"},
      {"FarStride", [](Tensor& t) { t.strides = far.data(); }, kInvalid,
       "strides (4611686018427387904, 1) reach beyond the address space"},
      {"FarSum",
       [](Tensor& t) {
         static int64_t strides[] = {kHuge, kHuge, kHuge};
         t.ndim = 3;
         t.shape = sum.data();
         t.strides = strides;
       },
       kInvalid, "reaches beyond the address space"},
      {"Pinned", [](Tensor& t) { t.device.type = dlpack::kCudaHost; }, kUnimplemented,
       "on a device of type 3 (pinned memory), expected kDLCPU (1) or kDLCUDA (2)"},
      {"Rocm", [](Tensor& t) { t.device.type = 10; }, kUnimplemented, "on a device of type 10"},
      {"CpuNumber", [](Tensor& t) { t.device.id = -1; }, absl::StatusCode::kNotFound, "cpu(-1)"},
      {"NoGpuIsLinked", [](Tensor& t) { t.device.type = dlpack::kCuda; }, kUnimplemented, "gpu(0)"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Unversioned other({1, 2, 3, 4}, {2, 2});
    c.change(other.tensor());
    Versioned versioned({1, 2, 3, 4}, {2, 2});
    c.change(versioned.tensor());
    for (const DLPackCopy copy : {DLPackCopy::kNever, DLPackCopy::kAlways}) {
      const auto refused = StatusIs(c.code, HasSubstr(c.message));
      EXPECT_THAT(FromDLPack(other.get(), {.copy = copy}), refused);
      EXPECT_THAT(FromDLPack(versioned.get(), {.copy = copy}), refused);
    }
    EXPECT_EQ(other.deleted + versioned.deleted, 0) << "the caller still owns the tensors";
  }
  EXPECT_THAT(FromDLPack(static_cast<DLManagedTensor*>(nullptr)),
              StatusIs(kInvalid, HasSubstr("the tensor is null")));
  EXPECT_THAT(FromDLPack(static_cast<DLManagedTensorVersioned*>(nullptr)),
              StatusIs(kInvalid, HasSubstr("the tensor is null")));
}

TEST(FromDLPackTest, RefusesOtherMajorVersions) {
  Versioned other({1}, {1});
  other->version = {2, 0};
  other->tensor.data = nullptr;  // only the version and the deleter may be read
  EXPECT_THAT(FromDLPack(other.get()),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("the tensor has version 2.0, expected 1.x")));
  other->version = {1, 99};
  other->flags = ~uint64_t{dlpack::kReadOnly};  // of which only later versions know the meaning
  float one = 1;
  other->tensor.data = &one;
  COOPER_EXPECT_OK(FromDLPack(other.get()));
}

TEST(FromDLPackTest, CopiesReadOnlyTensorsOnRequest) {
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray array, NDArray::Full({2}, 3));
  COOPER_ASSERT_OK_AND_ASSIGN(auto exported, ToDLPackVersioned(array, {.read_only = true}));
  EXPECT_THAT(FromDLPack(exported.get()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("the tensor is read-only")));
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray copy,
                              FromDLPack(exported.release(), {.copy = DLPackCopy::kIfNeeded}));
  EXPECT_THAT(copy.ToVector<float>(), IsOkAndHolds(ElementsAre(3, 3)));
  EXPECT_NE(copy.raw_data(), array.raw_data());
}

TEST(DLPackTest, AThousandRoundTripsKeepNothing) {
  Unversioned other({1, 2, 3}, {3});
  {
    COOPER_ASSERT_OK_AND_ASSIGN(NDArray array, FromDLPack(other.get()));
    const void* const data = array.raw_data();
    for (int i = 0; i < 500; ++i) {
      COOPER_ASSERT_OK_AND_ASSIGN(DLManagedTensorPtr exported, ToDLPack(array));
      COOPER_ASSERT_OK_AND_ASSIGN(array, FromDLPack(exported.release()));
      COOPER_ASSERT_OK_AND_ASSIGN(DLManagedTensorVersionedPtr versioned, ToDLPackVersioned(array));
      COOPER_ASSERT_OK_AND_ASSIGN(array, FromDLPack(versioned.release()));
    }
    EXPECT_EQ(array.raw_data(), data);
    EXPECT_THAT(array.ToVector<float>(), IsOkAndHolds(ElementsAre(1, 2, 3)));
    EXPECT_EQ(other.deleted, 0);
  }
  EXPECT_EQ(other.deleted, 1);
}

}  // namespace
}  // namespace cooper
