// SPDX-License-Identifier: Apache-2.0
// Operators of npu/operators/tensor_params.hpp on shapes at random: the workload compares every
// element with plain arithmetic. What they refuse, and what only their time is known of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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

std::vector<std::uint32_t> rows_and_k(Draw d) {
  const std::uint32_t columns = number(d, 1, 4000);
  return {number(d, 1, 90), columns, number(d, 1, std::min(columns, 20U))};
}
std::vector<std::uint32_t> three(Draw d) {
  return {number(d, 1, 40), number(d, 1, 700), number(d, 0, 1) == 0 ? 1 : number(d, 1, 200)};
}

const AtRandom kOfEveryCard[] = {
    {"argmax",
     [](Draw d) {
       return std::vector<std::uint32_t>{number(d, 1, 90), number(d, 1, 30'000)};
     },
     {"float16", "bfloat16", "float32", "int8", "int32"}},
    {"argmin",
     [](Draw d) {
       return std::vector<std::uint32_t>{number(d, 1, 900), number(d, 1, 300)};
     },
     {"int32", "float32", "float16"}},
    {"top_k", rows_and_k, {"float16", "bfloat16", "float32", "int8", "int32"}},
    {"bottom_k", rows_and_k, {"int8", "float32", "float16"}},
    {"reduce_sum", three, {"float16", "bfloat16", "float32", "int32"}},
    {"reduce_mean", three, {"float16", "bfloat16", "float32"}},
    {"reduce_max", three, {"float16", "bfloat16", "float32", "int8", "int32"}},
    {"reduce_min", three, {"float16", "bfloat16", "float32", "int8", "int32"}},
    {"reduce_prod",
     [](Draw d) {
       return std::vector<std::uint32_t>{number(d, 1, 40), number(d, 1, 7), number(d, 1, 9)};
     },
     {"float32", "float16", "int32"}},
    {"rope_half",
     [](Draw d) {
       return std::vector<std::uint32_t>{number(d, 1, 40), number(d, 1, 40), 2 * number(d, 1, 99)};
     },
     {"float16", "bfloat16", "float32"}},
    {"rope_interleaved",
     [](Draw d) {
       return std::vector<std::uint32_t>{number(d, 1, 40), number(d, 1, 40), 2 * number(d, 1, 99)};
     },
     {"float16", "bfloat16", "float32"}},
    {"concat",
     [](Draw d) {
       return std::vector<std::uint32_t>{number(d, 1, 90), number(d, 1, 90), number(d, 0, 40),
                                         number(d, 1, 40), number(d, 1, 40)};
     },
     {"float16", "float32", "int8", "int64"}},
    {"slice",
     [](Draw d) {
       const std::uint32_t count = number(d, 1, 20), step = number(d, 1, 3);
       const std::uint32_t begin = number(d, 0, 9), axis = begin + (count - 1) * step + 1;
       return std::vector<std::uint32_t>{
           number(d, 1, 90), axis + number(d, 0, 5), number(d, 1, 90), begin, count, step};
     },
     {"float16", "float32", "int8", "int64"}},
    {"moe_gating_top_k_softmax",
     [](Draw d) {
       const std::uint32_t experts = number(d, 1, 300);
       return std::vector<std::uint32_t>{
           number(d, 1, 90), experts, number(d, 1, std::min(experts, 9U)), 1, 1, number(d, 0, 1)};
     },
     {"float16", "bfloat16", "float32"}},
    {"moe_gating_top_k",
     [](Draw d) {
       const std::uint32_t groups = 8 * number(d, 1, 2), size = 8 * number(d, 1, 4);
       return std::vector<std::uint32_t>{number(d, 1, 90), groups * size,   number(d, 1, 8),
                                         groups,           number(d, 1, 5), number(d, 0, 1)};
     },
     {"float16", "bfloat16", "float32"}},
    {"moe_init_routing",
     [](Draw d) {
       const std::uint32_t experts = number(d, 1, 300), first = number(d, 0, experts);
       return std::vector<std::uint32_t>{number(d, 1, 700),
                                         number(d, 1, 90),
                                         number(d, 1, 8),
                                         experts,
                                         first,
                                         number(d, 0, experts - first)};
     },
     {"float16", "float32", "int8", "int64"}},
    {"moe_finalize_routing",
     [](Draw d) {
       return std::vector<std::uint32_t>{number(d, 1, 90), number(d, 1, 3000), number(d, 1, 8)};
     },
     {"float16", "bfloat16", "float32"}},
    {"pad",
     [](Draw d) {
       return std::vector<std::uint32_t>{number(d, 1, 90), number(d, 0, 30), number(d, 1, 90),
                                         number(d, 0, 30), number(d, 0, 30)};
     },
     {"float16", "float32", "int8", "int64"}}};

class TensorsAtRandomWorkload : public testing::TestWithParam<AtRandom> {};

void are_right(const AtRandom& at_random, const char* card) {
  const auto& [name, shape, types] = at_random;
  Machine machine({}, card);
  machine.tells_configuration = true;
  std::mt19937 dice(7);
  for (unsigned i = 0; i < 6; ++i) {
    const auto report = machine.workload(
        "operator", {std::string("name=") + name, "shape=" + joined(shape(dice)),
                     std::string("dtype=") + types[i % types.size()], "calls=1", "cache=folder"});
    EXPECT_GT(metric(report, "operator.device_us"), 0) << name;
  }
}

TEST_P(TensorsAtRandomWorkload, AreRight) {
  are_right(GetParam(), "910b2.yaml");
}

class TensorsOfRegistersWorkload : public testing::TestWithParam<AtRandom> {};

TEST_P(TensorsOfRegistersWorkload, AreRight) {
  are_right(GetParam(), "950pr.yaml");
}

INSTANTIATE_TEST_SUITE_P(Operators, TensorsAtRandomWorkload, testing::ValuesIn(kAtRandom),
                         [](const auto& instance) { return std::string(instance.param.name); });

INSTANTIATE_TEST_SUITE_P(EveryCard, TensorsAtRandomWorkload, testing::ValuesIn(kOfEveryCard),
                         [](const auto& instance) { return std::string(instance.param.name); });
INSTANTIATE_TEST_SUITE_P(EveryCard, TensorsOfRegistersWorkload, testing::ValuesIn(kOfEveryCard),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace npu::test
