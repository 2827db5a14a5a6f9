// SPDX-License-Identifier: Apache-2.0
// The tables of docs/accuracy.md with their large runs.
#include "tests/system/accuracy/comparison.hpp"

namespace npu::accuracy {
namespace {

using AllRows = Comparison;

TEST_F(AllRows, of_every_table_say_what_the_program_does) {
  for (const auto& name : table_names()) expect_table(name, true);
}

}  // namespace
}  // namespace npu::accuracy
