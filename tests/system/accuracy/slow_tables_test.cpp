// SPDX-License-Identifier: Apache-2.0
// The tables of docs/accuracy.md with their large runs.
#include "tests/system/accuracy/comparison.hpp"

namespace npu::accuracy {
namespace {

using AllRows = Comparison;

TEST_F(AllRows, OfEveryTableSayWhatTheProgramDoes) {
  for (const auto& name : table_names()) expect_table(name, true);
}

}  // namespace
}  // namespace npu::accuracy
