// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/validate/operation.hpp"

#include <gtest/gtest.h>

namespace npu::validate {
namespace {

Measurement row_of(const std::string& op, std::vector<std::vector<std::uint64_t>> tensors) {
  Measurement row;
  row.sku = "910B2";
  row.op = op;
  row.metric = "task_duration";
  row.unit = "us";
  row.cache = "cold";
  row.value = 1;
  row.tensors = std::move(tensors);
  row.types = {"float16"};
  return row;
}

std::string line_of(const Measurement& row) {
  const auto made = operation_of(row);
  if (!made) return made.error();
  std::string line = made->configuration + " " + made->workload;
  for (const auto& [key, value] : made->settings) line += " " + key + "=" + value;
  return line;
}

TEST(OperationTest, ElementsAreCounted) {
  EXPECT_EQ(line_of(row_of("gelu", {{4, 8}})),
            "910b2 vector_operator op=gelu type=fp16 elements=32 launches=1 functional=off");
}

TEST(OperationTest, AWarmRowIsTheSecondLaunch) {
  auto row = row_of("matmul", {});
  row.sides = {{"m", 1}, {"n", 2}, {"k", 3}};
  row.cache = "warm";
  EXPECT_EQ(line_of(row),
            "910b2 operator name=basic_matmul shape=1,2,3 dtype=float16 calls=2 cache=folder "
            "functional=off");
  EXPECT_EQ(operation_of(row)->metric, "operator.device_us");
  row.note = "derived from published TFLOPS; repeated on the same buffers";
  EXPECT_EQ(operation_of(row)->metric, "operator.wall_us");
}

TEST(OperationTest, GroupsHaveTheEndsOfTheirRow) {
  auto row = row_of("grouped_matmul", {{8, 4}, {2, 16, 4}, {2, 16}});
  row.attributes = {{"group_list", {3, 8}}, {"transpose_weight", true}};
  EXPECT_EQ(line_of(row),
            "910b2 operator name=grouped_matmul shape=2,8,16,4 dtype=float16 calls=1 cache=folder "
            "transpose_b=on group_ends=3,8 bias=float16 functional=off");
  EXPECT_EQ(operation_of(row)->left_out, "");
}

// Scales: [columns], or [1] for all; with those of rows behind an offset that is absent.
TEST(OperationTest, QuantisedProductsHaveTheScalesAndTheBiasOfTheirRow) {
  auto row = row_of("quant_matmul", {{8, 4, 16}, {8, 16, 32}, {32}});
  row.types = {"int8", "int8", "float32"};
  const std::string batched =
      "910b2 operator name=quant_matmul shape=8,4,32,16 dtype=int8 calls=1 cache=folder "
      "out_dtype=float16 scales=columns functional=off";
  EXPECT_EQ(line_of(row), batched);
  row.tensors = {{4, 16}, {16, 32}, {1}};
  EXPECT_NE(line_of(row).find("shape=4,32,16 "), std::string::npos);
  EXPECT_NE(line_of(row).find("scales=one "), std::string::npos);
  row.tensors = {{4, 16}, {16, 32}, {32}, {}, {4}, {32}};
  row.types = {"int8", "int8", "float32", "", "float32", "bfloat16"};
  EXPECT_NE(line_of(row).find("scales=both bias=bfloat16 "), std::string::npos);
}

TEST(OperationTest, AttentionHasHeadsBehindTheSequence) {
  auto row = row_of("gqa", {{2, 128, 32, 64}, {2, 256, 8, 64}, {2, 256, 8, 64}});
  row.attributes = {{"is_causal", true}};
  EXPECT_EQ(line_of(row),
            "910b2 operator name=flash_attention shape=2,32,8,128,256,64 dtype=float16 calls=1 "
            "cache=folder layout=bsnd causal=on whole_mask=on functional=off");
  row.sku = "950PR";
  EXPECT_EQ(line_of(row).find("whole_mask"), std::string::npos);
}

TEST(OperationTest, OperatorsOnRowsHaveRowsAndColumns) {
  const std::string dtype = "dtype=float16 calls=1 cache=folder";
  for (const std::string op : {"swi_glu", "dynamic_quant", "add_rms_norm_dynamic_quant"}) {
    EXPECT_EQ(line_of(row_of(op, {{2, 3, 8}})),
              "910b2 operator name=" + op + " shape=6,8 " + dtype + " functional=off");
  }
}

TEST(OperationTest, HalvesAreQuantisedWithTheScalesOfTheirRow) {
  auto row = row_of("dequant_swiglu_quant", {{4, 16}, {}, {}, {1, 8}});
  EXPECT_EQ(line_of(row),
            "910b2 operator name=dequant_swiglu_quant shape=4,16 dtype=float16 calls=1 "
            "cache=folder activate_left=off quant_scales=on functional=off");
  row.tensors = {{4, 16}, {1, 16}, {4}};
  EXPECT_EQ(line_of(row), "int32, and nothing else, has scales of weights and activations");
  row.types = {"int32"};
  row.attributes = {{"activate_left", true}};
  EXPECT_EQ(line_of(row),
            "910b2 operator name=dequant_swiglu_quant shape=4,16 dtype=int32 calls=1 "
            "cache=folder functional=off");
}

TEST(OperationTest, SoftmaxIsAlongTheAxisOfItsRow) {
  auto row = row_of("softmax", {{4, 8, 16}});
  row.attributes = {{"dim", -2}};
  EXPECT_EQ(line_of(row),
            "910b2 operator name=softmax_axis shape=4,8,16 dtype=float16 calls=1 cache=folder "
            "functional=off");
  row.attributes = {{"dim", 2}};
  EXPECT_NE(line_of(row).find("name=softmax shape=32,16"), std::string::npos);
}

TEST(OperationTest, AMaximumIsBroadcastWhereSidesDiffer) {
  EXPECT_EQ(line_of(row_of("maximum", {{4, 8}, {8}})),
            "910b2 operator name=broadcast shape=4,8 dtype=float16 calls=1 cache=folder "
            "other_shape=8 expression=max(a,b) functional=off");
}

TEST(OperationTest, AxesGroupsAndStepsHaveTheAttributesOfTheirRow) {
  const std::string calls = " dtype=float16 calls=1 cache=folder";
  auto axes = row_of("transpose", {{3, 5, 7}});
  axes.attributes = {{"perm", {2, 0, 1}}};
  EXPECT_EQ(line_of(axes),
            "910b2 operator name=transpose shape=3,5,7" + calls + " order=2,0,1 functional=off");
  auto groups = row_of("group_norm", {{2, 6, 5, 7}, {6}, {6}});
  groups.attributes = {{"num_groups", 3}};
  EXPECT_EQ(line_of(groups),
            "910b2 operator name=group_norm shape=2,6,35,3" + calls + " functional=off");
  auto step = row_of("apply_adam_w", {{4, 8}, {4, 8}, {4, 8}, {4, 8}});
  step.attributes = {{"maximize", true}};
  EXPECT_EQ(line_of(step),
            "910b2 operator name=apply_adam_w shape=32" + calls + " maximize=on functional=off");
}

TEST(OperationTest, CopiesBetweenCardsHaveTheSizeOfTheirRow) {
  auto row = row_of("HCCS hixl_cs rD2D", {});
  row.shape = "block 16K, total 128 MiB";
  row.metric = "bandwidth", row.unit = "GB/s";
  EXPECT_EQ(
      line_of(row),
      "system-2x910b2 p2p_bandwidth patterns=one_way sizes=16KiB operations=read bytes=128MiB");
  EXPECT_EQ(operation_of(row)->metric, "p2p_bandwidth.one_way.read.16KiB.bandwidth_gb_per_s");
  EXPECT_EQ(predicted(row, *operation_of(row), 7), 7);
  row.unit = "us";
  EXPECT_EQ(line_of(row), "the unit 'us' is not the figure's");
  row.op = "SDMA transfer", row.shape = "512KiB", row.metric = "latency";
  EXPECT_EQ(predicted(row, *operation_of(row), 16'300), 16.3);
}

TEST(OperationTest, ALaunchIsCountedFromItsDispatch) {
  auto row = row_of("kernel init before first MTE2 (const tiling)", {});
  EXPECT_EQ(
      line_of(row),
      "910b2 vector_operator op=sigmoid type=fp32 elements=64 tiling=constant functional=off");
  EXPECT_DOUBLE_EQ(predicted(row, *operation_of(row), 2.5), 2.3);
  row.op = "AI core hardware init";
  EXPECT_EQ(line_of(row), "is the key aicore.init_ns");
}

TEST(OperationTest, ARowThatCannotBeRunSaysWhy) {
  EXPECT_EQ(line_of(row_of("topk", {{4}})), "no such operator");
  EXPECT_EQ(line_of(row_of("histogram", {{4}})), "SIMT threads are not modelled");
  EXPECT_EQ(line_of(row_of("gelu", {})), "the shape names no tensor");
  EXPECT_EQ(line_of(row_of("gelu", {{4, 8}, {8}})), "operands are broadcast");
  auto axis = row_of("swi_glu", {{4, 8, 16}});
  axis.attributes = {{"dim", 1}};
  EXPECT_EQ(line_of(axis), "the axis is not the last one");
  axis.attributes = {{"dim", 3}};
  EXPECT_EQ(line_of(axis), "there is no axis 3");
  EXPECT_EQ(line_of(row_of("transpose", {{4, 8}})), "the shape and the order of axes do not fit");
  EXPECT_EQ(line_of(row_of("group_norm", {{4, 8}})), "the shape has no batch, channels and groups");
  auto elsewhere = row_of("gelu", {{4}});
  elsewhere.sku = "V100";
  EXPECT_EQ(line_of(elsewhere), "no configuration of this part");
  auto part = row_of("gelu", {{4}});
  part.metric = "profit";
  EXPECT_EQ(line_of(part), "the metric 'profit' is none of a run");
  auto rate = row_of("gelu", {{4}});
  rate.unit = "GB/s";
  EXPECT_EQ(line_of(rate), "what the rate counts is not known");
  rate.unit = "apples";
  EXPECT_EQ(line_of(rate), "the unit 'apples' is no time and no rate");
  auto type = row_of("gelu", {{4}});
  type.types = {"mxfp4"};
  EXPECT_EQ(line_of(type), "no elements of type 'mxfp4'");
}

TEST(OperationTest, AWallTimeIsOfARepeatedCall) {
  auto row = row_of("flash_attention", {});
  row.sides = {{"S0", 128}, {"S1", 1024}, {"D", 64}};
  row.cache.clear();
  EXPECT_EQ(operation_of(row)->metric, "operator.device_us");
  EXPECT_NE(line_of(row).find("shape=1,1,1,128,1024,64 dtype=float16 calls=1"), std::string::npos);
  row.metric = "wall_per_call";
  EXPECT_EQ(operation_of(row)->metric, "operator.wall_us");
  EXPECT_NE(line_of(row).find("calls=2"), std::string::npos);
  row.note = "PTO kernel, L2 cold";
  EXPECT_NE(line_of(row).find("calls=1"), std::string::npos);
}

TEST(OperationTest, ANoteSaysHowManyCores) {
  auto row = row_of("flash_attention", {});
  row.sides = {{"S", 128}, {"D", 64}};
  row.note = "8 AI cores";
  EXPECT_NE(line_of(row).find(" cores=8 "), std::string::npos);
  row.note = "all cores";
  EXPECT_EQ(line_of(row).find("cores="), std::string::npos);
}

TEST(OperationTest, AFractionOfACopyHasTwoRuns) {
  auto row = row_of("hadamard", {});
  row.metric = "fraction_of_copy";
  row.unit = "";
  row.sides = {{"N", 32}, {"tile", 8192}};
  const auto made = operation_of(row);
  ASSERT_TRUE(made);
  ASSERT_FALSE(made->reference.empty());
  EXPECT_EQ(made->reference.front().second, "copy");
  EXPECT_DOUBLE_EQ(predicted(row, *made, 10, 8), 0.8);
}

TEST(OperationTest, ARemoteGetIsOneCoreOnALinkedCard) {
  auto row = row_of("remote_get", {});
  row.sides = {{"KiB", 64}};
  row.metric = "latency";
  row.unit = "ticks of 50 MHz";
  EXPECT_EQ(line_of(row),
            "system-2x910b2 operator name=copy shape=65536 dtype=int8 calls=1 cache=folder peer=on "
            "tile=4096 sets=1 cores=1 functional=off");
  EXPECT_EQ(operation_of(row)->metric, "operator.pipes_us");
  row.metric = "bandwidth";
  row.unit = "GB/s";
  EXPECT_EQ(operation_of(row)->metric, "operator.wall_us");
  EXPECT_DOUBLE_EQ(predicted(row, *operation_of(row), 65.536), 1);
}

TEST(OperationTest, ChunksHaveTokensOfAllSequences) {
  auto row = row_of("gdn wy_fast", {});
  row.sides = {{"H", 4}, {"Hg", 4}, {"n_seq", 2}, {"L", 256}, {"D", 128}, {"C", 64}};
  EXPECT_NE(line_of(row).find("name=wy_fast shape=512,4,4,128,64"), std::string::npos);
}

TEST(OperationTest, ProductsOfMxFormatsAreToldInBytes) {
  auto row = row_of("matmul", {});
  row.types = {"mxfp4"};
  row.sides = {{"k", 512}, {"n", 512}};
  EXPECT_EQ(line_of(row), "the shape has no m, n and k");
  row.shape = "k=n=512, best m of 16";
  EXPECT_NE(line_of(row).find("name=mxfp4_matmul shape=16384,512,512 dtype=int8"),
            std::string::npos);
  EXPECT_EQ(operation_of(row)->left_out, "m is not published, 16384 assumed");
}

TEST(OperationTest, ARunIsComparedInTheUnitOfItsRow) {
  auto row = row_of("matmul", {});
  row.sides = {{"m", 1000}, {"n", 1000}, {"k", 1000}};
  const auto time_in = [&](const char* unit) {
    row.unit = unit;
    return predicted(row, *operation_of(row), 200);
  };
  EXPECT_DOUBLE_EQ(time_in("us"), 200);
  EXPECT_DOUBLE_EQ(time_in("ms"), 0.2);
  EXPECT_DOUBLE_EQ(time_in("ticks of 50 MHz"), 10000);
  EXPECT_DOUBLE_EQ(time_in("TFLOPS"), 10);
}

}  // namespace
}  // namespace npu::validate
