#ifndef COOPER_SYMBOL_OPS_NN_POOLING_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_POOLING_PARAM_H_

// Arrays and parameters of Pooling and Pooling_v1. The schemas are in pooling.cc, the windows in
// executor/kernels/pooling/pooling_window.h. _contrib_AdaptiveAvgPooling2D chooses windows from the
// output's size instead. MXNet: src/operator/nn/pooling.cc, pooling_v1.cc.

#include <cstdint>
#include <optional>

#include "symbol/ops/nn/window_param.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// data is (batch_size, channels, spatial...) with one to three spatial axes, in the order of the
// layout; the output has data's batch size, channels and dtype.
struct PoolingArrays {
  enum Input { kData };
};
// Inputs of the gradient. kData is an input only for pool_type max and lp. For max the gradient
// searches the maximum in data again, so that the output need not be kept.
struct PoolingGradientArrays {
  enum Input { kOgrad, kData };
};

// Parameters of Pooling. The number of window positions on an axis, with n = extent + 2 * pad, is
//
//   valid  floor((n - kernel) / stride) + 1
//   full   ceil((n - kernel) / stride) + 1; the last window may reach beyond the padding
//   same   ceil(n / stride)
//
// Padding takes no part in a maximum, and counts as 0 in a sum. Shape inference fails with
// kInvalidArgument if the kernel exceeds the padded image.
struct PoolingParam {
  enum Type : uint8_t { kMax, kAvg, kSum, kLp };
  enum Convention : uint8_t { kValid, kFull, kSame };

  // One number per spatial axis; ignored with global_pool. stride is 1 and pad 0 if empty.
  WindowTuple kernel;
  WindowTuple stride;
  WindowTuple pad;
  // The value of a window: its maximum, mean, sum, or (sum of x^p)^(1/p).
  Type pool_type = kMax;
  Convention pooling_convention = kValid;
  bool global_pool = false;
  bool cudnn_off = false;
  // p of lp: 1, 2 or 3. Required by lp.
  std::optional<int64_t> p_value;
  // Whether the divisor of a mean counts the padding; elements beyond it, of convention full, never
  // count. None counts it, as in MXNet.
  std::optional<bool> count_include_pad;
  Layout layout = Layout::kDefault;

  // Declares the fields that both operators have, for a derived struct P.
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
    d.Enum("layout", &PoolingParam::layout, kLayoutNames)
        .Doc("order of the axes; channels first if None");
  }
};

// Parameters of Pooling_v1, of old files. It pads with zeros: they take part in a maximum, and a
// mean is always divided by the kernel's size.
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
