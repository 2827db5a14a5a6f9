// SPDX-License-Identifier: Apache-2.0
#include "kernels/operators/binding.hpp"

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
  call.inputs = {0x1000, 0x2000};
  call.results = {0x3000};
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

TEST(Binding, GivesGroupsTheirEndsAndWhereTheNextIs) {
  auto call = batched_call();
  call.name = "grouped_matmul";
  call.inputs[2] = 0x4000;
  auto binding = bind(normalise(call).value());
  EXPECT_EQ(binding.request.template_file, "grouped_matmul.cpp");
  auto p = std::get<GroupedMatmulParams>(binding.params);
  EXPECT_EQ(p.group_ends, 0x4000U);
  EXPECT_EQ(p.groups, 2U);
  EXPECT_EQ(p.whole.batch, 1U);
  EXPECT_EQ(p.whole.stride_b, 1536U) << "33 x 17 in fractals, as those of a batch";
  EXPECT_EQ(p.whole.stride_c, 0U);
  EXPECT_TRUE(p.slice == GroupSlice::kM);
  call.slice_k = true;
  binding = bind(normalise(call).value());
  p = std::get<GroupedMatmulParams>(binding.params);
  EXPECT_EQ(p.whole.stride_b, 0U);
  EXPECT_EQ(p.whole.stride_c, 660U);
  EXPECT_TRUE(p.slice == GroupSlice::kK);
}

TEST(Binding, GivesEachProductItsBias) {
  auto call = batched_call();
  call.inputs = {0x1000, 0x2000, 0x5000, 0x6000, 0x7000};
  call.bias_dtype = "half";
  auto binding = bind(normalise(call).value());
  EXPECT_EQ(std::get<MatmulParams>(binding.params).bias, 0x5000U);
  EXPECT_EQ(std::get<MatmulParams>(binding.params).stride_bias, 0U) << "one for all";
  EXPECT_EQ(binding.request.macros.at("NPU_JIT_ELEMENT_BIAS"), "half");
  call.name = "grouped_matmul";
  binding = bind(normalise(call).value());
  const auto grouped = std::get<GroupedMatmulParams>(binding.params).whole;
  EXPECT_EQ(grouped.bias, 0x6000U);
  EXPECT_EQ(grouped.stride_bias, 33U) << "one for each group";
}

TEST(Binding, PutsQuantisedMatricesOfABatchBehindEachOther) {
  auto call = batched_call();
  call.name = "quant_matmul";
  call.dtype = "int8";
  call.format_b = "ND";
  call.inputs = {0x1000, 0x2000, 0, 0, 0x7000};
  const auto binding = bind(normalise(call).value());
  const auto p = std::get<QuantMatmulParams>(binding.params).product;
  EXPECT_EQ(p.batch, 2U);
  EXPECT_EQ(p.stride_a, 340U);
  EXPECT_EQ(p.stride_b, 561U);
  EXPECT_EQ(p.stride_c, 660U);
  EXPECT_EQ(p.bias, 0x7000U);
}

std::string macros_text(const OperatorCall& call) {
  const auto binding = bind(normalise(call).value());
  return jit::key_text(binding.request.macros, 2201, binding.request.type).value();
}

TEST(Binding, TellsATemplateOnlyWhatItReads) {
  OperatorCall call;
  call.name = "elementwise";
  call.shape = {100};
  call.dtype = "float32";
  call.expression = "a * s + b";
  EXPECT_EQ(macros_text(call),
            "NPU_JIT_ELEMENT_A=float&NPU_JIT_ELEMENT_C=float&NPU_JIT_EXPRESSION=a * s + b&"
            "NPU_JIT_KERNEL_NAME=elementwise&__ARCH__=2201&__KT__=1");
  call.expression.clear();
  call.name = "softmax";
  call.shape = {3, 5};
  call.out_dtype = "half";
  EXPECT_EQ(macros_text(call),
            "NPU_JIT_ELEMENT_A=float&NPU_JIT_ELEMENT_C=half&NPU_JIT_KERNEL_NAME=softmax&"
            "__ARCH__=2201&__KT__=1");
  call.name = "flash_attention";
  call.shape = {1, 2, 1, 3, 5, 16};
  call.causal = true;
  EXPECT_EQ(macros_text(call),
            "NPU_JIT_CAUSAL=1&NPU_JIT_ELEMENT_A=float&NPU_JIT_ELEMENT_C=half&"
            "NPU_JIT_KERNEL_NAME=flash_attention&__ARCH__=2201&__KT__=2");
}

TEST(Binding, PutsTensorsWhereTheFamilyHasThem) {
  OperatorCall call;
  call.inputs = {0x100, 0x200, 0x300, 0x400};
  call.results = {0x500};
  call.shape = {3, 5};
  call.name = "rms_norm";
  call.epsilon = 0.25F;
  auto binding = bind(normalise(call).value());
  const auto& norm = std::get<RmsNormParams>(binding.params);
  EXPECT_EQ(std::vector<std::uint64_t>({norm.from, norm.gamma, norm.to, norm.rows, norm.columns}),
            std::vector<std::uint64_t>({0x100, 0x200, 0x500, 3, 5}));
  EXPECT_EQ(norm.epsilon, 0.25F);
  call.name = "gemv";
  binding = bind(normalise(call).value());
  const auto& gemv = std::get<GemvParams>(binding.params);
  EXPECT_EQ(std::vector<std::uint64_t>({gemv.a, gemv.x, gemv.y, gemv.m, gemv.k, gemv.lda}),
            std::vector<std::uint64_t>({0x100, 0x200, 0x500, 3, 5, 0}));
  call.name = "quant_matmul";
  call.dtype = "int8";
  call.shape = {3, 5, 7};
  call.scale = 0.5F;
  binding = bind(normalise(call).value());
  const auto& quant = std::get<QuantMatmulParams>(binding.params);
  EXPECT_EQ(std::vector<std::uint64_t>({quant.channel_scales, quant.token_scales, quant.product.a,
                                        quant.product.b, quant.product.c}),
            std::vector<std::uint64_t>({0x300, 0x400, 0x100, 0x200, 0x500}));
  EXPECT_EQ(quant.scale, 0.5F);
}

TEST(Binding, GivesRowsTheirResults) {
  OperatorCall call;
  call.inputs = {0x100, 0x200, 0x300, 0x400};
  call.results = {0x500, 0x600, 0x700};
  call.shape = {3, 10};
  call.name = "swi_glu";
  auto binding = bind(normalise(call).value());
  const auto& glu = std::get<SwiGluParams>(binding.params);
  EXPECT_EQ(std::vector<std::uint64_t>({glu.from, glu.to, glu.rows, glu.columns}),
            std::vector<std::uint64_t>({0x100, 0x500, 3, 5}));
  call.name = "dynamic_quant";
  binding = bind(normalise(call).value());
  const auto& quant = std::get<DynamicQuantParams>(binding.params);
  EXPECT_EQ(std::vector<std::uint64_t>({quant.from, quant.to, quant.scales, quant.columns}),
            std::vector<std::uint64_t>({0x100, 0x500, 0x600, 10}));
  call.name = "add_rms_norm_dynamic_quant";
  binding = bind(normalise(call).value());
  EXPECT_EQ(binding.request.template_file, "add_rms_norm.cpp");
  EXPECT_EQ(binding.request.macros.at("NPU_JIT_ELEMENT_C"), "int8");
  const auto& norm = std::get<AddRmsNormParams>(binding.params);
  EXPECT_EQ(
      std::vector<std::uint64_t>({norm.x1, norm.x2, norm.gamma, norm.to, norm.sum, norm.scales}),
      std::vector<std::uint64_t>({0x100, 0x200, 0x300, 0x500, 0x600, 0x700}));
  call.name = "dequant_swiglu_quant";
  call.dtype = "int32";
  call.activate_left = false;
  binding = bind(normalise(call).value());
  const auto& both = std::get<DequantSwigluQuantParams>(binding.params);
  EXPECT_EQ(
      std::vector<std::uint64_t>({both.weight_scales, both.activation_scales, both.quant_scales,
                                  both.scales, both.columns, both.activate_left}),
      std::vector<std::uint64_t>({0x200, 0x300, 0x400, 0x600, 5, 0}));
}

}  // namespace
}  // namespace npu::operators
