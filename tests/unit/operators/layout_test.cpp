// SPDX-License-Identifier: Apache-2.0
// Places counted by hand: fractals are 16 rows of 32 B, columns of fractals one after the other.
#include <gtest/gtest.h>

#include <set>

#include "kernels/operators/matrix_layout.hpp"

namespace npu::operators {
namespace {

constexpr auto kHalf = platform::DataType::kFp16;
constexpr auto kByte = platform::DataType::kInt8;

TEST(MatrixLayout, RowsAndColumns) {
  EXPECT_EQ(stored_index("RowMajor", kHalf, 3, 5, 1, 2), 7U);
  EXPECT_EQ(stored_index("ColumnMajor", kHalf, 3, 5, 1, 2), 7U);
  EXPECT_EQ(stored_index("ColumnMajor", kHalf, 3, 5, 2, 4), 14U);
  EXPECT_EQ(stored_elements("ColumnMajor", kHalf, 3, 5), 15U);
}

TEST(MatrixLayout, FractalsOfHalves) {
  // 20 x 20: 2 x 2 fractals of 16 x 16.
  EXPECT_EQ(stored_elements("zN", kHalf, 20, 20), 1024U);
  EXPECT_EQ(stored_index("zN", kHalf, 20, 20, 0, 15), 15U);
  EXPECT_EQ(stored_index("zN", kHalf, 20, 20, 17, 3), 275U);
  EXPECT_EQ(stored_index("zN", kHalf, 20, 20, 0, 16), 512U);
  EXPECT_EQ(stored_index("zN", kHalf, 20, 20, 19, 19), 512U + 19 * 16 + 3);
  EXPECT_EQ(stored_index("nZ", kHalf, 20, 20, 3, 17), 275U);
}

TEST(MatrixLayout, FractalsOfBytes) {
  // 17 x 33: 2 x 2 fractals of 16 x 32.
  EXPECT_EQ(stored_elements("zN", kByte, 17, 33), 2048U);
  EXPECT_EQ(stored_elements("nZ", kByte, 33, 17), 2048U);
  EXPECT_EQ(stored_index("zN", kByte, 17, 33, 16, 32), 1024U + 16 * 32);
}

TEST(MatrixLayout, GivesEveryElementAPlaceOfItsOwn) {
  for (const char* layout : {"RowMajor", "ColumnMajor", "zN", "nZ"}) {
    std::set<std::uint64_t> seen;
    for (std::uint64_t row = 0; row < 37; ++row) {
      for (std::uint64_t column = 0; column < 19; ++column) {
        const auto at = stored_index(layout, kHalf, 37, 19, row, column);
        EXPECT_LT(at, stored_elements(layout, kHalf, 37, 19));
        EXPECT_TRUE(seen.insert(at).second) << layout << " " << row << " " << column;
      }
    }
  }
}

}  // namespace
}  // namespace npu::operators
