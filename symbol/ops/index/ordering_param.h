#ifndef COOPER_SYMBOL_OPS_INDEX_ORDERING_PARAM_H_
#define COOPER_SYMBOL_OPS_INDEX_ORDERING_PARAM_H_

#include <cstdint>
#include <optional>

#include "ndarray/base/dtype.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs of topk and sort.
struct OrderArrays {
  enum Input { kData };
};
struct OrderGradientArrays {
  enum Input { kOgrad, kIndices };
};

struct TopKParam {
  enum Return { kValue, kIndices, kMask, kBoth };

  std::optional<int> axis = -1;
  int64_t k = 1;
  Return ret_typ = kIndices;
  bool is_ascend = false;
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

struct SortParam {
  std::optional<int> axis = -1;
  bool is_ascend = true;

  static void Declare(ParamDeclaration<SortParam>& d) {
    d.Field("axis", &SortParam::axis).Doc("along which axis; None: data is flattened first");
    d.Field("is_ascend", &SortParam::is_ascend).Doc("whether the smallest comes first");
  }
};

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
