// SPDX-License-Identifier: Apache-2.0
// basic_matmul and batched_matmul: every type, layout and transposition, awkward sizes, numbers
// that are none, and what is refused.
#include <gmock/gmock.h>

#include "tests/system/operators/matmul_case.hpp"

namespace npu::test {
namespace {

using operators::MatmulParams;

std::vector<MatmulInstance> basic_instances() {
  auto all = every_layout();
  for (const auto* const types : {"half float", "bfloat16 float", "float half", "float bfloat16",
                                  "int8 float", "int8 half"}) {
    std::istringstream names(types);
    MatmulInstance i{"", "", "RowMajor", "RowMajor"};
    names >> i.a_type >> i.c_type;
    all.push_back(i);
  }
  return all;
}

class BasicMatmul : public testing::TestWithParam<MatmulInstance> {};

TEST_P(BasicMatmul, IsTheProductWhateverTheShape) {
  OperatorBench bench;
  Dice dice(1);
  const Shape shapes[] = {{1, 1, 1},    {16, 32, 64}, {17, 31, 13}, {129, 65, 33},
                          {3, 97, 300}, {97, 1, 7},   {1, 128, 5}};
  bool gaps = false;
  for (const Shape& shape : shapes) {
    MatmulCase one(bench, GetParam(), shape, dice, gaps = !gaps);
    one.place();
    ASSERT_TRUE(bench.run_operator(GetParam().object("basic_matmul"), one.params))
        << bench.refusal();
    one.expect_all();
  }
}

TEST_P(BasicMatmul, OfNothingIsNothingOrZero) {
  OperatorBench bench;
  Dice dice(2);
  for (const Shape& shape : {Shape{0, 5, 3}, Shape{5, 0, 3}, Shape{0, 0, 0}}) {
    MatmulParams params;
    params.m = shape.m, params.n = shape.n, params.k = shape.k;
    ASSERT_TRUE(bench.run_operator(GetParam().object("basic_matmul"), params));
    EXPECT_EQ(bench.launches(), 0U);
  }
  MatmulCase one(bench, GetParam(), {37, 53, 0}, dice, true);
  one.place();
  ASSERT_TRUE(bench.run_operator(GetParam().object("basic_matmul"), one.params)) << bench.refusal();
  one.expect_all();
}

INSTANTIATE_TEST_SUITE_P(All, BasicMatmul, testing::ValuesIn(basic_instances()),
                         [](const auto& each) { return each.param.object("").substr(4); });

class MatmulShapes : public testing::TestWithParam<model::ProgramCoreKind> {};

TEST_P(MatmulShapes, AtRandom) {
  OperatorBench bench(GetParam());
  Dice dice(GetParam() == model::ProgramCoreKind::kSplit ? 3 : 4);
  const auto instances = basic_instances();
  for (unsigned i = 0; i < shapes_at_random(); ++i) {
    const auto& instance = instances[dice() % instances.size()];
    MatmulCase one(bench, instance, random_shape(dice), dice, dice() % 2 == 0);
    one.place();
    if (dice() % 2 == 0) one.place_bias(dice, 1);
    const auto cores = number(dice, 0, 2);
    ASSERT_TRUE(bench.run_operator(instance.object("basic_matmul"), one.params, cores))
        << bench.refusal();
    one.expect_all();
    if (HasFailure()) FAIL() << "shape " << i << " of " << instance;
  }
}

TEST_P(MatmulShapes, OfBatchesAtRandom) {
  OperatorBench bench(GetParam());
  Dice dice(5);
  const auto instances = every_type();
  for (unsigned i = 0; i < shapes_at_random(); ++i) {
    const auto& instance = instances[dice() % instances.size()];
    Shape shape = random_shape(dice);
    shape.m = shape.m % 60 + 1, shape.n = shape.n % 60 + 1;
    MatmulCase one(bench, instance, shape, dice, dice() % 2 == 0);
    one.place();
    const std::uint32_t batch = one.params.batch = number(dice, 1, 5);
    // Each A is behind the one before, in memory of its own; B is one for all.
    std::vector<Values> left;
    std::vector<unsigned char> bytes;
    for (std::uint32_t j = 0; j < batch; ++j) {
      left.push_back(random_values(dice, instance.type(), shape.m, shape.k));
      const std::uint64_t length = instance.a_layout == "ColumnMajor" ? shape.m : shape.k;
      const auto next = packed(left.back(), instance.a_layout, instance.type(),
                               one.params.lda == 0 ? length : one.params.lda);
      bytes.resize(j * next.size());
      bytes.insert(bytes.end(), next.begin(), next.end());
      one.params.stride_a = next.size() / platform::bytes_of(instance.type());
    }
    one.params.a = bench.place(bytes);
    one.place_result(batch);
    one.params.stride_c = one.pitch() * shape.m;
    const bool biased = dice() % 2 == 0;
    if (biased) one.place_bias(dice, batch);
    ASSERT_TRUE(bench.run_operator(instance.object("batched_matmul"), one.params))
        << bench.refusal();
    one.fetch();
    for (std::uint32_t j = 0; j < batch; ++j) {
      one.expect_product(left[j], one.b, std::uint64_t{j} * shape.m, 0, shape.k, 0, biased ? j : 0);
    }
    one.expect_gaps(std::uint64_t{batch} * shape.m);
    if (HasFailure()) FAIL() << "shape " << i << " of " << instance;
  }
}

INSTANTIATE_TEST_SUITE_P(Cores, MatmulShapes, every_kind(), kind_name);

TEST(MatmulNumbers, ThatAreNoneStayInTheirRowsAndColumns) {
  OperatorBench bench;
  Dice dice(6);
  for (const auto* const type : {"half", "bfloat16", "float"}) {
    MatmulCase one(bench, {type, type, "RowMajor", "ColumnMajor"}, {33, 40, 50}, dice, false);
    one.a.at(3, 7) = std::nan("");
    one.a.at(5, 1) = HUGE_VAL;
    one.b.at(2, 9) = -HUGE_VAL;
    one.a.at(6, 2) = 0;  // times infinity
    one.place();
    ASSERT_TRUE(bench.run_operator(
        "op_basic_matmul_" + std::string(type) + "_" + type + "_RowMajor_ColumnMajor", one.params));
    one.expect_all();
  }
}

// The cube begins with half as well as with float.
TEST(MatmulBias, MayBeOfHalf) {
  OperatorBench bench;
  Dice dice(15);
  MatmulCase one(bench, {"bfloat16", "bfloat16", "RowMajor", "ColumnMajor"}, {33, 70, 50}, dice,
                 true);
  one.place();
  one.place_bias(dice, 1, DataType::kFp16);
  ASSERT_TRUE(bench.run_operator("op_batched_matmul_half_bias", one.params)) << bench.refusal();
  one.expect_all();
}

TEST(MatmulTiles, OfManyRoundsLeaveNothingOut) {
  OperatorBench bench(model::ProgramCoreKind::kSplit);
  Dice dice(7);
  for (const Shape& shape : {Shape{300, 520, 130}, Shape{150, 700, 90}, Shape{700, 150, 64}}) {
    MatmulCase one(bench, {"half", "half", "nZ", "zN"}, shape, dice, false);
    one.place();
    ASSERT_TRUE(bench.run_operator("op_basic_matmul_half_half_nZ_zN", one.params));
    one.expect_all();
  }
}

TEST(MatmulTiles, AreMadeForTheBuffersThereAre) {
  OperatorBench bench;
  Dice dice(8);
  MatmulCase one(bench, {"float", "float", "RowMajor", "RowMajor"}, {70, 80, 90}, dice, false);
  one.place();
  bench.limits({64_KiB, 16_KiB, 16_KiB, 32_KiB, 64_KiB, 0});
  ASSERT_TRUE(bench.run_operator("op_basic_matmul_float_float_RowMajor_RowMajor", one.params))
      << bench.refusal();
  one.expect_all();
  bench.limits({1_KiB, 16_KiB, 16_KiB, 32_KiB, 64_KiB, 0});
  EXPECT_FALSE(bench.run_operator("op_basic_matmul_float_float_RowMajor_RowMajor", one.params));
  EXPECT_EQ(bench.refusal(), "no tile of the product fits into the cores' buffers");
}

// Tiles of 64 x 32 x 96 and 32 in L0, and ones that fit into nothing.
TEST(MatmulTiles, AreThoseOfTheMacrosWhereThereAreAny) {
  OperatorBench bench;
  Dice dice(9);
  MatmulCase one(bench, {"half", "half", "RowMajor", "RowMajor"}, {130, 64, 192}, dice, false);
  one.place();
  bench.requests.clear();
  ASSERT_TRUE(bench.run_operator("op_basic_matmul_small_tiles", one.params)) << bench.refusal();
  one.expect_all();
  // B is read once for each of three tile rows, A for each of two tile columns.
  Bytes read = 0;
  for (const auto& request : bench.requests) {
    if (!request.write && request.address >= one.params.a) read += request.length;
  }
  EXPECT_EQ(read, (130U * 192 * 2 + 192 * 64 * 3) * 2);
  EXPECT_FALSE(bench.run_operator("op_basic_matmul_large_tiles", one.params));
  EXPECT_EQ(bench.refusal(), "no tile of the product fits into the cores' buffers");
}

// Lines of 400 and 600 B: half of A in 13 columns of 80 rows of fractals, of B in 19 of 208.
class MatmulConverted : public testing::TestWithParam<model::ProgramCoreKind> {};

TEST_P(MatmulConverted, BringsUnalignedLinesIntoFractalsInOneLaunch) {
  OperatorBench bench(GetParam());
  Dice dice(16);
  MatmulCase one(bench, {"half", "half", "RowMajor", "RowMajor"}, {70, 300, 200}, dice, false);
  one.place();
  ASSERT_TRUE(bench.run_operator("op_basic_matmul_half_half_RowMajor_RowMajor", one.params));
  EXPECT_EQ(bench.workspace_bytes(), (13U * 80 + 19U * 208) * 32);
  EXPECT_EQ(bench.launches(), 1U);
  one.expect_all();
}

INSTANTIATE_TEST_SUITE_P(Cores, MatmulConverted, every_kind(), kind_name);

TEST(MatmulConversion, IsOfTheMatrixThatNeedsIt) {
  OperatorBench bench(model::ProgramCoreKind::kSplit);
  Dice dice(17);
  struct {
    Shape shape;
    Bytes workspace;
  } const cases[] = {{{70, 256, 200}, 13 * 80 * 32},   // A alone
                     {{70, 300, 256}, 19 * 256 * 32},  // B alone
                     {{70, 192, 48}, 0}};              // short lines: 384 and 96 B
  for (const auto& each : cases) {
    MatmulCase one(bench, {"half", "half", "RowMajor", "RowMajor"}, each.shape, dice, false);
    one.place();
    ASSERT_TRUE(bench.run_operator("op_basic_matmul_half_half_RowMajor_RowMajor", one.params));
    EXPECT_EQ(bench.workspace_bytes(), each.workspace) << each.shape.n << " " << each.shape.k;
    one.expect_all();
  }
}

TEST(MatmulRefusals, SayWhatCannotBe) {
  OperatorBench bench;
  MatmulParams good;
  good.m = good.n = good.k = 8;
  const auto refused = [&](auto change,
                           const std::string& object = "op_basic_matmul_half_half_RowMajor_nZ") {
    MatmulParams params = good;
    change(params);
    EXPECT_FALSE(bench.run_operator(object, params));
    return bench.refusal();
  };
  using testing::HasSubstr;
  EXPECT_THAT(refused([](auto& p) { p.m = 0x8000'0000; }), HasSubstr("below 2^31"));
  EXPECT_THAT(refused([](auto& p) { p.lda = 7; }), HasSubstr("lda"));
  EXPECT_THAT(refused([](auto& p) { p.ldb = 8; }), HasSubstr("ldb"));
  EXPECT_THAT(refused([](auto& p) { p.ldc = 7; }), HasSubstr("ldc"));
  EXPECT_THAT(refused([](auto& p) { p.ldc = ~std::uint64_t{0}; }), HasSubstr("ldc"));
  EXPECT_THAT(refused([](auto& p) { p.a = 1; }), HasSubstr("multiples"));
  EXPECT_THAT(refused([](auto& p) { p.batch = 2; }), HasSubstr("batch must be 1"));
  EXPECT_THAT(refused([](auto& p) { p.bias = 2; }), HasSubstr("bias"));
  EXPECT_THAT(refused([](auto& p) { p.bias = 4, p.k = 0; }), HasSubstr("k must not be 0"));
  EXPECT_THAT(refused([](auto& p) { p.batch = 2, p.stride_c = 63; },
                      "op_batched_matmul_half_half_RowMajor_RowMajor"),
              HasSubstr("stride_c"));
}

}  // namespace
}  // namespace npu::test
