// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/operators/call.hpp"

namespace npu::operators {
namespace {

using testing::AllOf;
using testing::HasSubstr;

OperatorCall example_call() {
  OperatorCall call;
  call.name = "basic_matmul";
  call.shape = {3, 5, 7};
  return call;
}

TEST(Wrapper, KnowsEverySpellingOfAType) {
  for (const auto& [text, type] :
       std::vector<std::pair<std::string, DataType>>{{"half", DataType::kFp16},
                                                     {"fp16", DataType::kFp16},
                                                     {"float16", DataType::kFp16},
                                                     {"bfloat16", DataType::kBf16},
                                                     {"bf16", DataType::kBf16},
                                                     {"float32", DataType::kFp32},
                                                     {"float", DataType::kFp32},
                                                     {"int8", DataType::kInt8}}) {
    auto call = example_call();
    call.dtype = text;
    const auto normalised = normalise(call);
    ASSERT_TRUE(normalised) << text;
    EXPECT_EQ(normalised->type, type) << text;
    EXPECT_EQ(normalised->out_type, type == DataType::kInt8 ? DataType::kInt32 : type) << text;
  }
}

TEST(Wrapper, TimeSliceFormatAndTranspositionIntoLayouts) {
  const auto layout = [](const char* format, bool transposed) {
    auto call = example_call();
    call.format_b = format;
    call.transpose_b = transposed;
    return normalise(call).value().layout_b;
  };
  EXPECT_EQ(layout("ND", false), "RowMajor");
  EXPECT_EQ(layout("ND", true), "ColumnMajor");
  EXPECT_EQ(layout("NZ", false), "zN");
  EXPECT_EQ(layout("nz", true), "nZ");
}

TEST(Wrapper, TakesShapesApart) {
  auto call = example_call();
  auto normalised = normalise(call).value();
  EXPECT_EQ(
      std::vector<std::uint32_t>({normalised.batch, normalised.m, normalised.n, normalised.k}),
      std::vector<std::uint32_t>({1, 3, 5, 7}));
  call.name = "batched_matmul";
  call.shape = {2, 3, 5, 7};
  normalised = normalise(call).value();
  EXPECT_EQ(
      std::vector<std::uint32_t>({normalised.batch, normalised.m, normalised.n, normalised.k}),
      std::vector<std::uint32_t>({2, 3, 5, 7}));
  call.name = "grouped_matmul";
  EXPECT_EQ(normalise(call).value().batch, 2U);
}

TEST(Wrapper, TakesQuantisedProductsWithAndWithoutABatch) {
  auto call = example_call();
  call.name = "quant_matmul";
  call.dtype = "int8";
  EXPECT_EQ(normalise(call).value().batch, 1U);
  call.shape = {2, 3, 5, 7};
  EXPECT_EQ(normalise(call).value().batch, 2U);
  EXPECT_EQ(normalise(call).value().k, 7U);
  call.shape = {1, 2, 3, 5, 7};
  EXPECT_THAT(normalise(call).error().context, HasSubstr("3 or 4 are wanted: [batch,] m, n, k"));
}

TEST(Wrapper, GivesABiasTheTypeOfTheSums) {
  auto call = example_call();
  EXPECT_EQ(normalise(call).value().bias_type, DataType::kFp32);
  call.bias_dtype = "half";
  EXPECT_EQ(normalise(call).value().bias_type, DataType::kFp16);
  call.dtype = "int8", call.bias_dtype = "";
  EXPECT_EQ(normalise(call).value().bias_type, DataType::kInt32);
  call.name = "quant_matmul", call.bias_dtype = "bf16";
  EXPECT_EQ(normalise(call).value().bias_type, DataType::kBf16);
}

TEST(Wrapper, QuantisesIntoInt8) {
  auto call = example_call();
  call.shape = {3, 4};
  for (const char* name : {"dynamic_quant", "add_rms_norm_dynamic_quant", "dequant_swiglu_quant"}) {
    call.name = name;
    EXPECT_EQ(normalise(call).value().out_type, DataType::kInt8) << name;
  }
  call.dtype = "int32";
  EXPECT_EQ(normalise(call).value().out_type, DataType::kInt8);
}

// Scales are fp32 whatever the type.
TEST(Wrapper, LeavesTheAddressesOfScalesToTheOperator) {
  auto call = example_call();
  call.name = "dequant_swiglu_quant";
  call.shape = {3, 4};
  call.inputs = {0x1002, 0x1001, 0, 0};
  EXPECT_TRUE(normalise(call));
  call.inputs[0] = 0x1001;
  EXPECT_FALSE(normalise(call));
}

TEST(Wrapper, ABroadcastHasTheSidesOfItsResult) {
  auto call = example_call();
  call.name = "broadcast", call.expression = "max(a,b)";
  call.shape = {4, 1, 7}, call.other_shape = {5, 1};
  EXPECT_EQ(normalise(call).value().sides, (std::vector<std::uint64_t>{4, 5, 7}));
  call.other_shape.clear();
  EXPECT_EQ(normalise(call).value().sides, call.shape);
}

// A change of the example, and what its error says.
struct Refusal {
  void (*change)(OperatorCall&);
  std::string says;
};

TEST(Wrapper, SaysInOneLineWhatCannotBe) {
  const std::vector<Refusal> refusals{
      {[](OperatorCall& c) { c.name = "basic_matmull"; }, "did you mean basic_matmul?"},
      {[](OperatorCall& c) {
         c.shape = {3, 5};
       },
       "2 numbers; 3 are wanted: m, n, k"},
      {[](OperatorCall& c) {
         c.shape = {3, 5, 1ULL << 31};
       },
       "2147483648; 0 .. 2147483647"},
      {[](OperatorCall& c) { c.dtype = "fp8"; }, "dtype: \"fp8\""},
      {[](OperatorCall& c) { c.out_dtype = "quad"; }, "out_dtype: \"quad\""},
      {[](OperatorCall& c) { c.dtype = "int32"; }, "int32 into int32"},
      {[](OperatorCall& c) { c.bias_dtype = "bf16"; }, "float32 or float16 of reals"},
      {[](OperatorCall& c) { c.dtype = "int8", c.bias_dtype = "half"; }, "int32 of int8"},
      {[](OperatorCall& c) { c.dtype = "int8", c.out_dtype = "half"; }, "int8 into half"},
      {[](OperatorCall& c) { c.out_dtype = "int8"; }, "half into int8"},
      {[](OperatorCall& c) { c.format_a = "NHWC"; }, "format_a \"NHWC\""},
      {[](OperatorCall& c) { c.format_b = "\n"; }, "format_b \" \""},
      {[](OperatorCall& c) { c.inputs[1] = 0x1001; }, "multiple of its elements' size"},
      {[](OperatorCall& c) { c.results[0] = 0x1001; }, "multiple of its elements' size"},
      {[](OperatorCall& c) { c.splits = 2; }, "only splitk_matmul splits k"},
      {[](OperatorCall& c) { c.slice_k = true; }, "only grouped_matmul has slices"},
      {[](OperatorCall& c) { c.name = "grouped_matmul"; }, "4 are wanted: groups, m, n, k"},
      {[](OperatorCall& c) { c.expression = "a"; },
       "only elementwise and broadcast have an expression"},
      {[](OperatorCall& c) { c.order = {0}; }, "only transpose has an order"},
      {[](OperatorCall& c) { c.other_shape = {1}; }, "only broadcast has another shape"},
      {[](OperatorCall& c) { c.maximize = true; }, "only apply_adam_w maximizes"},
      {[](OperatorCall& c) {
         c.name = "transpose", c.order = {0, 2, 2};
       },
       "not one of axes 0 to 2"},
      {[](OperatorCall& c) {
         c.name = "broadcast", c.expression = "a", c.other_shape = {3, 4, 7};
       },
       "sides of 5 and 4"},
      {[](OperatorCall& c) { c.name = "transpose", c.shape = {1, 2, 3, 4, 5, 6, 7, 8, 9}; },
       "9 sides; 1 to 8 are possible"},
      {[](OperatorCall& c) {
         c.name = "group_norm", c.shape = {2, 5, 7, 3};
       },
       "3 groups do not divide 5 channels"},
      {[](OperatorCall& c) {
         c.name = "softmax_axis", c.shape = {1 << 20, 1 << 20, 1 << 20};
       },
       "more than 17592186044415 elements"},
      {[](OperatorCall& c) { c.name = "apply_adam_w", c.shape = {3}, c.results[1] = 8; },
       "take the place of the first inputs"},
      {[](OperatorCall& c) { c.causal = true; }, "only flash_attention is causal"},
      {[](OperatorCall& c) { c.whole_mask = true; }, "only a causal flash_attention"},
      {[](OperatorCall& c) { c.name = "softmax"; }, "3 numbers; 2 are wanted: rows, columns"},
      {[](OperatorCall& c) {
         c.name = "softmax", c.shape = {3, 5}, c.format_a = "NZ";
       },
       "its inputs lie row by row"},
      {[](OperatorCall& c) {
         c.name = "gemv", c.shape = {3, 5}, c.transpose_b = true;
       },
       "it has no B"},
      {[](OperatorCall& c) { c.name = "elementwise", c.shape = {3}; }, "an expression over a, b"},
      {[](OperatorCall& c) { c.name = "quant_matmul"; }, "half into float: it can do int8 into"},
      {[](OperatorCall& c) {
         c.name = "softmax", c.shape = {3, 5}, c.dtype = "int8";
       },
       "int8 into int8"},
      {[](OperatorCall& c) {
         c.name = "swi_glu", c.shape = {3, 5};
       },
       "5 columns; an even number has halves"},
      {[](OperatorCall& c) { c.activate_left = false; }, "only dequant_swiglu_quant activates"},
      {[](OperatorCall& c) {
         c.name = "dynamic_quant", c.shape = {3, 5}, c.out_dtype = "half";
       },
       "half into half: it can do float16, bfloat16 and float32 into int8"},
      {[](OperatorCall& c) {
         c.name = "dequant_swiglu_quant", c.shape = {3, 4}, c.dtype = "int8";
       },
       "float32 and int32 into int8"}};
  for (const auto& refusal : refusals) {
    auto call = example_call();
    refusal.change(call);
    const auto normalised = normalise(call);
    ASSERT_FALSE(normalised) << refusal.says;
    EXPECT_THAT(normalised.error().context,
                AllOf(HasSubstr(refusal.says), testing::Not(HasSubstr("\n"))));
  }
}

}  // namespace
}  // namespace npu::operators
