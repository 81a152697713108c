#include "executor/compile/compiled_program.h"

#include <map>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "executor/compile/passes.h"
#include "executor/passes/program/program_passes.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/parallel.h"
#include "symbol/graph/gradient.h"

namespace cooper {
namespace {

absl::StatusOr<CompiledProgram::Step> PrepareStep(const Program& program,
                                                  const Instruction& instruction,
                                                  absl::Span<const ArrayView> inputs,
                                                  absl::Span<const ArrayView> outputs) {
  const Context context = program.contexts[instruction.context];
  const auto with_node = [&](const absl::Status& status, absl::string_view more) {
    const std::string where = context.is_cpu() ? "" : absl::StrCat(" on ", context.ToString());
    return absl::Status(status.code(),
                        absl::StrCat(Describe(instruction), where, ": ", status.message(), more));
  };
  const auto kernel = FindKernel(instruction.node->op()->name(), context.device_type);
  if (!kernel.ok()) return with_node(kernel.status(), "");
  CompiledProgram::Step step{.run = (*kernel)->run, .prepared = {}};
  auto prepared = PrepareKernel(**kernel, {.call = instruction.node->call(),
                                           .inputs = inputs,
                                           .outputs = outputs,
                                           .reqs = instruction.reqs,
                                           .context = context});
  if (!prepared.ok()) return with_node(prepared.status(), DescribeInputs(inputs));
  step.prepared = *std::move(prepared);
  return step;
}

// Returns how many variables have in `known` the value that the program has for them. `names` and
// `values` are those of the program, by slot.
template <typename Known, typename Value>
size_t CountEqual(const Known& known, const std::vector<std::string>& names,
                  const std::vector<Value>& values) {
  size_t equal = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto it = known.find(names[i]);
    if (it != known.end() && it->second == static_cast<typename Known::mapped_type>(values[i]))
      ++equal;
  }
  return equal;
}

std::map<std::string, WriteReq> Asked(std::map<std::string, WriteReq> reqs) {
  std::erase_if(reqs, [](const auto& named) { return named.second == WriteReq::kNull; });
  return reqs;
}

// Returns, by output, whether the gradients with respect to `wrt` depend on its head gradient.
absl::StatusOr<std::vector<bool>> FindNeededHeads(const Symbol& symbol,
                                                  const std::vector<std::string>& wrt) {
  COOPER_ASSIGN_OR_RETURN(const GradientGraph graph, MakeGradientGraph(symbol, wrt));
  absl::flat_hash_set<const Node*> needed;
  for (const NodeEntry& gradient : graph.gradients) {
    if (gradient) needed.insert(gradient.node.get());
  }
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (!needed.contains(node->get())) continue;
    for (const NodeEntry& input : (*node)->inputs()) needed.insert(input.node.get());
  }
  std::vector<bool> heads;
  for (const NodeEntry& head : graph.head_gradients) {
    heads.push_back(head && needed.contains(head.node.get()));
  }
  return heads;
}

}  // namespace

CompiledProgram::CompiledProgram(const Symbol& written, CompileOptions options,
                                 LoweredProgram lowered)
    : written_(written),
      options_(std::move(options)),
      lowered_(std::move(lowered)),
      threads_(NumThreads()) {
  for (const Instruction& instruction : program().instructions) {
    if (!instruction.backward) ++num_forward_;
    merges_nodes_ = merges_nodes_ || instruction.tiles >= 0;
  }
  merges_nodes_ = merges_nodes_ || lowered_.rewritten();
  FindOutputOfBackward();
}

absl::StatusOr<std::shared_ptr<const CompiledProgram>> CompiledProgram::Compile(
    const Symbol& symbol, const CompileOptions& options) {
  COOPER_RETURN_IF_ERROR(CheckPassNames(options.disabled_passes));
  COOPER_ASSIGN_OR_RETURN(LoweredProgram lowered, LowerToProgram(symbol, options));
  for (const Pass& pass : AllPasses()) {
    if (pass.over_program == nullptr || options.disabled_passes.contains(pass.name)) continue;
    pass.over_program(lowered.program);
  }
  if (options.unbound_outputs) UnbindOutputs(lowered.program);
  std::shared_ptr<CompiledProgram> compiled(
      new CompiledProgram(symbol, options, std::move(lowered)));
  COOPER_RETURN_IF_ERROR(compiled->PrepareKernels());
  compiled->tiles_ = PlanTiles(compiled->program(), compiled->threads_);
  COOPER_ASSIGN_OR_RETURN(ArenaLayout layout, LayOutArenas(compiled->program(), compiled->tiles_,
                                                           compiled->WorkspaceBytes()));
  compiled->layout_ = std::make_shared<const ArenaLayout>(std::move(layout));
  compiled->planned_tiles_ = std::make_shared<const TilePlan>(compiled->tiles_);
  compiled->planned_args_ = compiled->arg_shapes();
  return compiled;
}

absl::Status CompiledProgram::PrepareKernels() {
  const Program& p = program();
  steps_.clear();
  steps_.reserve(p.instructions.size());
  for (const Instruction& instruction : p.instructions) {
    if (instruction.run && instruction.copy_from < 0) {
      COOPER_ASSIGN_OR_RETURN(Step step, PrepareStep(p, instruction, ViewsOf(p, instruction.inputs),
                                                     ViewsOf(p, instruction.outputs)));
      steps_.push_back(std::move(step));
    } else {
      steps_.emplace_back();
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Prepared> CompiledProgram::PrepareFor(int instruction,
                                                     absl::Span<const ArrayView> inputs,
                                                     absl::Span<const ArrayView> outputs) const {
  COOPER_ASSIGN_OR_RETURN(
      Step step, PrepareStep(program(), program().instructions[instruction], inputs, outputs));
  return std::move(step.prepared);
}

std::vector<int64_t> CompiledProgram::WorkspaceBytes() const {
  std::vector<int64_t> bytes;
  bytes.reserve(steps_.size());
  for (const Step& step : steps_) bytes.push_back(step.prepared.workspace_bytes);
  return bytes;
}

void CompiledProgram::FindOutputOfBackward() {
  const Program& p = program();
  const std::vector<int> producers = p.Producers();
  for (size_t i = 0; i < p.outputs.size(); ++i) {
    const int producer = producers[p.outputs[i]];
    if (producer < 0 || !p.instructions[producer].computed_by_gradient) continue;
    output_of_backward_ = static_cast<int>(i);
  }
}

bool CompiledProgram::IsFor(const Symbol& symbol, const CompileOptions& options) const {
  const Program& p = program();
  return symbol.outputs() == written_.outputs() && options.context == options_.context &&
         options.group2ctx == options_.group2ctx && options.fallback == options_.fallback &&
         Asked(options.grad_reqs) == Asked(options_.grad_reqs) &&
         options.disabled_passes == options_.disabled_passes &&
         options.constants == options_.constants &&
         options.unbound_outputs == options_.unbound_outputs &&
         CountEqual(options.shapes, p.arg_names, arg_shapes()) +
                 CountEqual(options.shapes, p.aux_names, aux_shapes()) ==
             options.shapes.size() &&
         CountEqual(options.types, p.arg_names, arg_types()) +
                 CountEqual(options.types, p.aux_names, aux_types()) ==
             options.types.size();
}

absl::StatusOr<bool> CompiledProgram::NeedsHeadGradient(int i) const {
  if (!lowered_.rewritten()) return program().head_gradients[i] >= 0;
  std::call_once(needed_heads_once_, [this] {
    std::vector<std::string> wrt;
    for (const ProgramGradient& g : program().gradients) wrt.push_back(program().arg_names[g.arg]);
    needed_heads_ = FindNeededHeads(lowered_.expanded, wrt);
  });
  COOPER_RETURN_IF_ERROR(needed_heads_.status());
  return (*needed_heads_)[i];
}

}  // namespace cooper
