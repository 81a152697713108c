// Tests parts that are placed in the memory of their array: which are, which are not, and that
// results and gradients have the same bits.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

// A part of (steps, 2, 8) floats fills a cache line.
Symbol Data() { return Op("tanh", {.name = "data_tanh", .inputs = {Symbol::Variable("data")}}); }

Symbol Cut(const Symbol& whole, int64_t parts, const std::string& name = "cut") {
  return Op("SliceChannel", {.name = name,
                             .inputs = {whole},
                             .attrs = {{"num_outputs", absl::StrCat(parts)}, {"axis", "0"}}});
}

Symbol Join(const std::vector<Symbol>& pieces, const std::string& name = "join") {
  return Op("Concat", {.name = name,
                       .inputs = pieces,
                       .attrs = {{"num_args", absl::StrCat(pieces.size())}, {"dim", "0"}}});
}

Symbol SliceAxis(const Symbol& x, int axis, int64_t begin, int64_t end,
                 const std::string& name = "slice") {
  return Op("slice_axis", {.name = name,
                           .inputs = {x},
                           .attrs = {{"axis", absl::StrCat(axis)},
                                     {"begin", absl::StrCat(begin)},
                                     {"end", absl::StrCat(end)}}});
}

Symbol Tanh(const Symbol& x) { return Op("tanh", {.inputs = {x}}); }

// Returns the operators that have become views, such as "Concat 'join'".
std::vector<std::string> Views(const Executor& executor) {
  std::vector<std::string> views;
  for (absl::string_view line : absl::StrSplit(executor.DebugString(), '\n')) {
    if (absl::ConsumePrefix(&line, "(view) ")) {
      views.emplace_back(line.substr(0, line.find(':')));
    }
  }
  return views;
}

// Runs with the pass and without it, and compares all bits; the plan must not be larger with it.
// Returns the views that the pass has created.
std::vector<std::string> PlacedPieces(const Symbol& symbol, const Shape& shape,
                                      WriteReq req = WriteReq::kWrite,
                                      // Tiling would hide what is placed.
                                      const std::set<std::string>& disabled = {"tiles"}) {
  std::vector<std::vector<std::vector<float>>> results;
  std::vector<std::string> views;
  int64_t planned = 0;
  for (const bool place : {true, false}) {
    BindOptions options{.shapes = {{"data", shape}}, .grad_req = req};
    options.disabled_passes = disabled;
    if (!place) options.disabled_passes.insert("slices");
    auto bound = Executor::SimpleBind(symbol, options);
    EXPECT_TRUE(bound.ok()) << bound.status();
    Executor& executor = **bound;
    uint64_t seed = 1;
    for (const auto& [name, array] : executor.arg_dict()) FillRandom(array, seed++);
    for (const auto& [name, array] : executor.grad_dict()) COOPER_EXPECT_OK(array.Fill(0.25));
    std::vector<std::vector<float>>& result = results.emplace_back();
    for (int step = 0; step < 2; ++step) {
      COOPER_EXPECT_OK(executor.Forward(true));
      const std::vector<NDArray> heads = RandomArrays(executor.output_shapes(), 100);
      if (req != WriteReq::kNull) {
        COOPER_EXPECT_OK(executor.Backward(heads));
      }
      const absl::Span<const NDArray> outputs = *executor.outputs();
      for (const NDArray& output : outputs) result.push_back(Floats(output));
    }
    for (const auto& [name, array] : executor.grad_dict()) result.push_back(Floats(array));
    if (place) {
      views = Views(executor);
      planned = executor.memory().planned_bytes;
    } else if (disabled.contains("tiles")) {
      // The pass does not know which values need no memory because they are computed tile by tile.
      EXPECT_LE(planned, executor.memory().planned_bytes);
    }
  }
  EXPECT_EQ(results[0], results[1]);
  return views;
}

using ::testing::Contains;
using ::testing::Not;

TEST(SlicesTest, WhatIsCutIsNotCopied) {
  const Symbol cut = Cut(Data(), 3);
  const auto views = PlacedPieces(
      *Symbol::Group({Tanh(cut[0]), Op("elemwise_mul", {.inputs = {cut[1], cut[2]}})}), {3, 2, 8});
  EXPECT_THAT(views, Contains("SliceChannel 'cut'"));
}

TEST(SlicesTest, WhatIsPutTogetherIsMadeThere) {
  const Symbol x = Symbol::Variable("data");
  const auto views = PlacedPieces(Tanh(Join({Tanh(x), Op("sigmoid", {.inputs = {x}})})), {1, 2, 8});
  EXPECT_THAT(views, Contains("Concat 'join'"));
}

// BatchNorm with fix_gamma writes 1 to gamma. Here gamma is a whole array, a part of it, and a
// concatenation.
TEST(SlicesTest, WhatAnOperatorWritesIsInNoOtherPlace) {
  const Symbol x = Symbol::Variable("data");
  for (const bool fixed : {true, false}) {
    const AttrMap attrs = {{"fix_gamma", fixed ? "True" : "False"}};
    const auto norm = [&](const Symbol& gamma) {
      const Symbol row = Op("Reshape", {.inputs = {Tanh(gamma)}, .attrs = {{"shape", "(1, -1)"}}});
      return Op("BatchNorm", {.inputs = {row, gamma}, .attrs = attrs});
    };
    const Symbol gamma = Tanh(x);
    const Symbol cut = SliceAxis(gamma, 0, 16, 32);
    const auto of_cut = PlacedPieces(
        *Symbol::Group({norm(gamma), Op("elemwise_mul", {.inputs = {cut, Tanh(cut)}})}), {32});
    const Symbol joined = Join({gamma, Tanh(gamma)});
    const auto of_joined = PlacedPieces(
        *Symbol::Group({norm(gamma), Op("elemwise_mul", {.inputs = {joined, Tanh(joined)}})}),
        {32});
    if (!fixed) continue;
    EXPECT_THAT(of_cut, Not(Contains("slice_axis 'slice'")));
    EXPECT_THAT(of_joined, Not(Contains("Concat 'join'")));
  }
}

TEST(SlicesTest, PiecesOfPieces) {
  const Symbol outer = Cut(Data(), 2, "outer");
  const Symbol inner = Cut(outer[1], 2, "inner");
  const auto cuts =
      PlacedPieces(*Symbol::Group({Tanh(outer[0]), Tanh(inner[0]), Tanh(inner[1])}), {4, 2, 8});
  EXPECT_THAT(cuts, Contains("SliceChannel 'outer'"));
  EXPECT_THAT(cuts, Contains("SliceChannel 'inner'"));

  const Symbol x = Symbol::Variable("data");
  const Symbol joined = Join({Join({Tanh(x), Tanh(Tanh(x))}, "inner"), Tanh(x)}, "outer");
  const auto joins = PlacedPieces(Tanh(joined), {1, 2, 8});
  EXPECT_THAT(joins, Contains("Concat 'outer'"));
  EXPECT_THAT(joins, Contains("Concat 'inner'"));
}

// Parts that slices take one by one, some of them twice.
TEST(SlicesTest, SlicesOfWholeRows) {
  const Symbol data = Data();
  const Symbol steps = *Symbol::Group({
      Tanh(SliceAxis(data, 0, 1, 3, "middle")),
      Tanh(SliceAxis(data, -3, 2, 3, "third")),
      Tanh(Op("slice", {.name = "from_end",
                        .inputs = {data},
                        .attrs = {{"begin", "(-2, None)"}, {"end", "(None, None)"}}})),
      Tanh(Op("slice_like", {.name = "like",
                             .inputs = {data, Op("_ones", {.attrs = {{"shape", "(2, 1, 1)"}}})},
                             .attrs = {{"axes", "(0,)"}}})),
  });
  for (const WriteReq req : {WriteReq::kWrite, WriteReq::kAdd}) {
    const auto views = PlacedPieces(steps, {4, 2, 8}, req);
    for (const char* view :
         {"slice_axis 'middle'", "slice_axis 'third'", "slice 'from_end'", "slice_like 'like'"}) {
      EXPECT_THAT(views, Contains(view));
    }
  }
}

TEST(SlicesTest, SlicesWithinOneRow) {
  const Symbol data = Data();
  EXPECT_THAT(PlacedPieces(Tanh(SliceAxis(data, 1, 2, 4)), {1, 4, 8}),
              Contains("slice_axis 'slice'"));
  const Symbol row = Op(
      "slice",
      {.name = "row", .inputs = {data}, .attrs = {{"begin", "(2, 1, 0)"}, {"end", "(3, 2, 8)"}}});
  EXPECT_THAT(PlacedPieces(Tanh(row), {3, 4, 16}), Contains("slice 'row'"));
  const Symbol crop =
      Op("Crop", {.name = "crop",
                  .inputs = {data},
                  .attrs = {{"num_args", "1"}, {"offset", "(1, 0)"}, {"h_w", "(2, 8)"}}});
  EXPECT_THAT(PlacedPieces(Tanh(crop), {1, 1, 4, 16}), Not(Contains("Crop 'crop'")));
  EXPECT_THAT(PlacedPieces(Tanh(crop), {1, 1, 4, 8}), Not(Contains("Crop 'crop'")))
      << "begins within a cache line";
  const Symbol rows =
      Op("Crop", {.name = "crop",
                  .inputs = {data},
                  .attrs = {{"num_args", "1"}, {"offset", "(1, 0)"}, {"h_w", "(2, 16)"}}});
  EXPECT_THAT(PlacedPieces(Tanh(rows), {1, 1, 4, 16}), Contains("Crop 'crop'"));
}

// Parts with another shape, and parts of a view.
TEST(SlicesTest, ViewsOfPieces) {
  const Symbol step = SliceAxis(Data(), 0, 1, 2);
  const Symbol row = Op("Reshape", {.inputs = {step}, .attrs = {{"shape", "(2, 8)"}}});
  EXPECT_THAT(PlacedPieces(Tanh(row), {3, 2, 8}), Contains("slice_axis 'slice'"));
  const Symbol twice = SliceAxis(SliceAxis(Data(), 0, 1, 4, "outer"), 0, 1, 2, "inner");
  const auto slices = PlacedPieces(Tanh(twice), {5, 2, 8});
  EXPECT_THAT(slices, Contains("slice_axis 'outer'"));
  EXPECT_THAT(slices, Contains("slice_axis 'inner'"));

  const Symbol x = Symbol::Variable("data");
  const Symbol joined = Join({Tanh(x), Op("sigmoid", {.inputs = {x}})});
  const Symbol swapped =
      Op("SwapAxis", {.inputs = {joined}, .attrs = {{"dim1", "1"}, {"dim2", "2"}}});
  EXPECT_THAT(PlacedPieces(Tanh(swapped), {1, 1, 16}), Contains("Concat 'join'"));
}

// An operator writes over an input only if no other input is a part of it.
TEST(SlicesTest, WhatIsWrittenInPlaceHasNoOtherParts) {
  // The peak is elsewhere, so placing never increases the memory.
  const Symbol large =
      Op("tile", {.inputs = {Symbol::Variable("data")}, .attrs = {{"reps", "(8, 1, 1)"}}});
  const Symbol parts = Op("Reshape", {.inputs = {large}, .attrs = {{"shape", "(8, 4, 2, 8)"}}});
  const Symbol whole = Op("sum", {.inputs = {parts}, .attrs = {{"axis", "0"}}});
  const Symbol row = SliceAxis(whole, 0, 0, 1);
  const std::vector<Symbol> nets = {
      Op("broadcast_sub", {.inputs = {whole, row}}),
      Op("broadcast_sub", {.inputs = {row, whole}}),
      // Its output has the size of the array that contains the row.
      Op("broadcast_add", {.inputs = {row, Op("_ones", {.attrs = {{"shape", "(4, 2, 8)"}}})}}),
      Op("_slice_assign", {.inputs = {whole, SliceAxis(whole, 0, 0, 3)},
                           .attrs = {{"begin", "(1,)"}, {"end", "(4,)"}}}),
      Op("elemwise_sub",
         {.inputs = {SliceAxis(whole, 0, 0, 3), SliceAxis(whole, 0, 1, 4, "next")}}),
  };
  for (const Symbol& net : nets) {
    EXPECT_THAT(PlacedPieces(net, {4, 2, 8}, WriteReq::kNull), Contains("slice_axis 'slice'"));
  }
}

// A tile of a part is no tile of the whole: a chain must not read elements that a later tile
// computes.
TEST(SlicesTest, TilesOfArraysThatOverlap) {
  const Symbol x = Symbol::Variable("data");
  const Symbol joined = Join({Tanh(x), Op("sigmoid", {.inputs = {x}})});
  const Symbol shifted = SliceAxis(joined, 0, 1, 3);
  const Symbol net = Op("sigmoid", {.inputs = {shifted}});
  for (const WriteReq req : {WriteReq::kNull, WriteReq::kWrite}) {
    const auto views = PlacedPieces(net, {2, 1, 16384}, req, /*disabled=*/{});
    EXPECT_THAT(views, Contains("Concat 'join'"));
    EXPECT_THAT(views, Contains("slice_axis 'slice'"));
  }
}

TEST(SlicesTest, SlicesWithGapsAreCopied) {
  const Symbol data = Data();
  const auto slice = [&](const char* begin, const char* end, const char* step) {
    return Tanh(Op("slice", {.name = "part",
                             .inputs = {data},
                             .attrs = {{"begin", begin}, {"end", end}, {"step", step}}}));
  };
  const auto copied = Not(Contains("slice 'part'"));
  EXPECT_THAT(PlacedPieces(slice("(0,)", "(4,)", "(2,)"), {4, 2, 8}), copied);
  EXPECT_THAT(PlacedPieces(slice("(None,)", "(None,)", "(-1,)"), {4, 2, 8}), copied);
  EXPECT_THAT(PlacedPieces(slice("(0, 0)", "(2, 2)", "(1, 1)"), {4, 4, 8}), copied);
  EXPECT_THAT(PlacedPieces(Tanh(SliceAxis(data, 2, 0, 16)), {4, 1, 32}),
              Not(Contains("slice_axis 'slice'")));
}

// A part, the whole, and a view of a part are outputs of the program.
TEST(SlicesTest, PiecesAsOutputs) {
  const Symbol cut = Cut(Data(), 3);
  const Symbol reshaped =
      Op("Reshape", {.name = "reshaped", .inputs = {cut[1]}, .attrs = {{"shape", "(-1,)"}}});
  PlacedPieces(*Symbol::Group({cut[0], reshaped, cut[2], Tanh(cut[0])}), {3, 2, 8});
  const Symbol x = Symbol::Variable("data");
  const Symbol piece = Tanh(x);
  PlacedPieces(*Symbol::Group({Join({piece, Tanh(piece)}), piece}), {1, 2, 8});
}

TEST(SlicesTest, GradientsThatAddUp) {
  const Symbol data = Data();
  const Symbol cut = Cut(data, 2);
  const Symbol sum = Op("elemwise_add", {.inputs = {cut[0], Tanh(cut[0])}});
  const Symbol joined = Join({sum, cut[1], Op("sigmoid", {.inputs = {sum}})});
  for (const WriteReq req : {WriteReq::kWrite, WriteReq::kAdd}) {
    PlacedPieces(*Symbol::Group({joined, data}), {2, 2, 8}, req);
  }
}

// Adding the other terms of a gradient must not change an array that has other readers: `a + b`
// passes its gradient to both operands.
TEST(SlicesTest, GradientsThatOthersRead) {
  const Symbol x = Symbol::Variable("data");
  const Symbol twice = Op("tile", {.inputs = {x}, .attrs = {{"reps", "(2, 1, 1)"}}});
  for (const bool joined_first : {false, true}) {
    const Symbol p = Tanh(x);
    const Symbol q = Op("sigmoid", {.inputs = {x}});
    // The gradient of the second argument is computed last.
    const Symbol r = Op("sigmoid", {.inputs = {Symbol::Variable("second")}});
    const Symbol joined = Join({p, q});
    const Symbol sum = joined_first ? Op("elemwise_add", {.inputs = {joined, r}})
                                    : Op("elemwise_add", {.inputs = {r, joined}});
    const Symbol other = Op("square", {.inputs = {p}});
    PlacedPieces(*Symbol::Group({Tanh(sum), other}), {1, 2, 8});
    PlacedPieces(*Symbol::Group({other, Tanh(sum)}), {1, 2, 8});

    const Symbol whole = Tanh(twice);
    const Symbol cut = Cut(whole, 2);
    const Symbol s = Op("sigmoid", {.inputs = {Symbol::Variable("second")}});
    const Symbol left = joined_first ? Op("elemwise_add", {.inputs = {cut[0], s}})
                                     : Op("elemwise_add", {.inputs = {s, cut[0]}});
    const Symbol square = Op("square", {.inputs = {whole}});
    PlacedPieces(*Symbol::Group({Tanh(left), Tanh(cut[1]), square}), {1, 2, 8});
    PlacedPieces(*Symbol::Group({square, Tanh(cut[1]), Tanh(left)}), {1, 2, 8});
  }
}

// One part that is needed for long would keep the whole array alive.
TEST(SlicesTest, MoreMemoryIsNotWorthIt) {
  const Symbol x = Symbol::Variable("data");
  const Symbol piece = Cut(Tanh(x), 8)[0];
  Symbol large = x;
  large = Op("tile", {.inputs = {large}, .attrs = {{"reps", "(4, 1, 1)"}}});
  for (int i = 0; i < 2; ++i) {
    large = Op("SwapAxis", {.inputs = {large}, .attrs = {{"dim1", "0"}, {"dim2", "1"}}});
  }
  const Symbol some =
      Op("slice_axis", {.inputs = {large}, .attrs = {{"axis", "0"}, {"begin", "3"}, {"end", "4"}}});
  const Symbol sum = Op("elemwise_add", {.inputs = {piece, some}});
  EXPECT_THAT(PlacedPieces(sum, {8, 2, 8}, WriteReq::kNull), Not(Contains("SliceChannel 'cut'")));
}

// A part that is not placed does not keep another array's parts from being placed.
TEST(SlicesTest, OthersArePlacedAllTheSame) {
  const Symbol x = Symbol::Variable("data");
  const Symbol piece = Cut(Tanh(x), 8)[0];
  Symbol large = Op("tile", {.inputs = {x}, .attrs = {{"reps", "(4, 1, 1)"}}});
  for (int i = 0; i < 2; ++i) {
    large = Op("SwapAxis", {.inputs = {large}, .attrs = {{"dim1", "0"}, {"dim2", "1"}}});
  }
  const Symbol sum = Op("elemwise_add", {.inputs = {piece, SliceAxis(large, 0, 3, 4, "other")}});
  const auto views = PlacedPieces(sum, {8, 2, 8}, WriteReq::kNull);
  EXPECT_THAT(views, Not(Contains("SliceChannel 'cut'")));
  EXPECT_THAT(views, Contains("slice_axis 'other'"));
}

TEST(SlicesTest, WhatCannotBeInOnePlaceIsCopied) {
  const Symbol x = Symbol::Variable("data");
  const Symbol piece = Tanh(x);
  EXPECT_THAT(PlacedPieces(Tanh(Join({piece, piece})), {1, 2, 8}), Not(Contains("Concat 'join'")))
      << "a piece that is needed twice";
  const Symbol view = Op("Reshape", {.inputs = {piece}, .attrs = {{"shape", "(1, 2, 8)"}}});
  EXPECT_THAT(PlacedPieces(Tanh(Join({piece, view})), {1, 2, 8}), Not(Contains("Concat 'join'")))
      << "a piece that is needed twice, once as a view";
  EXPECT_THAT(PlacedPieces(Tanh(Join({x, piece})), {1, 2, 8}), Not(Contains("Concat 'join'")))
      << "an array of the caller's";
  EXPECT_THAT(PlacedPieces(Tanh(Cut(x, 2)[0]), {2, 2, 8}), Not(Contains("SliceChannel 'cut'")))
      << "of an array of the caller's";
  EXPECT_THAT(PlacedPieces(Tanh(Join({piece, Tanh(piece)})), {1, 3, 3}),
              Not(Contains("Concat 'join'")))
      << "pieces that do not begin with a cache line";
  const Symbol columns =
      Op("SliceChannel",
         {.name = "columns", .inputs = {Data()}, .attrs = {{"num_outputs", "2"}, {"axis", "1"}}});
  EXPECT_THAT(PlacedPieces(Tanh(columns[0]), {2, 2, 16}), Not(Contains("SliceChannel 'columns'")))
      << "pieces with gaps";
}

}  // namespace
}  // namespace cooper
