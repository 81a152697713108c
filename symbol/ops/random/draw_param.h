#ifndef COOPER_SYMBOL_OPS_RANDOM_DRAW_PARAM_H_
#define COOPER_SYMBOL_OPS_RANDOM_DRAW_PARAM_H_

// Parameters of operators that draw arrays of random numbers (draw.cc). Each element has its own
// bits of the node's random stream, so results depend on the seed and the position alone, not on
// the number of threads; they differ from MXNet's. None has a gradient. MXNet:
// src/operator/random/sample_op.cc, multisample_op.cc.
//
// `ctx` is the device of an imperative call; in a bound graph the executor chooses the device.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ndarray/base/dtype.h"
#include "symbol/ops/random/distributions.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Parameters of _random_uniform and its relatives: one distribution for all elements. The shape
// rule fails with kInvalidArgument if the distribution's parameters are invalid. Distribution is a
// struct of distributions.h.
template <typename Distribution>
struct RandomParam : Distribution {
  // Extents in MXNet's notation: the rule is that of InitParam (symbol/ops/elemwise/init_param.h).
  std::vector<int64_t> shape;  // as MXNet writes it: 0 is unknown
  std::string ctx;
  // A floating dtype, else type inference fails with kInvalidArgument. Without it the dtype comes
  // from the consumers of the output, and is float32 if they do not determine it.
  std::optional<DType> dtype;

  static void Declare(ParamDeclaration<RandomParam>& d) {
    Distribution::DeclareIn(d);
    d.Field("shape", &RandomParam::shape).Doc("shape of the output; an extent of 0 is inferred");
    d.Field("ctx", &RandomParam::ctx).Doc("device of an imperative call");
    d.Field("dtype", &RandomParam::dtype).Doc("dtype of the output; None is float32");
  }
};

// Parameters of _random_uniform_like and its relatives: the output has the shape and dtype of the
// input, whose elements are not read.
template <typename Distribution>
struct RandomLikeParam : Distribution {
  static void Declare(ParamDeclaration<RandomLikeParam>& d) { Distribution::DeclareIn(d); }
};

// Parameters of _random_randint: integers in [low, high), with low < high. The bias of the method
// is at most (high - low) / 2^64 of a probability. int32 outputs must be able to hold all values;
// both conditions fail with kInvalidArgument in inference.
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

// Parameters of _sample_uniform and its relatives, which draw from one distribution per element of
// their inputs. The inputs are the distribution's parameters, in the order of its names, of one
// shape (...) and dtype; the output is (..., shape...). Invalid parameters give NaN, since values
// are not known in inference.
//
//   low (0, 10), high (1, 20), shape=(3,): output (2, 3), whose second row is from [10, 20)
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
