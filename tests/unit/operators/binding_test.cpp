// SPDX-License-Identifier: Apache-2.0
#include "operators/binding.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace npu::operators {
namespace {

OperatorCall batched_call() {
  OperatorCall call;
  call.name = "batched_matmul";
  call.shape = {2, 20, 33, 17};
  call.dtype = "fp16";
  call.transpose_b = true;
  call.format_b = "NZ";
  call.a = 0x1000, call.b = 0x2000, call.c = 0x3000;
  return call;
}

TEST(Binding, MakesTheMacrosOfTheCall) {
  const auto binding = bind(normalise(batched_call()).value());
  EXPECT_EQ(binding.request.template_file, "batched_matmul.cpp");
  EXPECT_EQ(jit::key_text(binding.request.macros, 2201, binding.request.type).value(),
            "NPU_JIT_ELEMENT_A=half&NPU_JIT_ELEMENT_B=half&NPU_JIT_ELEMENT_C=half&"
            "NPU_JIT_KERNEL_NAME=batched_matmul&NPU_JIT_LAYOUT_A=RowMajor&NPU_JIT_LAYOUT_B=nZ&"
            "__ARCH__=2201&__KT__=0");
}

// B: 33 columns padded to 48, 17 rows to 32.
TEST(Binding, PutsMatricesOfABatchBehindEachOther) {
  const auto binding = bind(normalise(batched_call()).value());
  const auto& p = std::get<MatmulParams>(binding.params);
  EXPECT_EQ(binding.params_address(), &p);
  EXPECT_EQ(p.m, 20U);
  EXPECT_EQ(p.n, 33U);
  EXPECT_EQ(p.k, 17U);
  EXPECT_EQ(p.batch, 2U);
  EXPECT_EQ(p.stride_a, 340U);
  EXPECT_EQ(p.stride_b, 1536U);
  EXPECT_EQ(p.stride_c, 660U);
  EXPECT_EQ(p.b, 0x2000U);
}

TEST(Binding, DoesNotCompileForShapes) {
  auto call = batched_call();
  const auto key = bind(normalise(call).value()).request.macros;
  call.shape = {9, 1, 2, 3};
  EXPECT_EQ(bind(normalise(call).value()).request.macros, key);
  call.dtype = "bf16";
  EXPECT_NE(bind(normalise(call).value()).request.macros, key);
}

TEST(Binding, GivesSplitKItsParts) {
  auto call = batched_call();
  call.name = "splitk_matmul";
  call.shape = {20, 33, 17};
  call.splits = 3;
  const auto binding = bind(normalise(call).value());
  EXPECT_EQ(binding.request.type, jit::KernelType::kMixed);
  EXPECT_EQ(std::get<SplitKMatmulParams>(binding.params).splits, 3U);
}

}  // namespace
}  // namespace npu::operators
