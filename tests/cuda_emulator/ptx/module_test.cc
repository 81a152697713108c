#include "tests/cuda_emulator/ptx/module.h"

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "tests/cuda_emulator/ptx/test_kernel.h"

namespace cooper::ptx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kText[] = R"(
//  comment
.version 9.0
.target sm_90, debug
.address_size 64
	.file	1 "/a/b.cu"
.extern .shared .align 16 .b8 dynamic[];
.shared .align 8 .b8 common_bytes[24];
.const .align 4 .f32 table[3] = {0f3F800000, 0f40000000, -1};
.global .align 8 .u64 pointers[2] = {generic(table), other+4};
.visible .global .align 4 .u32 other;
.weak .global .align 1 .b8 text[4] = {65, 66, 0x43};
.managed_is_no_directive_but_an_attribute
)";

std::string Text() {
  std::string text = kText;
  text.erase(text.find(".managed_is"));
  return text + R"(
.extern .func (.param .b32 r) missing(.param .b64 a);
.func (.param .align 16 .b8 r[16]) helper(.param .b32 a, .param .b64 b) { .shared .b8 own[10];
  .reg .b32 %r1; mov.u32 %r1, own; ret; }
.visible .entry kernel(
	.param .u64 .ptr .global .align 16 kernel_param_0,
	.param .u8 kernel_param_1,
	.param .align 8 .b8 kernel_param_2[12]
)
.maxntid 64, 4, 1
.minnctapersm 2
{
	.reg .b32 	%r<5>;
	.loc	1 20 3
	mov.u32 %r1, common_bytes; /* { */
	{ .param .b32 a; .param .b64 b; .param .align 16 .b8 r[16]; call (r), helper, (a, b); }
	ret;
}
.section .debug_str { .b8 1, 2, 3 }
)";
}

std::unique_ptr<Module> Parsed(const std::string& text) {
  absl::StatusOr<std::unique_ptr<Module>> module = Module::Parse(text);
  EXPECT_THAT(module, IsOk());
  return module.ok() ? *std::move(module) : nullptr;
}

TEST(ModuleTest, ReadsDeclarations) {
  const std::unique_ptr<Module> module = Parsed(Text());
  ASSERT_NE(module, nullptr);
  const Function* kernel = module->FindFunction("kernel");
  ASSERT_NE(kernel, nullptr);
  EXPECT_TRUE(kernel->entry);
  EXPECT_EQ(kernel->max_threads, 256);
  ASSERT_EQ(kernel->params.size(), 3u);
  EXPECT_EQ(kernel->params[0].align, 8u);
  EXPECT_EQ(kernel->params[1].offset, 8u);
  EXPECT_EQ(kernel->params[2].offset, 16u);
  EXPECT_EQ(kernel->param_bytes, 28u);
  const Function* helper = module->FindFunction("helper");
  ASSERT_NE(helper, nullptr);
  EXPECT_FALSE(helper->entry);
  EXPECT_EQ(helper->params[1].offset, 8u);
  EXPECT_EQ(helper->result_bytes, 16u);
  EXPECT_FALSE(module->FindFunction("missing")->defined);
  EXPECT_EQ(module->FindFunction("table"), nullptr);
  ASSERT_NE(module->FindVariable("table"), nullptr);
  EXPECT_EQ(module->FindVariable("table")->space, Space::kConst);
  EXPECT_EQ(module->FindVariable("text")->size, 4u);
  EXPECT_EQ(module->FindVariable("common_bytes"),
            nullptr);  // shared variables have no memory in the module
}

TEST(ModuleTest, DescribesWhatAFunctionTakes) {
  const std::unique_ptr<Module> module = Parsed(Text());
  COOPER_ASSERT_OK_AND_ASSIGN(const Resources resources, module->Describe("kernel"));
  EXPECT_EQ(resources.shared_bytes, 34u);  // 24 of the kernel and 10 of the callee
  EXPECT_EQ(resources.registers, 5);
  EXPECT_THAT(module->Describe("none"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("none")));
  EXPECT_THAT(module->Describe("missing"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("")));
}

TEST(ModuleTest, InitialisesVariables) {
  const std::unique_ptr<Module> module = Parsed(Text());
  const std::vector<uint64_t> addresses = {0x1000, 0x2000, 0x3000, 0x4000};
  const auto index = [&](const char* name) {
    return static_cast<int>(module->FindVariable(name) - module->variables().data());
  };
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<uint8_t> table,
                              module->InitialBytes(index("table"), addresses));
  EXPECT_THAT(table, ElementsAre(0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0xff, 0xff, 0xff, 0xff));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<uint8_t> pointers,
                              module->InitialBytes(index("pointers"), addresses));
  EXPECT_THAT(pointers, ElementsAre(0, 0x10, 0, 0, 0, 0, 0, 0, 4, 0x30, 0, 0, 0, 0, 0, 0));
  COOPER_ASSERT_OK_AND_ASSIGN(const std::vector<uint8_t> other,
                              module->InitialBytes(index("other"), addresses));
  EXPECT_THAT(other, ElementsAre(0, 0, 0, 0));
  EXPECT_FALSE(module->InitialBytes(9, addresses).ok());
  const std::unique_ptr<Module> unknown = Parsed(".version 9.0 .global .u64 p = nobody;");
  EXPECT_THAT(unknown->InitialBytes(0, {}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("nobody")));
}

TEST(ModuleTest, ServesThreadsAtOnce) {
  const std::unique_ptr<Module> module = Parsed(Text());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { EXPECT_THAT(module->Describe("kernel"), IsOk()); });
  }
  for (std::thread& thread : threads) thread.join();
}

struct BadCase {
  std::string name;
  std::string body;
  absl::StatusCode code;
  std::string message;
};

void PrintTo(const BadCase& c, std::ostream* out) { *out << c.body; }

constexpr absl::StatusCode kInvalid = absl::StatusCode::kInvalidArgument;
constexpr absl::StatusCode kLacks = absl::StatusCode::kUnimplemented;

const BadCase kBadCases[] = {
    {"UnknownInstruction", "frobnicate.u32 %r1;", kLacks, "the instruction frobnicate"},
    {"Mma", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 %r1, %r2, %r3, %r4;", kLacks,
     "PTX line 10: mma.sync"},
    {"Cluster", "barrier.cluster.arrive;", kLacks, "clusters"},
    {"BulkCopy", "cp.async.bulk.commit_group;", kLacks, "cp.async.bulk.commit_group"},
    {"UnknownModifier", "add.fast.u32 %r1, %r2, %r3;", kLacks, "the modifier .fast of add"},
    {"UnknownRegister", "add.u32 %r1, %r2, %r99;", kInvalid, "PTX line 10: unknown name at '%r99'"},
    {"WrongWidth", "add.u64 %d1, %d2, %r3;", kInvalid,
     "a register of type b32 where u64 is expected"},
    {"PredicateForNumber", "add.u32 %r1, %r2, %p3;", kInvalid, "type pred"},
    {"NumberForGuard", "@%r1 bra E; E:", kInvalid, "type b32 where pred is expected"},
    {"TooFewOperands", "add.u32 %r1, %r2;", kInvalid, "too few operands"},
    {"ResultIsConstant", "add.u32 5, %r2, %r3;", kInvalid, "no register"},
    {"NoSuchLabel", "bra NOWHERE;", kInvalid, "no such label at 'NOWHERE'"},
    {"LabelTwice", "A: A: ret;", kInvalid, "twice"},
    {"NoSemicolon", "add.u32 %r1, %r2, %r3", kInvalid, "expected , or ;"},
    {"NotOfThisType", "neg.u32 %r1, %r2;", kInvalid, "neg has no type u32"},
    {"NoComparison", "setp.ltu.s32 %p0, %r1, %r2;", kInvalid, "no comparison"},
    {"ReadOutsideOfParam", "ld.param.u64 %d3, [input+1];", kInvalid, "outside of the parameter"},
};

class BadPtxTest : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadPtxTest, IsToldOf) {
  absl::StatusOr<std::unique_ptr<Module>> module = Module::Parse(KernelText(GetParam().body));
  const absl::Status status = module.ok() ? (*module)->Describe("k").status() : module.status();
  EXPECT_THAT(status, StatusIs(GetParam().code, HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(All, BadPtxTest, ::testing::ValuesIn(kBadCases),
                         [](const auto& info) { return info.param.name; });

TEST(ModuleTest, RefusesWhatIsNoPtx) {
  EXPECT_THAT(Module::Parse(""), StatusIs(kInvalid, HasSubstr("no PTX")));
  EXPECT_THAT(Module::Parse("ELF"), StatusIs(kInvalid, HasSubstr("PTX line 1")));
  EXPECT_THAT(Module::Parse(".version 9.0\n.entry k() {"), StatusIs(kInvalid, HasSubstr("no end")));
}

}  // namespace
}  // namespace cooper::ptx
