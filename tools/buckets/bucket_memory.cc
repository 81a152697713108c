#include "tools/buckets/bucket_memory.h"

#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "io/batch/data_desc.h"
#include "module/bucketing/bucket_plan.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/inference/infer_shape.h"
#include "tools/shapes_flag.h"

namespace cooper {
namespace {

// An input as written in the text.
struct Input {
  std::string name;
  std::vector<std::string> extents;  // numbers or letters

  std::string Layout() const {
    std::string layout;
    for (const std::string& extent : extents) {
      layout += extent == "N" ? 'N' : extent == "T" || extent == "U" ? 'T' : 'C';
    }
    return layout;
  }
};

std::vector<Input> SplitShapes(const std::string& text) {
  std::vector<Input> inputs;
  for (const absl::string_view part : absl::StrSplit(text, ';', absl::SkipWhitespace())) {
    const size_t colon = part.rfind(':');
    Input& input = inputs.emplace_back();
    if (colon == absl::string_view::npos) {
      input.extents.emplace_back(part);  // ParseShapesFlag says what is wrong
      continue;
    }
    input.name = absl::StrCat(absl::StripAsciiWhitespace(part.substr(0, colon)));
    for (const absl::string_view extent : absl::StrSplit(part.substr(colon + 1), ',')) {
      input.extents.emplace_back(absl::StripAsciiWhitespace(extent));
    }
  }
  return inputs;
}

absl::Status ShapesError(const std::string& shapes, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("shapes '", shapes, "': ", what));
}

BucketKey KeyOf(const BucketKey::Tuple& bucket) {
  return bucket.size() == 1 ? BucketKey(bucket[0]) : BucketKey(bucket);
}

absl::StatusOr<BucketShapes> ShapesOf(const BucketMemoryOptions& options, std::vector<Input> inputs,
                                      const BucketKey::Tuple& bucket) {
  BucketShapes shapes = {.key = KeyOf(bucket)};
  bool has_batch = false;
  for (Input& input : inputs) {
    const std::string layout = input.Layout();
    for (std::string& extent : input.extents) {
      if (extent == "N") {
        extent = absl::StrCat(options.batch_size);
        has_batch = true;
      } else if (extent == "T") {
        extent = absl::StrCat(bucket[0]);
      } else if (extent == "U") {
        if (bucket.size() < 2) return ShapesError(options.shapes, "U, which only pairs have");
        extent = absl::StrCat(bucket[1]);
      }
    }
    const auto known =
        ParseShapesFlag(absl::StrCat(input.name, ":", absl::StrJoin(input.extents, ",")));
    if (!known.ok()) return ShapesError(options.shapes, known.status().message());
    const PartialShape& shape = known->begin()->second;
    if (!shape.IsFull()) {
      return ShapesError(options.shapes, absl::StrCat("'", input.name, "' has an unknown extent"));
    }
    (absl::EndsWith(input.name, "label") ? shapes.label_shapes : shapes.data_shapes)
        .push_back({.name = input.name, .shape = shape.ToShape(), .layout = layout});
  }
  if (!has_batch)
    return ShapesError(options.shapes, "expected N, the batch size, such as data:N,T");
  return shapes;
}

}  // namespace

absl::StatusOr<BucketMemory> PlanBucketMemory(const BucketMemoryOptions& options,
                                              absl::Span<const BucketKey::Tuple> buckets) {
  BucketPlanOptions plan_options = {.bind = {.for_training = options.training}};
  const std::vector<Input> inputs = SplitShapes(options.shapes);
  std::vector<BucketPlan::BucketSize> sizes;
  for (const BucketKey::Tuple& bucket : buckets) {
    COOPER_ASSIGN_OR_RETURN(BucketShapes shapes, ShapesOf(options, inputs, bucket));
    sizes.emplace_back(shapes.key, options.batch_size);
    plan_options.buckets.push_back(std::move(shapes));
  }
  // The names come from the shapes, not from those that the network's function returns.
  BucketShapes first;
  if (!plan_options.buckets.empty()) first = plan_options.buckets[0];
  plan_options.sym_gen = [sym_gen = options.sym_gen,
                          first](const BucketKey& key) -> absl::StatusOr<BucketSymbol> {
    COOPER_ASSIGN_OR_RETURN(BucketSymbol symbol, sym_gen(key));
    symbol.data_names.clear();
    symbol.label_names.clear();
    for (const DataDesc& desc : first.data_shapes) symbol.data_names.push_back(desc.name);
    for (const DataDesc& desc : first.label_shapes) symbol.label_names.push_back(desc.name);
    return symbol;
  };
  COOPER_ASSIGN_OR_RETURN(BucketPlan plan, BucketPlan::Create(std::move(plan_options)));
  BucketMemory memory = {.batch_size = options.batch_size, .training = options.training};
  for (const auto& [key, batch_size] : sizes) {
    COOPER_ASSIGN_OR_RETURN(const BucketBytes bytes, plan.Bytes(key, batch_size));
    memory.planned.push_back(bytes.arena);
  }
  COOPER_ASSIGN_OR_RETURN(const BucketBytes all, plan.Bytes(sizes));
  memory.arena = all.arena;
  memory.inputs = all.inputs;
  memory.parameters = all.parameters;
  return memory;
}

}  // namespace cooper
