#include "executor/kernels/convolution/onednn_engine.h"

#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace cooper {
namespace {

using Tag = dnnl::memory::format_tag;

dnnl::memory::desc Matrix(Tag tag) { return {{2, 3}, dnnl::memory::data_type::f32, tag}; }

dnnl::reorder Transposition() {
  return dnnl::reorder(dnnl::reorder::primitive_desc(OneDnnEngine(), Matrix(Tag::ab),
                                                     OneDnnEngine(), Matrix(Tag::ba)));
}

TEST(OneDnnEngineTest, RunsAPrimitive) {
  const std::vector<float> from = {1, 2, 3, 4, 5, 6};
  std::vector<float> to(6);
  ExecuteOneDnn(Transposition(), {{DNNL_ARG_FROM, OneDnnMemory(Matrix(Tag::ab), from.data())},
                                  {DNNL_ARG_TO, OneDnnMemory(Matrix(Tag::ba), to.data())}});
  EXPECT_EQ(to, (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

TEST(OneDnnEngineTest, KeepsArgumentsFromRunToRun) {
  const KeptOneDnnArguments arguments;
  const dnnl::reorder transposition = Transposition();
  const dnnl::memory::desc from_desc = Matrix(Tag::ab), to_desc = Matrix(Tag::ba);
  // Several threads, each with arrays of its own.
  const auto run = [&](float first) {
    for (int i = 0; i < 100; ++i) {
      const float x = first + static_cast<float>(i);
      const std::vector<float> from = {x, 2, 3, 4, 5, 6};
      std::vector<float> to(6);
      arguments.Execute(transposition, {{DNNL_ARG_FROM, from_desc, from.data()},
                                        {DNNL_ARG_TO, to_desc, to.data()}});
      EXPECT_EQ(to, (std::vector<float>{x, 4, 2, 5, 3, 6}));
    }
  };
  std::thread other(run, 1000);
  run(0);
  other.join();
}

// An exception would unwind the parallel loop in which primitives run.
TEST(OneDnnEngineDeathTest, SaysWhatIsRefused) {
  EXPECT_DEATH(ExecuteOneDnn(Transposition(), {}), "oneDNN refuses to run reorder .*: could");
  EXPECT_DEATH(ExecuteOneDnn(dnnl::primitive(), {}), "oneDNN refuses to run an unknown primitive");
}

}  // namespace
}  // namespace cooper
