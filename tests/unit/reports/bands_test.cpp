// SPDX-License-Identifier: Apache-2.0
// Bands of 90 %, and how many rows they hold that they were made without.
#include "tools/reports/trust/bands.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <random>

namespace npu::reports {
namespace {

// Operators with an error of their own, rows about it.
std::vector<KnownError> drawn(unsigned operators, unsigned rows, double own, double about) {
  std::mt19937 bits(7);
  const auto noise = [&] {  // of deviation 1, nearly normal
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(bits()) / 4294967296.0;
    return sum - 6;
  };
  std::vector<KnownError> errors;
  for (unsigned op = 0; op < operators; ++op) {
    const double centre = own * noise();
    for (unsigned row = 0; row < rows; ++row) {
      const std::string bound = row % 3 == 0 ? "memory" : "vector";
      errors.push_back({"910b2", "op" + std::to_string(op), bound, "",
                        row % 2 == 0 ? "fit" : "check", centre + about * noise()});
    }
  }
  return errors;
}

TEST(Bands, OfAnOperatorAreAboutItsOwnError) {
  auto errors = drawn(10, 8, 0, 0.05);
  for (unsigned i = 0; i < 8; ++i) {
    errors.push_back({"910b2", "slow", "vector", "", "fit", std::log(2.0)});
  }
  const auto band = Bands(errors).of("910b2", "slow", "vector");
  ASSERT_TRUE(band);
  EXPECT_LT(band->low, 0.55) << "silicon takes half";
  EXPECT_LT(band->high, 0.75);
  EXPECT_EQ(band->alike, 8U);
  EXPECT_EQ(band->fits, 8U);
}

TEST(Bands, OfAnOperatorThatWasNeverComparedAreWider) {
  const Bands bands(drawn(12, 8, 0.3, 0.05));
  const auto known = bands.of("910b2", "op3", "vector"),
             unknown = bands.of("910b2", "new", "vector");
  ASSERT_TRUE(known && unknown);
  EXPECT_EQ(unknown->of_operator, 0U);
  EXPECT_EQ(unknown->of_bound, 60U);
  EXPECT_GT(unknown->high / unknown->low, 1.5 * known->high / known->low);
}

TEST(Bands, AreNotMadeOfAFewRows) {
  const Bands bands(drawn(1, Bands::kFewest - 1, 0.1, 0.1));
  EXPECT_FALSE(bands.of("910b2", "op0", "vector"));
  EXPECT_FALSE(bands.of("910c", "op0", "vector"));
  EXPECT_EQ(bands.rows("910b2"), Bands::kFewest - 1);
  EXPECT_TRUE(bands.coverage(Bands::LeftOut::kRow).empty());
}

TEST(Bands, HoldNineTenthsOfRowsThatTheyWereMadeWithout) {
  for (const auto what : {Bands::LeftOut::kRow, Bands::LeftOut::kOperator}) {
    const auto held = Bands(drawn(16, 9, 0.2, 0.1)).coverage(what).at("910b2");
    EXPECT_EQ(held.rows, 144U);
    EXPECT_GE(100 * held.held, 85 * held.rows);
    EXPECT_LE(100 * held.held, 95 * held.rows);
  }
}

// Of the errors that npusim was built with: a row left out, and an operator.
TEST(Bands, OfTheKnownErrorsHold85To95Percent) {
  const Bands bands(known_errors());
  std::size_t skus = 0;
  for (const auto what : {Bands::LeftOut::kRow, Bands::LeftOut::kOperator}) {
    for (const auto& [sku, held] : bands.coverage(what)) {
      const double percent =
          100.0 * static_cast<double>(held.held) / static_cast<double>(held.rows);
      std::printf("%s: %s left out: %.1f %% of %zu rows held\n", sku.c_str(),
                  what == Bands::LeftOut::kRow ? "a row" : "an operator", percent, held.rows);
      EXPECT_GE(percent, 85) << sku;
      EXPECT_LE(percent, 95) << sku;
      ++skus;
    }
  }
  EXPECT_EQ(skus, 4U) << "910b2 and 950pr, twice";
}

}  // namespace
}  // namespace npu::reports
