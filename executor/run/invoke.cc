#include "executor/run/invoke.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/context.h"
#include "ndarray/base/default_seed.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/philox.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/element_ranges.h"
#include "ndarray/threads/parallel.h"
#include "ndarray/threads/subnormals.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

// The least number of elements for each thread; with fewer, a thread costs more than it saves.
constexpr int64_t kGrain = 16384;
// The most inputs, and the most outputs, of an element-wise operator that runs in parts; one with
// more runs as a whole.
constexpr size_t kMaxArrays = 8;

ArrayView ViewOf(const NDArray& array) {
  return {.data = array.raw_data(), .shape = array.shape(), .dtype = array.dtype()};
}

// Makes `views` the views of `arrays`. Returns whether shapes and dtypes are those of the previous
// views, so that prepared state stays valid.
bool TakeViews(absl::Span<const NDArray* const> arrays, std::vector<ArrayView>* views) {
  bool same = views->size() == arrays.size();
  views->resize(arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) {
    ArrayView& view = (*views)[i];
    same = same && view.shape == arrays[i]->shape() && view.dtype == arrays[i]->dtype();
    if (!same) view = ViewOf(*arrays[i]);
    view.data = arrays[i]->raw_data();
  }
  return same;
}

// The first random stream of single operators. Those of executors, whose runs and nodes are counted
// from 0, are below it.
constexpr uint64_t kFirstStream = uint64_t{1} << 63;

// Returns the next random stream of the process. Each run of a random operator takes one.
Philox NextRandom() { return Philox(DefaultSeed(), kFirstStream + NextDefaultStream()); }

absl::Status CheckCount(const char* what, size_t count, size_t expected) {
  if (count == expected) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("there are ", count, " ", what, ", expected ", expected));
}

absl::Status CheckNotNull(absl::Span<const NDArray* const> arrays,
                          const std::vector<std::string>& names, const char* what) {
  for (size_t k = 0; k < arrays.size(); ++k) {
    if (arrays[k] != nullptr && !arrays[k]->is_null()) continue;
    return absl::InvalidArgumentError(absl::StrCat(what, " '", names[k], "' is a null array"));
  }
  return absl::OkStatus();
}

// Checks that there are as many arrays as the operator has, on one device, with shapes and dtypes
// that its rules accept.
absl::Status CheckArrays(const OpCall& call, absl::Span<const NDArray* const> inputs,
                         absl::Span<const NDArray* const> outputs) {
  COOPER_RETURN_IF_ERROR(CheckVariadicCount(*call.op, call.attrs, inputs.size()));
  COOPER_RETURN_IF_ERROR(CheckCount("inputs", inputs.size(), call.op->InputNames(call).size()));
  COOPER_RETURN_IF_ERROR(CheckCount("outputs", outputs.size(), call.op->OutputNames(call).size()));
  COOPER_RETURN_IF_ERROR(CheckNotNull(inputs, call.op->InputNames(call), "input"));
  COOPER_RETURN_IF_ERROR(CheckNotNull(outputs, call.op->OutputNames(call), "output"));
  if (inputs.empty() && outputs.empty()) return absl::OkStatus();
  const Context& context = (inputs.empty() ? outputs : inputs)[0]->context();
  std::vector<PartialShape> shapes;
  std::vector<TypeContext::Type> types;
  for (const auto& arrays : {inputs, outputs}) {
    for (const NDArray* array : arrays) {
      if (array->context() != context) {
        return absl::InvalidArgumentError(absl::StrCat("an array is on ",
                                                       array->context().ToString(), ", expected ",
                                                       context.ToString(), " as the first one"));
      }
      shapes.emplace_back(array->shape());
      types.emplace_back(array->dtype());
    }
  }
  std::vector<PartialShape*> shape_pointers;
  shape_pointers.reserve(shapes.size());
  std::vector<TypeContext::Type*> type_pointers;
  type_pointers.reserve(types.size());
  for (PartialShape& shape : shapes) shape_pointers.push_back(&shape);
  for (TypeContext::Type& type : types) type_pointers.push_back(&type);
  const absl::Span<PartialShape* const> all_shapes(shape_pointers);
  const absl::Span<TypeContext::Type* const> all_types(type_pointers);
  const size_t n = inputs.size();
  ShapeContext shape_context(call, all_shapes.first(n), all_shapes.subspan(n), {});
  COOPER_RETURN_IF_ERROR(call.op->shape()(shape_context));
  TypeContext type_context(call, all_types.first(n), all_types.subspan(n), {});
  return call.op->type()(type_context);
}

}  // namespace

absl::StatusOr<Invocation> Invocation::Create(OpCall call, DeviceType device) {
  const std::string& op = call.op->name();
  COOPER_ASSIGN_OR_RETURN(const Kernel* const kernel, FindKernel(op, device));
  return Invocation(std::move(call), device, kernel);
}

absl::Status Invocation::SetArrays(absl::Span<const NDArray* const> inputs,
                                   absl::Span<const NDArray* const> outputs) {
  const Context context = (inputs.empty() ? outputs : inputs)[0]->context();
  bool same = is_prepared_ && context == context_;
  context_ = context;
  same = TakeViews(inputs, &inputs_) && same;
  same = TakeViews(outputs, &outputs_) && same;
  if (same) return absl::OkStatus();
  reqs_.assign(outputs.size(), WriteReq::kWrite);
  is_prepared_ = false;  // until Prepare succeeds
  COOPER_RETURN_IF_ERROR(Prepare());
  is_prepared_ = true;
  return absl::OkStatus();
}

absl::Status Invocation::Prepare() {
  const PrepareContext prepare{
      .call = call_, .inputs = inputs_, .outputs = outputs_, .reqs = reqs_, .context = context_};
  COOPER_ASSIGN_OR_RETURN(prepared_, PrepareKernel(*kernel_, prepare));
  if (prepared_.workspace_bytes > workspace_.size_bytes() || workspace_.context() != context_) {
    COOPER_ASSIGN_OR_RETURN(workspace_,
                            NDArray::Zeros({prepared_.workspace_bytes}, DType::kUint8, context_));
  }
  return absl::OkStatus();
}

KernelContext Invocation::ContextFor(absl::Span<const ArrayView> inputs,
                                     absl::Span<const ArrayView> outputs,
                                     DeviceQueue* queue) const {
  return {.call = call_,
          .inputs = inputs,
          .outputs = outputs,
          .reqs = reqs_,
          .workspace = workspace_.is_null() ? nullptr : workspace_.raw_data(),
          .state = prepared_.state.get(),
          .random = call_.op->is_random() ? NextRandom() : Philox(),
          .context = context_,
          .queue = queue};
}

absl::Status Invocation::Run(DeviceQueue* queue) const {
  const auto subnormals = ScopedSubnormals::Flush(context_.is_cpu());
  return kernel_->run(ContextFor(inputs_, outputs_, queue));
}

absl::Status Invocation::RunPart(int64_t part, int64_t parts) const {
  std::array<ArrayView, kMaxArrays> views[2];
  absl::Span<const ArrayView> slices[2];
  int side = 0;
  for (const std::vector<ArrayView>* whole : {&inputs_, &outputs_}) {
    for (size_t i = 0; i < whole->size(); ++i) {
      const ArrayView& array = (*whole)[i];
      const int64_t size = array.size(), begin = RangeBegin(size, part, parts);
      views[side][i] = {
          .data = static_cast<char*>(array.data) + begin * SizeOf(array.dtype),
          .shape = Shape({RangeBegin(size, part + 1, parts) - begin}),
          .dtype = array.dtype,
      };
    }
    slices[side] = absl::MakeConstSpan(views[side]).first(whole->size());
    ++side;
  }
  return kernel_->run(ContextFor(slices[0], slices[1], nullptr));
}

absl::Status Invocation::RunInParts(absl::Span<const Invocation> invocations) {
  int64_t size = 0;
  for (const Invocation& invocation : invocations) size += invocation.outputs_[0].size();
  const int64_t parts = std::clamp<int64_t>(size / kGrain, 1, NumThreads());
  const auto subnormals = ScopedSubnormals::Flush();
  std::mutex mutex;
  absl::Status status;  // the first that is not OK
  ParallelForPlain(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      for (const Invocation& invocation : invocations) {
        const absl::Status ran = invocation.RunPart(part, parts);
        if (ran.ok()) continue;
        const std::lock_guard<std::mutex> lock(mutex);
        status.Update(ran);
      }
    }
  });
  return status;
}

bool Invocation::runs_in_parts() const {
  return call_.op->is_elementwise() && device_ == DeviceType::kCpu &&
         std::max(inputs_.size(), outputs_.size()) <= kMaxArrays;
}

bool Invocation::runs_with(const Invocation& other) const {
  if (runs_in_parts()) return other.runs_in_parts();
  return kernel_ == other.kernel_ && kernel_->run_all != nullptr && context_ == other.context_;
}

absl::Status Invocation::RunTogether(absl::Span<const Invocation> invocations, DeviceQueue* queue) {
  constexpr size_t kMax = 32;  // contexts that fit without memory from the heap
  while (!invocations.empty()) {
    absl::InlinedVector<KernelContext, kMax> contexts;
    // Invocations that write one array must not run in the same call.
    const auto writes_again = [&contexts](const Invocation& invocation) {
      return absl::c_any_of(contexts, [&invocation](const KernelContext& earlier) {
        return earlier.outputs[0].data == invocation.outputs_[0].data;
      });
    };
    for (const Invocation& invocation : invocations) {
      if (contexts.size() == kMax || writes_again(invocation)) break;
      contexts.push_back(invocation.ContextFor(invocation.inputs_, invocation.outputs_, queue));
    }
    const auto subnormals = ScopedSubnormals::Flush(invocations[0].context_.is_cpu());
    COOPER_RETURN_IF_ERROR(invocations[0].kernel_->run_all(contexts));
    invocations.remove_prefix(contexts.size());
  }
  return absl::OkStatus();
}

absl::Status RunAll(absl::Span<const Invocation> invocations, DeviceQueue* queue) {
  while (!invocations.empty()) {
    const Invocation& first = invocations[0];
    const auto end =
        std::find_if_not(invocations.begin() + 1, invocations.end(),
                         [&first](const Invocation& other) { return first.runs_with(other); });
    const auto all = invocations.first(static_cast<size_t>(end - invocations.begin()));
    if (first.runs_in_parts()) {
      COOPER_RETURN_IF_ERROR(Invocation::RunInParts(all));
    } else if (all.size() > 1) {
      COOPER_RETURN_IF_ERROR(Invocation::RunTogether(all, queue));
    } else {
      COOPER_RETURN_IF_ERROR(first.Run(queue));
    }
    invocations.remove_prefix(all.size());
  }
  return absl::OkStatus();
}

absl::Status Invoke(absl::string_view op, const AttrValues& attrs,
                    absl::Span<const NDArray* const> inputs,
                    absl::Span<const NDArray* const> outputs) {
  COOPER_ASSIGN_OR_RETURN(OpCall call, MakeOpCall(op, attrs, inputs.size()));
  COOPER_RETURN_IF_ERROR(RefuseGradientOp(*call.op));
  COOPER_RETURN_IF_ERROR(AddContext(CheckArrays(call, inputs, outputs), op));
  if (inputs.empty() && outputs.empty()) return absl::OkStatus();
  const DeviceType device = (inputs.empty() ? outputs : inputs)[0]->context().device_type;
  COOPER_ASSIGN_OR_RETURN(Invocation invocation, Invocation::Create(std::move(call), device));
  COOPER_RETURN_IF_ERROR(invocation.SetArrays(inputs, outputs));
  return invocation.Run();
}

}  // namespace cooper
