// SPDX-License-Identifier: Apache-2.0
// Operators of npu/operators/tensor_params.hpp on shapes at random: the workload compares every
// element with plain arithmetic. What they refuse, and what only their time is known of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/system/runtime/runtime_card.hpp"

namespace npu::test {
namespace {

using Parameters = std::vector<std::string>;
using Draw = std::mt19937&;

std::uint32_t number(Draw dice, std::uint32_t least, std::uint32_t most) {
  return least + static_cast<std::uint32_t>(dice() % (most - least + 1));
}

std::string joined(const std::vector<std::uint32_t>& sides) {
  std::string text;
  for (const auto side : sides) text += (text.empty() ? "" : ",") + std::to_string(side);
  return text;
}

struct AtRandom {
  const char* name;
  std::vector<std::uint32_t> (*shape)(Draw);
  std::vector<const char*> types;
};

std::vector<std::uint32_t> chunked(Draw dice, std::uint32_t grains) {
  const std::uint32_t chunk = 64 * number(dice, 1, grains), kv_heads = number(dice, 1, 2);
  return {chunk * number(dice, 1, 2), kv_heads, kv_heads * number(dice, 1, 2),
          16 * number(dice, 1, 6), chunk};
}

const AtRandom kAtRandom[] = {
    {"copy",
     [](Draw d) { return std::vector<std::uint32_t>{number(d, 1, 50'000)}; },
     {"float16", "int64"}},
    {"hadamard",
     [](Draw d) {
       return std::vector<std::uint32_t>{number(d, 1, 90), 32U << number(d, 0, 4)};
     },
     {"float16", "float32"}},
    {"causal_conv1d",
     [](Draw d) {
       return std::vector<std::uint32_t>{number(d, 1, 3), number(d, 1, 60), number(d, 1, 700),
                                         number(d, 1, 8)};
     },
     {"float16", "bfloat16", "float32"}},
    {"rms_norm_cast",
     [](Draw d) {
       return std::vector<std::uint32_t>{number(d, 1, 60), number(d, 1, 3000)};
     },
     {"float16", "bfloat16"}},
    {"chunk_cumsum",
     [](Draw d) {
       return std::vector<std::uint32_t>{number(d, 1, 700), number(d, 1, 70), number(d, 1, 130)};
     },
     {"float32"}},
    {"scaled_dot_kkt", [](Draw d) { return chunked(d, 4); }, {"float16", "bfloat16"}},
    {"wy_fast", [](Draw d) { return chunked(d, 4); }, {"float16", "bfloat16"}},
    {"chunk_o", [](Draw d) { return chunked(d, 3); }, {"float16", "bfloat16"}},
    {"solve_tril",
     [](Draw d) {
       const std::uint32_t chunk = 64 * number(d, 1, 2);
       return std::vector<std::uint32_t>{chunk * number(d, 1, 3), number(d, 1, 5), chunk};
     },
     {"float16", "bfloat16"}},
    {"mhc_post",
     [](Draw d) {
       return std::vector<std::uint32_t>{number(d, 1, 40), number(d, 1, 9), number(d, 1, 900)};
     },
     {"float32"}}};

class TensorsAtRandomWorkload : public testing::TestWithParam<AtRandom> {};

TEST_P(TensorsAtRandomWorkload, AreRight) {
  const auto& [name, shape, types] = GetParam();
  Machine machine({}, "910b2.yaml");
  machine.tells_configuration = true;
  std::mt19937 dice(7);
  for (unsigned i = 0; i < 6; ++i) {
    const auto report =
        machine.workload("operator", {std::string("name=") + name, "shape=" + joined(shape(dice)),
                                      std::string("dtype=") + types[i % types.size()], "calls=1"});
    EXPECT_GT(metric(report, "operator.device_us"), 0) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, TensorsAtRandomWorkload, testing::ValuesIn(kAtRandom),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace npu::test
