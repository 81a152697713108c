#ifndef COOPER_SYMBOL_OPS_RANDOM_DRAW_PARAM_H_
#define COOPER_SYMBOL_OPS_RANDOM_DRAW_PARAM_H_

// Parameters of operators that draw arrays. `ctx` says where an imperative call puts its result; in
// a bound graph the executor decides.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ndarray/base/dtype.h"
#include "symbol/ops/random/distributions.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Of _random_uniform and its like: one distribution for all elements.
template <typename Distribution>
struct RandomParam : Distribution {
  std::vector<int64_t> shape;  // as MXNet writes it: 0 is unknown
  std::string ctx;
  std::optional<DType> dtype;

  static void Declare(ParamDeclaration<RandomParam>& d) {
    Distribution::DeclareIn(d);
    d.Field("shape", &RandomParam::shape).Doc("shape of the output; an extent of 0 is inferred");
    d.Field("ctx", &RandomParam::ctx).Doc("device of an imperative call");
    d.Field("dtype", &RandomParam::dtype).Doc("dtype of the output; None is float32");
  }
};

// Of _random_uniform_like and its like, which have the shape and dtype of their input.
template <typename Distribution>
struct RandomLikeParam : Distribution {
  static void Declare(ParamDeclaration<RandomLikeParam>& d) { Distribution::DeclareIn(d); }
};

struct RandomIntegersParam {
  int64_t low = 0;
  int64_t high = 0;
  std::vector<int64_t> shape;
  std::string ctx;
  std::optional<DType> dtype;

  static void Declare(ParamDeclaration<RandomIntegersParam>& d) {
    using P = RandomIntegersParam;
    d.Field("low", &P::low).Required().Doc("the least value");
    d.Field("high", &P::high).Required().Doc("all values are below it");
    d.Field("shape", &P::shape).Doc("shape of the output; an extent of 0 is inferred");
    d.Field("ctx", &P::ctx).Doc("device of an imperative call");
    d.Field("dtype", &P::dtype).Doc("dtype of the output, int32 or int64; None is int32");
  }
};

// Of _sample_uniform and its like: a distribution for each element of the inputs, which have its
// parameters, in the order of the distribution's names.
struct SampleParam {
  std::vector<int64_t> shape;
  std::optional<DType> dtype;

  static void Declare(ParamDeclaration<SampleParam>& d) {
    d.Field("shape", &SampleParam::shape).Doc("shape of what is drawn from each distribution");
    d.Field("dtype", &SampleParam::dtype).Doc("dtype of the output; None is float32");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_RANDOM_DRAW_PARAM_H_
