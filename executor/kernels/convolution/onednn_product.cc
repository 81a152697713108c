#include "executor/kernels/convolution/onednn_product.h"

#include "absl/strings/str_cat.h"

namespace cooper {

absl::Status OneDnnProduct::Cut(int64_t images, int64_t per_part) {
  const int64_t image_parts = CeilDiv(p_.batch, images);
  const int64_t slices = CeilDiv(channels(), per_part);
  const int64_t image_elements = p_.batch * p_.groups * (p_.image_step() + p_.map_step());
  const bool images_outermost = image_elements > p_.groups * p_.weight_step();
  for (int64_t i = 0; i < image_parts * slices; ++i) {
    const int64_t slice = images_outermost ? i % slices : i / image_parts;
    const int64_t n = images * (images_outermost ? i / slices : i % image_parts);
    const int64_t c = slice * per_part, count = std::min(per_part, channels() - c);
    ConvolutionExtent e{std::min(images, p_.batch - n), p_.groups, p_.g.channels, p_.filters};
    (p_.groups > 1 ? e.groups : options_.result == Result::kImage ? e.channels : e.filters) = count;
    absl::StatusOr<const SizedProduct*> sized = SizedOf(e);
    if (!sized.ok()) return sized.status();
    parts_.push_back({.image = n, .channel = c, .slice = slice, .extent = e, .sized = *sized});
  }
  return absl::OkStatus();
}

absl::StatusOr<const SizedProduct*> OneDnnProduct::SizedOf(const ConvolutionExtent& e) {
  for (const auto& [extent, sized] : sized_) {
    if (extent.images == e.images && extent.groups == e.groups && extent.channels == e.channels &&
        extent.filters == e.filters) {
      return sized.get();
    }
  }
  try {
    const ConvolutionDescs d(p_, e);
    SizedProduct sized = MakeSized(d, ForwardDescOf(d, options_));
    sized.plain_weight = d.PlainWeight();
    const bool out = options_.result == Result::kWeight;
    dnnl::primitive_attr attr;
    if (out && options_.add) {
      dnnl::post_ops ops;
      ops.append_sum(1);
      attr.set_post_ops(ops);
    }
    sized.reorder = dnnl::reorder(dnnl::reorder::primitive_desc(
        OneDnnEngine(), out ? sized.weight : sized.plain_weight, OneDnnEngine(),
        out ? sized.plain_weight : sized.weight, attr));
    scratch_bytes_ = std::max(scratch_bytes_, AlignedBytes(sized.scratch.get_size()));
    weight_bytes_ = std::max(weight_bytes_, AlignedBytes(sized.weight.get_size()));
    sized_.emplace_back(e, std::make_unique<const SizedProduct>(std::move(sized)));
  } catch (const dnnl::error& error) {
    return absl::UnimplementedError(absl::StrCat("oneDNN: ", error.what()));
  }
  return sized_.back().second.get();
}

}  // namespace cooper
