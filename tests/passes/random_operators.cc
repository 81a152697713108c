#include "tests/passes/random_operators.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace cooper {
namespace {

GraphValue Elementwise(GraphDraft& g, const GraphValue& value) {
  std::vector<const char*> ops = {"tanh",     "sigmoid",   "_copy",       "square",
                                  "negative", "BlockGrad", "_mul_scalar", "Dropout"};
  if (g.is_double()) ops.insert(ops.end(), {"relu", "abs"});
  const std::string op = g.Pick(ops);
  AttrMap attrs;
  if (op == "_mul_scalar") attrs = {{"scalar", "-0.7"}};
  if (op == "Dropout") attrs = {{"p", "0.3"}};
  const GraphValue result = g.Apply(op.c_str(), {value}, attrs);
  return op == "square" ? g.Apply("tanh", {result}) : result;
}

// Returns a slice of the first axis, contiguous or not.
GraphValue Part(GraphDraft& g, const GraphValue& whole) {
  const int64_t begin = g.Between(0, whole.shape[0] - 1);
  const std::string first = absl::StrCat(begin);
  const std::string end = absl::StrCat(g.Between(begin + 1, whole.shape[0]));
  if (g.Chance(0.6)) {
    return g.Apply("slice_axis", {whole}, {{"axis", "0"}, {"begin", first}, {"end", end}});
  }
  return g.Apply("slice", {whole},
                 {{"begin", absl::StrCat("(", first, ",)")},
                  {"end", absl::StrCat("(", end, ",)")},
                  {"step", absl::StrCat("(", g.Between(1, 2), ",)")}});
}

// Multiplies matrices, transposing one of them if necessary.
GraphValue Multiply(GraphDraft& g, const GraphValue& value) {
  const bool batched = value.shape.rank() > 2;
  const int last = value.shape.rank() - 1;
  const auto transposed = [&](const GraphValue& x) {
    return g.Apply("SwapAxis", {x},
                   {{"dim1", absl::StrCat(last)}, {"dim2", absl::StrCat(last - 1)}});
  };
  // The operands have equal shapes, so one is transposed.
  GraphValue other = g.Chance(0.5) ? value : Elementwise(g, value);
  AttrMap attrs = {{"transpose_b", "True"}};
  if (g.Chance(0.7)) {
    other = transposed(other);
    attrs = {};
  }
  const char* op = g.Chance(0.4) ? "linalg_gemm2" : batched ? "batch_dot" : "dot";
  const GraphValue product = g.Apply(op, {value, other}, attrs);
  return g.Apply("tanh", {g.Chance(0.3) ? transposed(product) : product});
}

std::vector<const char*> PairOps(GraphDraft& g) {
  if (g.is_double()) return {"elemwise_add", "elemwise_sub", "elemwise_mul", "_maximum"};
  return {"elemwise_add", "elemwise_sub", "elemwise_mul"};
}

}  // namespace

void ReuseEntries(GraphDraft& g) {
  const GraphValue value = g.PickValue();
  std::vector<GraphValue> terms;
  for (int64_t i = g.Between(2, 6); i > 0; --i) {
    const double kind = g.random().NextUniform();
    if (kind < 0.3) {
      terms.push_back(value);
    } else if (kind < 0.6) {
      terms.push_back(Elementwise(g, value));
    } else if (kind < 0.8) {
      terms.push_back(g.Apply("elemwise_mul", {value, Elementwise(g, value)}));
    } else {
      terms.push_back(g.Apply("elemwise_sub", {Elementwise(g, value), value}));
    }
  }
  GraphValue sum = terms[0];
  if (g.Chance(0.5)) {
    sum = g.Apply("add_n", terms, {{"num_args", absl::StrCat(terms.size())}});
  } else {
    for (size_t i = 1; i < terms.size(); ++i) sum = g.Apply("elemwise_add", {sum, terms[i]});
  }
  g.Add(g.Apply("tanh", {sum}));
  g.AddResult(g.values().back().symbol);
}

void SplitAndConcat(GraphDraft& g) {
  const Shape shape =
      g.Chance(0.85) ? Shape({g.Between(2, 5), 2, 8}) : Shape({g.Between(2, 3), 40, 64});
  const std::string count = absl::StrCat(shape[0]);
  GraphValue whole = {g.Variable(g.Name("steps"), shape), shape};
  if (g.Chance(0.8)) whole = Elementwise(g, whole);
  std::vector<GraphValue> pieces;
  const double kind = g.random().NextUniform();
  if (kind < 0.4) {
    pieces = g.Outputs("SliceChannel", {whole},
                       {{"num_outputs", count}, {"axis", "0"}, {"squeeze_axis", g.Flag(0.5)}});
  } else if (kind < 0.7) {
    pieces =
        g.Outputs("_split_v2", {whole}, {{"sections", count}, {"indices", "()"}, {"axis", "-3"}});
  } else {
    for (int64_t i = g.Between(1, shape[0]); i > 0; --i) pieces.push_back(Part(g, whole));
  }
  for (GraphValue& piece : pieces) {
    if (g.Chance(0.6)) piece = Elementwise(g, piece);
    if (g.Chance(0.2)) piece = g.Apply("Reshape", {piece}, {{"shape", "(-1, 4, 4)"}});
    if (g.Chance(0.2)) g.Add(piece);
  }
  std::vector<GraphValue> same;
  for (const GraphValue& piece : pieces) {
    if (piece.shape == pieces[0].shape) same.push_back(piece);
  }
  if (g.Chance(0.2)) same.push_back(g.Pick(same));
  const std::string num_args = absl::StrCat(same.size());
  GraphValue joined = g.Chance(0.5)
                          ? g.Apply("Concat", same, {{"dim", "0"}, {"num_args", num_args}})
                          : g.Apply("stack", same, {{"axis", "0"}, {"num_args", num_args}});
  // Adds slices that overlap the whole.
  if (g.Chance(0.3)) g.Add(Elementwise(g, Part(g, joined)));
  if (g.Chance(0.3)) {
    const int64_t end = g.Between(1, joined.shape[0]);
    const GraphValue row =
        g.Apply("slice_axis", {joined},
                {{"axis", "0"}, {"begin", absl::StrCat(end - 1)}, {"end", absl::StrCat(end)}});
    joined = g.Apply(g.Pick<const char*>({"broadcast_sub", "broadcast_add"}), {joined, row});
  }
  if (g.Chance(0.5)) joined = Elementwise(g, joined);
  g.Add(joined);
  g.AddResult(joined.symbol);
}

void Operate(GraphDraft& g) {
  const GraphValue value = g.PickValue();
  const int rank = value.shape.rank();
  std::vector<GraphValue> same;  // values that can be summed
  for (const GraphValue& other : g.values()) {
    if (other.shape == value.shape) same.push_back(other);
  }
  const std::string axis = absl::StrCat(g.Between(0, std::max(0, rank - 1)));
  const std::string last = absl::StrCat(rank - 1);
  const int64_t extent = rank == 0 ? 1 : value.shape[rank - 1];
  switch (g.Between(0, rank == 0 ? 2 : 14)) {
    case 0:
    case 1:
      return g.Add(Elementwise(g, value));
    case 2: {
      const char* op = g.Pick(PairOps(g));
      return g.Add(g.Apply("tanh", {g.Apply(op, {value, g.Pick(same)})}));
    }
    case 3:
      return g.Add(g.Apply("Reshape", {value}, {{"shape", "(-1,)"}}));
    case 4:
      return g.Add(g.Apply("Flatten", {value}));
    case 5:
      return g.Add(g.Apply("expand_dims", {value}, {{"axis", axis}}));
    case 6:
      return g.Add(g.Apply("transpose", {value}));
    case 7: {
      const GraphValue swapped = g.Apply("SwapAxis", {value}, {{"dim1", axis}, {"dim2", last}});
      if (g.Chance(0.5)) g.Add(g.Apply("SwapAxis", {swapped}, {{"dim1", last}, {"dim2", axis}}));
      return g.Add(swapped);
    }
    case 8:
      return g.Add(g.Apply("reverse", {value}, {{"axis", axis}}));
    case 9: {
      const std::string end = absl::StrCat(g.Between(1, extent));
      return g.Add(g.Apply("slice_axis", {value}, {{"axis", last}, {"begin", "0"}, {"end", end}}));
    }
    case 10: {
      const auto parts = g.Outputs("SliceChannel", {value},
                                   {{"num_outputs", absl::StrCat(extent)},
                                    {"axis", last},
                                    {"squeeze_axis", rank > 1 ? g.Flag(0.5) : "False"}});
      return g.Add(g.Pick(parts));
    }
    case 11: {
      std::vector<GraphValue> parts = {value, g.Pick(same), g.Pick(same)};
      return g.Add(g.Apply("Concat", parts, {{"dim", axis}, {"num_args", "3"}}));
    }
    case 12: {
      const char* op = g.Pick<const char*>({"sum", "mean"});
      return g.Add(
          g.Apply(op, {value}, {{"axis", axis}, {"keepdims", rank > 1 ? g.Flag(0.5) : "True"}}));
    }
    case 13:
      if (rank < 2) return;
      return g.Add(Multiply(g, value));
    default:
      if (rank != 2) return;
      if (g.Chance(0.3)) return g.Add(g.Apply("BatchNorm", {value}, {{"fix_gamma", g.Flag(0.5)}}));
      return g.Add(
          g.Apply("FullyConnected", {value},
                  {{"num_hidden", absl::StrCat(g.Between(2, 4))}, {"no_bias", g.Flag(0.5)}}));
  }
}

}  // namespace cooper
