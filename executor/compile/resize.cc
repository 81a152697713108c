// Implements CompiledProgram::Resize, which returns a program for other shapes in the same plan.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "executor/compile/compiled_program.h"
#include "executor/compile/inferred_graph.h"
#include "executor/passes/program/program_passes.h"
#include "executor/passes/program/slice_layout.h"
#include "glog/logging.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/indexed_graph.h"

namespace cooper {
namespace {

// Returns the shapes of the forward graph's entries. A variable whose shape follows from no other
// keeps its own.
absl::StatusOr<std::vector<PartialShape>> InferForward(const IndexedGraph& graph,
                                                       const KnownShapes& known,
                                                       const LoweredProgram& old) {
  COOPER_ASSIGN_OR_RETURN(std::vector<PartialShape> shapes, VariableShapes(graph, known));
  COOPER_RETURN_IF_ERROR(InferEntryShapes(graph, shapes));
  std::map<std::string, Shape> own;
  for (size_t i = 0; i < old.arg_shapes.size(); ++i) {
    own[old.program.arg_names[i]] = old.arg_shapes[i];
  }
  for (size_t i = 0; i < old.aux_shapes.size(); ++i) {
    own[old.program.aux_names[i]] = old.aux_shapes[i];
  }
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const Node* node = graph.nodes()[i];
    PartialShape& shape = shapes[graph.first_entry(i)];
    if (!node->is_variable() || shape.IsFull()) continue;
    shape = PartialShape(own.at(node->name()));
    COOPER_RETURN_IF_ERROR(InferEntryShapes(graph, shapes));
  }
  COOPER_RETURN_IF_ERROR(CheckShapesComplete(graph, shapes));
  return shapes;
}

// Checks that passes would build the same graph for the new shapes. An entry that replaces an entry
// of the written graph computes it as long as both have the same shape. Rows of several arrays of
// one shape, concatenated, are split into equal parts again.
absl::Status CheckAsWritten(const Symbol& written, const KnownShapes& known,
                            const LoweredProgram& old, const std::vector<PartialShape>& resized) {
  if (!old.rewritten()) return absl::OkStatus();
  const IndexedGraph graph(written.outputs());
  COOPER_ASSIGN_OR_RETURN(const std::vector<PartialShape> shapes, InferForward(graph, known, old));
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const Node& node = *graph.nodes()[i];
    for (int k = 0; k < node.num_outputs(); ++k) {
      const int entry = graph.first_entry(i) + k;
      const int now = (*old.entry_of_written)[entry];
      if (now < 0 || resized[now] == shapes[entry]) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("'", node.name(), "' has shape ", shapes[entry].ToString(),
                       ", but what it was planned as would have ", resized[now].ToString()));
    }
  }
  return absl::OkStatus();
}

// The offsets of values in their buffers after sizes have changed. Values that were in one place
// stay in one place, and pieces follow each other in their whole as before.
class Places {
 public:
  Places(const Program& old, Program& resized) : old_(old), new_(resized) {}

  absl::Status Resize() {
    for (size_t v = 0; v < old_.values.size(); ++v) {
      if (FillsBuffer(static_cast<int>(v))) offsets_[KeyOf(static_cast<int>(v))] = 0;
    }
    // A whole may be a piece of an array that an earlier or a later instruction concatenates.
    size_t known = 0;
    do {
      known = offsets_.size();
      for (size_t i = 0; i < old_.instructions.size(); ++i) {
        COOPER_RETURN_IF_ERROR(PlaceSlices(static_cast<int>(i)));
      }
    } while (offsets_.size() != known);
    for (size_t v = 0; v < old_.values.size(); ++v) {
      const auto it = offsets_.find(KeyOf(static_cast<int>(v)));
      if (it == offsets_.end()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "the place of '", old_.values[v].entry.node->name(), "' depends on the old shapes"));
      }
      new_.values[v].offset = it->second;
    }
    SizeBuffers();
    return CheckInstructions();
  }

 private:
  using Key = std::tuple<int, int64_t, int64_t>;  // buffer, offset and bytes in the old program

  Key KeyOf(int v) const {
    const ProgramValue& value = old_.values[v];
    return {value.buffer, value.offset, value.bytes()};
  }
  bool FillsBuffer(int v) const {
    const ProgramValue& value = old_.values[v];
    return value.offset == 0 && value.bytes() == old_.buffers[value.buffer].bytes;
  }

  // Computes the offsets of the pieces of instruction `i` if it does not run because its pieces are
  // sub-buffers of its whole. Fails if they cannot be at the new shapes.
  absl::Status PlaceSlices(int i) {
    const Instruction& instruction = old_.instructions[i];
    if (instruction.run) return absl::OkStatus();
    Instruction as_run = instruction;
    as_run.run = true;
    const auto layout = SliceLayoutOf(new_, as_run);
    if (!layout.has_value()) {
      if (!SliceLayoutOf(old_, as_run).has_value()) return absl::OkStatus();
      return absl::InvalidArgumentError(absl::StrCat(
          Describe(instruction), " has pieces that would not be in one place any more"));
    }
    const auto whole = offsets_.find(KeyOf(layout->whole));
    if (whole == offsets_.end()) return absl::OkStatus();
    const int64_t base = whole->second;
    for (size_t k = 0; k < layout->pieces.size(); ++k) {
      const int piece = layout->pieces[k];
      if (old_.values[piece].buffer != old_.values[layout->whole].buffer) continue;
      const int64_t offset = base + layout->begin[k];
      // Other pieces may have had the same offset by chance: of ten rows, "the last five" and "all
      // but the first five" are the same, of other numbers they are not.
      if (offsets_.emplace(KeyOf(piece), offset).first->second == offset) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("'", old_.values[piece].entry.node->name(),
                       "' would not lie any more where another piece does"));
    }
    return absl::OkStatus();
  }

  void SizeBuffers() {
    for (ProgramBuffer& buffer : new_.buffers) buffer.bytes = 0;
    for (const ProgramValue& value : new_.values) {
      int64_t& bytes = new_.buffers[value.buffer].bytes;
      bytes = std::max(bytes, value.offset + value.bytes());
    }
  }

  enum class Relation { kApart, kSame, kOverlap };
  static Relation RelationOf(const ProgramValue& a, const ProgramValue& b) {
    if (a.buffer != b.buffer) return Relation::kApart;
    if (a.offset == b.offset && a.bytes() == b.bytes()) return Relation::kSame;
    const bool apart = a.offset + a.bytes() <= b.offset || b.offset + b.bytes() <= a.offset;
    return apart ? Relation::kApart : Relation::kOverlap;
  }

  // Checks that each output is the same buffer as, overlaps, or is apart from each other value of
  // its instruction exactly as in the old program, and that a transposition that was planned as a
  // view is still one.
  absl::Status CheckInstructions() const {
    for (const Instruction& instruction : old_.instructions) {
      for (int output : instruction.outputs) {
        bool same = true;
        for (const auto* values : {&instruction.inputs, &instruction.outputs}) {
          for (int other : *values) {
            same = same && RelationOf(old_.values[output], old_.values[other]) ==
                               RelationOf(new_.values[output], new_.values[other]);
          }
        }
        if (same) continue;
        return absl::InvalidArgumentError(absl::StrCat(
            Describe(instruction), " would use memory in another way than it was planned"));
      }
    }
    // A transposition that moved nothing may move something now.
    for (const Instruction& instruction : new_.instructions) {
      if (instruction.run || !instruction.node->op()->transposed_axes()) continue;
      if (LeavesBytes(new_, instruction)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(Describe(instruction), " was planned as a view of its input"));
    }
    return absl::OkStatus();
  }

  const Program& old_;
  Program& new_;
  std::map<Key, int64_t> offsets_;  // in the buffer of the new program
};

// Returns the chains of `planned` for new sizes, with tiles that are no longer than those of
// `planned`.
absl::StatusOr<TilePlan> ResizeTiles(const Program& program, const TilePlan& planned, int threads) {
  for (const TileChain& chain : planned.chains) {
    int64_t elements = -1;
    bool same = true;
    for (int step : chain.steps) {
      ForEachValue(program.instructions[step], [&](int value) {
        const int64_t n = program.values[value].shape.num_elements();
        same = same && (elements < 0 || n == elements);
        elements = n;
      });
    }
    if (!same || elements == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(Describe(program.instructions[chain.begin]),
                       " is run tile by tile with operators on arrays of another size"));
    }
  }
  return PlanTiles(program, threads, &planned);
}

// Fails if an argument has more elements than the plan was made for: values that are computed from
// it would be larger too. Called before shapes are inferred.
absl::Status CheckNoLarger(const KnownShapes& shapes, const std::vector<std::string>& arg_names,
                           const std::vector<Shape>& planned) {
  for (size_t i = 0; i < arg_names.size(); ++i) {
    const auto it = shapes.find(arg_names[i]);
    if (it == shapes.end() || !it->second.IsFull()) continue;
    if (it->second.ToShape().num_elements() <= planned[i].num_elements()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("argument '", arg_names[i], "' of shape ", it->second.ToString(),
                     " is larger than in the plan, ", planned[i].ToString()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const CompiledProgram>> CompiledProgram::Resize(
    const KnownShapes& shapes) const {
  COOPER_RETURN_IF_ERROR(CheckNoLarger(shapes, program().arg_names, planned_args_));
  CompileOptions options = options_;
  for (const auto& [name, shape] : shapes) options.shapes[name] = shape;
  const IndexedGraph forward(lowered_.symbol.outputs());
  COOPER_ASSIGN_OR_RETURN(std::vector<PartialShape> forward_shapes,
                          InferForward(forward, options.shapes, lowered_));
  COOPER_RETURN_IF_ERROR(CheckAsWritten(written_, options.shapes, lowered_, forward_shapes));
  const IndexedGraph whole = WholeGraph(forward, lowered_.gradient);
  COOPER_ASSIGN_OR_RETURN(
      const std::vector<PartialShape> whole_shapes,
      InferWholeShapes(lowered_.symbol, lowered_.gradient, whole, std::move(forward_shapes)));
  LoweredProgram lowered = lowered_;
  for (ProgramValue& value : lowered.program.values) {
    CHECK(whole.contains(value.entry.node.get())) << value.entry.node->name();
    value.shape = whole_shapes[whole.entry(value.entry)].ToShape();
    if (!value.entry.node->is_variable()) continue;
    const ProgramBuffer& buffer = lowered.program.buffers[value.buffer];
    if (buffer.kind == ProgramBuffer::Kind::kArg) lowered.arg_shapes[buffer.slot] = value.shape;
    if (buffer.kind == ProgramBuffer::Kind::kAux) lowered.aux_shapes[buffer.slot] = value.shape;
  }
  COOPER_RETURN_IF_ERROR(Places(program(), lowered.program).Resize());
  std::shared_ptr<CompiledProgram> resized(
      new CompiledProgram(written_, std::move(options), std::move(lowered)));
  resized->threads_ = threads_;
  COOPER_ASSIGN_OR_RETURN(resized->tiles_,
                          ResizeTiles(resized->program(), *planned_tiles_, threads_));
  COOPER_RETURN_IF_ERROR(resized->PrepareKernels());
  COOPER_RETURN_IF_ERROR(
      CheckFits(resized->program(), resized->tiles_, resized->WorkspaceBytes(), *layout_));
  resized->layout_ = layout_;
  resized->planned_tiles_ = planned_tiles_;
  resized->planned_args_ = planned_args_;
  return resized;
}

}  // namespace cooper
