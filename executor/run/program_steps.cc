#include "executor/run/program_steps.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "executor/run/random_state.h"
#include "ndarray/array/device.h"
#include "ndarray/array/recording_queue.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/profiler.h"
#include "ndarray/threads/subnormals.h"

namespace cooper {
namespace {

// The low bits of a random stream's number, which identify the instruction that draws. The other
// bits hold the number of the run.
constexpr int kRandomIdBits = 24;
static_assert((kMaxRuns - 1) << kRandomIdBits >> kRandomIdBits == kMaxRuns - 1);

ProfileCategory CategoryOf(const Instruction& instruction) {
  return instruction.backward ? ProfileCategory::kBackward : ProfileCategory::kForward;
}

}  // namespace

ProgramSteps::ProgramSteps(std::shared_ptr<const CompiledProgram> compiled, ProgramArrays arrays,
                           std::vector<std::shared_ptr<Arena>> arenas)
    : compiled_(std::move(compiled)),
      arenas_(std::move(arenas)),
      arena_generations_(arenas_.size(), -1),
      blocks_(arenas_.size()) {
  const auto of = [this](Kind kind) -> std::vector<NDArray>& {
    return arrays_[static_cast<int>(kind)];
  };
  of(Kind::kArg) = std::move(arrays.args);
  of(Kind::kAux) = std::move(arrays.auxs);
  of(Kind::kGrad) = std::move(arrays.grads);
  of(Kind::kHeadGrad).resize(program().outputs.size());
  of(Kind::kOutput).resize(program().outputs.size());
  PointAtShapes();
  FindUses();
  NameChains();
  true_shapes_ = TrueShapes::Create(*compiled_);
}

Shape ProgramSteps::ShapeOf(int value) const {
  return true_shapes_ == nullptr ? program().values[value].shape : true_shapes_->ShapeOf(value);
}

void ProgramSteps::PointAtShapes() {
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

void ProgramSteps::FindUses() {
  const Program& p = program();
  for (int kind = 0; kind < kNumKinds; ++kind) uses_[kind].resize(arrays_[kind].size());
  const auto add = [&](int value, const Use& use) {
    const ProgramBuffer& buffer = p.buffers[p.values[value].buffer];
    // The arrays of auxiliary states and gradients never change.
    if (buffer.kind == Kind::kArena || buffer.kind == Kind::kAux || buffer.kind == Kind::kGrad) {
      return;
    }
    uses_[static_cast<int>(buffer.kind)][buffer.slot].push_back(use);
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

void ProgramSteps::NameChains() {
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

char* ProgramSteps::At(int context, int64_t offset) const {
  if (offset < 0) return nullptr;
  return static_cast<char*>(blocks_[context].lock()->data()) + offset;
}

void* ProgramSteps::DataOf(int value) const {
  const Program& p = program();
  const ProgramBuffer& buffer = p.buffers[p.values[value].buffer];
  if (buffer.kind == Kind::kArena) {
    return At(buffer.context, compiled_->layout().OffsetOf(p, value));
  }
  const NDArray& whole = array(buffer.kind, buffer.slot);
  // An output may contain other values as pieces, at offsets.
  const int64_t offset = buffer.kind == Kind::kOutput ? p.values[value].offset : 0;
  return whole.is_null() ? nullptr : static_cast<char*>(whole.raw_data()) + offset;
}

void ProgramSteps::Point() {
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

absl::Status ProgramSteps::Refresh() {
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

void ProgramSteps::SetArray(Kind kind, int slot, const NDArray& array) {
  arrays_[static_cast<int>(kind)][slot] = array;
  for (const Use& use : uses_[static_cast<int>(kind)][slot]) {
    const Instruction& instruction = program().instructions[use.step];
    Step& step = *steps_[use.step];
    if (use.is_input) {
      PointAt(DataOf(instruction.inputs[use.position]), step.inputs[use.position]);
    } else {
      PointAt(DataOf(instruction.outputs[use.position]), step.outputs[use.position]);
    }
  }
}

void ProgramSteps::PointAt(void* data, ArrayView& view) {
  if (view.data != data) ++pointers_;
  view.data = data;
}

absl::StatusOr<NDArray> ProgramSteps::ArrayOf(int value) const {
  const ProgramValue& v = program().values[value];
  const ProgramBuffer& buffer = program().buffers[v.buffer];
  const Shape shape = ShapeOf(value);
  if (buffer.kind == Kind::kOutput) {
    const NDArray& whole = array(buffer.kind, buffer.slot);
    if (whole.is_null()) return absl::FailedPreconditionError("the output has no array yet");
    const auto begin = static_cast<const char*>(whole.raw_data()) -
                       static_cast<const char*>(whole.storage()->data());
    return NDArray::View(whole.storage(), begin + v.offset, shape, v.dtype);
  }
  if (buffer.kind != Kind::kArena) return array(buffer.kind, buffer.slot).Reshape(shape);
  const int64_t offset = compiled_->layout().OffsetOf(program(), value);
  if (offset < 0) return absl::FailedPreconditionError("the value is not computed");
  std::shared_ptr<Storage> block = blocks_[buffer.context].lock();
  if (block == nullptr) return absl::FailedPreconditionError("the value's memory is gone");
  return NDArray::View(std::move(block), offset, shape, v.dtype);
}

bool ProgramSteps::ConditionsHold(const Instruction& instruction) const {
  for (const RunCondition& condition : instruction.conditions) {
    if (*static_cast<const bool*>(DataOf(condition.value)) != condition.expected) return false;
  }
  return true;
}

absl::Status ProgramSteps::RunInstructions(int begin, int end, bool is_train, uint64_t seed,
                                           uint64_t run, const ProgramObserver* observer) {
  if (true_shapes_ != nullptr && begin == 0) true_shapes_->Forget();
  for (int i = begin; i < end; ++i) {
    const Instruction& instruction = program().instructions[i];
    if (is_train && instruction.computed_by_gradient) continue;
    const bool runs = ConditionsHold(instruction);
    if (instruction.tiles >= 0) {
      if (runs) COOPER_RETURN_IF_ERROR(RunChain(instruction.tiles, is_train));
      i = compiled_->tiles().chains[instruction.tiles].end - 1;
      continue;
    }
    if (!runs) continue;
    Step& step = *steps_[i];
    if (true_shapes_ != nullptr) {
      COOPER_RETURN_IF_ERROR(true_shapes_->Prepare(i, absl::MakeSpan(step.inputs),
                                                   absl::MakeSpan(step.outputs), step.context));
    }
    if (observer != nullptr && observer->before) observer->before(*this, i);
    if (instruction.run) {
      step.context.is_train = is_train;
      step.context.random = Philox(seed, run << kRandomIdBits | instruction.random_id);
      COOPER_RETURN_IF_ERROR(RunInstruction(i));
      if (true_shapes_ != nullptr) true_shapes_->Read(i, step.outputs);
    }
    if (observer != nullptr && observer->after) observer->after(*this, i);
  }
  return absl::OkStatus();
}

absl::Status ProgramSteps::RunInstruction(int i) {
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

// Copies a value between the queues of two contexts. The copy waits for the work that computed the
// value, and later work that overwrites the value waits for the copy.
absl::Status ProgramSteps::RunCopy(const Instruction& instruction, const Step& step) {
  const std::vector<Context>& contexts = program().contexts;
  DeviceQueue& to = *arenas_[instruction.context]->queue();
  DeviceQueue& from = *arenas_[instruction.copy_from]->queue();
  COOPER_RETURN_IF_ERROR(to.WaitFor(from));
  COOPER_RETURN_IF_ERROR(to.Copy(step.outputs[0].data, contexts[instruction.context],
                                 step.inputs[0].data, contexts[instruction.copy_from],
                                 step.inputs[0].size_bytes()));
  return contexts[instruction.copy_from].is_cpu() ? absl::OkStatus() : from.WaitFor(to);
}

absl::Status ProgramSteps::RunChain(int number, bool is_train) {
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

absl::Status ProgramSteps::WithInstruction(const absl::Status& status, int i) const {
  return absl::Status(status.code(),
                      absl::StrCat(Describe(program().instructions[i]), ": ", status.message(),
                                   DescribeInputs(steps_[i]->inputs)));
}

void ProgramSteps::UseQueue(DeviceQueue* queue) {
  for (const auto& step : steps_) step->context.queue = queue;
}

absl::Status ProgramSteps::Run(Part part, uint64_t seed, uint64_t run,
                               const ProgramObserver* observer, const AfterBackward* after) {
  if (part == Part::kAll) {
    const int64_t name = after == nullptr ? -1 : after->name;
    if (std::exchange(after_, name) != name) ++pointers_;
  }
  const bool forward_alone = part == Part::kInference || part == Part::kTraining;
  const int begin = part == Part::kBackward ? compiled_->num_forward() : 0;
  const int end = forward_alone ? compiled_->num_forward() : static_cast<int>(steps_.size());
  const bool is_train = part != Part::kInference;
  DeviceQueue* const queue = arenas_[0]->queue();
  const auto run_in = [&](DeviceQueue* to, uint64_t number) -> absl::Status {
    COOPER_RETURN_IF_ERROR(RunInstructions(begin, end, is_train, seed, number, observer));
    return after == nullptr ? absl::OkStatus() : after->enqueue(to);
  };
  RecordingQueue* const recording = AsRecording(queue);
  // With several devices nothing is recorded, because the host orders the waits between them.
  if (recording == nullptr || arenas_.size() > 1 || observer != nullptr || IsProfiling()) {
    return run_in(queue, run);
  }
  const RunRandom random = {.seed = seed, .stream = run << kRandomIdBits};
  return parts_[static_cast<int>(part)].Run(*recording, arenas_[0]->context(), pointers_, random,
                                            [&](DeviceQueue& to, bool recorded) -> absl::Status {
                                              if (!recorded) return run_in(queue, run);
                                              UseQueue(&to);
                                              absl::Status status = run_in(&to, /*number=*/0);
                                              UseQueue(queue);
                                              return status;
                                            });
}

int ProgramSteps::num_recorded() const {
  int count = 0;
  for (const RecordedPart& part : parts_) count += part.is_recorded() ? 1 : 0;
  return count;
}

}  // namespace cooper
