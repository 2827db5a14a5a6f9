// SPDX-License-Identifier: Apache-2.0
#include "kernels/ascendc/source.hpp"

#include <gtest/gtest.h>

namespace npu::ascendc {
namespace {

using abi::KernelCores;

// Without the blanks, which are of no matter.
std::string made_of(const std::string& source) {
  const auto made = device_source(source);
  if (!made) return made.error().context;
  std::string text;
  for (const char c : made->text) {
    if (c != ' ') text += c;
  }
  return text;
}

std::vector<FoundKernel> kernels_of(const std::string& source) {
  auto made = device_source(source);
  EXPECT_TRUE(made) << made.error().context;
  return made ? made->kernels : std::vector<FoundKernel>{};
}

TEST(AscendcSource, PointersIntoGlobalMemoryBecomeAClass) {
  EXPECT_EQ(made_of("__gm__ uint8_t *x;"), "::AscendC::GmPointer<uint8_t>x;");
  EXPECT_EQ(made_of("(__gm__ T<int, 2>*)x + 1"), "(::AscendC::GmPointer<T<int,2>>)x+1");
  EXPECT_EQ(made_of("const __gm__ half* x"), "::AscendC::GmPointer<consthalf>x");
  EXPECT_EQ(made_of("f(const int a, __gm__ half* x)"), "f(constinta,::AscendC::GmPointer<half>x)");
  EXPECT_EQ(made_of("reinterpret_cast<__gm__ float*>(x)"),
            "static_cast<::AscendC::GmPointer<float>>(x)");
  EXPECT_EQ(made_of("reinterpret_cast<float*>(x)"), "reinterpret_cast<float*>(x)");
}

TEST(AscendcSource, LiteralsStayAsTheyAre) {
  EXPECT_EQ(made_of("s=\"__gm__ \\\" <<<\";"), "s=\"__gm__\\\"<<<\";");
  EXPECT_EQ(made_of("s=R\"a(\" __gm__ )a\";n=1'000;"), "s=R\"a(\"__gm__)a\";n=1'000;");
}

TEST(AscendcSource, ALineStaysALine) {
  EXPECT_EQ(made_of("a\n__gm__\nint\n*\nb\n"), "a\n::AscendC::GmPointer<int>\n\n\nb\n");
  EXPECT_EQ(made_of("# 1 \"h\" 3\n__gm__ int*\n# 7 \"k\"\nx"),
            "#1\"h\"3\n::AscendC::GmPointer<int>\n#7\"k\"\nx");
}

TEST(AscendcSource, KernelsAreDefinitionsThatAreNoTemplates) {
  const auto kernels = kernels_of(
      "extern \"C\" __global__ void declared(int x);\n"
      "template <int N> __global__ void instance(int x) {}\n"
      "extern \"C\" __global__ void first(int (*f)(int)) { }\n"
      "void no_kernel() {}\n"
      "__attribute__((used)) __global__ __attribute__((used)) void second() {}\n");
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].name, "first");
  EXPECT_EQ(kernels[1].name, "second");
  EXPECT_EQ(kernels[0].cores, KernelCores::kVector);
}

TEST(AscendcSource, CoresAreSaidByTheKernelOrTheFileOrFollowFromAProduct) {
  const auto own = kernels_of(
      "__global__ __cube__ void a() {} __vector__ __global__ void b() {}"
      "__global__ __mix__(1, 2) void c() {} __global__ void d() { Mmad(x); }");
  ASSERT_EQ(own.size(), 4U);
  EXPECT_EQ(own[0].cores, KernelCores::kCube);
  EXPECT_EQ(own[1].cores, KernelCores::kVector);
  EXPECT_EQ(own[2].cores, KernelCores::kMixed);
  EXPECT_EQ(own[3].cores, KernelCores::kCube);
  const auto all =
      kernels_of("__global__ void a() { KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2); }");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].cores, KernelCores::kMixed);
  // A product of a header that comes with the compiler is nobody's.
  EXPECT_EQ(kernels_of("# 1 \"h\" 3\nMmad\n# 1 \"k\"\n__global__ void a() {}")[0].cores,
            KernelCores::kVector);
}

TEST(AscendcSource, ALaunchBecomesACall) {
  EXPECT_EQ(made_of("return k <<<(a > b), nullptr, s>>>(x, y);"),
            "return::npu::ascendc::launch(&k,\"k\",(a>b),nullptr,s)(x,y);");
}

// Its type, its name, its first value, and a symbol for the host's part.
TEST(AscendcSource, AVariableInGlobalMemoryIsAClassInASectionOfItsOwn) {
  const auto variable = [](const std::string& type, const std::string& value) {
    return "::AscendC::GmVariable<::npu::ascendc::Same<" + type +
           ">>xasm(\"npusim_gm.x\")__attribute__((section(\"npusim_gm\"),used,retain,aligned(64)))="
           "{" +
           value +
           "};[[maybe_unused]]staticconst::npu::ascendc::VariableSymbolnpusim_gm_symbol_x(__"
           "builtin_addressof(x),\"x\");";
  };
  EXPECT_EQ(made_of("__gm__ int x;"), variable("int", ""));
  EXPECT_EQ(made_of("__gm__ int x = 3;"), variable("int", "3"));
  EXPECT_EQ(made_of("__gm__ unsigned long x[N][2] = {{1, 2}};"),
            variable("unsignedlong[N][2]", "{{1,2}}"));
  EXPECT_EQ(made_of("const __gm__ T<2> x{f(1, 2)};"), variable("constT<2>", "{f(1,2)}"));
  EXPECT_EQ(
      made_of("__gm__ float x[] = {1, 2};"),
      variable("float[decltype(::npu::ascendc::count_of<::npu::ascendc::Same<float>>({1,2}))::"
               "value]",
               "{1,2}"));
  EXPECT_EQ(device_source("static __gm__ int x;\n__gm__ int y[3];")->variables,
            (std::vector<std::string>{"x", "y"}));
}

TEST(AscendcSource, ATrapIsTheCardsAndNotTheHosts) {
  EXPECT_EQ(made_of("void f() { asm(\"trap\"); asm volatile (\"trap\"); }"),
            "voidf(){::npu::ascendc::trap();::npu::ascendc::trap();}");
}

TEST(AscendcSource, EachLaunchOfATemplateIsAKernel) {
  const std::string source =
      "template <int N, class T> __global__ __cube__ void k(int x) {}"
      "void f() { k<4, T<int>><<<1, 0, s>>>(x); k<5, int><<<2, 0, s>>>(x); }";
  const auto kernels = kernels_of(source);
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].name, "k");
  EXPECT_EQ(kernels[1].name, "k_1");
  EXPECT_EQ(kernels[1].cores, KernelCores::kCube);
  EXPECT_NE(made_of(source).find("launch_instance<0,&k<4,T<int>>>(\"k\",1,0,s)(x)"),
            std::string::npos);
  EXPECT_NE(entry_of(kernels[1]).find("run_site<1>(port, false)"), std::string::npos);
}

TEST(AscendcSource, WhatCannotBeIsNamedWithItsLine) {
  const std::string line = "# 41 \"k.cpp\"\n\n";
  EXPECT_EQ(made_of(line + "f(__gm__ int x);").find("k.cpp:42: __gm__ of neither a pointer"), 0U);
  EXPECT_EQ(made_of(line + "__gm__ int x, y;").find("k.cpp:42: __gm__ of neither a pointer"), 0U);
  EXPECT_EQ(made_of(line + "__gm__ int x[2], y;").find("k.cpp:42: x: one variable in"), 0U);
  EXPECT_EQ(made_of(line + "__gm__ int x; __gm__ int x;").find("k.cpp:42: x: a second"), 0U);
  EXPECT_EQ(made_of(line + "__gm__ int x = {3").find("k.cpp:42: x: no end"), 0U);
  EXPECT_EQ(made_of(line + "__gm__ = 3;").find("k.cpp:42: __gm__ of a variable without"), 0U);
  EXPECT_NE(made_of(line + "__gm__ int " + std::string(112, 'x') + ";").find("111"),
            std::string::npos);
  EXPECT_EQ(made_of(line + "k<4><<<1, 0, s>>>();").find("k.cpp:42: no kernel k in front"), 0U);
  EXPECT_EQ(made_of(line + "()<<<1, 0, s>>>();").find("k.cpp:42: a launch of no kernel"), 0U);
  EXPECT_EQ(made_of(line + "k<<<1, 0, s").find("k.cpp:42: a launch without >>>"), 0U);
  EXPECT_EQ(made_of(line + "__mix__(1, 1)").find("k.cpp:42: __mix__(1,1)"), 0U);
  EXPECT_EQ(made_of(line + "asm volatile(\"nop\");").find("k.cpp:42: asm: "), 0U);
  EXPECT_EQ(made_of(line + "KERNEL_TASK_TYPE_DEFAULT(X)").find("k.cpp:42: X"), 0U);
  EXPECT_NE(made_of(line + "__global__ void " + std::string(60, 'k') + "() {}").find("59"),
            std::string::npos);
}

TEST(AscendcSource, AnEntryIsOfItsKernel) {
  const auto entry = entry_of({"add", KernelCores::kMixed});
  EXPECT_NE(entry.find("kernel_note(\"add\""), std::string::npos);
  EXPECT_NE(entry.find("run(port, &::add, true)"), std::string::npos);
}

}  // namespace
}  // namespace npu::ascendc
