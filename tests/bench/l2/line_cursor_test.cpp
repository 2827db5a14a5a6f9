// SPDX-License-Identifier: Apache-2.0
#include "model/l2/line_cursor.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace npu::test {
namespace {

constexpr unsigned kShift = 9;  // lines of 512 bytes

using Pieces = std::vector<std::pair<model::Line, Bytes>>;

Pieces pieces_of(model::LineCursor cursor) {
  Pieces pieces;
  while (!cursor.at_end()) {
    pieces.emplace_back(cursor.line(), cursor.bytes());
    cursor.advance(cursor.bytes());
  }
  return pieces;
}

TEST(LineCursor, CutsAtTheBordersOfLines) {
  EXPECT_EQ(pieces_of({512, 1024, 1, 0, kShift}), (Pieces{{1, 512}, {2, 512}}));
  EXPECT_EQ(pieces_of({512 - 3, 4, 1, 0, kShift}), (Pieces{{0, 3}, {1, 1}}));
  EXPECT_EQ(pieces_of({1000, 600, 1, 0, kShift}), (Pieces{{1, 24}, {2, 512}, {3, 64}}));
  EXPECT_EQ(pieces_of({5, 1, 1, 0, kShift}), (Pieces{{0, 1}}));
}

TEST(LineCursor, GoesFromRowToRow) {
  // Rows of 100 bytes at 450, 1450 and 2450: the first crosses into line 1.
  EXPECT_EQ(pieces_of({450, 100, 3, 1000, kShift}),
            (Pieces{{0, 62}, {1, 38}, {2, 86}, {3, 14}, {4, 100}}));
}

TEST(LineCursor, RowsInOneLineTouchItOnceEach) {
  EXPECT_EQ(pieces_of({0, 16, 3, 32, kShift}), (Pieces{{0, 16}, {0, 16}, {0, 16}}));
}

// A request that had to wait at a line goes on there.
TEST(LineCursor, StaysWhereItIsUntilItIsAdvanced) {
  model::LineCursor cursor(450, 100, 2, 1000, kShift);
  cursor.advance(62);
  EXPECT_EQ(pieces_of(cursor), (Pieces{{1, 38}, {2, 86}, {3, 14}}));
  EXPECT_EQ(cursor.line(), 1u);
  EXPECT_FALSE(cursor.at_end());
}

}  // namespace
}  // namespace npu::test
