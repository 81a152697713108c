#ifndef COOPER_EXECUTOR_KERNELS_NUMPY_CONTRACTION_KERNELS_H_
#define COOPER_EXECUTOR_KERNELS_NUMPY_CONTRACTION_KERNELS_H_

// Kernels of NumPy products and of their gradients, templates over the device, for contraction.cc
// and .cu. A Device is a mover of executor/kernels/loops (CpuMover, CudaMover) with
//
//   State                                    the kernel state from which that of a node derives
//   Prepare(c, state)                        fills it
//   Multiply(c, step, a, b, out, add)        out = or += a * b, as a ContractionStep says
//
// and a set of dtypes kDTypes.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/kernels/loops/strided_loop.h"
#include "executor/kernels/numpy/contraction_plan.h"
#include "executor/program/kernel.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/numpy/contraction.h"

namespace cooper {

// The kernels of one device. A node's products are planned when it is bound (Prepare*), so that a
// run only executes steps: a plan depends on shapes and dtypes, not on data.
template <typename Device>
struct ContractionKernels {
  // The plan of each output. Not changed by runs.
  struct State : Device::State {
    std::vector<ContractionPlan> plans;
  };

  // The label functions of symbol/ops/numpy/contraction.h in one form (LabelsFn), so that they can
  // be template arguments. `shapes` are those of the operands: without the head gradient, which is
  // the first input of a gradient.
  static absl::StatusOr<Contraction> Dot(const OpCall&, Shapes shapes) { return DotLabels(shapes); }
  static absl::StatusOr<Contraction> Matmul(const OpCall&, Shapes shapes) {
    return MatmulLabels(shapes);
  }
  template <typename Param>
  static absl::StatusOr<Contraction> Tensordot(const OpCall& call, Shapes shapes) {
    return TensordotLabels(call.param<Param>(), shapes);
  }
  static absl::StatusOr<Contraction> Einsum(const OpCall& call, Shapes shapes) {
    return EinsumLabels(call.param<EinsumParam>(), shapes);
  }
  using LabelsFn = absl::StatusOr<Contraction> (*)(const OpCall& call, Shapes shapes);

  // Labels operands of these views. `operands` are the node's inputs or a part of them; only their
  // shapes are read.
  static absl::StatusOr<Contraction> LabelsOf(const PrepareContext& c, LabelsFn labels,
                                              absl::Span<const ArrayView> operands) {
    std::vector<PartialShape> shapes;
    for (const ArrayView& operand : operands) shapes.emplace_back(operand.shape);
    return labels(c.call, shapes);
  }

  // Returns a state that owns `plans`, one for each output. Outputs are computed one after the
  // other in one workspace, which has the size that the largest plan needs.
  static absl::StatusOr<Prepared> WithPlans(const PrepareContext& c,
                                            std::vector<ContractionPlan> plans) {
    auto state = std::make_unique<State>();
    COOPER_RETURN_IF_ERROR(Device::Prepare(c, *state));
    int64_t bytes = 0;
    for (const ContractionPlan& plan : plans) bytes = std::max(bytes, plan.workspace_bytes);
    state->plans = std::move(plans);
    return Prepared{.state = std::move(state), .workspace_bytes = bytes};
  }

  // Prepares a product: inputs are the operands.
  template <LabelsFn kLabels>
  static absl::StatusOr<Prepared> PrepareProduct(const PrepareContext& c) {
    COOPER_ASSIGN_OR_RETURN(const Contraction contraction, LabelsOf(c, kLabels, c.inputs));
    std::vector<Shape> shapes;
    for (const ArrayView& input : c.inputs) shapes.push_back(input.shape);
    return WithPlans(
        c, {PlanContraction(contraction, shapes, c.outputs[0].shape, c.outputs[0].dtype)});
  }

  // Prepares a gradient: inputs are the head gradient and the operands, output i is the gradient of
  // operand i.
  template <LabelsFn kLabels>
  static absl::StatusOr<Prepared> PrepareGradient(const PrepareContext& c) {
    COOPER_ASSIGN_OR_RETURN(const Contraction contraction,
                            LabelsOf(c, kLabels, c.inputs.subspan(1)));
    std::vector<ContractionPlan> plans;
    for (size_t i = 0; i < c.outputs.size(); ++i) {
      std::vector<Shape> shapes;
      for (size_t k = 0; k < c.inputs.size(); ++k) {
        if (k != i + 1) shapes.push_back(c.inputs[k].shape);
      }
      plans.push_back(PlanContraction(contraction.GradientOf(i), shapes, c.outputs[i].shape,
                                      c.outputs[i].dtype));
    }
    return WithPlans(c, std::move(plans));
  }

  // Runs one step of the plan of output i. `skipped` is the input that is no operand, or -1. The
  // plan numbers the operands without the skipped input: for the gradient of operand i that is
  // operand i itself, whose value its own gradient does not depend on. A product over a summed
  // extent of 0 is a matrix of zeros.
  static absl::Status RunStep(const KernelContext& c, const ContractionStep& step, size_t i,
                              int skipped) {
    const ArrayView& output = c.outputs[i];
    const auto data = [&](const ContractionBuffer& buffer) -> void* {
      if (buffer.kind == ContractionBuffer::kOutput) return output.data;
      if (buffer.kind == ContractionBuffer::kWorkspace) {
        return static_cast<char*>(c.workspace) + buffer.offset;
      }
      const int at =
          skipped >= 0 && buffer.operand >= skipped ? buffer.operand + 1 : buffer.operand;
      return c.inputs[at].data;
    };
    const bool is_last = step.to.kind == ContractionBuffer::kOutput;
    const WriteReq req = is_last ? c.reqs[i] : WriteReq::kWrite;
    const ArrayView to{.data = data(step.to), .shape = Shape({step.size}), .dtype = output.dtype};
    switch (step.kind) {
      case ContractionStep::kCopy:
        return Device::Copy(c, step.loop, to.dtype, req, data(step.from), to.data);
      case ContractionStep::kSum:
        return Device::Sum(c, step.loop, req, data(step.from), to);
      case ContractionStep::kScatter:
        COOPER_RETURN_IF_ERROR(Device::Zero(c, req, to));
        return Device::Copy(c, step.loop, to.dtype, WriteReq::kAdd, data(step.from), to.data);
      case ContractionStep::kMultiply:
        break;
    }
    if (step.size == 0) return absl::OkStatus();
    if (step.k == 0) return Device::Zero(c, req, to);
    return Device::Multiply(c, step, data(step.from), data(step.second), to, req == WriteReq::kAdd);
  }

  // Runs all steps of the plan of output i. Nothing is read or written if the output is not
  // requested or has no elements.
  static absl::Status RunPlan(const KernelContext& c, size_t i, int skipped) {
    if (c.reqs[i] == WriteReq::kNull || c.outputs[i].size() == 0) return absl::OkStatus();
    for (const ContractionStep& step : static_cast<const State*>(c.state)->plans[i].steps) {
      COOPER_RETURN_IF_ERROR(RunStep(c, step, i, skipped));
    }
    return absl::OkStatus();
  }

  // Runs a product: all inputs are operands of the plan.
  static absl::Status Product(const KernelContext& c) { return RunPlan(c, 0, -1); }

  // Runs the gradients of all operands that are requested, one after the other. Each costs as many
  // products as the forward pass.
  static absl::Status Gradient(const KernelContext& c) {
    for (size_t i = 0; i < c.outputs.size(); ++i) {
      COOPER_RETURN_IF_ERROR(RunPlan(c, i, static_cast<int>(i) + 1));
    }
    return absl::OkStatus();
  }

  // Registers operator `op`, whose only output is the product, and its gradient `backward`, which
  // has an output for each operand. Both take the dtypes that the device multiplies.
  template <LabelsFn kLabels>
  static void RegisterProduct(const char* op, const char* backward, DeviceType device) {
    KernelRegistrar(op, device, Device::kDTypes, Product, PrepareProduct<kLabels>);
    KernelRegistrar(backward, device, Device::kDTypes, Gradient, PrepareGradient<kLabels>);
  }

  // Registers the kernels. Call it from a static initializer, once for each device.
  static bool Register(DeviceType device) {
    RegisterProduct<Dot>("_np_dot", "_backward_np_dot", device);
    RegisterProduct<Matmul>("_npi_matmul", "_backward_npi_matmul", device);
    RegisterProduct<Tensordot<TensordotParam>>("_npi_tensordot", "_backward_npi_tensordot", device);
    RegisterProduct<Tensordot<TensordotIntAxesParam>>("_npi_tensordot_int_axes",
                                                      "_backward_npi_tensordot_int_axes", device);
    RegisterProduct<Einsum>("_npi_einsum", "_backward_npi_einsum", device);
    return true;
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_NUMPY_CONTRACTION_KERNELS_H_
