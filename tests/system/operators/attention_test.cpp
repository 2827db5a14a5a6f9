// SPDX-License-Identifier: Apache-2.0
// flash_attention: every type, causal or not, one chunk of keys and many, heads that share keys,
// fewer queries than keys and more.
#include <gmock/gmock.h>

#include "tests/system/operators/matrices.hpp"

namespace npu::test {
namespace {

using operators::AttentionParams;

struct AttentionInstance {
  const char *from, *to;
  bool causal;
  std::string object() const {
    return std::string("op_flash_attention_") + from + "_" + to + (causal ? "_1" : "_0");
  }
};
const AttentionInstance kInstances[] = {
    {"half", "half", false},        {"half", "half", true},    {"bfloat16", "bfloat16", false},
    {"bfloat16", "bfloat16", true}, {"float", "float", false}, {"float", "float", true},
    {"half", "float", false}};

// Rows of heads, of which memory has the heads inside: rows of the first head's place come first.
std::uint64_t placed(std::uint64_t row, std::uint64_t heads, std::uint64_t rows, bool inside) {
  const std::uint64_t batch = row / (heads * rows), head = row / rows % heads;
  return inside ? (batch * rows + row % rows) * heads + head : row;
}

class AttentionCase {
 public:
  AttentionCase(OperatorBench& bench, const AttentionInstance& instance,
                const AttentionParams& shape, Dice& dice)
      : params(shape),
        q(random_values(dice, type_named(instance.from), rows(), shape.head)),
        k(random_values(dice, type_named(instance.from), key_rows(), shape.head)),
        v(random_values(dice, type_named(instance.from), key_rows(), shape.head)),
        bench_(bench),
        instance_(instance) {}

  void run() {
    bench_.forget();
    Values placed_q(q.rows, q.columns);
    for (std::uint64_t row = 0; row < q.rows; ++row) {
      copy_row(q, row, placed_q, place_of_query(row));
    }
    params.q = bench_.place(packed(placed_q, "RowMajor", from(), params.head));
    place_keys();
    const std::uint64_t bytes = rows() * params.head * platform::bytes_of(to());
    const std::vector<unsigned char> before(bytes + 64, 0xA5);
    params.to = bench_.place(before);
    ASSERT_TRUE(bench_.run_operator(instance_.object(), params)) << bench_.refusal();
    after_ = bench_.fetch(params.to, before.size());
    EXPECT_TRUE(std::equal(after_.begin() + static_cast<std::ptrdiff_t>(bytes), after_.end(),
                           before.begin()));
  }
  double result(std::uint64_t row, std::uint64_t column) const {
    return get_element(after_, place_of_query(row) * params.head + column, to());
  }
  void expect_attention() const {
    for (std::uint64_t row = 0; row < rows(); ++row) expect_row(row);
  }

  AttentionParams params;
  Values q, k, v;

 private:
  static constexpr double kUnit = 0x1p-24;
  static void copy_row(const Values& from, std::uint64_t row, Values& to, std::uint64_t place) {
    for (std::uint64_t e = 0; e < from.columns; ++e) to.at(place, e) = from.at(row, e);
  }
  std::uint64_t place_of_query(std::uint64_t row) const {
    return placed(row, params.heads, params.queries, params.heads_inside != 0);
  }
  // Pages go backwards, and one that no batch has lies between any two.
  void place_keys() {
    const bool paged = params.page != 0, inside = params.heads_inside != 0;
    const std::uint64_t in_page = paged ? params.page : std::max(params.keys, 1U);
    params.pages = static_cast<std::uint32_t>((params.keys + in_page - 1) / in_page);
    const std::uint64_t all = paged ? 2 * params.batch * params.pages + 1 : params.batch;
    std::vector<unsigned char> table;
    for (std::uint64_t page = 0; page < params.batch * params.pages; ++page) {
      const auto number = static_cast<std::uint32_t>(all - 2 - 2 * page);
      const auto* const bytes = reinterpret_cast<const unsigned char*>(&number);
      table.insert(table.end(), bytes, bytes + sizeof number);
    }
    params.table = paged ? bench_.place(table) : 0;
    for (auto* const side : {&params.k, &params.v}) {
      const Values& values = side == &params.k ? k : v;
      Values there(all * in_page * params.kv_heads, values.columns);
      for (std::uint64_t row = 0; row < values.rows; ++row) {
        const std::uint64_t key = row % params.keys, head = row / params.keys % params.kv_heads;
        const std::uint64_t batch = row / params.keys / params.kv_heads;
        const std::uint64_t page =
            paged ? all - 2 - 2 * (batch * params.pages + key / in_page) : batch;
        const std::uint64_t at = (page * params.kv_heads + head) * in_page + key % in_page;
        copy_row(values, row, there, placed(at, params.kv_heads, in_page, inside));
      }
      *side = bench_.place(packed(there, "RowMajor", from(), params.head));
    }
  }

  DataType from() const { return type_named(instance_.from); }
  DataType to() const { return type_named(instance_.to); }
  std::uint64_t rows() const { return std::uint64_t{params.batch} * params.heads * params.queries; }
  std::uint64_t key_rows() const {
    return std::uint64_t{params.batch} * params.kv_heads * params.keys;
  }

  std::uint64_t seen_by(std::uint64_t query) const {
    if (!instance_.causal) return params.keys;
    const std::uint64_t hidden = params.queries - 1 - query;  // keys behind the query's own
    return params.keys > hidden ? params.keys - hidden : 0;
  }
  void expect_row(std::uint64_t row) const {
    const std::uint64_t head = row / params.queries, query = row % params.queries;
    const std::uint64_t batch = head / params.heads;
    const std::uint64_t shared = head % params.heads / (params.heads / params.kv_heads);
    const std::uint64_t first = (batch * params.kv_heads + shared) * params.keys;
    const std::uint64_t seen = seen_by(query);
    for (std::uint64_t e = 0; seen == 0 && e < params.head; ++e) ASSERT_EQ(result(row, e), 0);
    if (seen == 0) return;
    std::vector<double> scores(seen);
    double most = -HUGE_VAL, least = HUGE_VAL, score_error = 0;
    for (std::uint64_t j = 0; j < seen; ++j) {
      Exact exact;
      for (std::uint64_t e = 0; e < params.head; ++e) {
        const double product = q.at(row, e) * k.at(first + j, e);
        exact.sum += product;
        exact.size += std::fabs(product);
      }
      scores[j] = exact.sum * params.scale;
      most = std::fmax(most, scores[j]);
      least = std::fmin(least, scores[j]);
      score_error = std::fmax(score_error,
                              std::fabs(params.scale) * error_of_sums(exact.size, params.head + 4));
    }
    // Half is computed in half: scores as they are stored, scaled and less the largest.
    const double rounding = from() == DataType::kFp16 ? unit(DataType::kFp16) : 0;
    score_error += rounding * (2 * std::fmax(std::fabs(most), std::fabs(least)) + (most - least));
    double sum = 0;
    for (const double score : scores) sum += std::exp(score - most);
    // Of weights and their sum: scores, differences, exponentials, corrections with each chunk. The
    // weights themselves are rounded to their type, small ones to a multiple of its smallest
    // number.
    const double relative = std::expm1(2 * score_error) +
                            (8 * (most - least) + 4 * static_cast<double>(seen) + 200) * kUnit +
                            3 * rounding;  // exponentials, sums
    for (std::uint64_t e = 0; e < params.head; ++e) {
      double exact = 0, size = 0, plain = 0;
      for (std::uint64_t j = 0; j < seen; ++j) {
        const double weight = std::exp(scores[j] - most) / sum;
        exact += weight * v.at(first + j, e);
        size += weight * std::fabs(v.at(first + j, e));
        plain += std::fabs(v.at(first + j, e));
      }
      const double error = size * (relative + unit(from())) + smallest(from()) * plain / sum;
      ASSERT_TRUE(near_enough(to(), result(row, e), exact, error))
          << instance_.object() << ", " << params.queries << " queries, " << params.keys
          << " keys, head " << params.head << ": row " << row << ", " << e << " is "
          << result(row, e) << ", exactly " << exact;
    }
  }

  OperatorBench& bench_;
  const AttentionInstance instance_;
  std::vector<unsigned char> after_;
};

AttentionParams shape(std::uint32_t queries, std::uint32_t keys, std::uint32_t head) {
  AttentionParams params;
  params.queries = queries, params.keys = keys, params.head = head;
  params.scale = 1 / std::sqrt(static_cast<float>(std::max(head, 1U)));
  return params;
}

// Cores, and whether those of a cluster reach each other's buffers.
struct Ways {
  const char* name;
  BenchCores cores;
  bool local;
};
std::ostream& operator<<(std::ostream& out, const Ways& ways) {
  return out << ways.name;
}
constexpr Ways kWays[] = {{"Coupled", BenchCores::kCoupled, false},
                          {"Split", BenchCores::kSplit, false},
                          {"Local", BenchCores::kSplit, true},
                          {"LocalInRegisters", BenchCores::kInRegisters, true}};

class Attention : public testing::TestWithParam<Ways> {
 protected:
  Attention() {
    const auto& core = bench_.config.core;
    bench_.limits(
        {core.l1, core.l0a, core.l0b, core.l0c, core.ub, 192_MiB, false, false, GetParam().local});
  }
  OperatorBench bench_{GetParam().cores};
};

TEST_P(Attention, AtRandom) {
  Dice dice(41 + static_cast<unsigned>(GetParam().name[0]));
  for (unsigned i = 0; i < shapes_at_random(); ++i) {
    const auto& instance = kInstances[i % std::size(kInstances)];
    const auto side = [&dice](std::uint32_t most) {
      return dice() % 3 == 0 ? number(dice, 1, 20) : number(dice, 1, most);
    };
    AttentionParams params = shape(side(200), side(300), side(100));
    params.batch = number(dice, 1, 2);
    params.kv_heads = number(dice, 1, 2);
    params.heads = params.kv_heads * number(dice, 1, 2);
    params.heads_inside = number(dice, 0, 1);
    params.page = dice() % 4 == 0 ? number(dice, 1, 70) : 0;
    params.whole_mask = number(dice, 0, 1);
    AttentionCase one(bench_, instance, params, dice);
    one.run();
    one.expect_attention();
    if (HasFailure()) FAIL() << "shape " << i;
  }
}

TEST_P(Attention, OfManyChunksAndScoresThatGrow) {
  Dice dice(43);
  for (const auto& instance : kInstances) {
    AttentionCase one(bench_, instance, shape(130, 1333, 32), dice);
    one.params.scale = 3;
    // The largest scores come last: everything before is corrected.
    for (std::uint64_t j = 0; j < one.k.rows; ++j) {
      for (std::uint64_t e = 0; e < 32; ++e) {
        double& key = one.k.at(j, e);
        key = rounded(type_named(instance.from), key * static_cast<double>(j) / 400);
      }
    }
    one.run();
    one.expect_attention();
    EXPECT_EQ(bench_.launches(), 1U);
  }
}

TEST_P(Attention, LetsTheLastOfFewerQueriesSeeAllKeys) {
  Dice dice(46);
  constexpr std::pair<std::uint32_t, std::uint32_t> kSides[] = {
      {1, 97}, {2, 200}, {31, 67}, {130, 131}};
  for (const auto& [queries, keys] : kSides) {
    AttentionCase one(bench_, {"half", "half", true}, shape(queries, keys, 16), dice);
    one.params.scale = 0;  // all weights of what is seen are one
    one.run();
    double sum = 0;
    for (std::uint64_t j = 0; j < keys; ++j) sum += one.v.at(j, 5);
    EXPECT_NEAR(one.result(queries - 1, 5), sum / keys, 0.01) << queries << ", " << keys;
    one.expect_attention();
  }
}

TEST_P(Attention, OfQueriesThatSeeNoKeyIsZero) {
  Dice dice(47);
  AttentionCase one(bench_, {"float", "float", true}, shape(300, 139, 24), dice);
  one.run();
  for (std::uint64_t row = 0; row < 161; ++row) ASSERT_EQ(one.result(row, 0), 0) << row;
  one.expect_attention();
}

TEST_P(Attention, OfHeadsThatShareKeysIsOneLaunch) {
  Dice dice(48);
  for (const bool causal : {false, true}) {
    AttentionParams params = shape(15, 90, 32);
    params.kv_heads = 5, params.heads = 20;
    AttentionCase one(bench_, {"half", "half", causal}, params, dice);
    one.run();
    one.expect_attention();
    EXPECT_EQ(bench_.launches(), 1U);
  }
}

// Of one query, of some, and of more than are brought together.
TEST_P(Attention, OfManyHeadsThatShareKeysHasThemInAnyLayout) {
  Dice dice(51);
  for (const std::uint32_t queries : {1U, 3U, 16U, 17U}) {
    for (const std::uint32_t inside : {0U, 1U}) {
      for (const std::uint32_t page : {0U, 48U}) {
        AttentionParams params = shape(queries, 200, 64);
        params.batch = 2, params.kv_heads = 2, params.heads = 14;
        params.heads_inside = inside, params.page = page;
        AttentionCase one(bench_, {"half", "half", queries != 3}, params, dice);
        one.run();
        one.expect_attention();
        if (HasFailure()) FAIL() << queries << " queries, " << inside << ", pages of " << page;
      }
    }
  }
}

// Heads of one place for products in UB, of products as large as L0C, of fewer rows.
TEST_P(Attention, OfLongHeads) {
  Dice dice(52);
  for (const std::uint32_t head : {256U, 320U, 513U}) {
    for (const char* type : {"half", "bfloat16"}) {
      AttentionCase one(bench_, {type, type, true}, shape(140, 280, head), dice);
      one.run();
      one.expect_attention();
    }
  }
}

TEST_P(Attention, OfFewQueriesAndManyKeys) {
  Dice dice(49);
  for (const auto& instance : kInstances) {
    for (const std::uint32_t queries : {1U, 2U}) {
      AttentionParams params = shape(queries, 1111, 64);
      params.heads = 7;
      params.batch = queries == 1 ? 7 : 1;  // tasks, one after another on a core
      AttentionCase one(bench_, instance, params, dice);
      one.run();
      one.expect_attention();
      if (HasFailure()) FAIL() << instance.object() << ", " << queries;
    }
  }
}

TEST_P(Attention, OfFewTasksDividesTheirKeys) {
  Dice dice(53);
  for (const auto& instance : kInstances) {
    for (const std::uint32_t queries : {1U, 5U}) {
      AttentionParams params = shape(queries, 901, 48);
      params.heads = 3;
      AttentionCase one(bench_, instance, params, dice);
      one.run();
      one.expect_attention();
      // Heads of several queries are not brought together between buffers.
      EXPECT_EQ(bench_.launches(), queries == 1 || !GetParam().local ? 2U : 1U);
      if (HasFailure()) FAIL() << instance.object();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cores, Attention, testing::ValuesIn(kWays),
                         [](const auto& each) { return each.param.name; });

TEST(AttentionNumbers, ThatAreNoneStayInTheirRows) {
  OperatorBench bench;
  Dice dice(44);
  AttentionCase one(bench, {"float", "float", true}, shape(40, 40, 8), dice);
  one.q.at(3, 2) = std::nan("");
  one.k.at(30, 1) = HUGE_VAL;  // seen from row 30 on
  one.run();
  for (std::uint64_t row = 0; row < 40; ++row) {
    // A positive query makes the score infinite, a negative one the weight 0.
    const bool none = row == 3 || (row >= 30 && one.q.at(row, 1) > 0);
    EXPECT_EQ(std::isnan(one.result(row, 0)), none) << row;
  }
}

TEST(AttentionNumbers, ThatAreNoneStayInTheirHeads) {
  OperatorBench bench;
  Dice dice(50);
  AttentionParams params = shape(5, 20, 8);
  params.heads = 4;
  AttentionCase one(bench, {"float", "float", true}, params, dice);
  one.q.at(7, 2) = std::nan("");
  one.run();
  for (std::uint64_t row = 0; row < 20; ++row) {
    EXPECT_EQ(std::isnan(one.result(row, 0)), row == 7) << row;
  }
}

TEST(AttentionOfNothing, IsNothingOrZero) {
  OperatorBench bench;
  Dice dice(45);
  for (const auto& params : {shape(0, 5, 5), shape(5, 5, 0)}) {
    ASSERT_TRUE(bench.run_operator("op_flash_attention_half_half_0", params));
    EXPECT_EQ(bench.launches(), 0U);
  }
  AttentionCase one(bench, {"half", "half", true}, shape(7, 0, 5), dice);
  one.run();
  one.expect_attention();
}

TEST(AttentionRefusals, SayWhatCannotBe) {
  OperatorBench bench;
  using testing::HasSubstr;
  AttentionParams params = shape(8, 8, 8);
  params.heads = 3, params.kv_heads = 2;
  EXPECT_FALSE(bench.run_operator("op_flash_attention_half_half_0", params));
  EXPECT_THAT(bench.refusal(), HasSubstr("kv_heads"));
  params = shape(8, 8, 10'000);
  EXPECT_FALSE(bench.run_operator("op_flash_attention_half_half_0", params));
  EXPECT_THAT(bench.refusal(), HasSubstr("UB"));
  params = shape(0x7FFF'FFFF, 0x7FFF'FFFF, 8);
  params.batch = 0x7FFF'FFFF;
  EXPECT_FALSE(bench.run_operator("op_flash_attention_half_half_0", params));
  EXPECT_THAT(bench.refusal(), HasSubstr("address space"));
}

}  // namespace
}  // namespace npu::test
