#include "module/onnx/symbolic_shape.h"

#include <cstddef>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

using Extents = std::map<std::string, int64_t>;

// The first sample of open extents without a value: large enough for convolutions over them, with
// several divisors, and different for each symbol.
constexpr int64_t kFirstSample = 24;
// The largest extent that is given: formulas of samples do not overflow, and no array has as many
// elements.
constexpr int64_t kMaxExtent = int64_t{1} << 40;

std::string ExtentsText(const Extents& extents) {
  return absl::StrJoin(extents, ", ", absl::PairFormatter("="));
}

// One set of extents and the shapes that follow.
struct Sample {
  std::vector<int64_t> symbols;  // values
  std::vector<Shape> entries;
};

absl::StatusOr<Sample> TakeSample(const IndexedGraph& graph, const KnownShapes& parameters,
                                  const InputDims& inputs, const std::vector<std::string>& symbols,
                                  const Extents& extents) {
  KnownShapes known = parameters;
  for (auto& [name, shape] : ShapesAt(inputs, extents)) known[name] = shape;
  COOPER_ASSIGN_OR_RETURN(std::vector<PartialShape> shapes, VariableShapes(graph, known));
  COOPER_RETURN_IF_ERROR(InferEntryShapes(graph, shapes));
  COOPER_RETURN_IF_ERROR(CheckShapesComplete(graph, shapes));
  Sample sample;
  for (const std::string& symbol : symbols) sample.symbols.push_back(extents.at(symbol));
  for (const PartialShape& shape : shapes) sample.entries.push_back(shape.ToShape());
  return sample;
}

int64_t ValueAt(const Extent& extent, const std::vector<int64_t>& symbols) {
  int64_t product = extent.scale;
  for (int symbol : extent.symbols) product *= symbols[symbol];
  return product + extent.offset;
}

// Fits a formula to one extent. Sample 0 is the base, sample 1 + s changes symbol s alone, and the
// last one changes all.
Extent Fit(const std::vector<Sample>& samples, size_t entry, int axis) {
  const auto value = [&](size_t sample) { return samples[sample].entries[entry][axis]; };
  const size_t num_symbols = samples[0].symbols.size();
  Extent extent;
  int64_t product = 1;
  for (size_t s = 0; s < num_symbols; ++s) {
    if (value(1 + s) == value(0)) continue;
    extent.symbols.push_back(static_cast<int>(s));
    product *= samples[0].symbols[s];
  }
  if (extent.symbols.size() == 1) {
    const int s = extent.symbols[0];
    const int64_t run = samples[1 + s].symbols[s] - samples[0].symbols[s];
    extent.scale = (value(1 + s) - value(0)) / run;
    extent.offset = value(0) - extent.scale * samples[0].symbols[s];
  } else if (!extent.symbols.empty()) {
    extent.scale = value(0) / product;
  } else {
    extent.offset = value(0);
  }
  extent.known = absl::c_all_of(samples, [&](const Sample& sample) {
    return ValueAt(extent, sample.symbols) == sample.entries[entry][axis];
  });
  return extent;
}

// Returns whether the number of axes of no entry depends on the extents.
bool RanksAgree(const std::vector<Sample>& samples, size_t entry) {
  return absl::c_all_of(samples, [&](const Sample& sample) {
    return sample.entries[entry].rank() == samples[0].entries[entry].rank();
  });
}

}  // namespace

bool IsFixed(const SymbolicShape& shape) {
  return absl::c_all_of(shape, [](const Extent& extent) { return extent.is_number(); });
}

Shape FixedShape(const SymbolicShape& shape) {
  Shape fixed;
  for (const Extent& extent : shape) fixed.push_back(extent.number());
  return fixed;
}

std::string SymbolicShapes::Text(const Extent& extent) const {
  if (!extent.known) return "";
  if (extent.symbols.empty()) return absl::StrCat(extent.offset);
  const std::string product = absl::StrJoin(
      extent.symbols, "*",
      [this](std::string* out, int symbol) { absl::StrAppend(out, symbols[symbol]); });
  return absl::StrCat(extent.scale == 1 ? "" : absl::StrCat(extent.scale, "*"), product,
                      extent.offset > 0 ? "+" : "",
                      extent.offset == 0 ? "" : absl::StrCat(extent.offset));
}

absl::StatusOr<Extents> SampleExtents(const InputDims& inputs) {
  Extents extents;
  for (const auto& [name, dims] : inputs) {
    for (const InputDim& dim : dims) {
      if (dim.extent > kMaxExtent) {
        return absl::InvalidArgumentError(absl::StrCat("input '", name, "' has the extent ",
                                                       dim.extent, ", expected at most 2^40"));
      }
      if (dim.symbol.empty()) continue;
      int64_t& extent = extents[dim.symbol];
      if (extent != 0 && dim.extent != 0 && extent != dim.extent) {
        return absl::InvalidArgumentError(absl::StrCat("input '", name, "': ", dim.symbol, " is ",
                                                       dim.extent, ", and ", extent,
                                                       " in another place"));
      }
      if (dim.extent != 0) extent = dim.extent;
    }
  }
  int64_t next = kFirstSample;
  for (auto& [symbol, extent] : extents) {
    if (extent == 0) extent = next;
    next += kFirstSample;
  }
  return extents;
}

KnownShapes ShapesAt(const InputDims& inputs, const Extents& extents) {
  KnownShapes shapes;
  for (const auto& [name, dims] : inputs) {
    Shape shape;
    for (const InputDim& dim : dims) {
      shape.push_back(dim.symbol.empty() ? dim.extent : extents.at(dim.symbol));
    }
    shapes.emplace(name, shape);
  }
  return shapes;
}

absl::StatusOr<SymbolicShapes> InferSymbolicShapes(const IndexedGraph& graph,
                                                   const KnownShapes& parameters,
                                                   const InputDims& inputs) {
  COOPER_ASSIGN_OR_RETURN(const Extents base, SampleExtents(inputs));
  SymbolicShapes shapes;
  for (const auto& [symbol, extent] : base) shapes.symbols.push_back(symbol);
  shapes.sources.resize(shapes.symbols.size());
  for (const auto& [name, dims] : inputs) {
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      const auto it = absl::c_find(shapes.symbols, dims[axis].symbol);
      if (it == shapes.symbols.end()) continue;
      shapes.sources[it - shapes.symbols.begin()] = {name, static_cast<int>(axis)};
    }
  }

  std::vector<Sample> samples;
  const auto sample = [&](const Extents& extents) -> absl::Status {
    COOPER_ASSIGN_OR_RETURN(samples.emplace_back(),
                            TakeSample(graph, parameters, inputs, shapes.symbols, extents));
    return absl::OkStatus();
  };
  absl::Status status = sample(base);
  if (!status.ok()) {
    if (base.empty()) return status;
    return absl::InvalidArgumentError(absl::StrCat(
        status.message(), "; with ", ExtentsText(base),
        ". If the network is built for one value of these, give it, such as length=60"));
  }
  Extents all = base;
  for (const std::string& symbol : shapes.symbols) {
    Extents changed = base;
    // The samples are even and odd, to find what depends on parity.
    changed[symbol] = 2 * base.at(symbol) + 1;
    all[symbol] = 3 * base.at(symbol) + 1;
    status = sample(changed);
    if (!status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("the network does not accept any ", symbol,
                                                     ", give a number in its place: with ",
                                                     ExtentsText(changed), ": ", status.message()));
    }
  }
  if (!base.empty()) COOPER_RETURN_IF_ERROR(sample(all));

  for (size_t entry = 0; entry < samples[0].entries.size(); ++entry) {
    SymbolicShape& shape = shapes.entries.emplace_back();
    if (!RanksAgree(samples, entry)) {
      return absl::InvalidArgumentError(
          "the rank of an array depends on the extents of the inputs");
    }
    for (int axis = 0; axis < samples[0].entries[entry].rank(); ++axis) {
      shape.push_back(Fit(samples, entry, axis));
    }
  }
  return shapes;
}

}  // namespace cooper
