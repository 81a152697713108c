#include "executor/passes/graph/padded_channels.h"

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "executor/passes/graph/filter_norms.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "symbol/ops/elemwise/activation_param.h"
#include "symbol/ops/nn/convolution_param.h"
#include "symbol/ops/nn/window_param.h"
#include "symbol/schema/is_op.h"

namespace cooper {
namespace {

class ImageChooser {
 public:
  ImageChooser(const GraphFacts& facts, int64_t block)
      : facts_(facts), block_(block), padded_(facts.graph().num_nodes()) {}

  std::vector<bool> Run() {
    for (int i = 0; i < static_cast<int>(padded_.size()); ++i) padded_[i] = CanPad(i);
    // An image stays padded only if all of its readers accept padding, and a sum only if its
    // operands are padded.
    for (bool changed = true; changed;) {
      changed = false;
      for (int i = 0; i < static_cast<int>(padded_.size()); ++i) {
        if (!padded_[i] || (CanPad(i) && IsReadPadded(i))) continue;
        padded_[i] = false;
        changed = true;
      }
    }
    return padded_;
  }

 private:
  NodeEntry Output(int i) const { return {facts_.owner(i), 0}; }

  bool ArePadded(absl::Span<const NodeEntry> entries) const {
    return absl::c_all_of(entries, [this](const NodeEntry& entry) {
      return entry.index == 0 && padded_[facts_.index(entry)];
    });
  }

  bool AreConstant(absl::Span<const NodeEntry> entries) const {
    return absl::c_all_of(entries,
                          [this](const NodeEntry& entry) { return facts_.is_constant(entry); });
  }

  // Returns whether an image has whole blocks, perhaps by padding.
  bool HasBlocks(const NodeEntry& entry) const {
    return facts_.shape(entry)[1] % block_ == 0 || ArePadded({&entry, 1});
  }

  // Returns whether node `i` is a convolution whose filters and channels can be padded.
  bool IsConvolution(int i) const {
    const Node& node = facts_.node(i);
    if (node.is_variable() || !(IsOp(node, "Convolution") || IsOp(node, "Convolution_v1"))) {
      return false;
    }
    const auto& param = node.call().param<ConvolutionParam>();
    return param.num_group == 1 && !ChannelsLast(param.layout) &&
           facts_.type(Output(i)) == DType::kFloat32 &&
           AreConstant(absl::MakeConstSpan(node.inputs()).subspan(1));
  }

  static bool IsReluOrClip(const Node& node) {
    if (IsOp(node, "Activation")) {
      return node.call().param<ActivationParam>().act_type == ActivationType::kRelu;
    }
    return IsOp(node, "clip");
  }

  // Returns whether node `i` computes an image that may be padded, if its inputs are.
  bool CanPad(int i) const {
    const Node& node = facts_.node(i);
    if (node.is_variable()) return false;
    const Shape& shape = facts_.shape(Output(i));
    if (shape.rank() < 3 || shape.rank() > 5 || shape.num_elements() == 0) return false;
    const int64_t padded = PaddedCount(shape[1], block_);
    if (padded == shape[1] || 3 * padded > 4 * shape[1]) return false;
    const absl::Span<const NodeEntry> inputs = node.inputs();
    if (IsConvolution(i)) {  // with blocks, or the network's first
      return HasBlocks(inputs[0]) || facts_.shape(inputs[0])[1] < block_;
    }
    if (NormalizesChannels(facts_, i)) {
      // BlockChannels fuses it into the convolution before it.
      return ArePadded(inputs.first(1)) && IsConvolution(facts_.index(inputs[0])) &&
             facts_.uses(inputs[0]).size() == 1 && AreConstant(inputs.subspan(1));
    }
    if (IsOp(node, "elemwise_add") || IsOp(node, "broadcast_add")) {
      return ArePadded(inputs) && facts_.shape(inputs[0]) == facts_.shape(inputs[1]);
    }
    return IsReluOrClip(node) && ArePadded(inputs);
  }

  // Returns whether all readers of the image of node `i` read it padded.
  bool IsReadPadded(int i) const {
    if (facts_.is_output(Output(i))) return false;
    return absl::c_all_of(facts_.uses(Output(i)), [this](const GraphFacts::Use& use) {
      const bool reads = use.input == 0 && IsConvolution(use.node) && HasBlocks(Output(use.node));
      return reads || padded_[use.node];
    });
  }

  const GraphFacts& facts_;
  const int64_t block_;
  std::vector<bool> padded_;
};

}  // namespace

std::vector<bool> PaddedImages(const GraphFacts& facts, int64_t block) {
  if (facts.has_gradients()) return std::vector<bool>(facts.graph().num_nodes());
  return ImageChooser(facts, block).Run();
}

}  // namespace cooper
