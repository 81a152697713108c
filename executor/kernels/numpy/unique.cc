// Kernel of _npi_unique for CPUs.

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/kernels/index/indexed_axis.h"
#include "executor/kernels/index/indexed_rows.h"
#include "executor/kernels/index/kept_positions.h"
#include "executor/kernels/index/key_order.h"
#include "executor/kernels/loops/counted_shapes.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "symbol/ops/numpy/unique_param.h"

namespace cooper {
namespace {

using enum UniqueArrays::Input;
using enum UniqueArrays::Output;

// Returns data as it is compared: flattened without an axis; a scalar always.
ArrayView Compared(const ArrayView& data, const UniqueParam& param) {
  ArrayView view = data;
  if (!param.axis.has_value() || view.shape.rank() == 0) view.shape = Shape({data.size()});
  return view;
}

int AxisOf(const ArrayView& compared, const UniqueParam& param) {
  const int axis = param.axis.value_or(0);
  return axis < 0 ? axis + compared.shape.rank() : axis;
}

absl::StatusOr<Prepared> PrepareUnique(const PrepareContext& c) {
  const auto& param = c.param<UniqueParam>();
  const ArrayView data = Compared(c.inputs[kData], param);
  // An order with its scratch, and the positions that are kept.
  return Prepared{.workspace_bytes = 3 * data.shape[AxisOf(data, param)] * SizeOf(DType::kInt64)};
}

// Compares slices of an array (outer, n, inner).
template <typename T>
class Slices {
 public:
  Slices(const T* data, const IndexedExtents& extents) : data_(data), e_(extents) {}

  // Returns a number below, equal to or above 0, as slice i comes before, equals, or comes after
  // slice j.
  int Compare(int64_t i, int64_t j) const {
    for (int64_t o = 0; o < e_.outer; ++o) {
      const T* const a = data_ + (o * e_.n + i) * e_.inner;
      const T* const b = data_ + (o * e_.n + j) * e_.inner;
      for (int64_t k = 0; k < e_.inner; ++k) {
        if (Less(a[k], b[k])) return -1;
        if (Less(b[k], a[k])) return 1;
      }
    }
    return 0;
  }

  // Stores the positions of the slices in sorted order; equal ones keep theirs. `order` has 2 n
  // elements, whose upper part is scratch.
  void Sort(int64_t* order) const {
    if constexpr (kHasOrderKey<T>) {
      if (e_.rows() == 1 && e_.n > 0 && e_.n <= std::numeric_limits<uint32_t>::max()) {
        OrderByKeys(data_, /*stride=*/1, e_.n, e_.n, /*ascend=*/true, order);
        return;
      }
    }
    for (int64_t i = 0; i < e_.n; ++i) order[i] = i;
    std::sort(order, order + e_.n, [this](int64_t i, int64_t j) {
      const int compared = Compare(i, j);
      return compared != 0 ? compared < 0 : i < j;
    });
  }

 private:
  const T* data_;
  IndexedExtents e_;
};

// Writes or adds to elements of an int64 output that may not be asked for.
class Numbers {
 public:
  Numbers(const KernelContext& c, int output) {
    if (output < 0 || c.reqs[output] == WriteReq::kNull) return;
    data_ = c.outputs[output].as<int64_t>();
    add_ = c.reqs[output] == WriteReq::kAdd;
  }
  void Put(int64_t i, int64_t value) const {
    if (data_ != nullptr) data_[i] = add_ ? data_[i] + value : value;
  }

 private:
  int64_t* data_ = nullptr;
  bool add_ = false;
};

absl::Status UniqueCpu(const KernelContext& c) {
  const auto& param = c.param<UniqueParam>();
  const ArrayView data = Compared(c.inputs[kData], param);
  const int axis = AxisOf(data, param);
  const IndexedExtents extents(data.shape, axis);
  auto* const order = static_cast<int64_t*>(c.workspace);
  int64_t* const kept = order + 2 * extents.n;
  const Numbers index(c, param.index()), inverse(c, param.inverse()), counts(c, param.counts());
  int64_t count = 0;
  DispatchDType(data.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Slices<T> slices(data.as<T>(), extents);
    slices.Sort(order);
    for (int64_t begin = 0; begin < extents.n; ++count) {
      int64_t end = begin;
      for (; end < extents.n && slices.Compare(order[begin], order[end]) == 0; ++end) {
        inverse.Put(order[end], count);
      }
      kept[count] = order[begin];
      index.Put(count, order[begin]);
      counts.Put(count, end - begin);
      begin = end;
    }
  });
  ArrayView values = c.outputs[kValues];
  values.shape = data.shape;
  values.shape[axis] = count;
  std::array<Shape, 4> shapes;
  shapes.fill(Shape({count}));
  shapes[kValues] = values.shape;
  if (param.return_inverse) shapes[param.inverse()] = Shape({extents.n});
  WriteShapes(c, absl::MakeConstSpan(shapes).first(param.num_visible()));
  if (c.reqs[kValues] == WriteReq::kNull) return absl::OkStatus();
  CopyIndexedRows(data, axis, PositionsView(kept, count), IndexMode::kClip, c.reqs[kValues],
                  values);
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_npi_unique, DeviceType::kCpu, kAnyDType, UniqueCpu, PrepareUnique);

}  // namespace
}  // namespace cooper
