#include "executor/run/bound_program.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/plan/live_buffers.h"
#include "ndarray/device.h"
#include "ndarray/parallel.h"
#include "ndarray/profiler.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

using Kind = ProgramBuffer::Kind;

// "; inputs (32, 650) float32, (800, 650) float32": for errors of kernels.
std::string DescribeInputs(absl::Span<const ArrayView> inputs) {
  return absl::StrCat("; inputs ",
                      absl::StrJoin(inputs, ", ", [](std::string* out, const ArrayView& view) {
                        absl::StrAppend(out, view.shape.ToString(), " ", DTypeName(view.dtype));
                      }));
}

}  // namespace

absl::StatusOr<std::unique_ptr<BoundProgram>> BoundProgram::Create(
    Program program, ProgramArrays arrays, std::vector<std::shared_ptr<Arena>> arenas) {
  std::unique_ptr<BoundProgram> bound(
      new BoundProgram(std::move(program), std::move(arrays), std::move(arenas)));
  COOPER_RETURN_IF_ERROR(bound->Prepare());
  bound->FindUses();
  bound->PrepareChains();
  bound->ComputeLiveRanges();
  for (size_t i = 0; i < bound->regions_.size(); ++i) {
    Region& region = bound->regions_[i];
    COOPER_ASSIGN_OR_RETURN(region.plan, PlanMemory(region.ranges));
    COOPER_RETURN_IF_ERROR(CheckMemoryPlan(region.ranges, region.plan));
    COOPER_RETURN_IF_ERROR(bound->arenas_[i]->Reserve(region.plan.arena_size));
  }
  return bound;
}

absl::Status BoundProgram::Prepare() {
  head_gradients_.resize(program_.outputs.size());
  steps_.reserve(program_.instructions.size());
  for (const Instruction& instruction : program_.instructions) {
    if (!instruction.backward) ++num_forward_;
    auto step = std::make_unique<Step>(instruction.node->call());
    auto view = [&](int value) {
      return ArrayView{nullptr, program_.values[value].shape, program_.values[value].dtype};
    };
    for (int input : instruction.inputs) step->inputs.push_back(view(input));
    for (int output : instruction.outputs) step->outputs.push_back(view(output));
    step->context.inputs = step->inputs;
    step->context.outputs = step->outputs;
    step->context.reqs = instruction.reqs;
    step->context.context = program_.contexts[instruction.context];
    if (instruction.run && instruction.copy_from < 0) {
      COOPER_RETURN_IF_ERROR(PrepareKernel(instruction, step.get()));
    }
    steps_.push_back(std::move(step));
  }
  return absl::OkStatus();
}

absl::Status BoundProgram::PrepareKernel(const Instruction& instruction, Step* step) const {
  const Context context = step->context.context;
  auto kernel = FindKernel(instruction.node->op()->name(), context.device_type);
  if (!kernel.ok()) {
    return absl::Status(kernel.status().code(),
                        absl::StrCat(Describe(instruction), ": ", kernel.status().message()));
  }
  step->run = (*kernel)->run;
  const PrepareContext prepare{.call = instruction.node->call(),
                               .inputs = step->inputs,
                               .outputs = step->outputs,
                               .reqs = instruction.reqs,
                               .context = context};
  if ((*kernel)->prepare == nullptr) return absl::OkStatus();
  auto prepared = (*kernel)->prepare(prepare);
  if (!prepared.ok()) {
    return absl::Status(prepared.status().code(),
                        absl::StrCat(Describe(instruction), ": ", prepared.status().message(),
                                     DescribeInputs(step->inputs)));
  }
  step->prepared = *std::move(prepared);
  step->context.state = step->prepared.state.get();
  return absl::OkStatus();
}

void BoundProgram::FindUses() {
  arg_uses_.resize(arrays_.args.size());
  head_uses_.resize(program_.outputs.size());
  for (size_t s = 0; s < steps_.size(); ++s) {
    const Instruction& instruction = program_.instructions[s];
    for (size_t k = 0; k < instruction.inputs.size(); ++k) {
      const ProgramBuffer& buffer = program_.buffers[program_.values[instruction.inputs[k]].buffer];
      const std::pair<int, int> use(static_cast<int>(s), static_cast<int>(k));
      if (buffer.kind == Kind::kArg) arg_uses_[buffer.slot].push_back(use);
      if (buffer.kind == Kind::kHeadGrad) head_uses_[buffer.slot].push_back(use);
    }
  }
}

void BoundProgram::PrepareChains() {
  tile_plan_ = PlanTiles(program_, NumThreads());
  for (const TileChain& planned : tile_plan_.chains) {
    Chain chain;
    const auto slot = [&](int value) {
      return tile_plan_.slot_of_buffer[program_.values[value].buffer];
    };
    for (int i : planned.steps) {
      TiledStep step{.context = &steps_[i]->context};
      const Instruction& instruction = program_.instructions[i];
      for (int input : instruction.inputs) step.input_slots.push_back(slot(input));
      for (int output : instruction.outputs) step.output_slots.push_back(slot(output));
      chain.steps.push_back(std::move(step));
    }
    const auto name = [&](int i) -> const std::string& {
      return program_.instructions[i].node->name();
    };
    chain.name = absl::StrCat(name(planned.steps.front()), " to ", name(planned.steps.back()), " (",
                              planned.steps.size(), " operators)");
    chains_.push_back(std::move(chain));
  }
}

void BoundProgram::ComputeLiveRanges() {
  LiveBuffers live = FindLiveBuffers(program_, &tile_plan_);
  range_of_buffer_ = std::move(live.range_of_buffer);
  for (size_t i = 0; i < regions_.size(); ++i) regions_[i].ranges = std::move(live.ranges[i]);
  // Scratch memory, from step to step. -1 if none is needed.
  const auto add_workspace = [&](int context, int64_t bytes, int first, int last) {
    if (bytes <= 0) return -1;
    std::vector<LiveRange>& ranges = regions_[context].ranges;
    ranges.push_back({.size = bytes, .first = first, .last = last});
    return static_cast<int>(ranges.size()) - 1;
  };
  for (size_t i = 0; i < steps_.size(); ++i) {
    const int step = static_cast<int>(i);
    steps_[i]->workspace_range = add_workspace(program_.instructions[i].context,
                                               steps_[i]->prepared.workspace_bytes, step, step);
  }
  for (size_t i = 0; i < chains_.size(); ++i) {
    const TileChain& chain = tile_plan_.chains[i];
    chains_[i].workspace_range = add_workspace(program_.instructions[chain.begin].context,
                                               chain.workspace_bytes(), chain.begin, chain.end - 1);
  }
}

int64_t BoundProgram::num_ranges() const {
  size_t ranges = 0;
  for (const Region& region : regions_) ranges += region.ranges.size();
  return static_cast<int64_t>(ranges);
}

int64_t BoundProgram::offset(int value) const {
  const int buffer = program_.values[value].buffer;
  const int range = range_of_buffer_[buffer];
  if (range < 0) return -1;
  return regions_[program_.buffers[buffer].context].plan.offsets[range] +
         program_.values[value].offset;
}

char* BoundProgram::BlockOf(int context) const {
  return static_cast<char*>(arenas_[context]->storage()->data());
}

void* BoundProgram::WorkspaceOf(int context, int range) const {
  return range < 0 ? nullptr : BlockOf(context) + regions_[context].plan.offsets[range];
}

void* BoundProgram::DataOf(int value) const {
  const ProgramBuffer& buffer = program_.buffers[program_.values[value].buffer];
  switch (buffer.kind) {
    case Kind::kArg:
      return arrays_.args[buffer.slot].raw_data();
    case Kind::kAux:
      return arrays_.auxs[buffer.slot].raw_data();
    case Kind::kGrad:
      return arrays_.grads[buffer.slot].raw_data();
    case Kind::kHeadGrad:
      return head_gradients_[buffer.slot].raw_data();
    case Kind::kArena:
      break;
  }
  const int64_t at = offset(value);
  return at < 0 ? nullptr : BlockOf(buffer.context) + at;
}

void BoundProgram::Point() {
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Instruction& instruction = program_.instructions[i];
    Step& step = *steps_[i];
    for (size_t k = 0; k < step.inputs.size(); ++k) {
      step.inputs[k].data = DataOf(instruction.inputs[k]);
    }
    for (size_t k = 0; k < step.outputs.size(); ++k) {
      step.outputs[k].data =
          instruction.reqs[k] == WriteReq::kNull ? nullptr : DataOf(instruction.outputs[k]);
    }
    step.context.workspace = WorkspaceOf(instruction.context, step.workspace_range);
  }
}

absl::Status BoundProgram::Refresh() {
  bool moved = false;
  for (size_t i = 0; i < regions_.size(); ++i) {
    Region& region = regions_[i];
    COOPER_RETURN_IF_ERROR(arenas_[i]->Reserve(region.plan.arena_size));
    moved = moved || region.generation != arenas_[i]->generation();
    region.generation = arenas_[i]->generation();
  }
  if (!moved) return absl::OkStatus();
  Point();
  ++generation_;
  return absl::OkStatus();
}

void BoundProgram::SetArg(int slot, const NDArray& array) {
  arrays_.args[slot] = array;
  for (const auto& [step, k] : arg_uses_[slot]) steps_[step]->inputs[k].data = array.raw_data();
}

void BoundProgram::SetHeadGradient(int i, const NDArray& array) {
  head_gradients_[i] = array;
  for (const auto& [step, k] : head_uses_[i]) steps_[step]->inputs[k].data = array.raw_data();
}

absl::StatusOr<NDArray> BoundProgram::ArrayOf(int value) const {
  const ProgramValue& v = program_.values[value];
  const ProgramBuffer& buffer = program_.buffers[v.buffer];
  switch (buffer.kind) {
    case Kind::kArg:
      return arrays_.args[buffer.slot].Reshape(v.shape);
    case Kind::kAux:
      return arrays_.auxs[buffer.slot].Reshape(v.shape);
    case Kind::kGrad:
      return arrays_.grads[buffer.slot].Reshape(v.shape);
    case Kind::kHeadGrad:
      return head_gradients_[buffer.slot].Reshape(v.shape);
    case Kind::kArena:
      break;
  }
  if (offset(value) < 0) return absl::FailedPreconditionError("the value is not computed");
  return NDArray::View(arenas_[buffer.context]->storage(), offset(value), v.shape, v.dtype);
}

absl::Status BoundProgram::Run(size_t begin, size_t end, bool is_train, uint64_t seed, uint64_t run,
                               const Observer* observer) {
  for (size_t i = begin; i < end; ++i) {
    const Instruction& instruction = program_.instructions[i];
    Step& step = *steps_[i];
    if (is_train && instruction.left_to_gradient) continue;
    if (instruction.tiles >= 0) {
      COOPER_RETURN_IF_ERROR(RunChain(instruction.tiles, is_train));
      i = tile_plan_.chains[instruction.tiles].end - 1;
      continue;
    }
    if (observer != nullptr && observer->before) observer->before(*this, static_cast<int>(i));
    if (instruction.run) {
      const ScopedProfile profile(
          instruction.backward ? ProfileCategory::kBackward : ProfileCategory::kForward,
          instruction.node->op()->name(), instruction.node->name());
      step.context.is_train = is_train;
      step.context.random = Philox(seed, run << 24 | instruction.random_id);
      COOPER_RETURN_IF_ERROR(instruction.copy_from < 0 ? RunKernel(instruction, step)
                                                       : Copy(instruction, step));
    }
    if (observer != nullptr && observer->after) observer->after(*this, static_cast<int>(i));
  }
  return absl::OkStatus();
}

absl::Status BoundProgram::RunChain(int number, bool is_train) {
  const TileChain& planned = tile_plan_.chains[number];
  const Chain& chain = chains_[number];
  for (int i : planned.steps) steps_[i]->context.is_train = is_train;
  const Instruction& first = program_.instructions[planned.begin];
  const ScopedProfile profile(
      first.backward ? ProfileCategory::kBackward : ProfileCategory::kForward, "element-wise chain",
      chain.name);
  return RunTiles(planned, chain.steps, WorkspaceOf(first.context, chain.workspace_range),
                  [&](size_t k, const KernelContext& tile) {
                    const Step& step = *steps_[planned.steps[k]];
                    absl::Status status = step.run(tile);
                    if (status.ok()) return status;
                    return WithStep(status, program_.instructions[planned.steps[k]], step);
                  });
}

absl::Status BoundProgram::RunKernel(const Instruction& instruction, const Step& step) {
  absl::Status status = step.run(step.context);
  return status.ok() ? status : WithStep(status, instruction, step);
}

absl::Status BoundProgram::WithStep(const absl::Status& status, const Instruction& instruction,
                                    const Step& step) {
  return absl::Status(status.code(), absl::StrCat(Describe(instruction), ": ", status.message(),
                                                  DescribeInputs(step.inputs)));
}

absl::Status BoundProgram::Copy(const Instruction& instruction, const Step& step) const {
  return CopyBytes(step.outputs[0].data, program_.contexts[instruction.context],
                   step.inputs[0].data, program_.contexts[instruction.copy_from],
                   step.inputs[0].size_bytes());
}

absl::Status BoundProgram::RunForward(bool is_train, uint64_t seed, uint64_t run,
                                      const Observer* observer) {
  return Run(0, num_forward_, is_train, seed, run, observer);
}

absl::Status BoundProgram::RunBackward(uint64_t seed, uint64_t run, const Observer* observer) {
  return Run(num_forward_, steps_.size(), /*is_train=*/true, seed, run, observer);
}

}  // namespace cooper
