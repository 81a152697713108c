#include "executor/kernels/launch/compare_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/kernels/launch/run_kernel.h"
#include "executor/program/kernel.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"
#include "symbol/graph/symbol.h"
#include "symbol/schema/op.h"

namespace cooper {
namespace {

// Returns an array of the CPU with the integers of [begin, end) in a scrambled order.
NDArray Numbers(const Shape& shape, DType dtype, int64_t begin, int64_t end, int64_t seed) {
  NDArray array = *NDArray::Empty(shape, dtype);
  DispatchDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < shape.num_elements(); ++i) {
      const int64_t number = begin + (i * 7919 + seed * 31 + i / 5) % (end - begin);
      static_cast<T*>(array.raw_data())[i] = ConvertElement<T>(number);
    }
  });
  return array;
}

// Returns numbers from low to high in a scrambled order.
NDArray Fractions(const Shape& shape, DType dtype, double low, double high, int64_t seed) {
  constexpr int64_t kSteps = 997;
  NDArray array = *NDArray::Empty(shape, dtype);
  DispatchDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < shape.num_elements(); ++i) {
      const double step = static_cast<double>((i * 7919 + seed * 131) % kSteps);
      static_cast<T*>(array.raw_data())[i] =
          ConvertElement<T>(low + (high - low) * step / (kSteps - 1));
    }
  });
  return array;
}

// Adds `value` to the diagonals of square matrices; leaves other arrays unchanged.
void AddToDiagonals(double value, NDArray& array) {
  const Shape& shape = array.shape();
  if (shape.rank() < 2 || shape[shape.rank() - 1] != shape[shape.rank() - 2]) return;
  const int64_t n = shape[shape.rank() - 1];
  DispatchDType(array.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* const elements = static_cast<T*>(array.raw_data());
    for (int64_t i = 0; i < shape.num_elements(); ++i) {
      if (i / n % n != i % n) continue;
      elements[i] = ConvertElement<T>(ConvertElement<double>(elements[i]) + value);
    }
  });
}

// Returns half the distance from 1 to the next number; for integers, that of the compute type.
double RoundingOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return 0x1p-24;
    case DType::kFloat64:
      return 0x1p-53;
    case DType::kFloat16:
      return 0x1p-11;
    case DType::kBfloat16:
      return 0x1p-8;
    default:
      return 0x1p-53;
  }
}

// Compares the elements of two arrays, given as bytes, as KernelCase::roundings says.
void ExpectClose(const std::vector<uint8_t>& actual, const std::vector<uint8_t>& expected,
                 DType dtype, double roundings, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  DispatchDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (size_t at = 0; at < actual.size(); at += sizeof(T)) {
      T elements[2];
      std::memcpy(&elements[0], &actual[at], sizeof(T));
      std::memcpy(&elements[1], &expected[at], sizeof(T));
      const double a = ConvertElement<double>(elements[0]), e = ConvertElement<double>(elements[1]);
      double bound = roundings * RoundingOf(dtype) * std::max(1.0, std::abs(e));
      if (!IsFloating(dtype)) bound = std::max(1.0, bound);
      if (a == e || (std::isnan(a) && std::isnan(e)) || std::abs(a - e) <= bound) continue;
      if (sizeof(T) == 1 && std::abs(a - e) == 255) continue;  // 8-bit integers may wrap around
      ADD_FAILURE() << what << ": element " << at / sizeof(T) << " is " << a << ", expected " << e
                    << ", " << std::abs(a - e) / bound * roundings << " roundings away";
      return;
    }
  });
}

// Returns the bytes of the inputs and then of the outputs after a run on `context`.
std::vector<std::vector<uint8_t>> RunOn(const Context& context, const KernelRun& run) {
  const absl::StatusOr<std::vector<NDArray>> arrays = RunKernelOn(context, run);
  EXPECT_TRUE(arrays.ok()) << arrays.status();
  std::vector<std::vector<uint8_t>> bytes;
  if (!arrays.ok()) return bytes;
  for (const NDArray& array : *arrays) {
    const auto* data = static_cast<const uint8_t*>(array.raw_data());
    bytes.emplace_back(data, data + array.size_bytes());
  }
  return bytes;
}

// The write requests, and whether arrays are unaligned.
constexpr std::pair<WriteReq, bool> kRuns[] = {{WriteReq::kWrite, false},
                                               {WriteReq::kAdd, false},
                                               {WriteReq::kNull, false},
                                               {WriteReq::kAdd, true}};

}  // namespace

void ExpectEqualKernels(const KernelCase& test) {
  OpArgs args{.attrs = test.attrs};
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    args.inputs.push_back(Symbol::Variable("input" + std::to_string(i)));
  }
  // A gradient takes other inputs than its operator, so the operator gets as many as it accepts.
  auto symbol = Symbol::Create(test.op, args);
  while (!symbol.ok() && !args.inputs.empty()) {
    args.inputs.pop_back();
    symbol = Symbol::Create(test.op, args);
  }
  ASSERT_TRUE(symbol.ok()) << test.name << ": " << symbol.status();
  const OpCall& call = symbol->outputs()[0].node->call();
  for (size_t d = 0; d < test.dtypes.size(); ++d) {
    const DType dtype = test.dtypes[d];
    const DType output_dtype = test.dtypes[(d + test.output_dtype_shift) % test.dtypes.size()];
    for (DType index_dtype : {DType::kFloat32, DType::kInt64}) {
      if (index_dtype == DType::kInt64 && test.indices < 0 && test.index_outputs.empty()) continue;
      const int64_t end = dtype == DType::kBool ? 2 : 14;
      std::vector<NDArray> inputs, outputs;
      for (size_t i = 0; i < test.inputs.size(); ++i) {
        const bool indices = static_cast<int>(i) == test.indices;
        if (!indices && test.roundings != 0 && IsFloating(dtype)) {
          inputs.push_back(
              Fractions(test.inputs[i], dtype, test.low, test.high, static_cast<int64_t>(i)));
          if (test.diagonal != 0) AddToDiagonals(test.diagonal, inputs.back());
          continue;
        }
        inputs.push_back(Numbers(test.inputs[i], indices ? index_dtype : dtype,
                                 indices ? test.index_begin : 0, indices ? test.index_end : end,
                                 static_cast<int64_t>(i)));
      }
      for (size_t i = 0; i < test.outputs.size(); ++i) {
        const bool indices = std::count(test.index_outputs.begin(), test.index_outputs.end(),
                                        static_cast<int>(i)) > 0;
        outputs.push_back(Numbers(test.outputs[i], indices ? index_dtype : output_dtype, 0, 3,
                                  static_cast<int64_t>(i) + 100));
      }
      for (const auto& [req, unaligned] : kRuns) {
        KernelRun run = {.kernel = test.kernel.empty() ? test.op : test.kernel,
                         .call = call,
                         .inputs = inputs,
                         .outputs = outputs,
                         .reqs = std::vector<WriteReq>(outputs.size(), req),
                         .is_train = test.is_train};
        const auto expected = RunOn(Context::Cpu(0), run);
        run.unaligned = unaligned;
        const auto actual = RunOn(Context::Gpu(0), run);
        std::ostringstream what;
        what << test.name << " of " << dtype << ", indices of " << index_dtype << ", request "
             << static_cast<int>(req) << (unaligned ? ", unaligned" : "");
        ASSERT_EQ(actual.size(), expected.size()) << what.str();
        for (size_t i = 0; i < actual.size(); ++i) {
          if (test.roundings == 0) {
            EXPECT_EQ(actual[i], expected[i]) << what.str();
          } else {
            const NDArray& array = i < inputs.size() ? inputs[i] : outputs[i - inputs.size()];
            ExpectClose(actual[i], expected[i], array.dtype(), test.roundings, what.str());
          }
        }
      }
    }
  }
}

}  // namespace cooper
