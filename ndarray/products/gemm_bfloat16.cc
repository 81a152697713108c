#include "ndarray/products/gemm_bfloat16.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "ndarray/base/float16.h"
#include "ndarray/products/gemm_float32.h"
#include "ndarray/products/onednn_thread.h"
#include "ndarray/threads/parallel.h"
#include "oneapi/dnnl/dnnl.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace cooper {
namespace {

using dnnl::memory;

// The number of rows differs from batch to batch where labels are ignored, and oneDNN takes
// milliseconds to create a kernel. So k is padded with zeros to a multiple of kTile, and float32
// computes the rows beyond a multiple.
constexpr int64_t kTile = 16;
constexpr int64_t kColumnTile = 64;

// Never destroyed: threads may end after main.
dnnl::engine& Engine() {
  static auto* const engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

// A thread's memory; its contents are lost when it grows.
class Buffer {
 public:
  // Returns a pointer to at least `bytes` bytes, null if there is not enough memory.
  void* AtLeast(size_t bytes) {
    if (bytes <= size_) return data_.get();
    data_.reset();
    data_.reset(static_cast<std::byte*>(::operator new(bytes, kAlignment, std::nothrow)));
    size_ = data_ == nullptr ? 0 : bytes;
    return data_.get();
  }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Delete {
    void operator()(std::byte* data) const { ::operator delete(data, kAlignment); }
  };
  std::unique_ptr<std::byte, Delete> data_;
  size_t size_ = 0;
};

// Rounds a stored factor (rows, columns) with rows `stride` apart into a contiguous matrix, padded
// with zeros to (all_rows, all_columns). Returns the matrix in `buffer`, null if there is not
// enough memory.
const BFloat16* Round(const float* in, int64_t stride, int64_t rows, int64_t columns,
                      int64_t all_rows, int64_t all_columns, Buffer& buffer) {
  auto* const out = static_cast<BFloat16*>(
      buffer.AtLeast(static_cast<size_t>(all_rows * all_columns) * sizeof(BFloat16)));
  if (out == nullptr) return nullptr;
  constexpr int64_t kGrain = 32768;
  ParallelFor(all_rows, std::max<int64_t>(1, kGrain / all_columns),
              [=](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  const int64_t used = i < rows ? columns : 0;
                  const float* from = in + i * stride;
                  BFloat16* to = out + i * all_columns;
                  for (int64_t j = 0; j < used; ++j) to[j] = BFloat16(from[j]);
                  for (int64_t j = used; j < all_columns; ++j) to[j] = BFloat16();
                }
              });
  return out;
}

// The fields by which oneDNN's primitives differ; addresses do not count.
struct PlanKey {
  explicit PlanKey(const GemmProduct<BFloat16>& p)
      : fields(p.transpose_a, p.transpose_b, p.m, p.n, p.k, p.lda, p.ldb, p.ldc, p.beta) {}

  std::tuple<bool, bool, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, float> fields;

  bool operator==(const PlanKey& other) const { return fields == other.fields; }
  template <typename H>
  friend H AbslHashValue(H state, const PlanKey& key) {
    return H::combine(std::move(state), key.fields);
  }
};

// oneDNN's primitive for products of one shape, planned for the calling thread alone.
class Plan {
 public:
  // Throws dnnl::error if oneDNN has no implementation for the shape, or no memory.
  explicit Plan(const GemmProduct<BFloat16>& p)
      : a_(Factor(p.m, p.k, p.transpose_a, p.lda), Engine(), nullptr),
        b_(Factor(p.k, p.n, p.transpose_b, p.ldb), Engine(), nullptr),
        c_({{p.m, p.n}, memory::data_type::f32, memory::dims{p.ldc, 1}}, Engine(), nullptr) {
    dnnl::post_ops sum;
    if (p.beta != 0) sum.append_sum(p.beta);
    dnnl::primitive_attr attr;
    attr.set_post_ops(sum);
    // In the default mode each primitive would keep a scratchpad of its own.
    attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
#if DNNL_VERSION_MAJOR >= 3
    const dnnl::matmul::primitive_desc product(Engine(), a_.get_desc(), b_.get_desc(),
                                               c_.get_desc(), attr);
#else
    const dnnl::matmul::primitive_desc product(
        dnnl::matmul::desc(a_.get_desc(), b_.get_desc(), c_.get_desc()), attr, Engine());
#endif
    scratch_ = memory(product.scratchpad_desc(), Engine(), nullptr);
    product_ = dnnl::matmul(product);
  }

  size_t scratch_bytes() const { return scratch_.get_desc().get_size(); }

  void Run(const GemmProduct<BFloat16>& p, void* scratch, const dnnl::stream& stream) const {
    Place(a_, p.a);
    Place(b_, p.b);
    Place(c_, p.c);
    Place(scratch_, scratch);
    // The C++ call would build a map of the arguments.
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_SRC, a_.get()},
                                    {DNNL_ARG_WEIGHTS, b_.get()},
                                    {DNNL_ARG_DST, c_.get()},
                                    {DNNL_ARG_SCRATCHPAD, scratch_.get()}};
    const dnnl_status_t status =
        dnnl_primitive_execute(product_.get(), stream.get(), std::size(args), args);
    CHECK_EQ(status, dnnl_success) << "oneDNN does not execute a bfloat16 product of m=" << p.m
                                   << " n=" << p.n << " k=" << p.k;
  }

 private:
  static memory::desc Factor(int64_t rows, int64_t columns, bool transpose, int64_t stride) {
    return {{rows, columns},
            memory::data_type::bf16,
            transpose ? memory::dims{1, stride} : memory::dims{stride, 1}};
  }

  static void Place(const memory& array, const void* data) {
    CHECK_EQ(dnnl_memory_set_data_handle(array.get(), const_cast<void*>(data)), dnnl_success);
  }

  memory a_, b_, c_, scratch_;
  dnnl::matmul product_;
};

// Creates a primitive; throws dnnl::error as Plan's constructor does. One thread at a time does so:
// oneDNN has one cache for all threads, whose synchronization a race detector does not see.
std::unique_ptr<Plan> MakePlan(const GemmProduct<BFloat16>& p) {
  static auto& mutex = *new std::mutex();
  const std::lock_guard<std::mutex> lock(mutex);
  return std::make_unique<Plan>(p);
}

// The primitives and the memory that a thread reuses between products.
class ThreadPlans {
 public:
  // Computes the block on this thread. Returns false, without any effect, if oneDNN cannot.
  bool Run(const GemmProduct<BFloat16>& p) {
    const OneDnnOnThisThread this_thread;
    try {
      if (stream_ == nullptr) stream_ = std::make_unique<dnnl::stream>(Engine());
      const PlanKey key(p);
      auto found = plans_.find(key);
      if (found == plans_.end()) {
        if (plans_.size() >= kMaxPlans) plans_.clear();
        found = plans_.emplace(key, MakePlan(p)).first;
      }
      void* const scratch = scratch_.AtLeast(std::max<size_t>(1, found->second->scratch_bytes()));
      if (scratch == nullptr) return false;
      found->second->Run(p, scratch, *stream_);
      return true;
    } catch (const std::exception& error) {
      LOG_FIRST_N(WARNING, 10) << "oneDNN has no bfloat16 product of m=" << p.m << " n=" << p.n
                               << " k=" << p.k << " (" << error.what()
                               << "): it is computed in float32";
      return false;
    }
  }

 private:
  static constexpr size_t kMaxPlans = 512;  // of some 100 KB

  absl::flat_hash_map<PlanKey, std::unique_ptr<Plan>> plans_;
  std::unique_ptr<dnnl::stream> stream_;
  Buffer scratch_;
};

// Returns whether rounding the factors takes a small part of the time of their product.
bool IsWorthRounding(const GemmProduct<float>& p) {
  // Rounding one element takes about as long as 24 multiplications. An element of `a` takes part in
  // n multiplications and one of `b` in m.
  constexpr double kMinUses = 24;
  constexpr int64_t kMinTerms = 16;  // with fewer, writing the result takes most of the time
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n);
  return p.k >= kMinTerms && p.m >= kTile && m * n >= kMinUses * (m + n);
}

}  // namespace

absl::Status CheckBfloat16Gemm() {
  const auto isa = static_cast<unsigned>(dnnl_get_effective_cpu_isa());
  constexpr auto kNeeded = static_cast<unsigned>(dnnl_cpu_isa_avx512_core_bf16);
  if ((isa & kNeeded) == kNeeded) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      "bfloat16 products need a processor with AVX-512 BF16 or AMX; oneDNN uses here the "
      "instruction set 0x",
      absl::Hex(isa), ", expected the bits of 0x", absl::Hex(kNeeded)));
}

bool Bfloat16Gemm(const GemmProduct<float>& p) {
  if (p.alpha != 1 || !IsWorthRounding(p)) return false;
  constexpr int64_t kMinWorkPerThread = 1 << 21;
  // Kernels are slower where the rows of the result have gaps between them, as in a block of
  // columns. But with blocks of rows each thread reorders all columns for itself, so blocks of rows
  // need this many rows per thread.
  constexpr int64_t kMinRowsPerThread = 128;

  const int64_t k = (p.k + kTile - 1) / kTile * kTile;
  thread_local Buffer a_buffer, b_buffer;
  const BFloat16* const a = p.transpose_a ? Round(p.a, p.lda, p.k, p.m, k, p.m, a_buffer)
                                          : Round(p.a, p.lda, p.m, p.k, p.m, k, a_buffer);
  const BFloat16* const b = p.transpose_b ? Round(p.b, p.ldb, p.n, p.k, p.n, k, b_buffer)
                                          : Round(p.b, p.ldb, p.k, p.n, k, p.n, b_buffer);
  if (a == nullptr || b == nullptr) return false;
  const GemmProduct<BFloat16> rounded{
      p.transpose_a,           p.transpose_b, p.m, p.n,  k, 1.0f, a, p.transpose_a ? p.m : k, b,
      p.transpose_b ? k : p.n, p.beta,        p.c, p.ldc};

  const int64_t rows = p.m / kTile * kTile;
  const bool by_rows = rows >= p.n || rows >= NumThreads() * kMinRowsPerThread;
  const int64_t side = by_rows ? rows : p.n;
  const int64_t tile = by_rows ? kTile : kColumnTile;
  const int64_t tiles = (side + tile - 1) / tile;
  const int64_t work_per_tile = tile * (by_rows ? p.n : rows) * k;
  ParallelForPlain(tiles, 1 + kMinWorkPerThread / work_per_tile, [&](int64_t begin, int64_t end) {
    begin *= tile;
    end = std::min(end * tile, side);
    thread_local ThreadPlans thread_plans;
    const auto block = [&](const auto& product) {
      return by_rows ? product.Block(begin, end - begin, 0, p.n)
                     : product.Block(0, rows, begin, end - begin);
    };
    if (!thread_plans.Run(block(rounded))) Float32Block(block(p));
  });
  if (rows < p.m) Float32Gemm(p.Block(rows, p.m - rows, 0, p.n));
  return true;
}

}  // namespace cooper
