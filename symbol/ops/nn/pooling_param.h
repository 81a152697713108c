#ifndef COOPER_SYMBOL_OPS_NN_POOLING_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_POOLING_PARAM_H_

#include <cstdint>
#include <optional>

#include "symbol/ops/nn/window_param.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs; the gradient has data only if it depends on it.
struct PoolingArrays {
  enum Input { kData };
};
struct PoolingGradientArrays {
  enum Input { kOgrad, kData };
};

// Parameters of Pooling.
struct PoolingParam {
  enum Type : uint8_t { kMax, kAvg, kSum, kLp };
  enum Convention : uint8_t { kValid, kFull, kSame };

  WindowTuple kernel;
  WindowTuple stride;
  WindowTuple pad;
  Type pool_type = kMax;
  Convention pooling_convention = kValid;
  bool global_pool = false;
  bool cudnn_off = false;
  std::optional<int64_t> p_value;
  std::optional<bool> count_include_pad;
  Layout layout = Layout::kDefault;

  template <typename P>
  static void DeclareWindow(ParamDeclaration<P>& d) {
    d.template Field<WindowTuple>("kernel", &P::kernel).Doc("extents of the window");
    d.template Field<WindowTuple>("stride", &P::stride).Doc("steps of the window; 1 if absent");
    d.template Field<WindowTuple>("pad", &P::pad).Doc("elements on both sides; 0 if absent");
    d.template Field<bool>("global_pool", &P::global_pool)
        .Doc("whether the window is the whole image, whatever kernel says");
  }

  static void Declare(ParamDeclaration<PoolingParam>& d) {
    DeclareWindow(d);
    d.Enum("pool_type", &PoolingParam::pool_type,
           {{"max", kMax}, {"avg", kAvg}, {"sum", kSum}, {"lp", kLp}})
        .Doc("what a window gives: maximum, mean, sum, or the p-th root of the sum of p-th powers");
    d.Enum("pooling_convention", &PoolingParam::pooling_convention,
           {{"valid", kValid}, {"full", kFull}, {"same", kSame}})
        .Doc("whether positions are rounded down or up; same: one window per stride");
    d.Field("cudnn_off", &PoolingParam::cudnn_off).Doc("accepted; no meaning on cpu");
    d.Field("p_value", &PoolingParam::p_value).Min(1).Max(3).Doc("p of pool_type lp");
    d.Field("count_include_pad", &PoolingParam::count_include_pad)
        .Doc("whether a mean counts padding; it does if None");
    d.Enum("layout", &PoolingParam::layout, LayoutNames())
        .Doc("order of the axes; channels first if None");
  }
};

// Parameters of Pooling_v1, which pads with zeros: they take part in a maximum and count in a mean.
struct PoolingV1Param : PoolingParam {
  static void Declare(ParamDeclaration<PoolingV1Param>& d) {
    DeclareWindow(d);
    d.Enum<Type>("pool_type", &PoolingParam::pool_type,
                 {{"max", kMax}, {"avg", kAvg}, {"sum", kSum}})
        .Doc("what a window gives: maximum, mean or sum");
    d.Enum<Convention>("pooling_convention", &PoolingParam::pooling_convention,
                       {{"valid", kValid}, {"full", kFull}})
        .Doc("whether positions are rounded down or up");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_POOLING_PARAM_H_
