// SPDX-License-Identifier: Apache-2.0
// grouped_matmul and splitk_matmul.
#include "tests/system/operators/matmul_case.hpp"

namespace npu::test {
namespace {

using operators::GroupSlice;

class FamilyShapes : public testing::TestWithParam<model::ProgramCoreKind> {
 protected:
  OperatorBench bench_{GetParam()};
  Dice dice_{GetParam() == model::ProgramCoreKind::kSplit ? 11U : 12U};
};

TEST_P(FamilyShapes, OfPartsOfKAreSummedUp) {
  const auto instances = every_type();
  for (unsigned i = 0; i < shapes_at_random(); ++i) {
    const auto& instance = instances[dice_() % instances.size()];
    Shape shape = random_shape(dice_);
    if (dice_() % 4 == 0) shape = {shape.m % 20 + 1, shape.n % 20 + 1, number(dice_, 500, 3000)};
    if (dice_() % 20 == 0) shape.k = 0;
    MatmulCase one(bench_, instance, shape, dice_, dice_() % 2 == 0);
    one.place();
    if (shape.k != 0 && dice_() % 2 == 0) one.place_bias(dice_, 1);
    const operators::SplitKMatmulParams params{one.params, number(dice_, 0, 6)};
    ASSERT_TRUE(bench_.run_operator(instance.object("splitk_matmul"), params)) << bench_.refusal();
    one.expect_all(8);
    if (HasFailure()) FAIL() << "shape " << i << " of " << instance;
  }
}

class Groups {
 public:
  Groups(Dice& dice, std::uint32_t count, std::uint32_t all) {
    std::vector<std::uint32_t> cuts;
    for (std::uint32_t i = 0; i < count; ++i) cuts.push_back(number(dice, 0, all));
    std::sort(cuts.begin(), cuts.end());
    if (dice() % 2 == 0) cuts.back() = all;
    ends.assign(cuts.begin(), cuts.end());
  }
  std::uint64_t place(OperatorBench& bench) const {
    std::vector<unsigned char> bytes(ends.size() * 8);
    std::memcpy(bytes.data(), ends.data(), bytes.size());
    return bench.place(bytes);
  }
  std::uint64_t begin(std::size_t i) const { return i == 0 ? 0 : ends[i - 1]; }
  std::vector<std::uint64_t> ends;
};

TEST_P(FamilyShapes, OfGroupsOfRowsHaveTheirOwnFactors) {
  for (unsigned i = 0; i < shapes_at_random(); ++i) {
    const auto instances = every_type();
    const auto& instance = instances[dice_() % instances.size()];
    Shape shape = random_shape(dice_);
    if (dice_() % 20 == 0) shape.k = 0;
    MatmulCase one(bench_, instance, shape, dice_, dice_() % 2 == 0);
    one.place();
    const Groups groups(dice_, number(dice_, 1, 12), shape.m);
    operators::GroupedMatmulParams params;
    std::vector<Values> factors;
    std::vector<unsigned char> bytes;
    for (std::size_t g = 0; g < groups.ends.size(); ++g) {
      factors.push_back(random_values(dice_, instance.type(), shape.k, shape.n));
      const std::uint64_t length = instance.b_layout == "ColumnMajor" ? shape.k : shape.n;
      const auto next = packed(factors.back(), instance.b_layout, instance.type(),
                               one.params.ldb == 0 ? length : one.params.ldb);
      bytes.insert(bytes.end(), next.begin(), next.end());
      one.params.stride_b = next.size() / platform::bytes_of(instance.type());
    }
    one.params.b = bench_.place(bytes);
    if (shape.k != 0 && dice_() % 2 == 0) one.place_bias(dice_, groups.ends.size());
    params.whole = one.params;
    params.groups = static_cast<std::uint32_t>(groups.ends.size());
    params.group_ends = groups.place(bench_);
    const bool run = bench_.run_operator(instance.object("grouped_matmul"), params);
    ASSERT_EQ(run, instance.a_layout != "nZ") << bench_.refusal();
    if (!run) continue;
    one.fetch();
    for (std::size_t g = 0; g < groups.ends.size(); ++g) {
      Values rows(groups.ends[g] - groups.begin(g), shape.k);
      std::copy_n(one.a.elements.begin() + static_cast<std::ptrdiff_t>(groups.begin(g) * shape.k),
                  rows.elements.size(), rows.elements.begin());
      one.expect_product(rows, factors[g], groups.begin(g), 0, shape.k, 0, g);
    }
    one.expect_gaps(groups.ends.back());
    if (HasFailure()) FAIL() << "shape " << i << " of " << instance;
  }
}

TEST_P(FamilyShapes, OfGroupsOfKHaveTheirOwnResults) {
  for (unsigned i = 0; i < shapes_at_random(); ++i) {
    const auto instances = every_type();
    const auto& instance = instances[dice_() % instances.size()];
    Shape shape = random_shape(dice_);
    shape.m = shape.m % 70 + 1;
    MatmulCase one(bench_, instance, shape, dice_, dice_() % 2 == 0);
    one.place();
    const Groups groups(dice_, number(dice_, 1, 6), shape.k);
    const auto count = static_cast<std::uint32_t>(groups.ends.size());
    one.place_result(count);
    operators::GroupedMatmulParams params;
    params.whole = one.params;
    params.whole.stride_c = one.pitch() * shape.m;
    params.groups = count;
    params.slice = GroupSlice::kK;
    params.group_ends = groups.place(bench_);
    const bool run = bench_.run_operator(instance.object("grouped_matmul"), params);
    ASSERT_EQ(run, instance.a_layout != "zN" && instance.b_layout != "nZ") << bench_.refusal();
    if (!run) continue;
    one.fetch();
    for (std::size_t g = 0; g < count; ++g) {
      one.expect_product(one.a, one.b, g * shape.m, groups.begin(g), groups.ends[g]);
    }
    one.expect_gaps(std::uint64_t{count} * shape.m);
    if (HasFailure()) FAIL() << "shape " << i << " of " << instance;
  }
}

INSTANTIATE_TEST_SUITE_P(Cores, FamilyShapes, every_kind(), kind_name);

TEST(GroupedMatmul, WithEndsThatCannotBeIsTheKernelsError) {
  OperatorBench bench;
  Dice dice(13);
  for (const std::uint64_t bad : {std::uint64_t{9}, ~std::uint64_t{0}, std::uint64_t{2}}) {
    MatmulCase one(bench, {"half", "half", "RowMajor", "RowMajor"}, {8, 8, 8}, dice, false);
    one.place();
    Groups groups(dice, 2, 8);
    groups.ends = {3, bad};
    operators::GroupedMatmulParams params;
    params.whole = one.params;
    params.groups = 2;
    params.group_ends = groups.place(bench);
    bench.expect_fault(FaultCode::kKernelResult);
    EXPECT_TRUE(bench.run_operator("op_grouped_matmul_half_half_RowMajor_RowMajor", params));
    EXPECT_EQ(bench.launches(), 1U);
  }
}

TEST(Workspace, ThatIsNotThereEndsTheRun) {
  OperatorBench bench;
  Dice dice(14);
  MatmulCase one(bench, {"half", "half", "RowMajor", "RowMajor"}, {20, 30, 600}, dice, false);
  one.place();
  const operators::SplitKMatmulParams params{one.params, 2};
  ASSERT_TRUE(bench.run_operator("op_splitk_matmul_half_half_RowMajor_RowMajor", params));
  EXPECT_EQ(bench.workspace_bytes(), 20U * 30 * 4 * 2) << "fp32 sums of each part";
  bench.workspace_limit(100);
  ASSERT_TRUE(bench.run_operator("op_splitk_matmul_half_half_RowMajor_RowMajor", params));
  EXPECT_EQ(bench.launches(), 0U);
}

}  // namespace
}  // namespace npu::test
