// Products of oneDNN whose result is a map or an image.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/kernels/convolution/convolution_parts.h"
#include "executor/kernels/convolution/onednn_engine.h"
#include "executor/kernels/convolution/onednn_packing.h"
#include "executor/kernels/convolution/onednn_product.h"
#include "executor/kernels/convolution/thread_buffers.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "ndarray/products/onednn_thread.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

// Computes Result::kMap or kImage: packs the weight if it is plain, then computes each part. A part
// has several images only if it has all channels, so that it is contiguous in each array.
class ActivationProduct : public OneDnnProduct {
 public:
  using OneDnnProduct::OneDnnProduct;

  absl::Status Init() {
    const auto [images, per_part] = is_winograd() ? WinogradPart() : DirectPart();
    absl::Status status = Cut(images, per_part);
    if (!status.ok()) return status;
    for (int64_t i = 0; i < static_cast<int64_t>(parts_.size()); ++i) {
      if (parts_[i].image == 0) slices_.push_back(i);
    }
    weights_bytes_ =
        options_.packed_weight ? 0 : static_cast<int64_t>(slices_.size()) * weight_bytes_;
    const bool in_place = options_.result == Result::kMap || !(options_.add || unblocks());
    image_bytes_ =
        in_place ? 0 : AlignedBytes(static_cast<size_t>(p_.batch * image_step()) * sizeof(float));
    scaled_bytes_ =
        options_.scales
            ? AlignedBytes(static_cast<size_t>(p_.groups * p_.weight_step()) * sizeof(float))
            : 0;
    const auto parts = static_cast<int64_t>(parts_.size());
    // Winograd's scratch memory is large, so each thread reuses one buffer for all its parts. There
    // are as many buffers as threads at the time of compilation.
    scratches_ = is_winograd() ? std::min<int64_t>(parts, NumThreads()) : parts;
    workspace_bytes_ = weights_bytes_ + image_bytes_ + scaled_bytes_ + scratches_ * scratch_bytes_;
    return absl::OkStatus();
  }

  void Run(const Arrays& arrays, char* workspace) const override {
    char* const apart = workspace + weights_bytes_;
    char* const scaled = apart + image_bytes_;
    char* const scratch = scaled + scaled_bytes_;
    const char* weights = workspace;
    if (options_.packed_weight) {
      weights = reinterpret_cast<const char*>(arrays.weight);
    } else {
      PackWeight(arrays, reinterpret_cast<float*>(scaled), workspace);
    }
    Arrays own = arrays;
    if (image_bytes_ > 0) own.image = reinterpret_cast<float*>(apart);
    const auto parts = static_cast<int64_t>(parts_.size());
    ForEachPartWithBuffer(parts, scratches_, [&](int64_t i, int64_t k) {
      const OneDnnOnThisThread this_thread;
      RunPart(parts_[i], own, weights + parts_[i].slice * weight_bytes_,
              scratch + k * scratch_bytes_);
    });
    if (unblocks()) {
      StoreUnblocked(own.image, arrays.image);
    } else if (image_bytes_ > 0) {
      ParallelFor(p_.batch * image_step(), 16384, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) arrays.image[i] += own.image[i];
      });
    }
  }

  std::optional<WeightPacking> packing() const override {
    if (options_.result != Result::kMap) return std::nullopt;
    if (is_winograd()) {
      std::optional<WinogradWeightParam> packing = WinogradPackingOf(sized_[0].second->weight);
      if (!packing.has_value() || sized_.size() > 1 || !IsSlice(packing->slice_elements())) {
        return std::nullopt;
      }
      packing->filters = channels();
      return PackingBy("_winograd_weight", *packing);
    }
    // The first slice is a full one.
    std::optional<PackedWeightParam> packing = PackingOf(sized_[0].second->weight);
    if (!packing.has_value()) return std::nullopt;
    for (const auto& [extent, sized] : sized_) {
      std::optional<PackedWeightParam> other = PackingOf(sized->weight);
      if (!other.has_value()) return std::nullopt;
      other->shape[0] = packing->shape[0];
      other->slice = packing->slice;
      if (*other != *packing) return std::nullopt;
    }
    packing->shape[0] = channels();
    if (!IsSlice(packing->slice_elements())) return std::nullopt;
    // The batch size determines the slices, and weights can be shared between sizes.
    if (packing->slices_are_one()) packing->slice = packing->shape[0];
    return PackingBy("_packed_weight", *packing);
  }

 protected:
  SizedProduct MakeSized(const ConvolutionDescs& d,
                         const ConvolutionForwardDesc& forward) const override {
    SizedProduct s;
    if (options_.result == Result::kMap) {
      s.primitive = dnnl::convolution_forward(forward);
      s.image = forward.src_desc();
      s.weight = forward.weights_desc();
      s.map = forward.dst_desc();
      s.bias = forward.bias_desc();
      s.scratch = forward.scratchpad_desc();
      return s;
    }
    const ConvolutionDataDesc data = DataDescOf(d, forward);
    s.primitive = dnnl::convolution_backward_data(data);
    s.image = data.diff_src_desc();
    s.weight = data.weights_desc();
    s.map = data.diff_dst_desc();
    s.scratch = data.scratchpad_desc();
    return s;
  }

 private:
  bool is_winograd() const { return options_.algorithm == ConvolutionAlgorithm::kWinograd; }

  // The images of a part, and the channels of each part but the last.
  struct PartSize {
    int64_t images, channels;
  };

  PartSize DirectPart() const {
    const int64_t wanted = WantedParts();
    int64_t images = CeilDiv(p_.batch, std::min(p_.batch, wanted));
    const bool pointwise = p_.g.kernel_size() == 1;
    if (TakesPairs(p_) && HasSmallMap(p_) && p_.groups == 1 && !pointwise) {
      images = std::max<int64_t>(images, 2);
    }
    const int64_t slices = CeilDiv(std::min(wanted, kMaxPartsByChannels), p_.batch);
    return {images, images == 1 ? ChannelsPerPart(slices) : channels()};
  }

  // All slices have the same layout.
  PartSize WinogradPart() const {
    const int64_t slices = WinogradSlices(p_);
    const bool whole_blocks = channels() % (slices * OneDnnChannelBlock()) == 0;
    return {TakesPairs(p_) ? 2 : 1, whole_blocks ? channels() / slices : channels()};
  }

  // Returns whether slices of `elements` elements are as large as the parts' weights.
  bool IsSlice(int64_t elements) const {
    return elements * static_cast<int64_t>(sizeof(float)) == weight_bytes_;
  }

  template <typename Param>
  std::optional<WeightPacking> PackingBy(const char* op, const Param& param) const {
    return WeightPacking{.op = op,
                         .attrs = ParamDeclaration<Param>::Schema()->Print(&param),
                         .elements = param.num_elements()};
  }

  void StoreUnblocked(const float* image, float* result) const {
    const int64_t channels = p_.groups * p_.g.channels;
    const int64_t block = OneDnnChannelBlock();
    const int64_t size = p_.g.image_size();
    for (int64_t n = 0; n < p_.batch; ++n) {
      for (int64_t c = 0; c < channels; ++c) {
        const float* const from = image + n * image_step() + c / block * block * size + c % block;
        float* const to = result + (n * channels + c) * size;
        for (int64_t i = 0; i < size; ++i) Store(to + i, from[i * block], options_.add);
      }
    }
  }

  // Converts each slice of the plain weight, times its scales, to oneDNN's layout.
  void PackWeight(const Arrays& arrays, float* scaled, char* packed) const {
    const auto slices = static_cast<int64_t>(slices_.size());
    ParallelForRanges(slices, 1, 1, [&](int64_t begin, int64_t end) {
      const OneDnnOnThisThread this_thread;
      for (int64_t i = begin; i < end; ++i) {
        const ProductPart& part = parts_[slices_[i]];
        float* weight = arrays.weight + weight_offset(part);
        if (options_.scales) weight = Scale(part, weight, arrays.scales, scaled);
        ExecuteOneDnn(
            part.sized->reorder,
            {{DNNL_ARG_FROM, OneDnnMemory(part.sized->plain_weight, weight)},
             {DNNL_ARG_TO, OneDnnMemory(part.sized->weight, packed + i * weight_bytes_)}});
      }
    });
  }

  // Returns the index of the part's first filter, counted over all groups.
  int64_t FirstFilter(const ProductPart& part) const {
    return p_.groups > 1 ? part.channel * p_.filters : part.channel;
  }

  // Multiplies the part's filters of `weight` by their scales. Returns the result, in the
  // corresponding place of `scaled`.
  float* Scale(const ProductPart& part, const float* weight, const float* scales,
               float* scaled) const {
    const int64_t size = p_.g.rows();
    const int64_t first = FirstFilter(part);
    scaled += first * size;
    for (int64_t k = 0; k < part.extent.groups * part.extent.filters; ++k) {
      for (int64_t i = k * size; i < (k + 1) * size; ++i) scaled[i] = weight[i] * scales[first + k];
    }
    return scaled;
  }

  void RunPart(const ProductPart& part, const Arrays& arrays, const char* weight,
               char* scratch) const {
    const SizedProduct& s = *part.sized;
    float* const image = arrays.image + image_offset(part);
    float* const map = arrays.map + map_offset(part);
    const bool forward = options_.result == Result::kMap;
    const float* const bias = options_.bias ? arrays.bias + FirstFilter(part) : nullptr;
    const KeptOneDnnArguments::Argument args[] = {
        {forward ? DNNL_ARG_SRC : DNNL_ARG_DIFF_SRC, s.image, image},
        {DNNL_ARG_WEIGHTS, s.weight, weight},
        {forward ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST, s.map, map},
        {DNNL_ARG_SCRATCHPAD, s.scratch, scratch},
        {DNNL_ARG_BIAS, s.bias, bias}};
    part.arguments->Execute(s.primitive, absl::MakeConstSpan(args, options_.bias ? 5 : 4));
  }

  std::vector<int64_t> slices_;  // the first part of each slice of the weight
  int64_t scratches_ = 0;        // parts that can be computed at a time
  int64_t weights_bytes_ = 0;
  int64_t image_bytes_ = 0;   // an image that is computed outside of its array
  int64_t scaled_bytes_ = 0;  // a weight times its scales
};

}  // namespace

absl::StatusOr<std::unique_ptr<const BlockedProduct>> MakeActivationProduct(
    const ConvolutionProduct& shape, const BlockedProduct::Options& options) {
  return MakeOneDnnProduct<ActivationProduct>(shape, options);
}

}  // namespace cooper
