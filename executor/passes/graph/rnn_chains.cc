#include "executor/passes/graph/rnn_chains.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace cooper {
namespace {

class Chaining {
 public:
  Chaining(const GraphFacts& facts, std::vector<RNNCellMatch>& cells)
      : facts_(facts), cells_(cells), next_(cells.size(), -1), has_previous_(cells.size(), false) {}

  std::vector<RNNChain> Run() {
    absl::flat_hash_map<const Node*, int> by_h;
    for (size_t i = 0; i < cells_.size(); ++i) by_h[cells_[i].h.node.get()] = static_cast<int>(i);
    // Tries the products as matched first: layers with equal weights could be mistaken for steps.
    for (const auto product : {&RNNCellMatch::h2h, &RNNCellMatch::i2h}) {
      for (size_t i = 0; i < cells_.size(); ++i) {
        if (has_previous_[i]) continue;
        const NodeEntry state = (cells_[i].*product).data;
        const auto previous = by_h.find(state.node.get());
        if (previous != by_h.end()) Link(previous->second, static_cast<int>(i), state);
      }
    }
    std::vector<RNNChain> chains;
    for (size_t i = 0; i < cells_.size(); ++i) {
      if (has_previous_[i]) continue;
      RNNChain chain;
      for (int k = static_cast<int>(i); k >= 0; k = next_[k]) chain.push_back(k);
      Split(chain, &chains);
    }
    return chains;
  }

 private:
  // Makes cell `b` the successor of cell `a` if it can be. `state` is the h of `a` and the data of
  // one of b's products.
  void Link(int a, int b, const NodeEntry& state) {
    RNNCellMatch& before = cells_[a];
    RNNCellMatch& after = cells_[b];
    if (next_[a] >= 0 || before.mode != after.mode || before.hidden != after.hidden) return;
    if (before.mode == RNNMode::kLstm && !LeadsOnlyTo(before.c, after)) return;
    const bool swap_after = !(state == after.h2h.data);
    // If the step has a successor, that one has determined its sides.
    if (swap_after && (after.mode == RNNMode::kGru || after.sides_known)) return;
    const auto& i2h = swap_after ? after.h2h : after.i2h;
    const auto& h2h = swap_after ? after.i2h : after.h2h;
    const bool swap_before = !SameWeights(before.h2h, h2h);
    if (swap_before) {
      // The first step of a chain cannot know its sides before.
      if (before.sides_known || before.mode == RNNMode::kGru) return;
      if (!SameWeights(before.i2h, h2h) || !SameWeights(before.h2h, i2h)) return;
      std::swap(before.i2h, before.h2h);
    } else if (!SameWeights(before.i2h, i2h)) {
      return;
    }
    if (swap_after) std::swap(after.i2h, after.h2h);
    before.sides_known = after.sides_known = true;
    next_[a] = b;
    has_previous_[b] = true;
  }

  // Returns whether only the own step's tanh and the step `after` use a cell state.
  bool LeadsOnlyTo(const NodeEntry& c, const RNNCellMatch& after) const {
    return c == after.c_prev && facts_.uses(c).size() == 2 && !facts_.is_output(c);
  }

  // Splits a chain before each step whose data depends on a step of the same part.
  void Split(const RNNChain& chain, std::vector<RNNChain>* chains) const {
    // The products of a step's data may be anywhere before its h.
    int begin = facts_.graph().num_nodes();
    for (int cell : chain) {
      for (int node : cells_[cell].nodes) begin = std::min(begin, node);
    }
    const int end = facts_.index(cells_[chain.back()].h) + 1;
    // The last step of the chain that a node depends on; -1 for none.
    std::vector<int> depends(end - begin, -1);
    for (size_t k = 0; k < chain.size(); ++k) {
      for (int node : cells_[chain[k]].nodes) depends[node - begin] = static_cast<int>(k);
    }
    for (int i = begin; i < end; ++i) {
      for (const NodeEntry& input : facts_.node(i).inputs()) {
        const int from = facts_.index(input);
        if (from < begin) continue;
        depends[i - begin] = std::max(depends[i - begin], depends[from - begin]);
      }
    }
    RNNChain piece;
    int piece_begin = 0;
    for (size_t k = 0; k < chain.size(); ++k) {
      const int data = facts_.index(cells_[chain[k]].i2h.data);
      if (!piece.empty() && data >= begin && depends[data - begin] >= piece_begin) {
        chains->push_back(std::exchange(piece, {}));
        piece_begin = static_cast<int>(k);
      }
      piece.push_back(chain[k]);
    }
    chains->push_back(std::move(piece));
  }

  const GraphFacts& facts_;
  std::vector<RNNCellMatch>& cells_;
  std::vector<int> next_;  // the successor of each cell; -1: none
  std::vector<bool> has_previous_;
};

}  // namespace

std::vector<RNNChain> ChainRNNCells(const GraphFacts& facts, std::vector<RNNCellMatch>& cells) {
  return Chaining(facts, cells).Run();
}

}  // namespace cooper
