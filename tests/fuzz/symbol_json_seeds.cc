// Provides the seeds of symbol_json_fuzz besides the golden files: graphs of each version of the
// format that the reader has to upgrade, and errors in them.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/fuzz/fuzz_seeds.h"

namespace cooper {
namespace {

// Returns a node; `more` follows the inputs, for example attributes.
std::string JsonNode(const std::string& op, const std::string& name, const std::string& inputs,
                     const std::string& more = "") {
  return absl::StrCat(R"({"op":")", op, R"(","name":")", name, R"(","inputs":[)", inputs, "]",
                      more.empty() ? "" : ",", more, "}");
}
std::string JsonVariable(const std::string& name, const std::string& more = "") {
  return JsonNode("null", name, "", more);
}

// Returns a graph of these nodes with one head. Without a version it has the format of 0.8.
std::string Graph(const std::vector<std::string>& nodes, const std::string& head,
                  const std::string& version = "") {
  return absl::StrCat(R"({"nodes":[)", absl::StrJoin(nodes, ","), R"(],"arg_nodes":[],"heads":[)",
                      head, "]", version.empty() ? "" : R"(,"attrs":{"mxnet_version":)", version,
                      version.empty() ? "" : "}", "}");
}

constexpr char kNow[] = R"(["int",10901])";

std::vector<FuzzSeed> OldFiles() {
  const std::string x = JsonVariable("x"), g = JsonVariable("g"), b = JsonVariable("b");
  const std::string three = "[0,0],[1,0],[2,0]";
  const std::string fix = R"("param":{"fix_gamma":"True"})";
  return {
      {"old_norm", Graph({x, g, b, JsonNode("BatchNorm", "n", three, fix)}, "[3,0]")},
      {"old_norm_without_name", Graph({x, g, b, JsonNode("BatchNorm", "", three, fix)}, "[3,0]")},
      {"old_norms", Graph({x, g, b, JsonNode("BatchNorm", "n", three, fix),
                           JsonNode("BatchNorm", "m", "[3,0],[1,0],[2,0]", fix)},
                          "[4,0],[3,0]")},
      {"old_norm_unknown", Graph({x, JsonNode("Unknown", "n", "[0,0]")}, "[1,0]")},
      {"old_rates", Graph({JsonVariable("x", R"("attr":{"lr_mult":"2","ctx_group":"a"})"),
                           JsonVariable("w"), JsonVariable("b"),
                           JsonNode("FullyConnected", "f", three,
                                    R"("param":{"num_hidden":"2"},"attr":{"weight_lr_mult":"3",)"
                                    R"("wd_mult":"1","data_wd_mult":"4","other_lr_mult":"5",)"
                                    R"("_lr_mult":"1"})")},
                          "[3,0]", R"(["int",900])")},
      {"old_rates_of_node", Graph({x, JsonNode("exp", "e", "[0,0]"), JsonVariable("w"),
                                   JsonNode("FullyConnected", "f", "[1,0],[2,0]",
                                            R"("attr":{"num_hidden":"2","no_bias":"1",)"
                                            R"("data_lr_mult":"2"})")},
                                  "[3,0]", R"(["int",903])")},
      {"old_rates_unknown",
       Graph({x, JsonNode("Unknown", "u", "[0,0]", R"("attr":{"lr_mult":"1"})")}, "[1,0]",
             R"(["int",900])")},
      {"old_relu",
       Graph({x, g, JsonNode("LeakyReLU", "r", "[0,0],[1,0]", R"("attr":{"act_type":"prelu"})"),
              JsonNode("exp", "e", "[2,0]"),
              JsonNode("LeakyReLU", "s", "[3,0],[3,0]", R"("attr":{"act_type":"prelu"})")},
             "[4,0]", R"(["int",903])")},
      {"old_unknown", Graph({x, JsonNode("Unknown", "u", "[0,0]")}, "[1,0]", R"(["int",903])")},
      {"old_argmax", Graph({x, JsonNode("argmax", "a", "[0,0]", R"("attr":{"axis":"-1"})")},
                           "[1,0]", R"(["int",904])")},
      {"version_of_text", Graph({x}, "[0,0]", R"(["int","1"])")},
      {"version_alone", Graph({x}, "[0,0]", R"(["int"])")},
      {"version_number", Graph({x}, "[0,0]", "10901")},
      {"version_huge", Graph({x}, "[0,0]", R"(["int",18446744073709551615])")},
      {"no_version", R"({"nodes":[],"heads":[],"attrs":{}})"},
      {"attrs_no_map", R"({"nodes":[],"heads":[],"attrs":[]})"},
  };
}

std::vector<FuzzSeed> EqualNames() {
  const auto bn = [](const std::string& name, const std::string& inputs) {
    return JsonNode("BatchNorm", name, inputs);
  };
  const std::string x = JsonVariable("x");
  const std::string g = JsonVariable("g"), b = JsonVariable("b"), v = JsonVariable("v");
  const std::string m = JsonVariable("m", R"j("attrs":{"__shape__":"(3,)"})j");
  return {
      {"two_arguments",
       Graph({x, m, m, JsonNode("elemwise_add", "s", "[1,0],[2,0]")}, "[3,0]", kNow)},
      {"two_heads", Graph({x, x}, "[0,0],[1,0]", kNow)},
      {"two_states", Graph({x, g, b, m, v, m, v, bn("n", "[0,0],[1,0],[2,0],[3,0],[4,0]"),
                            bn("o", "[7,0],[1,0],[2,0],[5,0,1],[6,0,1]")},
                           "[8,0]", kNow)},
      {"argument_and_state", Graph({x, g, b, m, v, m, bn("n", "[0,0],[1,0],[2,0],[3,0],[4,0]"),
                                    JsonNode("elemwise_add", "s", "[6,0],[5,0]")},
                                   "[7,0]", kNow)},
      {"unused_and_state",
       Graph({m, x, g, b, m, v, bn("n", "[1,0],[2,0],[3,0],[4,0],[5,0]")}, "[6,0]", kNow)},
      {"state_and_unused",
       Graph({x, g, b, m, v, bn("n", "[0,0],[1,0],[2,0],[3,0],[4,0]"), m}, "[5,0]", kNow)},
      {"too_few_inputs", Graph({x, x, bn("n", "[0,0],[1,0]")}, "[2,0]", kNow)},
      {"equal_unknown", Graph({x, x, JsonNode("Unknown", "u", "[0,0]")}, "[2,0]", kNow)},
      {"versions", Graph({x, g, b, m, v, bn("n", "[0,0],[1,0],[2,0],[3,0,2147483647],[4,0,1]"),
                          bn("o", "[5,0],[1,0],[2,0],[3,0,2],[4,0]")},
                         "[6,0]", kNow)},
  };
}

std::vector<FuzzSeed> WrongFiles() {
  const std::string x = JsonVariable("x");
  const auto one = [&](const std::string& inputs, const std::string& more) {
    return Graph({x, JsonNode("exp", "e", inputs, more)}, "[1,0]", kNow);
  };
  std::string nested = "1";
  for (int i = 0; i < 70; ++i) nested = absl::StrCat("[", nested, "]");
  return {
      {"subgraphs", one("[0,0]", R"("subgraphs":[{"nodes":[]}])")},
      {"no_subgraphs", one("[0,0]", R"("subgraphs":[])")},
      {"attrs_list", one("[0,0]", R"("attrs":[])")},
      {"attrs_number", one("[0,0]", R"("attrs":{"a":1})")},
      {"attrs_twice", one("[0,0]", R"("attrs":{"__a__":"1"},"param":{"__a__":"2"})")},
      {"gradient", Graph({x, JsonNode("_backward_Pad", "p", "[0,0]")}, "[1,0]", kNow)},
      {"input_output", one("[0,1]", "")},
      {"input_of_four", one("[0,0,0,0]", "")},
      {"input_negative", one("[0,-1]", "")},
      {"input_huge", one("[0,4294967296]", "")},
      {"head_negative", Graph({x}, "[-1,0]", kNow)},
      {"head_pair", Graph({x}, "0", kNow)},
      {"name_of_number", R"({"nodes":[{"op":"null","name":1,"inputs":[]}],"heads":[[0,0]]})"},
      {"op_of_number", R"({"nodes":[{"op":1,"name":"x","inputs":[]}],"heads":[[0,0]]})"},
      {"inputs_of_number", R"({"nodes":[{"op":"null","name":"x","inputs":1}],"heads":[[0,0]]})"},
      {"many_inputs",
       Graph({x, JsonNode("Concat", "c", "[0,0]", R"("attrs":{"num_args":"9"})")}, "[1,0]", kNow)},
      {"few_inputs",
       Graph({x, JsonNode("Concat", "c", "[0,0],[0,0]", R"("attrs":{"num_args":"1"})")}, "[1,0]",
             kNow)},
      {"some_inputs",
       Graph({x, JsonNode("Concat", "c", "[0,0]", R"("attrs":{"num_args":"x"})")}, "[1,0]", kNow)},
      {"no_count", Graph({x, JsonNode("Concat", "c", "[0,0],[0,0]")}, "[1,0]", kNow)},
      {"outputs",
       Graph({x, JsonNode("SliceChannel", "s", "[0,0]", R"("attrs":{"num_outputs":"1000"})")},
             "[1,0]", kNow)},
      {"escaped", Graph({JsonVariable(R"(a\"b\\c)")}, "[0,0]", kNow)},
      {"nested", nested},
  };
}

std::vector<FuzzSeed> Seeds() {
  std::vector<FuzzSeed> seeds = OldFiles();
  for (const auto& more : {EqualNames(), WrongFiles()}) {
    for (const FuzzSeed& seed : more) {
      seeds.push_back(seed);
      // Adds each seed with the tight limits, which the target selects by the size.
      std::string padded = seed.bytes;
      while (padded.size() % 8 != 7) padded += ' ';
      seeds.push_back({seed.name + "_limited", padded});
    }
  }
  seeds.push_back({"many_values", Graph(std::vector<std::string>(20, JsonVariable("x")), "[0,0]")});
  while (seeds.back().bytes.size() % 8 != 7) seeds.back().bytes += ' ';
  return seeds;
}

}  // namespace
}  // namespace cooper

extern "C" void CooperFuzzSeeds(std::vector<cooper::FuzzSeed>* seeds) { *seeds = cooper::Seeds(); }
