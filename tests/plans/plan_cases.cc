#include "tests/plans/plan_cases.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "ndarray/base/status_macros.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/json/json.h"
#include "tests/conformance/case_data.h"
#include "tests/passes/make_random_graph.h"
#include "tests/plans/image_networks.h"

namespace cooper {
namespace {

using conformance::Arrays;
using conformance::Json;
using conformance::ListFolder;
using conformance::ReadJson;

void AddBothModes(const std::string& name, const Symbol& symbol, BindOptions options,
                  std::vector<PlanCase>* cases) {
  cases->push_back({name, symbol, options});
  options.grad_req = WriteReq::kNull;
  options.grad_reqs.clear();
  cases->push_back({name, symbol, std::move(options)});
}

// Adds a case of operators or cells, which has all arrays in io.params.
absl::Status AddArrayCase(const std::string& root, const std::string& folder,
                          std::vector<PlanCase>* cases) {
  const std::string path = absl::StrCat(root, "/", folder);
  COOPER_ASSIGN_OR_RETURN(const Symbol symbol, LoadSymbol(path + "/symbol.json"));
  COOPER_ASSIGN_OR_RETURN(const Arrays io, conformance::ReadArrays(path + "/io.params"));
  BindOptions options;
  for (const auto& [name, array] : conformance::WithPrefix(io, "arg:")) {
    options.shapes[name] = array.shape();
    options.types[name] = array.dtype();
  }
  const Json json = ReadJson(path + "/case.json");
  // Some operators have no gradient for some arguments.
  if (json.contains("grad_req")) {
    options.grad_req = WriteReq::kNull;
    for (const auto& [name, req] : json.at("grad_req").items()) {
      if (req != "null") options.grad_reqs[name] = WriteReq::kWrite;
    }
  }
  AddBothModes(folder, symbol, std::move(options), cases);
  return absl::OkStatus();
}

// Finds the shapes of data and labels anywhere in a module's case; only those of `bucket` if it is
// not empty.
void FindShapes(const Json& json, const std::string& bucket, std::vector<KnownShapes>* found) {
  if (json.is_object()) {
    KnownShapes shapes;
    for (const char* key : {"data_shapes", "label_shapes", "provide_data", "provide_label"}) {
      if (!json.contains(key) || !json.at(key).is_array()) continue;
      for (const Json& desc : json.at(key)) {
        if (!desc.is_object()) continue;
        shapes[desc.at("name").get<std::string>()] = conformance::ShapeFromJson(desc.at("shape"));
      }
    }
    const bool other =
        !bucket.empty() && json.contains("bucket_key") && json.at("bucket_key").dump() != bucket;
    if (!shapes.empty() && !other) found->push_back(std::move(shapes));
  }
  if (!json.is_structured()) return;
  for (const Json& part : json) FindShapes(part, bucket, found);
}

absl::Status AddModuleCase(const std::string& root, const std::string& folder,
                           std::vector<PlanCase>* cases) {
  const std::string path = absl::StrCat(root, "/", folder);
  const Json json = ReadJson(path + "/case.json");
  for (const std::string& file : ListFolder(path)) {
    if (!absl::StartsWith(file, "symbol") || !absl::EndsWith(file, ".json")) continue;
    COOPER_ASSIGN_OR_RETURN(const Symbol symbol, LoadSymbol(path + "/" + file));
    const size_t dash = file.find('-');
    const std::string bucket =
        dash == std::string::npos ? "" : file.substr(dash + 1, file.find('.') - dash - 1);
    std::vector<KnownShapes> found;
    FindShapes(json, bucket, &found);
    const std::vector<std::string> args = symbol.ListArguments();
    for (KnownShapes& shapes : found) {
      std::erase_if(shapes, [&](const auto& known) {
        return std::find(args.begin(), args.end(), known.first) == args.end();
      });
      if (!InferShape(symbol, shapes).ok()) continue;
      AddBothModes(absl::StrCat(folder, "/", file), symbol, {.shapes = std::move(shapes)}, cases);
      break;
    }
  }
  return absl::OkStatus();
}

}  // namespace

double PlanRow::ratio() const {
  return memory.lower_bound == 0
             ? 1.0
             : static_cast<double>(memory.planned_bytes) / static_cast<double>(memory.lower_bound);
}

std::string PlanRow::Header() {
  return absl::StrFormat("%-44s %-9s %7s %13s %13s %7s %-6s %8s", "network", "mode", "buffers",
                         "bound", "plan", "ratio", "proven", "bind ms");
}

std::string PlanRow::ToString() const {
  return absl::StrFormat("%-44s %-9s %7d %13d %13d %7.4f %-6s %8.2f", name,
                         training ? "training" : "inference", memory.values, memory.lower_bound,
                         memory.planned_bytes, ratio(), memory.proven ? "yes" : "no", bind_ms);
}

absl::StatusOr<PlanRow> Plan(const PlanCase& plan_case) {
  PlanRow row{.name = plan_case.name,
              .training = plan_case.options.grad_req != WriteReq::kNull ||
                          !plan_case.options.grad_reqs.empty()};
  const auto begin = std::chrono::steady_clock::now();
  auto executor = Executor::SimpleBind(plan_case.symbol, plan_case.options);
  row.bind_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  if (!executor.ok()) return AddContext(executor.status(), row.name);
  row.memory = (*executor)->memory();
  return row;
}

absl::StatusOr<std::vector<PlanCase>> ImagePlanCases(const std::vector<int>& batches) {
  std::vector<PlanCase> cases;
  for (const ImageNetwork& network : ImageNetworks()) {
    COOPER_ASSIGN_OR_RETURN(const Symbol symbol, network.make());
    for (const int batch : batches) {
      const PartialShape data = {batch, network.image[0], network.image[1], network.image[2]};
      AddBothModes(absl::StrCat(network.name, ", batch ", batch), symbol,
                   {.shapes = {{"data", data}},
                    .grad_reqs = {{"data", WriteReq::kNull}, {"softmax_label", WriteReq::kNull}}},
                   &cases);
    }
  }
  return cases;
}

absl::StatusOr<std::vector<PlanCase>> GoldenPlanCases(const std::string& root) {
  std::vector<PlanCase> cases;
  for (const std::string& op : ListFolder(root + "/ops")) {
    for (const std::string& name : ListFolder(absl::StrCat(root, "/ops/", op))) {
      COOPER_RETURN_IF_ERROR(AddArrayCase(root, absl::StrCat("ops/", op, "/", name), &cases));
    }
  }
  for (const std::string& name : ListFolder(root + "/rnn/cells")) {
    COOPER_RETURN_IF_ERROR(AddArrayCase(root, absl::StrCat("rnn/cells/", name), &cases));
  }
  for (const std::string& name : ListFolder(root + "/module")) {
    COOPER_RETURN_IF_ERROR(AddModuleCase(root, absl::StrCat("module/", name), &cases));
  }
  return cases;
}

std::vector<PlanCase> RandomPlanCases(int count) {
  std::vector<PlanCase> cases;
  for (int seed = 0; seed < count; ++seed) {
    const RandomGraph graph = MakeRandomGraph(seed);
    AddBothModes(absl::StrCat("random graph ", seed), graph.symbol,
                 {.shapes = graph.shapes, .types = graph.types, .grad_reqs = graph.grad_reqs},
                 &cases);
  }
  return cases;
}

}  // namespace cooper
