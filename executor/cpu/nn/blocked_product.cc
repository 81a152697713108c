#include "executor/cpu/nn/blocked_product.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "executor/cpu/dispatch_float.h"
#include "ndarray/onednn_thread.h"
#include "ndarray/parallel.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace cooper {
namespace {

using dnnl::memory;
using Product = BlockedProduct;
using Options = BlockedProduct::Options;
using Result = BlockedProduct::Result;
using ForwardDesc = dnnl::convolution_forward::primitive_desc;

// A product is cut into parts, which threads take one by one. They depend on the shapes alone, so
// that results do not depend on the number of threads.
constexpr double kMinWorkPerPart = 4e6;  // multiplications
constexpr int64_t kMaxParts = 32;
// Channels are cut only where there are few images: oneDNN computes several blocks at a time.
constexpr int64_t kMaxPartsByChannels = 8;
constexpr int64_t kMinBlocksPerPart = 4;
constexpr int64_t kAlignment = 64;

// Never destroyed: threads may end after main.
const dnnl::engine& Engine() {
  static const auto* const engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

dnnl::stream& ThisThreadsStream() {
  thread_local dnnl::stream stream(Engine());
  return stream;
}

memory At(const memory::desc& desc, const void* data) {
  return memory(desc, Engine(), const_cast<void*>(data));
}

int64_t Aligned(size_t bytes) {
  return (static_cast<int64_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
}

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The convolution of `images` images that has `groups` of the groups, or of the only group
// `filters` of its filters and `channels` of its channels.
struct Extent {
  int64_t images, groups, channels, filters;
};

// What oneDNN wants to know of one.
struct Descs {
  memory::dims image, map, weight, weight_strides, stride, dilate, pad, pad_end;

  Descs(const ConvolutionProduct& p, const Extent& e) {
    image = {e.images, e.groups * e.channels};
    map = {e.images, e.groups * e.filters};
    if (p.groups > 1) weight.push_back(e.groups);
    weight.insert(weight.end(), {e.filters, e.channels});
    // Two spatial axes at least: one is seen as two.
    for (int i = p.g.in[0] == 1 && p.g.kernel[0] == 1 && p.g.out[0] == 1 ? 1 : 0; i < 3; ++i) {
      image.push_back(p.g.in[i]);
      map.push_back(p.g.out[i]);
      weight.push_back(p.g.kernel[i]);
      stride.push_back(p.g.stride[i]);
      dilate.push_back(p.g.dilate[i] - 1);
      pad.push_back(p.g.pad[i]);
      const int64_t reach = p.g.dilate[i] * (p.g.kernel[i] - 1) + 1;
      pad_end.push_back((p.g.out[i] - 1) * p.g.stride[i] + reach - p.g.in[i] - p.g.pad[i]);
    }
    // Strides of the whole weight, of which this is a part.
    weight_strides.resize(weight.size());
    const size_t channel = p.groups > 1 ? 2 : 1;
    int64_t step = 1;
    for (size_t i = weight.size(); i-- > 0;) {
      weight_strides[i] = step;
      step *= i == channel ? p.g.channels : i + 1 == channel ? p.filters : weight[i];
    }
  }

  memory::desc Blocked(const memory::dims& dims) const {
    using enum memory::format_tag;
    const bool wide = OneDnnChannelBlock() == 16;
    const memory::format_tag tag =
        dims.size() == 4 ? (wide ? nChw16c : nChw8c) : (wide ? nCdhw16c : nCdhw8c);
    return {dims, memory::data_type::f32, tag};
  }
  memory::desc Image(bool plain) const {
    using enum memory::format_tag;
    if (!plain) return Blocked(image);
    return {image, memory::data_type::f32, image.size() == 4 ? nchw : ncdhw};
  }
  memory::desc PlainWeight() const { return {weight, memory::data_type::f32, weight_strides}; }
  memory::desc AnyWeight() const {
    return {weight, memory::data_type::f32, memory::format_tag::any};
  }
};

dnnl::primitive_attr UserScratch() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

ForwardDesc ForwardDescOf(const Descs& d, const Options& options) {
  dnnl::primitive_attr attr = UserScratch();
  if (options.result == Result::kMap) {
    dnnl::post_ops ops;
    if (options.add) ops.append_sum(1);
    if (options.relu) ops.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
    attr.set_post_ops(ops);
  }
  const auto kind = options.result == Result::kMap ? dnnl::prop_kind::forward_inference
                                                   : dnnl::prop_kind::forward_training;
  const auto algorithm = dnnl::algorithm::convolution_direct;
  if (options.bias) {
    const memory::desc bias({d.map[1]}, memory::data_type::f32, memory::format_tag::a);
    return {{kind, algorithm, d.Image(options.plain_image), d.AnyWeight(), bias, d.Blocked(d.map),
             d.stride, d.dilate, d.pad, d.pad_end},
            attr,
            Engine()};
  }
  return {{kind, algorithm, d.Image(options.plain_image), d.AnyWeight(), d.Blocked(d.map), d.stride,
           d.dilate, d.pad, d.pad_end},
          attr,
          Engine()};
}

using DataDesc = dnnl::convolution_backward_data::primitive_desc;
using WeightDesc = dnnl::convolution_backward_weights::primitive_desc;

DataDesc DataDescOf(const Descs& d, const ForwardDesc& forward) {
  return {{dnnl::algorithm::convolution_direct, d.Blocked(d.image), d.AnyWeight(), d.Blocked(d.map),
           d.stride, d.dilate, d.pad, d.pad_end},
          UserScratch(),
          Engine(),
          forward};
}

WeightDesc WeightDescOf(const Descs& d, const Options& options, const ForwardDesc& forward) {
  return {{dnnl::algorithm::convolution_direct, d.Image(options.plain_image), d.AnyWeight(),
           d.Blocked(d.map), d.stride, d.dilate, d.pad, d.pad_end},
          UserScratch(),
          Engine(),
          forward};
}

// A primitive for parts of one size, and what it wants of its weight.
struct Sized {
  dnnl::primitive primitive;
  memory::desc image, weight, map, bias, scratch, plain_weight;
  // From the plain weight, or for kWeight to it.
  dnnl::primitive reorder;
};

// All of a product's channels, or some, of all of its images, or some.
struct Part {
  int64_t image = 0;    // the first one
  int64_t channel = 0;  // the first group, or where there is one group, channel or filter
  Extent extent = {};
  const Sized* sized = nullptr;
};

class OneDnnProduct : public Product {
 public:
  OneDnnProduct(const ConvolutionProduct& shape, const Options& options)
      : p_(shape), options_(options) {}

  // Elements of an image. A plain one's gradient is computed in blocks.
  int64_t image_step() const {
    const int64_t channels = p_.groups * p_.g.channels;
    const int64_t block = OneDnnChannelBlock();
    return (unblocks() ? CeilDiv(channels, block) * block : channels) * p_.g.image_size();
  }
  bool unblocks() const { return options_.result == Result::kImage && options_.plain_image; }

  // The part's place in each array, in elements.
  int64_t image_offset(const Part& part) const {
    const int64_t channels = p_.groups > 1                       ? part.channel * p_.g.channels
                             : options_.result == Result::kImage ? part.channel
                                                                 : 0;
    return part.image * image_step() + channels * p_.g.image_size();
  }
  int64_t map_offset(const Part& part) const {
    const int64_t filters = p_.groups > 1                       ? part.channel * p_.filters
                            : options_.result == Result::kImage ? 0
                                                                : part.channel;
    return (part.image * p_.groups * p_.filters + filters) * p_.g.columns();
  }
  int64_t weight_offset(const Part& part) const {
    if (p_.groups > 1) return part.channel * p_.weight_step();
    return part.channel * (options_.result == Result::kImage ? p_.g.kernel_size() : p_.g.rows());
  }

 protected:
  // How many channels there are to be cut: groups, or those of the result.
  int64_t channels() const {
    if (p_.groups > 1) return p_.groups;
    return options_.result == Result::kImage ? p_.g.channels : p_.filters;
  }
  int64_t work() const { return p_.batch * p_.groups * p_.filters * p_.g.rows() * p_.g.columns(); }
  int64_t WantedParts() const {
    return std::clamp<int64_t>(static_cast<int64_t>(static_cast<double>(work()) / kMinWorkPerPart),
                               1, kMaxParts);
  }
  // The least number of channels of a part: whole blocks in both arrays.
  int64_t ChannelStep() const {
    const int64_t block = OneDnnChannelBlock();
    if (p_.groups == 1) return kMinBlocksPerPart * block;
    if (p_.g.channels == 1 && p_.filters == 1) return block;
    return p_.g.channels % block == 0 && p_.filters % block == 0 ? 1 : p_.groups;
  }
  // Channels of each part but the last, if they are to be cut into about `parts`.
  int64_t ChannelsPerPart(int64_t parts) const {
    const int64_t step = ChannelStep();
    return std::min(channels(), CeilDiv(CeilDiv(channels(), parts), step) * step);
  }

  // Adds parts of `images` images and `per_part` channels, channels outermost, so that a part of
  // the weight is used by one image after the other.
  absl::Status Cut(int64_t images, int64_t per_part) {
    for (int64_t c = 0; c < channels(); c += per_part) {
      const int64_t count = std::min(per_part, channels() - c);
      for (int64_t n = 0; n < p_.batch; n += images) {
        Extent e{std::min(images, p_.batch - n), p_.groups, p_.g.channels, p_.filters};
        (p_.groups > 1                       ? e.groups
         : options_.result == Result::kImage ? e.channels
                                             : e.filters) = count;
        parts_.push_back({n, c, e, nullptr});
        absl::StatusOr<const Sized*> sized = SizedOf(e);
        if (!sized.ok()) return sized.status();
        parts_.back().sized = *sized;
      }
    }
    images_per_part_ = images;
    return absl::OkStatus();
  }

  virtual Sized MakeSized(const Descs& d, const ForwardDesc& forward) const = 0;

  absl::StatusOr<const Sized*> SizedOf(const Extent& e) {
    for (const auto& [extent, sized] : sized_) {
      if (extent.images == e.images && extent.groups == e.groups && extent.channels == e.channels &&
          extent.filters == e.filters) {
        return sized.get();
      }
    }
    try {
      const Descs d(p_, e);
      Sized sized = MakeSized(d, ForwardDescOf(d, options_));
      sized.plain_weight = d.PlainWeight();
      const bool out = options_.result == Result::kWeight;
      dnnl::primitive_attr attr;
      if (out && options_.add) {
        dnnl::post_ops ops;
        ops.append_sum(1);
        attr.set_post_ops(ops);
      }
      sized.reorder = dnnl::reorder(
          dnnl::reorder::primitive_desc(Engine(), out ? sized.weight : sized.plain_weight, Engine(),
                                        out ? sized.plain_weight : sized.weight, attr));
      scratch_bytes_ = std::max(scratch_bytes_, Aligned(sized.scratch.get_size()));
      weight_bytes_ = std::max(weight_bytes_, Aligned(sized.weight.get_size()));
      sized_.emplace_back(e, std::make_unique<const Sized>(std::move(sized)));
    } catch (const dnnl::error& error) {
      return absl::UnimplementedError(absl::StrCat("oneDNN: ", error.what()));
    }
    return sized_.back().second.get();
  }

  const ConvolutionProduct p_;
  const Options options_;
  std::vector<Part> parts_;
  int64_t images_per_part_ = 1;
  int64_t scratch_bytes_ = 0;  // of a part
  int64_t weight_bytes_ = 0;   // in oneDNN's order
  std::vector<std::pair<Extent, std::unique_ptr<const Sized>>> sized_;
};

void Execute(const dnnl::primitive& primitive,
             std::initializer_list<std::pair<const int, memory>> args) {
  primitive.execute(ThisThreadsStream(), std::unordered_map<int, memory>(args));
}

// kMap and kImage: first the weight is brought into order, then each part is computed. A part has
// several images only where it has all channels, so that it is one piece of each array.
class ActivationProduct : public OneDnnProduct {
 public:
  using OneDnnProduct::OneDnnProduct;

  absl::Status Init() {
    const int64_t wanted = WantedParts();
    const int64_t image_parts = std::min(p_.batch, wanted);
    const int64_t images = CeilDiv(p_.batch, image_parts);
    absl::Status status =
        Cut(images, images == 1
                        ? ChannelsPerPart(CeilDiv(std::min(wanted, kMaxPartsByChannels), p_.batch))
                        : channels());
    if (!status.ok()) return status;
    parts_per_slice_ = CeilDiv(p_.batch, images);
    const auto slices = static_cast<int64_t>(parts_.size()) / parts_per_slice_;
    weights_bytes_ = slices * weight_bytes_;
    const bool in_place = options_.result == Result::kMap || !(options_.add || unblocks());
    image_bytes_ =
        in_place ? 0 : Aligned(static_cast<size_t>(p_.batch * image_step()) * sizeof(float));
    scaled_bytes_ = options_.scales
                        ? Aligned(static_cast<size_t>(p_.groups * p_.weight_step()) * sizeof(float))
                        : 0;
    workspace_bytes_ = weights_bytes_ + image_bytes_ + scaled_bytes_ +
                       static_cast<int64_t>(parts_.size()) * scratch_bytes_;
    return absl::OkStatus();
  }

  void Run(const Arrays& arrays, char* workspace) const override {
    const auto slices = static_cast<int64_t>(parts_.size()) / parts_per_slice_;
    char* const apart = workspace + weights_bytes_;
    char* const scaled = apart + image_bytes_;
    char* const scratch = scaled + scaled_bytes_;
    ParallelForPieces(slices, 1, 1, [&](int64_t begin, int64_t end) {
      const OneDnnOnThisThread this_thread;
      for (int64_t i = begin; i < end; ++i) {
        const Part& part = parts_[i * parts_per_slice_];
        float* weight = arrays.weight + weight_offset(part);
        if (options_.scales) {
          weight = Scale(part, weight, arrays.scales, reinterpret_cast<float*>(scaled));
        }
        Execute(part.sized->reorder,
                {{DNNL_ARG_FROM, At(part.sized->plain_weight, weight)},
                 {DNNL_ARG_TO, At(part.sized->weight, workspace + i * weight_bytes_)}});
      }
    });
    Arrays own = arrays;
    if (image_bytes_ > 0) own.image = reinterpret_cast<float*>(apart);
    ParallelForPieces(static_cast<int64_t>(parts_.size()), 1, 1, [&](int64_t begin, int64_t end) {
      const OneDnnOnThisThread this_thread;
      for (int64_t i = begin; i < end; ++i) {
        RunPart(parts_[i], own, workspace + i / parts_per_slice_ * weight_bytes_,
                scratch + i * scratch_bytes_);
      }
    });
    if (unblocks()) {
      StoreUnblocked(own.image, arrays.image);
    } else if (image_bytes_ > 0) {
      ParallelFor(p_.batch * image_step(), 16384, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) arrays.image[i] += own.image[i];
      });
    }
  }

 protected:
  Sized MakeSized(const Descs& d, const ForwardDesc& forward) const override {
    Sized s;
    if (options_.result == Result::kMap) {
      s.primitive = dnnl::convolution_forward(forward);
      s.image = forward.src_desc();
      s.weight = forward.weights_desc();
      s.map = forward.dst_desc();
      s.bias = forward.bias_desc();
      s.scratch = forward.scratchpad_desc();
      return s;
    }
    const DataDesc data = DataDescOf(d, forward);
    s.primitive = dnnl::convolution_backward_data(data);
    s.image = data.diff_src_desc();
    s.weight = data.weights_desc();
    s.map = data.diff_dst_desc();
    s.scratch = data.scratchpad_desc();
    return s;
  }

 private:
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

  // The first of a part's filters, over all groups.
  int64_t FirstFilter(const Part& part) const {
    return p_.groups > 1 ? part.channel * p_.filters : part.channel;
  }

  // The part's filters of `weight` times their scales, in their place of `scaled`.
  float* Scale(const Part& part, const float* weight, const float* scales, float* scaled) const {
    const int64_t size = p_.g.rows();
    const int64_t first = FirstFilter(part);
    scaled += first * size;
    for (int64_t k = 0; k < part.extent.groups * part.extent.filters; ++k) {
      for (int64_t i = k * size; i < (k + 1) * size; ++i) scaled[i] = weight[i] * scales[first + k];
    }
    return scaled;
  }

  void RunPart(const Part& part, const Arrays& arrays, const char* weight, char* scratch) const {
    const Sized& s = *part.sized;
    float* const image = arrays.image + image_offset(part);
    float* const map = arrays.map + map_offset(part);
    if (options_.result == Result::kImage) {
      Execute(s.primitive, {{DNNL_ARG_DIFF_SRC, At(s.image, image)},
                            {DNNL_ARG_WEIGHTS, At(s.weight, weight)},
                            {DNNL_ARG_DIFF_DST, At(s.map, map)},
                            {DNNL_ARG_SCRATCHPAD, At(s.scratch, scratch)}});
    } else if (options_.bias) {
      Execute(s.primitive, {{DNNL_ARG_SRC, At(s.image, image)},
                            {DNNL_ARG_WEIGHTS, At(s.weight, weight)},
                            {DNNL_ARG_BIAS, At(s.bias, arrays.bias + FirstFilter(part))},
                            {DNNL_ARG_DST, At(s.map, map)},
                            {DNNL_ARG_SCRATCHPAD, At(s.scratch, scratch)}});
    } else {
      Execute(s.primitive, {{DNNL_ARG_SRC, At(s.image, image)},
                            {DNNL_ARG_WEIGHTS, At(s.weight, weight)},
                            {DNNL_ARG_DST, At(s.map, map)},
                            {DNNL_ARG_SCRATCHPAD, At(s.scratch, scratch)}});
    }
  }

  int64_t parts_per_slice_ = 1;  // of those with the same channels
  int64_t weights_bytes_ = 0;
  int64_t image_bytes_ = 0;   // of an image that is computed apart from its array
  int64_t scaled_bytes_ = 0;  // of a weight with its scales
};

// kWeight: a sum over the batch. A large weight is cut into parts by filters, for each of which the
// map's channels are copied together; a small one is computed for some images at a time, and the
// results are added in order.
class WeightProduct : public OneDnnProduct {
 public:
  using OneDnnProduct::OneDnnProduct;

  absl::Status Init() {
    const int64_t weight = p_.groups * p_.weight_step();
    const int64_t map = p_.batch * p_.groups * p_.map_step();
    const int64_t image_parts = std::min({p_.batch, WantedParts(), map / weight});
    by_images_ = image_parts > 1;
    absl::Status status =
        by_images_ ? Cut(CeilDiv(p_.batch, image_parts), channels())
                   : Cut(p_.batch, ChannelsPerPart(std::min(WantedParts(), kMaxPartsByChannels)));
    if (!status.ok()) return status;
    const auto parts = static_cast<int64_t>(parts_.size());
    gathers_ = !by_images_ && p_.batch > 1 && parts > 1;
    // The first part is the largest.
    map_bytes_ = gathers_ ? Aligned(parts_[0].sized->map.get_size()) : 0;
    image_bytes_ = gathers_ && p_.groups > 1 ? Aligned(parts_[0].sized->image.get_size()) : 0;
    part_bytes_ = weight_bytes_ + scratch_bytes_ + map_bytes_ + image_bytes_;
    workspace_bytes_ = parts * part_bytes_;
    return absl::OkStatus();
  }

  void Run(const Arrays& arrays, char* workspace) const override {
    const auto parts = static_cast<int64_t>(parts_.size());
    ParallelForPieces(parts, 1, 1, [&](int64_t begin, int64_t end) {
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
  Sized MakeSized(const Descs& d, const ForwardDesc& forward) const override {
    const WeightDesc desc = WeightDescOf(d, options_, forward);
    Sized s;
    s.primitive = dnnl::convolution_backward_weights(desc);
    s.image = desc.src_desc();
    s.weight = desc.diff_weights_desc();
    s.map = desc.diff_dst_desc();
    s.scratch = desc.scratchpad_desc();
    return s;
  }

 private:
  void RunPart(const Part& part, const float* image, const float* map, char* memory) const {
    const Sized& s = *part.sized;
    image += image_offset(part);
    map += map_offset(part);
    char* const scratch = memory + weight_bytes_;
    if (gathers_) {
      map = Gather(part, map, p_.groups * p_.map_step(), s.map, scratch + scratch_bytes_);
      if (p_.groups > 1) {
        image = Gather(part, image, image_step(), s.image, scratch + scratch_bytes_ + map_bytes_);
      }
    }
    Execute(s.primitive, {{DNNL_ARG_SRC, At(s.image, image)},
                          {DNNL_ARG_DIFF_WEIGHTS, At(s.weight, memory)},
                          {DNNL_ARG_DIFF_DST, At(s.map, map)},
                          {DNNL_ARG_SCRATCHPAD, At(s.scratch, scratch)}});
  }

  // The part's channels of all images, `step` elements apart, one behind the other.
  const float* Gather(const Part& part, const float* from, int64_t step, const memory::desc& desc,
                      char* memory) const {
    auto* const to = reinterpret_cast<float*>(memory);
    const auto each = static_cast<int64_t>(desc.get_size() / sizeof(float)) / part.extent.images;
    for (int64_t n = 0; n < part.extent.images; ++n) {
      std::copy_n(from + n * step, each, to + n * each);
    }
    return to;
  }

  void WriteWeight(const Part& part, const char* from, float* weight) const {
    Execute(part.sized->reorder,
            {{DNNL_ARG_FROM, At(part.sized->weight, from)},
             {DNNL_ARG_TO, At(part.sized->plain_weight, weight + weight_offset(part))}});
  }

  bool by_images_ = false;
  bool gathers_ = false;
  int64_t map_bytes_ = 0;
  int64_t image_bytes_ = 0;
  int64_t part_bytes_ = 0;
};

template <typename P>
absl::StatusOr<std::unique_ptr<const Product>> MakeProduct(const ConvolutionProduct& shape,
                                                           const Options& options) {
  auto product = std::make_unique<P>(shape, options);
  const OneDnnOnThisThread this_thread;
  absl::Status status = product->Init();
  if (!status.ok()) return status;
  return product;
}

}  // namespace

int OneDnnChannelBlock() {
  static const int block = [] {
    const auto isa = dnnl::get_effective_cpu_isa();
    return (static_cast<int>(isa) & static_cast<int>(dnnl::cpu_isa::avx512_core)) ==
                   static_cast<int>(dnnl::cpu_isa::avx512_core)
               ? 16
               : 8;
  }();
  return block;
}

absl::Status CheckChannelBlock(int64_t block) {
  if (block == OneDnnChannelBlock()) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("blocks of ", block, " channels; this processor has ", OneDnnChannelBlock()));
}

Shape PlainImage(const Shape& shape) {
  const int last = shape.rank() - 1;
  Shape plain(shape.dims().first(last));
  plain[1] *= shape[last];
  return plain;
}

bool BlockedProduct::IsFast(const ConvolutionProduct& shape, const Options& options) {
  const OneDnnOnThisThread this_thread;
  try {
    const Descs d(shape, {1, shape.groups, shape.g.channels, shape.filters});
    const ForwardDesc forward = ForwardDescOf(d, options);
    const std::string name = options.result == Result::kMap ? forward.impl_info_str()
                             : options.result == Result::kImage
                                 ? DataDescOf(d, forward).impl_info_str()
                                 : WeightDescOf(d, options, forward).impl_info_str();
    return absl::StartsWith(name, "jit");
  } catch (const dnnl::error&) {
    return false;
  }
}

absl::StatusOr<std::unique_ptr<const BlockedProduct>> BlockedProduct::Make(
    const ConvolutionProduct& shape, const Options& options) {
  if (options.result == Result::kWeight) return MakeProduct<WeightProduct>(shape, options);
  return MakeProduct<ActivationProduct>(shape, options);
}

}  // namespace cooper
