// Pooling, Pooling_v1 and adaptive pooling.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "module/onnx/node_export.h"
#include "module/onnx/ops/window_attrs.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/adaptive_avg_pooling_param.h"
#include "symbol/ops/nn/pooling_param.h"

namespace cooper {
namespace {

constexpr int kData = 0;

std::vector<int64_t> SpatialAxes(const NodeExport& c) {
  std::vector<int64_t> axes(c.rank(kData) - 2);
  std::iota(axes.begin(), axes.end(), 2);
  return axes;
}

absl::Status ExportGlobal(NodeExport& c, const PoolingParam& param) {
  const std::string& data = c.input(kData);
  switch (param.pool_type) {
    case PoolingParam::kMax:
      c.Return(c.Emit("GlobalMaxPool", {data}));
      break;
    case PoolingParam::kAvg:
      c.Return(c.Emit("GlobalAveragePool", {data}));
      break;
    case PoolingParam::kSum:
      c.Return(c.Emit("ReduceSum", {data, c.Ints(SpatialAxes(c))}));
      break;
    case PoolingParam::kLp:
      c.Return(c.Emit("GlobalLpPool", {data}, {{"p", *param.p_value}}));
      break;
  }
  return absl::OkStatus();
}

// The windows of a pooling. `after` are the elements that the last windows reach beyond the padding
// behind the image; ONNX counts them as padding.
struct Windows {
  WindowTuple kernel, stride, pad, after;

  OnnxAttrs Attrs(const WindowTuple& before, const WindowTuple& behind) const {
    return {{"kernel_shape", kernel}, {"strides", stride}, {"pads", Pads(before, behind)}};
  }
  WindowTuple PadAndAfter() const {
    WindowTuple sum = pad;
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += after[i];
    return sum;
  }
};

// Returns data with zeros around it, as a sum counts them.
std::string WithZeros(NodeExport& c, const WindowTuple& before, const WindowTuple& behind) {
  std::vector<int64_t> pads = {0, 0};
  pads.insert(pads.end(), before.begin(), before.end());
  pads.insert(pads.end(), {0, 0});
  pads.insert(pads.end(), behind.begin(), behind.end());
  if (std::ranges::all_of(pads, [](int64_t pad) { return pad == 0; })) return c.input(kData);
  return c.Emit("Pad", {c.input(kData), c.Ints(pads), c.Scalar(0)});
}

absl::Status ExportWindows(NodeExport& c, const PoolingParam& param, const Windows& windows,
                           bool pads_count, bool zeros_in_maximum) {
  const WindowTuple none(windows.kernel.size(), 0);
  const std::string& data = c.input(kData);
  switch (param.pool_type) {
    case PoolingParam::kMax: {
      if (!zeros_in_maximum) {
        c.Return(c.Emit("MaxPool", {data}, windows.Attrs(windows.pad, windows.PadAndAfter())));
        break;
      }
      const std::string padded = WithZeros(c, windows.pad, windows.pad);
      c.Return(c.Emit("MaxPool", {padded}, windows.Attrs(none, windows.after)));
      break;
    }
    case PoolingParam::kAvg: {
      // ONNX divides by the elements in the image, unless the padding counts. It counts here as
      // elements of the image; what is beyond it never counts.
      if (!pads_count) {
        c.Return(c.Emit("AveragePool", {data}, windows.Attrs(windows.pad, windows.PadAndAfter())));
        break;
      }
      const std::string padded = WithZeros(c, windows.pad, windows.pad);
      c.Return(c.Emit("AveragePool", {padded}, windows.Attrs(none, windows.after)));
      break;
    }
    case PoolingParam::kSum: {
      const std::string padded = WithZeros(c, windows.pad, windows.PadAndAfter());
      const std::string mean = c.Emit("AveragePool", {padded}, windows.Attrs(none, none));
      const int64_t elements = std::accumulate(windows.kernel.begin(), windows.kernel.end(),
                                               int64_t{1}, std::multiplies<>());
      c.Return(c.Emit("Mul", {mean, c.Scalar(static_cast<double>(elements))}));
      break;
    }
    case PoolingParam::kLp: {
      OnnxAttrs attrs = windows.Attrs(windows.pad, windows.PadAndAfter());
      attrs.emplace_back("p", *param.p_value);
      c.Return(c.Emit("LpPool", {data}, std::move(attrs)));
      break;
    }
  }
  return absl::OkStatus();
}

absl::Status ExportPooling(NodeExport& c, const PoolingParam& param, bool is_v1) {
  if (ChannelsLast(param.layout)) return c.Refuse("its layout has channels last");
  if (param.global_pool) return ExportGlobal(c, param);
  const int axes = static_cast<int>(param.kernel.size());
  Windows windows{.kernel = param.kernel,
                  .stride = FullTuple(param.stride, axes, 1),
                  .pad = FullTuple(param.pad, axes, 0),
                  .after = WindowTuple(axes, 0)};
  if (param.pooling_convention != PoolingParam::kValid) {
    COOPER_RETURN_IF_ERROR(c.NeedsNumbers({c.shape(kData).begin() + 2, c.shape(kData).end()},
                                          "an image, with this pooling_convention,"));
    for (int i = 0; i < axes; ++i) {
      const int64_t reach =
          (c.out_shape()[2 + i].number() - 1) * windows.stride[i] + windows.kernel[i];
      const int64_t extent = c.shape(kData)[2 + i].number() + 2 * windows.pad[i];
      windows.after[i] = std::max<int64_t>(0, reach - extent);
    }
  }
  return ExportWindows(c, param, windows, is_v1 || param.count_include_pad.value_or(true), is_v1);
}

const OnnxRegistrar kPooling({"Pooling"},
                             "MaxPool, AveragePool, LpPool, GlobalMaxPool, GlobalAveragePool, "
                             "GlobalLpPool, ReduceSum; layouts with channels first",
                             [](NodeExport& c) {
                               return ExportPooling(c, c.param<PoolingParam>(), false);
                             });
const OnnxRegistrar kPoolingV1({"Pooling_v1"},
                               "MaxPool, AveragePool, GlobalMaxPool, GlobalAveragePool, ReduceSum",
                               [](NodeExport& c) {
                                 return ExportPooling(c, c.param<PoolingV1Param>(), true);
                               });

absl::Status ExportAdaptive(NodeExport& c) {
  const auto& param = c.param<AdaptiveAvgPoolingParam>();
  if (param.extent(0) == 1 && param.extent(1) == 1) {
    c.Return(c.Emit("GlobalAveragePool", {c.input(kData)}));
    return absl::OkStatus();
  }
  WindowTuple kernel;
  for (int i = 0; i < 2; ++i) {
    const Extent& extent = c.shape(kData)[2 + i];
    COOPER_RETURN_IF_ERROR(c.NeedsNumbers({extent}, "an image"));
    if (extent.number() % param.extent(i) != 0) {
      return c.Refuse("the image is no multiple of output_size, so windows differ in size");
    }
    kernel.push_back(extent.number() / param.extent(i));
  }
  c.Return(
      c.Emit("AveragePool", {c.input(kData)}, {{"kernel_shape", kernel}, {"strides", kernel}}));
  return absl::OkStatus();
}

COOPER_ONNX_EXPORT(_contrib_AdaptiveAvgPooling2D,
                   "GlobalAveragePool, AveragePool; images whose extents are multiples of "
                   "output_size",
                   ExportAdaptive);

}  // namespace
}  // namespace cooper
