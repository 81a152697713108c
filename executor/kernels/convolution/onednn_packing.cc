#include "executor/kernels/convolution/onednn_packing.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace cooper {

namespace {

using Dims = dnnl::memory::dims;

// The fields of a description with a blocked layout.
struct BlockedLayout {
  Dims dims, padded_dims, padded_offsets, strides, block_axes, block_sizes;
};

// Returns nullopt for other layouts, and for arrays with offsets.
std::optional<BlockedLayout> BlockedLayoutOf(const dnnl::memory::desc& desc) {
#if DNNL_VERSION_MAJOR >= 3
  if (desc.get_format_kind() != dnnl::memory::format_kind::blocked ||
      desc.get_data_type() != dnnl::memory::data_type::f32 || desc.get_submemory_offset() != 0) {
    return std::nullopt;
  }
  return BlockedLayout{.dims = desc.get_dims(),
                       .padded_dims = desc.get_padded_dims(),
                       .padded_offsets = desc.get_padded_offsets(),
                       .strides = desc.get_strides(),
                       .block_axes = desc.get_inner_idxs(),
                       .block_sizes = desc.get_inner_blks()};
#else
  const dnnl_memory_desc_t& d = desc.data;
  if (d.format_kind != dnnl_blocked || d.data_type != dnnl_f32 || d.offset0 != 0 ||
      d.extra.flags != dnnl_memory_extra_flag_none) {
    return std::nullopt;
  }
  const dnnl_blocking_desc_t& blocks = d.format_desc.blocking;
  return BlockedLayout{
      .dims = Dims(d.dims, d.dims + d.ndims),
      .padded_dims = Dims(d.padded_dims, d.padded_dims + d.ndims),
      .padded_offsets = Dims(d.padded_offsets, d.padded_offsets + d.ndims),
      .strides = Dims(blocks.strides, blocks.strides + d.ndims),
      .block_axes = Dims(blocks.inner_idxs, blocks.inner_idxs + blocks.inner_nblks),
      .block_sizes = Dims(blocks.inner_blks, blocks.inner_blks + blocks.inner_nblks)};
#endif
}

}  // namespace

std::optional<PackedWeightParam> PackingOf(const dnnl::memory::desc& desc) {
  const std::optional<BlockedLayout> layout = BlockedLayoutOf(desc);
  if (!layout.has_value()) return std::nullopt;
  const BlockedLayout& d = *layout;
  PackedWeightParam packing;
  packing.shape = d.dims;
  packing.slice = d.dims[0];
  packing.block_axes = d.block_axes;
  packing.block_sizes = d.block_sizes;
  packing.outer.resize(d.dims.size());
  std::iota(packing.outer.begin(), packing.outer.end(), 0);
  std::stable_sort(packing.outer.begin(), packing.outer.end(),
                   [&](int64_t a, int64_t b) { return d.strides[a] > d.strides[b]; });
  int64_t stride = 1;
  for (const int64_t size : packing.block_sizes) stride *= size;
  for (auto axis = packing.outer.rbegin(); axis != packing.outer.rend(); ++axis) {
    const int64_t block = packing.BlockOf(*axis);
    if (d.padded_offsets[*axis] != 0 ||
        d.padded_dims[*axis] != (d.dims[*axis] + block - 1) / block * block) {
      return std::nullopt;
    }
    const int64_t count = d.padded_dims[*axis] / block;
    if (count > 1 && d.strides[*axis] != stride) return std::nullopt;
    stride *= count;
  }
  return packing;
}

#if DNNL_VERSION_MAJOR >= 3

// oneDNN 3 does not expose the layout of such weights, so they cannot be packed ahead.

std::optional<WinogradWeightParam> WinogradPackingOf(const dnnl::memory::desc&) {
  return std::nullopt;
}

dnnl::memory::desc WinogradSlice(const WinogradWeightParam&) {
  throw dnnl::error(dnnl_unimplemented, "oneDNN 3 does not expose the layout of Winograd weights");
}

#else

std::optional<WinogradWeightParam> WinogradPackingOf(const dnnl::memory::desc& desc) {
  const dnnl_memory_desc_t& d = desc.data;
  if (d.format_kind != dnnl_format_kind_wino || d.data_type != dnnl_f32 || d.ndims != 4) {
    return std::nullopt;
  }
  const dnnl_wino_desc_t& wino = d.format_desc.wino_desc;
  const WinogradWeightParam packing{.filters = d.dims[0],
                                    .channels = d.dims[1],
                                    .slice = d.dims[0],
                                    .format = wino.wino_format,
                                    .alpha = wino.alpha,
                                    .filter_block = wino.oc_block,
                                    .filter_blocks = std::max(wino.oc2_block, 1),
                                    .channel_block = wino.ic_block,
                                    .channel_blocks = std::max(wino.ic2_block, 1)};
  const auto bytes = static_cast<size_t>(packing.slice_elements()) * sizeof(float);
  const bool whole = wino.r == 3 && wino.oc == d.dims[0] && wino.ic == d.dims[1] &&
                     wino.size == bytes && desc.get_size() == bytes;
  // Only these numbers determine the layout.
  return whole && WinogradSlice(packing) == desc ? std::make_optional(packing) : std::nullopt;
}

dnnl::memory::desc WinogradSlice(const WinogradWeightParam& p) {
  dnnl::memory::desc desc({p.slice, p.channels, 3, 3}, dnnl::memory::data_type::f32,
                          dnnl::memory::format_tag::any);
  desc.data.format_kind = dnnl_format_kind_wino;
  dnnl_wino_desc_t& wino = desc.data.format_desc.wino_desc;
  wino = {};
  wino.wino_format = static_cast<dnnl_wino_memory_format_t>(p.format);
  wino.r = 3;
  wino.alpha = static_cast<int>(p.alpha);
  wino.ic = static_cast<int>(p.channels);
  wino.oc = static_cast<int>(p.slice);
  wino.ic_block = static_cast<int>(p.channel_block);
  wino.oc_block = static_cast<int>(p.filter_block);
  wino.ic2_block = static_cast<int>(p.channel_blocks);
  wino.oc2_block = static_cast<int>(p.filter_blocks);
  wino.adj_scale = 1;
  wino.size = static_cast<size_t>(p.slice_elements()) * sizeof(float);
  return desc;
}

#endif

}  // namespace cooper
