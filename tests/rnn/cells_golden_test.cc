// Tests that cells build the same graphs as MXNet 1.9.1's cells, node by node, and unpack their
// weights in the same way. tests/conformance compares the results of the graphs.

#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/files/params_file.h"
#include "nlohmann/json.hpp"
#include "symbol/graph/name_manager.h"
#include "symbol/graph/symbol.h"
#include "symbol/json/json.h"
#include "symbol/rnn/base_rnn_cell.h"
#include "symbol/rnn/fused_rnn_cell.h"
#include "tests/conformance/rnn_cells.h"

namespace cooper {
namespace {

using Json = nlohmann::json;

constexpr char kRoot[] = "tests/golden/rnn";

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Removes node_row_ptr, which counts hidden outputs.
std::string WithoutRowPointers(const std::string& text) {
  const size_t begin = text.find("\"node_row_ptr\"");
  const size_t end = text.find(']', begin);
  return text.substr(0, begin) + text.substr(end);
}

// Shows the first line that differs, rather than two whole files.
void ExpectSameText(const std::string& got, const std::string& expected) {
  std::istringstream got_lines(got), expected_lines(expected);
  std::string got_line, expected_line;
  for (int line = 1; std::getline(expected_lines, expected_line); ++line) {
    ASSERT_TRUE(std::getline(got_lines, got_line)) << "ends before line " << line;
    ASSERT_EQ(got_line, expected_line) << "line " << line;
  }
  EXPECT_FALSE(std::getline(got_lines, got_line)) << "goes on: " << got_line;
}

SymbolSequence InputsOf(const Json& json) {
  if (json.at("inputs").contains("data")) return Symbol::Variable("data");
  std::vector<Symbol> steps;
  for (int t = 0; t < json.at("length"); ++t) {
    steps.push_back(Symbol::Variable(absl::StrCat("t", t, "_data")));
  }
  return steps;
}

// Returns the arrays of a file whose names begin with `prefix`, under their names without it.
ArrayMap ArraysWith(const std::string& path, const std::string& prefix) {
  const auto file = LoadNamedArrays(path);
  EXPECT_THAT(file, IsOk());
  ArrayMap arrays;
  for (const auto& [name, array] : *file) {
    if (absl::StartsWith(name, prefix)) arrays[name.substr(prefix.size())] = array;
  }
  return arrays;
}

void ExpectSameArrays(const ArrayMap& got, const ArrayMap& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (const auto& [name, array] : expected) {
    const auto it = got.find(name);
    ASSERT_NE(it, got.end()) << name;
    EXPECT_EQ(it->second.shape(), array.shape()) << name;
    EXPECT_EQ(it->second.dtype(), array.dtype()) << name;
    EXPECT_EQ(it->second.ToVector<double>().value(), array.ToVector<double>().value()) << name;
  }
}

std::vector<std::string> CaseNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(absl::StrCat(kRoot, "/cells"))) {
    names.push_back(entry.path().filename());
  }
  return names;
}

class CellsGoldenTest : public testing::TestWithParam<std::string> {
 protected:
  CellsGoldenTest()
      : folder_(absl::StrCat(kRoot, "/cells/", GetParam())),
        json_(Json::parse(ReadText(folder_ + "/case.json"))),
        cell_(conformance::MakeCell(json_).value_or(nullptr)) {}

  // Returns the graph of `cell`, unrolled as the case specifies, as JSON.
  std::string UnrolledText(BaseRNNCell& cell, bool with_states) {
    NameManager names;
    const auto unrolled = cell.Unroll(
        json_.at("length"), InputsOf(json_),
        {.layout = json_.at("layout"), .merge_outputs = json_.at("merge_outputs").get<bool>()});
    EXPECT_THAT(unrolled, IsOk());
    std::vector<Symbol> heads = unrolled->outputs.symbols();
    EXPECT_EQ(heads.size(), json_.at("num_output_symbols"));
    if (with_states) {
      heads.insert(heads.end(), unrolled->states.begin(), unrolled->states.end());
    }
    return WithoutRowPointers(SymbolToJson(Symbol::Group(heads).value()));
  }

  std::string folder_;
  Json json_;
  RNNCellPtr cell_;
};

TEST_P(CellsGoldenTest, UnrollsToTheSameGraph) {
  ASSERT_NE(cell_, nullptr) << json_.at("cell");
  const std::string expected = WithoutRowPointers(ReadText(folder_ + "/symbol.json"));
  ExpectSameText(UnrolledText(*cell_, /*with_states=*/true), expected);
  // Names do not depend on earlier unrolling of the cell.
  ExpectSameText(UnrolledText(*cell_, /*with_states=*/true), expected);
}

TEST_P(CellsGoldenTest, HasTheSameStates) {
  ASSERT_NE(cell_, nullptr);
  const std::vector<StateInfo> info = cell_->state_info();
  ASSERT_EQ(info.size(), json_.at("state_info").size());
  for (size_t i = 0; i < info.size(); ++i) {
    const Json& expected = json_.at("state_info")[i];
    const auto dims = expected.at("shape").get<std::vector<int64_t>>();
    EXPECT_EQ(info[i].shape, PartialShape::FromMXNet(dims));
    EXPECT_EQ(info[i].layout, expected.at("layout"));
  }
}

TEST_P(CellsGoldenTest, UnpacksAndPacksTheSameWeights) {
  ASSERT_NE(cell_, nullptr);
  const std::string path = folder_ + "/io.params";
  ArrayMap packed = ArraysWith(path, "arg:");
  for (const auto& [name, shape] : json_.at("inputs").items()) packed.erase(name);
  const ArrayMap unpacked = ArraysWith(path, "unpacked:");
  const auto got = cell_->UnpackWeights(packed);
  ASSERT_THAT(got, IsOk());
  // Cases with separate steps have no unpacked weights; packing again is the only check there.
  if (!unpacked.empty()) ExpectSameArrays(*got, unpacked);
  const auto again = cell_->PackWeights(*got);
  ASSERT_THAT(again, IsOk());
  ExpectSameArrays(*again, packed);
}

TEST_P(CellsGoldenTest, UnfusesToTheSameGraphAndWeights) {
  const auto fused = std::dynamic_pointer_cast<FusedRNNCell>(cell_);
  if (fused == nullptr || !json_.contains("unfused_arguments")) return;
  const auto stack = fused->Unfuse();
  // Some cases also have the states of the stack.
  const std::string expected = ReadText(folder_ + "/unfused-symbol.json");
  const bool with_states =
      Json::parse(expected).at("heads").size() > json_.at("num_output_symbols");
  ExpectSameText(UnrolledText(*stack, with_states), WithoutRowPointers(expected));
  const std::string path = folder_ + "/io.params";
  ArrayMap packed = ArraysWith(path, "arg:");
  packed.erase("data");
  const auto unpacked = fused->UnpackWeights(packed);
  ASSERT_THAT(unpacked, IsOk());
  const auto repacked = stack->PackWeights(*unpacked);
  ASSERT_THAT(repacked, IsOk());
  ExpectSameArrays(*repacked, ArraysWith(path, "unfused_arg:"));
}

INSTANTIATE_TEST_SUITE_P(All, CellsGoldenTest, testing::ValuesIn(CaseNames()),
                         [](const auto& info) { return info.param; });

TEST(CheckpointGoldenTest, HoldsUnpackedWeights) {
  const std::vector<RNNCellPtr> cells = {
      std::make_shared<FusedRNNCell>(3, FusedRNNCellOptions{.num_layers = 2, .prefix = "lstm_"})};
  const std::string folder = absl::StrCat(kRoot, "/checkpoint");
  const ArrayMap saved = ArraysWith(folder + "/prefix-0002.params", "arg:");
  const ArrayMap packed = ArraysWith(folder + "/packed.params", "arg:");
  const auto loaded = PackWeights(cells, saved);
  ASSERT_THAT(loaded, IsOk());
  ExpectSameArrays(*loaded, packed);
  const auto unpacked = UnpackWeights(cells, packed);
  ASSERT_THAT(unpacked, IsOk());
  ExpectSameArrays(*unpacked, saved);
}

}  // namespace
}  // namespace cooper
