#ifndef COOPER_SYMBOL_OPS_INDEX_ORDERING_PARAM_H_
#define COOPER_SYMBOL_OPS_INDEX_ORDERING_PARAM_H_

// Arrays and parameters of topk, sort and argsort, which order the elements along one axis. The
// schemas are in ordering.cc. MXNet: src/operator/tensor/ordering_op-inl.h.
//
// Equal elements keep their order, also in descending order, so results for different k agree;
// MXNet leaves the order of equal elements open. NaN is larger than all other values. Without an
// axis, data is flattened and the outputs are vectors.

#include <cstdint>
#include <optional>

#include "ndarray/base/dtype.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs of topk and sort: data (...). Output 0 has the values, in data's dtype; output 1 their
// indices along the axis, int32 and hidden unless ret_typ is both.
struct OrderArrays {
  enum Input { kData };
};
// Inputs of the gradient: ograd of the values, which is written to data's elements at the indices;
// all other elements get 0. Indices and masks have no gradient.
struct OrderGradientArrays {
  enum Input { kOgrad, kIndices };
};

// Parameters of topk: the k first elements of the sorted axis.
struct TopKParam {
  // The outputs: the values; their indices; an array of data's shape with 1 at the k elements and
  // else 0; or values and indices.
  enum Return { kValue, kIndices, kMask, kBoth };

  // The axis that is ordered, and the number of elements that are taken. k < 1 means all; k above
  // the extent fails with kInvalidArgument.
  std::optional<int> axis = -1;
  int64_t k = 1;
  Return ret_typ = kIndices;
  // Whether the smallest elements come first. The default takes the largest, unlike sort's.
  bool is_ascend = false;
  // Dtype of visible indices. float32, MXNet's default, has integers only up to 2^24. The gradient
  // of ret_typ both fails with kInvalidArgument if the dtype lacks an index of the axis.
  DType dtype = DType::kFloat32;

  static void Declare(ParamDeclaration<TopKParam>& d) {
    d.Field("axis", &TopKParam::axis).Doc("along which axis; None: data is flattened first");
    d.Field("k", &TopKParam::k).Doc("how many; less than 1: all");
    d.Enum("ret_typ", &TopKParam::ret_typ,
           {{"value", kValue}, {"indices", kIndices}, {"mask", kMask}, {"both", kBoth}})
        .Doc("the values, their indices, a mask of data's shape, or values and indices");
    d.Field("is_ascend", &TopKParam::is_ascend).Doc("whether the smallest are wanted");
    d.Field("dtype", &TopKParam::dtype).Doc("dtype of the indices");
  }
};

// Parameters of sort: data with the elements of the axis in order.
struct SortParam {
  std::optional<int> axis = -1;
  bool is_ascend = true;

  static void Declare(ParamDeclaration<SortParam>& d) {
    d.Field("axis", &SortParam::axis).Doc("along which axis; None: data is flattened first");
    d.Field("is_ascend", &SortParam::is_ascend).Doc("whether the smallest comes first");
  }
};

// Parameters of argsort: the indices that sort reads its elements from, in dtype. There is no
// gradient. float32 is exact only for axes of up to 2^24 elements.
struct ArgsortParam {
  std::optional<int> axis = -1;
  bool is_ascend = true;
  DType dtype = DType::kFloat32;

  static void Declare(ParamDeclaration<ArgsortParam>& d) {
    d.Field("axis", &ArgsortParam::axis).Doc("along which axis; None: data is flattened first");
    d.Field("is_ascend", &ArgsortParam::is_ascend).Doc("whether the smallest comes first");
    d.Field("dtype", &ArgsortParam::dtype).Doc("dtype of the indices");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_INDEX_ORDERING_PARAM_H_
