#include "executor/run/bound_program.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/run/random_state.h"
#include "ndarray/array/device.h"
#include "ndarray/array/recording_queue.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/profiler.h"
#include "ndarray/threads/subnormals.h"

namespace cooper {
namespace {

using Kind = ProgramBuffer::Kind;

// Of a stream's name, those that say which instruction draws; the others say in which run.
constexpr int kRandomIdBits = 24;
static_assert((kMaxRuns - 1) << kRandomIdBits >> kRandomIdBits == kMaxRuns - 1);

ProfileCategory CategoryOf(const Instruction& instruction) {
  return instruction.backward ? ProfileCategory::kBackward : ProfileCategory::kForward;
}

}  // namespace

BoundProgram::BoundProgram(std::shared_ptr<const CompiledProgram> compiled, ProgramArrays arrays,
                           std::vector<std::shared_ptr<Arena>> arenas)
    : compiled_(std::move(compiled)),
      arrays_(std::move(arrays)),
      head_gradients_(program().outputs.size()),
      outputs_(program().outputs.size()),
      arenas_(std::move(arenas)),
      arena_generations_(arenas_.size(), -1),
      blocks_(arenas_.size()),
      arg_uses_(arrays_.args.size()),
      head_uses_(program().outputs.size()),
      output_uses_(program().outputs.size()) {
  PointAtShapes();
  FindUses();
  NameChains();
}

void BoundProgram::PointAtShapes() {
  const Program& p = program();
  steps_.reserve(p.instructions.size());
  for (size_t i = 0; i < p.instructions.size(); ++i) {
    const Instruction& instruction = p.instructions[i];
    auto step = std::make_unique<Step>(instruction.node->call());
    step->inputs = ViewsOf(p, instruction.inputs);
    step->outputs = ViewsOf(p, instruction.outputs);
    step->context.inputs = step->inputs;
    step->context.outputs = step->outputs;
    step->context.reqs = instruction.reqs;
    step->context.context = p.contexts[instruction.context];
    step->context.state = compiled_->step(static_cast<int>(i)).prepared.state.get();
    steps_.push_back(std::move(step));
  }
}

void BoundProgram::FindUses() {
  const Program& p = program();
  const auto add = [&](int value, const Use& use) {
    const ProgramBuffer& buffer = p.buffers[p.values[value].buffer];
    if (buffer.kind == Kind::kArg) arg_uses_[buffer.slot].push_back(use);
    if (buffer.kind == Kind::kHeadGrad) head_uses_[buffer.slot].push_back(use);
    if (buffer.kind == Kind::kOutput) output_uses_[buffer.slot].push_back(use);
  };
  for (size_t s = 0; s < steps_.size(); ++s) {
    const Instruction& instruction = p.instructions[s];
    const auto step = static_cast<int>(s);
    for (size_t k = 0; k < instruction.inputs.size(); ++k) {
      add(instruction.inputs[k], {.step = step, .is_input = true, .position = static_cast<int>(k)});
    }
    for (size_t k = 0; k < instruction.outputs.size(); ++k) {
      if (instruction.reqs[k] == WriteReq::kNull) continue;
      add(instruction.outputs[k],
          {.step = step, .is_input = false, .position = static_cast<int>(k)});
    }
  }
}

void BoundProgram::NameChains() {
  const Program& p = program();
  const TilePlan& tiles = compiled_->tiles();
  for (const TileChain& planned : tiles.chains) {
    Chain chain;
    const auto slot = [&](int value) { return tiles.slot_of_buffer[p.values[value].buffer]; };
    for (int i : planned.steps) {
      TiledStep step{.context = &steps_[i]->context, .input_slots = {}, .output_slots = {}};
      for (int input : p.instructions[i].inputs) step.input_slots.push_back(slot(input));
      for (int output : p.instructions[i].outputs) step.output_slots.push_back(slot(output));
      chain.steps.push_back(std::move(step));
    }
    const auto name = [&](int i) -> const std::string& { return p.instructions[i].node->name(); };
    chain.name = absl::StrCat(name(planned.steps.front()), " to ", name(planned.steps.back()), " (",
                              planned.steps.size(), " operators)");
    chains_.push_back(std::move(chain));
  }
}

char* BoundProgram::At(int context, int64_t offset) const {
  if (offset < 0) return nullptr;
  return static_cast<char*>(blocks_[context].lock()->data()) + offset;
}

void* BoundProgram::DataOf(int value) const {
  const Program& p = program();
  const ProgramBuffer& buffer = p.buffers[p.values[value].buffer];
  switch (buffer.kind) {
    case Kind::kArg:
      return arrays_.args[buffer.slot].raw_data();
    case Kind::kAux:
      return arrays_.auxs[buffer.slot].raw_data();
    case Kind::kGrad:
      return arrays_.grads[buffer.slot].raw_data();
    case Kind::kHeadGrad:
      return head_gradients_[buffer.slot].raw_data();
    case Kind::kOutput:
      // It may have other values in it, as pieces.
      if (outputs_[buffer.slot].is_null()) return nullptr;
      return static_cast<char*>(outputs_[buffer.slot].raw_data()) + p.values[value].offset;
    case Kind::kArena:
      break;
  }
  return At(buffer.context, compiled_->layout().OffsetOf(p, value));
}

void BoundProgram::Point() {
  ++pointers_;
  const Program& p = program();
  const ArenaLayout& layout = compiled_->layout();
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Instruction& instruction = p.instructions[i];
    Step& step = *steps_[i];
    for (size_t k = 0; k < step.inputs.size(); ++k) {
      step.inputs[k].data = DataOf(instruction.inputs[k]);
    }
    for (size_t k = 0; k < step.outputs.size(); ++k) {
      step.outputs[k].data =
          instruction.reqs[k] == WriteReq::kNull ? nullptr : DataOf(instruction.outputs[k]);
    }
    step.context.queue = arenas_[instruction.context]->queue();
    step.context.workspace = At(
        instruction.context, layout.OffsetOf(instruction.context, layout.range_of_instruction[i]));
  }
}

absl::Status BoundProgram::Refresh() {
  bool moved = false;
  for (size_t i = 0; i < arenas_.size(); ++i) {
    COOPER_RETURN_IF_ERROR(arenas_[i]->Reserve(compiled_->layout().regions[i].plan.arena_size));
    moved = moved || arena_generations_[i] != arenas_[i]->generation();
    arena_generations_[i] = arenas_[i]->generation();
    blocks_[i] = arenas_[i]->storage();
  }
  if (!moved) return absl::OkStatus();
  Point();
  ++generation_;
  return absl::OkStatus();
}

void BoundProgram::SetArg(int slot, const NDArray& array) {
  arrays_.args[slot] = array;
  PointUses(arg_uses_[slot]);
}

void BoundProgram::PointUses(const std::vector<Use>& uses) {
  for (const Use& use : uses) {
    const Instruction& instruction = program().instructions[use.step];
    Step& step = *steps_[use.step];
    if (use.is_input) {
      PointAt(DataOf(instruction.inputs[use.position]), step.inputs[use.position]);
    } else {
      PointAt(DataOf(instruction.outputs[use.position]), step.outputs[use.position]);
    }
  }
}

void BoundProgram::PointAt(void* data, ArrayView& view) {
  if (view.data != data) ++pointers_;
  view.data = data;
}

void BoundProgram::SetHeadGradient(int i, const NDArray& array) {
  head_gradients_[i] = array;
  PointUses(head_uses_[i]);
}

void BoundProgram::SetOutput(int i, const NDArray& array) {
  outputs_[i] = array;
  PointUses(output_uses_[i]);
}

absl::StatusOr<NDArray> BoundProgram::ArrayOf(int value) const {
  const ProgramValue& v = program().values[value];
  const ProgramBuffer& buffer = program().buffers[v.buffer];
  switch (buffer.kind) {
    case Kind::kArg:
      return arrays_.args[buffer.slot].Reshape(v.shape);
    case Kind::kAux:
      return arrays_.auxs[buffer.slot].Reshape(v.shape);
    case Kind::kGrad:
      return arrays_.grads[buffer.slot].Reshape(v.shape);
    case Kind::kHeadGrad:
      return head_gradients_[buffer.slot].Reshape(v.shape);
    case Kind::kOutput: {
      const NDArray& whole = outputs_[buffer.slot];
      if (whole.is_null()) return absl::FailedPreconditionError("the output has no array yet");
      const auto begin = static_cast<const char*>(whole.raw_data()) -
                         static_cast<const char*>(whole.storage()->data());
      return NDArray::View(whole.storage(), begin + v.offset, v.shape, v.dtype);
    }
    case Kind::kArena:
      break;
  }
  const int64_t offset = compiled_->layout().OffsetOf(program(), value);
  if (offset < 0) return absl::FailedPreconditionError("the value is not computed");
  std::shared_ptr<Storage> block = blocks_[buffer.context].lock();
  if (block == nullptr) return absl::FailedPreconditionError("the value's memory is gone");
  return NDArray::View(std::move(block), offset, v.shape, v.dtype);
}

absl::Status BoundProgram::Run(int begin, int end, bool is_train, uint64_t seed, uint64_t run,
                               const Observer* observer) {
  for (int i = begin; i < end; ++i) {
    const Instruction& instruction = program().instructions[i];
    if (is_train && instruction.left_to_gradient) continue;
    if (instruction.tiles >= 0) {
      COOPER_RETURN_IF_ERROR(RunChain(instruction.tiles, is_train));
      i = compiled_->tiles().chains[instruction.tiles].end - 1;
      continue;
    }
    if (observer != nullptr && observer->before) observer->before(*this, i);
    if (instruction.run) {
      steps_[i]->context.is_train = is_train;
      steps_[i]->context.random = Philox(seed, run << kRandomIdBits | instruction.random_id);
      COOPER_RETURN_IF_ERROR(RunInstruction(i));
    }
    if (observer != nullptr && observer->after) observer->after(*this, i);
  }
  return absl::OkStatus();
}

absl::Status BoundProgram::RunInstruction(int i) {
  const Program& p = program();
  const Instruction& instruction = p.instructions[i];
  const Step& step = *steps_[i];
  const ScopedProfile profile(CategoryOf(instruction), instruction.node->op()->name(),
                              instruction.node->name());
  const auto subnormals = ScopedSubnormals::Flush(step.context.context.is_cpu());
  const absl::Status status = instruction.copy_from >= 0 ? RunCopy(instruction, step)
                                                         : compiled_->step(i).run(step.context);
  return status.ok() ? status : WithInstruction(status, i);
}

// Between queues: the copy waits for what has made the value, and what overwrites it for the copy.
absl::Status BoundProgram::RunCopy(const Instruction& instruction, const Step& step) {
  const std::vector<Context>& contexts = program().contexts;
  DeviceQueue& to = *arenas_[instruction.context]->queue();
  DeviceQueue& from = *arenas_[instruction.copy_from]->queue();
  COOPER_RETURN_IF_ERROR(to.WaitFor(from));
  COOPER_RETURN_IF_ERROR(to.Copy(step.outputs[0].data, contexts[instruction.context],
                                 step.inputs[0].data, contexts[instruction.copy_from],
                                 step.inputs[0].size_bytes()));
  return contexts[instruction.copy_from].is_cpu() ? absl::OkStatus() : from.WaitFor(to);
}

absl::Status BoundProgram::RunChain(int number, bool is_train) {
  const TileChain& planned = compiled_->tiles().chains[number];
  const Chain& chain = chains_[number];
  for (int i : planned.steps) steps_[i]->context.is_train = is_train;
  const Instruction& first = program().instructions[planned.begin];
  const ScopedProfile profile(CategoryOf(first), "element-wise chain", chain.name);
  const auto subnormals = ScopedSubnormals::Flush(program().contexts[first.context].is_cpu());
  const ArenaLayout& layout = compiled_->layout();
  void* const workspace =
      At(first.context, layout.OffsetOf(first.context, layout.range_of_chain[number]));
  return RunTiles(planned, chain.steps, workspace, [&](size_t k, const KernelContext& tile) {
    const int i = planned.steps[k];
    absl::Status status = compiled_->step(i).run(tile);
    return status.ok() ? status : WithInstruction(status, i);
  });
}

absl::Status BoundProgram::WithInstruction(const absl::Status& status, int i) const {
  return absl::Status(status.code(),
                      absl::StrCat(Describe(program().instructions[i]), ": ", status.message(),
                                   DescribeInputs(steps_[i]->inputs)));
}

void BoundProgram::UseQueue(DeviceQueue* queue) {
  for (const auto& step : steps_) step->context.queue = queue;
}

absl::Status BoundProgram::RunPart(Part part, uint64_t seed, uint64_t run, const Observer* observer,
                                   const AfterBackward* after) {
  const int begin = part == kBackward ? compiled_->num_forward() : 0;
  const int end = part == kBackward || part == kAll ? static_cast<int>(steps_.size())
                                                    : compiled_->num_forward();
  const bool is_train = part != kInference;
  DeviceQueue* const queue = arenas_[0]->queue();
  const auto run_in = [&](DeviceQueue* to, uint64_t number) -> absl::Status {
    COOPER_RETURN_IF_ERROR(Run(begin, end, is_train, seed, number, observer));
    return after == nullptr ? absl::OkStatus() : after->put_in(to);
  };
  RecordingQueue* const recording = AsRecording(queue);
  // Several devices wait for each other in an order that the host keeps.
  if (recording == nullptr || arenas_.size() > 1 || observer != nullptr || IsProfiling()) {
    return run_in(queue, run);
  }
  const RunRandom random = {.seed = seed, .stream = run << kRandomIdBits};
  return parts_[part].Run(*recording, arenas_[0]->context(), pointers_, random,
                          [&](DeviceQueue& to, bool recorded) -> absl::Status {
                            if (!recorded) return run_in(queue, run);
                            UseQueue(&to);
                            absl::Status status = run_in(&to, /*number=*/0);
                            UseQueue(queue);
                            return status;
                          });
}

absl::Status BoundProgram::RunForward(bool is_train, uint64_t seed, uint64_t run,
                                      const Observer* observer) {
  return RunPart(is_train ? kTraining : kInference, seed, run, observer);
}

absl::Status BoundProgram::RunBackward(uint64_t seed, uint64_t run, const Observer* observer) {
  return RunPart(kBackward, seed, run, observer);
}

absl::Status BoundProgram::RunAll(uint64_t seed, uint64_t run, const Observer* observer,
                                  const AfterBackward* after) {
  const int64_t name = after == nullptr ? -1 : after->name;
  if (std::exchange(after_, name) != name) ++pointers_;
  return RunPart(kAll, seed, run, observer, after);
}

int BoundProgram::num_recorded() const {
  int count = 0;
  for (const RecordedPart& part : parts_) count += part.is_recorded() ? 1 : 0;
  return count;
}

}  // namespace cooper
