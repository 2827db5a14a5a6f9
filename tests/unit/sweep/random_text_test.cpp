// SPDX-License-Identifier: Apache-2.0
// A sweep's file with anything in it is read or refused with one line.
#include <gtest/gtest.h>

#include <random>

#include "tools/cli/sweep/grid.hpp"
#include "tools/cli/sweep/sweep_reader.hpp"
#include "tools/cli/sweep/value_range.hpp"

namespace npu::sweep {
namespace {

const std::string kWhole =
    "schema: npusim.sweep/1\nname: n\nworkload: w\nconfiguration: [a, b]\n"
    "grid:\n  x: [1, 2]\n  y: {from: 1, to: 4, factor: 2}\n  z: only\n"
    "list:\n  - {p: 1, q: 2}\n  - {q: 4, p: 3}\n"
    "seeds: {from: 1, to: 3, step: 1}\nmetrics: [\"a.*\"]\nobjectives: {t: min, u: max}\n";

const char* const kPieces[] = {"{",
                               "}",
                               "[",
                               "]",
                               ":",
                               ": ",
                               ",",
                               "\n",
                               "- ",
                               "\n  ",
                               "\"",
                               "'",
                               "#",
                               "&a",
                               "*a",
                               "!t",
                               "~",
                               "from",
                               "step",
                               "0",
                               "-1",
                               "1e9",
                               "4KiB",
                               "x",
                               "|",
                               "? ",
                               "\t",
                               "\xff",
                               "18446744073709551615",
                               "0.000000001",
                               "grid:",
                               "list: ",
                               "seeds:"};

std::string mutated(std::mt19937& random) {
  std::string text = kWhole;
  for (unsigned i = 1 + random() % 4; i > 0; --i) {
    const std::size_t at = random() % text.size();
    if (random() % 50 == 0) {
      text.insert(at, 1, '\0');
    } else if (random() % 3 == 0) {
      text.erase(at, random() % 12);
    } else {
      text.insert(at, kPieces[random() % std::size(kPieces)]);
    }
    if (text.empty()) text = " ";
  }
  return text;
}

TEST(SweepReader, AnythingIsReadOrRefusedWithOneLine) {
  std::mt19937 random(3);
  int read = 0;
  for (int i = 0; i < 8000; ++i) {
    const std::string text = mutated(random);
    const auto spec = parse_sweep(text, "s");
    if (!spec) {
      const std::string line = spec.error().message();
      EXPECT_EQ(line.rfind("s:", 0), 0U) << line;
      EXPECT_EQ(line.find('\n'), std::string::npos) << line;
      continue;
    }
    ++read;
    const Grid grid(*spec);
    ASSERT_GE(grid.size(), 1U) << text;
    ASSERT_LE(grid.size(), kMostPoints) << text;
    EXPECT_EQ(grid.point(grid.size() - 1).configuration.text, spec->configurations.back().text);
  }
  EXPECT_GT(read, 250);  // not everything is broken, or nothing was tried
}

}  // namespace
}  // namespace npu::sweep
