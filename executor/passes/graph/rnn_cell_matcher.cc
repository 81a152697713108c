#include "executor/passes/graph/rnn_cell_matcher.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "symbol/ops/elemwise/activation_param.h"
#include "symbol/ops/elemwise/scalar_param.h"
#include "symbol/ops/shape/split_param.h"
#include "symbol/schema/is_op.h"

namespace cooper {
namespace {

class Matcher {
 public:
  explicit Matcher(const GraphFacts& facts) : facts_(facts) {}

  // Returns the step whose h is node `i`, if there is one.
  std::optional<RNNCellMatch> At(int i) {
    const Node& node = facts_.node(i);
    if (node.is_variable() || node.num_outputs() != 1) return std::nullopt;
    const NodeEntry h{facts_.owner(i), 0};
    const DType type = facts_.type(h);
    if (facts_.shape(h).rank() != 2 || (type != DType::kFloat32 && type != DType::kFloat64)) {
      return std::nullopt;
    }
    for (auto match : {&Matcher::Lstm, &Matcher::Gru, &Matcher::Plain}) {
      cell_ = {};
      cell_.h = h;
      cell_.hidden = facts_.shape(h)[1];
      if ((this->*match)(i)) return cell_;
    }
    return std::nullopt;
  }

 private:
  // Adds a node to the step. Requires that `e` has `users` users in all, which are the step's own.
  bool Take(const NodeEntry& e, size_t users = 1) {
    if (facts_.is_output(e) || facts_.uses(e).size() != users) return false;
    cell_.nodes.push_back(facts_.index(e));
    return true;
  }

  // Gets the operands of a sum or product of two arrays of one shape.
  bool Operands(const NodeEntry& e, const char* op, NodeEntry* a, NodeEntry* b) const {
    if (!IsOp(*e.node, op)) return false;
    *a = e.node->inputs()[0];
    *b = e.node->inputs()[1];
    return true;
  }

  // Gets the argument of a function, which may be an operator of its own or an Activation.
  bool Function(const NodeEntry& e, ActivationType type, const char* op,
                NodeEntry* argument) const {
    const Node& node = *e.node;
    if (!IsOp(node, op) &&
        !(IsOp(node, "Activation") && node.call().param<ActivationParam>().act_type == type)) {
      return false;
    }
    *argument = node.inputs()[0];
    return true;
  }
  bool Sigmoid(const NodeEntry& e, NodeEntry* argument) const {
    return Function(e, ActivationType::kSigmoid, "sigmoid", argument);
  }
  bool Tanh(const NodeEntry& e, NodeEntry* argument) const {
    return Function(e, ActivationType::kTanh, "tanh", argument);
  }

  // Returns whether `e` is part `index` of `parts` equal parts of the features of `*whole`.
  bool Part(const NodeEntry& e, int parts, int index, NodeEntry* whole) const {
    if (!IsOp(*e.node, "SliceChannel") || e.index != index) return false;
    const auto& param = e.node->call().param<SliceChannelParam>();
    *whole = e.node->inputs()[0];
    return param.num_outputs == parts && !param.squeeze_axis &&
           (param.axis == 1 || param.axis == -1) && facts_.shape(*whole).rank() == 2;
  }

  bool Product(const NodeEntry& e, RNNCellMatch::Product* product) {
    if (!IsOp(*e.node, "FullyConnected") || e.node->inputs().size() != 3 || !Take(e)) return false;
    product->data = e.node->inputs()[0];
    product->weight = e.node->inputs()[1];
    product->bias = e.node->inputs()[2];
    const Shape& data = facts_.shape(product->data);
    return data.rank() == 2 && data.num_elements() > 0;
  }

  // The weight of the state's product has a square block for each gate.
  bool CanBeState(const RNNCellMatch::Product& product) const {
    return facts_.shape(product.weight)[1] == cell_.hidden;
  }

  // Matches a sum of two products. The second one has the state, as in the cells, unless its shape
  // excludes that.
  bool TwoProducts(const NodeEntry& sum) {
    NodeEntry a, b;
    if (!Operands(sum, "elemwise_add", &a, &b) || !Take(sum)) return false;
    if (!Product(a, &cell_.i2h) || !Product(b, &cell_.h2h)) return false;
    if (!CanBeState(cell_.h2h)) std::swap(cell_.i2h, cell_.h2h);
    return CanBeState(cell_.h2h);
  }

  // Tries both orders of the operands of a sum or product.
  template <typename Try>
  bool EitherWay(const NodeEntry& e, const char* op, const Try& attempt) {
    NodeEntry a, b;
    if (!Operands(e, op, &a, &b)) return false;
    const RNNCellMatch before = cell_;
    if (attempt(a, b)) return true;
    cell_ = before;
    if (attempt(b, a)) return true;
    cell_ = before;
    return false;
  }

  // Matches h = o tanh(c).
  bool Lstm(int i) {
    cell_.mode = RNNMode::kLstm;
    cell_.nodes = {i};
    NodeEntry gates;
    return EitherWay(cell_.h, "elemwise_mul", [&](const NodeEntry& o, const NodeEntry& squashed) {
      NodeEntry o_part;
      return Sigmoid(o, &o_part) && Take(o) && Part(o_part, 4, 3, &gates) && UsedOnce(o_part) &&
             Tanh(squashed, &cell_.c) && Take(squashed) && CellState(gates) && Sum(o_part, gates);
    });
  }

  // Matches c = f c_prev + i g.
  bool CellState(const NodeEntry& gates) {
    cell_.nodes.push_back(facts_.index(cell_.c));
    return EitherWay(cell_.c, "elemwise_add", [&](const NodeEntry& kept, const NodeEntry& added) {
      return Take(kept) && Take(added) &&
             EitherWay(kept, "elemwise_mul",
                       [&](const NodeEntry& f, const NodeEntry& c_prev) {
                         cell_.c_prev = c_prev;
                         return Gate(f, 1, gates, /*is_tanh=*/false);
                       }) &&
             EitherWay(added, "elemwise_mul", [&](const NodeEntry& in, const NodeEntry& g) {
               return Gate(in, 0, gates, /*is_tanh=*/false) && Gate(g, 2, gates, /*is_tanh=*/true);
             });
    });
  }

  // Returns whether `e` is the activated gate `index` of an lstm.
  bool Gate(const NodeEntry& e, int index, const NodeEntry& gates, bool is_tanh) {
    NodeEntry part, whole;
    return (is_tanh ? Tanh(e, &part) : Sigmoid(e, &part)) && Take(e) &&
           Part(part, 4, index, &whole) && whole == gates && UsedOnce(part);
  }

  // Matches the node that splits the sum into gates, and the operands of the sum.
  bool Sum(const NodeEntry& part, const NodeEntry& gates) {
    cell_.nodes.push_back(facts_.index(part));
    return TwoProducts(gates);
  }

  bool UsedOnce(const NodeEntry& e) const {
    return facts_.uses(e).size() == 1 && !facts_.is_output(e);
  }

  // Matches h = (1 - z) n + z h_prev.
  bool Gru(int i) {
    cell_.mode = RNNMode::kGru;
    cell_.nodes = {i};
    return EitherWay(cell_.h, "elemwise_add", [&](const NodeEntry& added, const NodeEntry& kept) {
      return Take(added) && Take(kept) &&
             EitherWay(added, "elemwise_mul",
                       [&](const NodeEntry& rest, const NodeEntry& candidate) {
                         return EitherWay(kept, "elemwise_mul",
                                          [&](const NodeEntry& z, const NodeEntry& h_prev) {
                                            return OneMinus(rest, z) && Update(z) &&
                                                   Candidate(candidate) && cell_.h2h.data == h_prev;
                                          });
                       });
    });
  }

  bool OneMinus(const NodeEntry& e, const NodeEntry& z) {
    return IsOp(*e.node, "_rminus_scalar") && e.node->call().param<ScalarParam>().scalar == 1 &&
           e.node->inputs()[0] == z && Take(e);
  }

  // Matches z = sigmoid(x1 + h1). The candidate tells which of the two parts has the state.
  bool Update(const NodeEntry& z) {
    NodeEntry sum;
    return Sigmoid(z, &sum) && Take(z, 2) && Operands(sum, "elemwise_add", &z_[0], &z_[1]) &&
           Take(sum) && UsedOnce(z_[0]) && UsedOnce(z_[1]);
  }

  // Matches n = tanh(x2 + r h2), r = sigmoid(x0 + h0).
  bool Candidate(const NodeEntry& n) {
    NodeEntry sum;
    if (!Tanh(n, &sum) || !Take(n) || !Take(sum)) return false;
    return EitherWay(sum, "elemwise_add", [&](const NodeEntry& x2, const NodeEntry& remembered) {
      return Take(remembered) &&
             EitherWay(remembered, "elemwise_mul", [&](const NodeEntry& r, const NodeEntry& h2) {
               NodeEntry r_sum;
               return Sigmoid(r, &r_sum) && Take(r) && Take(r_sum) &&
                      EitherWay(r_sum, "elemwise_add",
                                [&](const NodeEntry& x0, const NodeEntry& h0) {
                                  return Thirds(x0, x2, &cell_.i2h) && Thirds(h0, h2, &cell_.h2h) &&
                                         CanBeState(cell_.h2h);
                                });
             });
    });
  }

  // Matches parts 0 and 2 of one product whose part 1 is a summand of z.
  bool Thirds(const NodeEntry& part0, const NodeEntry& part2, RNNCellMatch::Product* product) {
    NodeEntry whole;
    const NodeEntry& part1 = z_[z_[0].node == part0.node ? 0 : 1];
    if (!Part(part0, 3, 0, &whole) || !Part(part1, 3, 1, &whole) || !Part(part2, 3, 2, &whole) ||
        part1.node != part0.node || part2.node != part0.node || !UsedOnce(part0) ||
        !UsedOnce(part2)) {
      return false;
    }
    cell_.nodes.push_back(facts_.index(part0));
    return Product(whole, product);
  }

  // Matches h = tanh(sum) or relu(sum).
  bool Plain(int i) {
    cell_.nodes = {i};
    NodeEntry sum;
    if (Tanh(cell_.h, &sum)) {
      cell_.mode = RNNMode::kRnnTanh;
    } else if (Function(cell_.h, ActivationType::kRelu, "relu", &sum)) {
      cell_.mode = RNNMode::kRnnRelu;
    } else {
      return false;
    }
    return TwoProducts(sum);
  }

  const GraphFacts& facts_;
  RNNCellMatch cell_;
  NodeEntry z_[2];
};

}  // namespace

std::vector<RNNCellMatch> FindRNNCells(const GraphFacts& facts) {
  Matcher matcher(facts);
  std::vector<RNNCellMatch> cells;
  std::vector<bool> taken(facts.graph().num_nodes(), false);
  for (int i = 0; i < facts.graph().num_nodes(); ++i) {
    std::optional<RNNCellMatch> cell = matcher.At(i);
    if (!cell.has_value()) continue;
    const auto& nodes = cell->nodes;
    if (std::any_of(nodes.begin(), nodes.end(), [&](int n) { return taken[n]; })) continue;
    for (int n : nodes) taken[n] = true;
    cells.push_back(*std::move(cell));
  }
  return cells;
}

}  // namespace cooper
