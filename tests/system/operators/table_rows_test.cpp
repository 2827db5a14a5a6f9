// SPDX-License-Identifier: Apache-2.0
// layer_norm, and rows of a table by index: every size of element, rows that fit into UB and that
// do not, numbers and indices that are none.
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "tests/system/operators/result_memory.hpp"

namespace npu::test {
namespace {

class TableRows : public testing::TestWithParam<model::ProgramCoreKind> {
 protected:
  OperatorBench bench_{GetParam()};
  Dice dice_{GetParam() == model::ProgramCoreKind::kSplit ? 71U : 72U};
  std::uint32_t columns() {
    if (dice_() % 20 == 0) return number(dice_, 5000, 40'000);  // not in UB
    return dice_() % 2 == 0 ? number(dice_, 1, 70) : number(dice_, 71, 1500);
  }

  void layer_norm(const std::string& from, const std::string& to) {
    bench_.forget();
    operators::LayerNormParams params;
    params.columns = columns();
    params.rows = number(dice_, 1, std::max(3U, std::min(200U, 20'000 / params.columns)));
    params.epsilon = 1e-3F;
    const DataType type = type_named(from);
    const std::uint64_t count = std::uint64_t{params.rows} * params.columns;
    const Values x = random_values(dice_, type, params.rows, params.columns);
    Values gamma = random_values(dice_, type, 1, params.columns);
    Values beta = random_values(dice_, type, 1, params.columns);
    const auto table = [&](Values& values, double none) -> std::uint64_t {
      if (dice_() % 3 != 0) return bench_.place(packed(values, "RowMajor", type, values.columns));
      std::fill(values.elements.begin(), values.elements.end(), none);
      return 0;
    };
    params.gamma = table(gamma, 1), params.beta = table(beta, 0);
    params.from = bench_.place(packed(x, "RowMajor", type, params.columns));
    ResultMemory result(bench_, type_named(to), count);
    params.to = result.address;
    ASSERT_TRUE(bench_.run_operator("op_layer_norm_" + from + "_" + to, params))
        << bench_.refusal();
    result.fetch();
    for (std::uint64_t r = 0; r < params.rows; ++r) {
      const double* const row = &x.elements[r * params.columns];
      const double mean = std::accumulate(row, row + params.columns, 0.0) / params.columns;
      double squares = 0;
      for (std::uint64_t c = 0; c < params.columns; ++c) squares += std::pow(row[c] - mean, 2);
      const double root = std::sqrt(squares / params.columns + double{params.epsilon});
      for (std::uint64_t c = 0; c < params.columns; ++c) {
        const double factor = gamma.at(0, c) / root;
        const double exact = (row[c] - mean) * factor + beta.at(0, c);
        const double error =
            (params.columns + 20.0) * 0x1p-24 * (2 * std::fabs(factor) + std::fabs(exact) + 1);
        ASSERT_TRUE(near_enough(result.type(), result.at(r * params.columns + c), exact, error))
            << "row " << r << ", column " << c << " of " << params.columns << " is "
            << result.at(r * params.columns + c) << ", exactly " << exact;
      }
    }
  }

  // Some indices are negative; of those that scatter, no two are one.
  std::vector<std::int32_t> indices(std::uint32_t count, std::uint32_t table, bool once) {
    std::vector<std::int32_t> all(once ? table : count);
    std::iota(all.begin(), all.end(), 0);
    if (!once) {
      for (auto& index : all) index = static_cast<std::int32_t>(dice_() % table);
    }
    std::shuffle(all.begin(), all.end(), dice_);
    all.resize(count, -1);
    for (auto& index : all) index = dice_() % 9 == 0 ? -5 : index;
    return all;
  }

  void indexed(const std::string& name, bool scatters) {
    bench_.forget();
    const DataType type = type_named(name);
    const Bytes size = platform::bytes_of(type);
    operators::IndexedRowsParams params;
    params.columns = columns();
    params.count = number(dice_, 1, params.columns > 5000 ? 3 : 150);
    params.table_rows = number(dice_, 1, params.columns > 5000 ? 3 : 100);
    const auto places = indices(params.count, params.table_rows, scatters);
    std::vector<unsigned char> table(params.table_rows * params.columns * size);
    std::vector<unsigned char> rows(params.count * params.columns * size);
    for (auto* bytes : {&table, &rows}) {
      std::generate(bytes->begin(), bytes->end(),
                    [&] { return static_cast<unsigned char>(dice_()); });
    }
    std::vector<unsigned char> words(places.size() * sizeof places[0]);
    std::memcpy(words.data(), places.data(), words.size());
    params.table = bench_.place(table), params.rows = bench_.place(rows);
    params.indices = bench_.place(words);
    const Bytes row = params.columns * size;
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i] < 0) continue;
      auto* const there = table.data() + static_cast<std::size_t>(places[i]) * row;
      auto* const here = rows.data() + i * row;
      scatters ? std::copy_n(here, row, there) : std::copy_n(there, row, here);
    }
    ASSERT_TRUE(bench_.run_operator("op_indexed_rows_" + name + (scatters ? "_1" : "_0"), params))
        << bench_.refusal();
    ASSERT_TRUE(bench_.fetch(params.table, table.size()) == table) << params.columns << " columns";
    ASSERT_TRUE(bench_.fetch(params.rows, rows.size()) == rows) << params.columns << " columns";
  }
};

TEST_P(TableRows, LayerNormAtRandom) {
  constexpr std::pair<const char*, const char*> kTypes[] = {
      {"half", "half"}, {"bfloat16", "bfloat16"}, {"float", "float"}, {"half", "float"}};
  for (unsigned i = 0; i < shapes_at_random(); ++i) {
    layer_norm(kTypes[i % 4].first, kTypes[i % 4].second);
    if (HasFailure()) FAIL() << "shape " << i;
  }
}

TEST_P(TableRows, IndexedAtRandom) {
  const std::string types[] = {"half", "float", "int8", "int64"};
  for (unsigned i = 0; i < shapes_at_random(); ++i) {
    indexed(types[i / 2 % 4], i % 2 == 1);
    if (HasFailure()) FAIL() << "shape " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Cores, TableRows, every_kind(), kind_name);

TEST(TableRowNumbers, ThatAreNoneStayInTheirRow) {
  OperatorBench bench;
  Values x(3, 4);
  x.elements = {1, std::nan(""), 3, 4, HUGE_VAL, 2, 3, 4, 1, 2, 3, 4};
  operators::LayerNormParams params;
  params.rows = 3, params.columns = 4;
  params.from = bench.place(packed(x, "RowMajor", DataType::kFp32, 4));
  ResultMemory to(bench, DataType::kFp32, 12);
  params.to = to.address;
  ASSERT_TRUE(bench.run_operator("op_layer_norm_float_float", params));
  to.fetch();
  for (unsigned i = 0; i < 8; ++i) EXPECT_TRUE(std::isnan(to.at(i))) << i;
  EXPECT_NEAR(to.at(8), -1.3416354, 1e-5);
}

TEST(TableRowNumbers, AnIndexBeyondTheTableStopsTheKernel) {
  OperatorBench bench;
  const std::vector<unsigned char> memory(64, 1);
  operators::IndexedRowsParams params;
  params.count = 1, params.columns = 4, params.table_rows = 3;
  params.table = bench.place(memory), params.rows = bench.place(memory);
  params.indices = bench.place({3, 0, 0, 0});
  bench.expect_fault(FaultCode::kKernelResult);
  EXPECT_TRUE(bench.run_operator("op_indexed_rows_half_0", params));
  EXPECT_TRUE(bench.fetch(params.rows, 64) == memory);
}

}  // namespace
}  // namespace npu::test
