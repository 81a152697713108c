// Product of oneDNN whose result is a weight.

#include <algorithm>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/convolution/onednn_product.h"
#include "ndarray/products/onednn_thread.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

using dnnl::memory;

// Computes Result::kWeight, a sum over the batch. A large weight is cut into parts by filters, each
// with a contiguous copy of its channels of the map. A small one is computed for a few images at a
// time, and the results are added in order.
class WeightProduct : public OneDnnProduct {
 public:
  using OneDnnProduct::OneDnnProduct;

  absl::Status Init() {
    const int64_t weight = p_.groups * p_.weight_step();
    const int64_t map = p_.batch * p_.groups * p_.map_step();
    const int64_t image_parts =
        std::min({p_.batch, WantedParts(), map / std::max<int64_t>(1, weight)});
    by_images_ = image_parts > 1;
    absl::Status status =
        by_images_ ? Cut(CeilDiv(p_.batch, image_parts), channels())
                   : Cut(p_.batch, ChannelsPerPart(std::min(WantedParts(), kMaxPartsByChannels)));
    if (!status.ok()) return status;
    const auto parts = static_cast<int64_t>(parts_.size());
    gathers_ = !by_images_ && p_.batch > 1 && parts > 1;
    // The first part is the largest one.
    map_bytes_ = gathers_ ? AlignedBytes(parts_[0].sized->map.get_size()) : 0;
    image_bytes_ = gathers_ && p_.groups > 1 ? AlignedBytes(parts_[0].sized->image.get_size()) : 0;
    part_bytes_ = weight_bytes_ + scratch_bytes_ + map_bytes_ + image_bytes_;
    workspace_bytes_ = parts * part_bytes_;
    return absl::OkStatus();
  }

  void Run(const Arrays& arrays, char* workspace) const override {
    const auto parts = static_cast<int64_t>(parts_.size());
    ParallelForRanges(parts, 1, 1, [&](int64_t begin, int64_t end) {
      const OneDnnOnThisThread this_thread;
      for (int64_t i = begin; i < end; ++i) {
        RunPart(parts_[i], arrays.image, arrays.map, workspace + i * part_bytes_);
        if (!by_images_) WriteWeight(parts_[i], workspace + i * part_bytes_, arrays.weight);
      }
    });
    if (!by_images_) return;
    auto* const sum = reinterpret_cast<float*>(workspace);
    const auto size = static_cast<int64_t>(parts_[0].sized->weight.get_size() / sizeof(float));
    ParallelFor(size, 16384, [&](int64_t begin, int64_t end) {
      for (int64_t part = 1; part < parts; ++part) {
        const auto* const more = reinterpret_cast<const float*>(workspace + part * part_bytes_);
        for (int64_t i = begin; i < end; ++i) sum[i] += more[i];
      }
    });
    const OneDnnOnThisThread this_thread;
    WriteWeight(parts_[0], workspace, arrays.weight);
  }

 protected:
  SizedProduct MakeSized(const ConvolutionDescs& d,
                         const ConvolutionForwardDesc& forward) const override {
    const ConvolutionWeightDesc desc = WeightDescOf(d, options_, forward);
    SizedProduct s;
    s.primitive = dnnl::convolution_backward_weights(desc);
    s.image = desc.src_desc();
    s.weight = desc.diff_weights_desc();
    s.map = desc.diff_dst_desc();
    s.scratch = desc.scratchpad_desc();
    return s;
  }

 private:
  void RunPart(const ProductPart& part, const float* image, const float* map, char* memory) const {
    const SizedProduct& s = *part.sized;
    image += image_offset(part);
    map += map_offset(part);
    char* const scratch = memory + weight_bytes_;
    if (gathers_) {
      map = Gather(part, map, p_.groups * p_.map_step(), s.map, scratch + scratch_bytes_);
      if (p_.groups > 1) {
        image = Gather(part, image, image_step(), s.image, scratch + scratch_bytes_ + map_bytes_);
      }
    }
    ExecuteOneDnn(s.primitive, {{DNNL_ARG_SRC, OneDnnMemory(s.image, image)},
                                {DNNL_ARG_DIFF_WEIGHTS, OneDnnMemory(s.weight, memory)},
                                {DNNL_ARG_DIFF_DST, OneDnnMemory(s.map, map)},
                                {DNNL_ARG_SCRATCHPAD, OneDnnMemory(s.scratch, scratch)}});
  }

  // Copies the part's channels of all images, which are `step` elements apart, into one contiguous
  // array.
  const float* Gather(const ProductPart& part, const float* from, int64_t step,
                      const memory::desc& desc, char* memory) const {
    auto* const to = reinterpret_cast<float*>(memory);
    const auto each = static_cast<int64_t>(desc.get_size() / sizeof(float)) / part.extent.images;
    for (int64_t n = 0; n < part.extent.images; ++n) {
      std::copy_n(from + n * step, each, to + n * each);
    }
    return to;
  }

  void WriteWeight(const ProductPart& part, const char* from, float* weight) const {
    ExecuteOneDnn(
        part.sized->reorder,
        {{DNNL_ARG_FROM, OneDnnMemory(part.sized->weight, from)},
         {DNNL_ARG_TO, OneDnnMemory(part.sized->plain_weight, weight + weight_offset(part))}});
  }

  bool by_images_ = false;
  bool gathers_ = false;
  int64_t map_bytes_ = 0;
  int64_t image_bytes_ = 0;
  int64_t part_bytes_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<const BlockedProduct>> MakeWeightProduct(
    const ConvolutionProduct& shape, const BlockedProduct::Options& options) {
  return MakeOneDnnProduct<WeightProduct>(shape, options);
}

}  // namespace cooper
