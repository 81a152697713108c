#include "symbol/ops/numpy/promotion.h"

namespace cooper {

DType PromotedType(DType a, DType b) {
  if (a == b) return a;
  if (IsFloating(a) != IsFloating(b)) return IsFloating(a) ? a : b;
  if (a == DType::kBool || b == DType::kBool) return a == DType::kBool ? b : a;
  if (SizeOf(a) != SizeOf(b)) return SizeOf(a) > SizeOf(b) ? a : b;
  return IsFloating(a) ? DType::kFloat32 : DType::kInt32;
}

DType QuotientType(DType a, DType b) {
  const DType sum = PromotedType(a, b);
  return IsFloating(sum) ? sum : DType::kFloat32;
}

DType TypeWithScalar(DType array, bool scalar_is_int) {
  if (IsFloating(array)) return array;
  if (!scalar_is_int) return DType::kFloat64;
  return array == DType::kBool ? DType::kInt64 : array;
}

}  // namespace cooper
