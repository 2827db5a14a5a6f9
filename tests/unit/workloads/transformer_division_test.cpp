// SPDX-License-Identifier: Apache-2.0
// What a card has of a transformer that is divided over several, and where the time of a step goes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workloads/transformer/division.hpp"
#include "workloads/transformer/step_times.hpp"

namespace npu::workloads::transformer {
namespace {

// 8 heads of queries, 2 of keys and values; odd sides, so that rows and columns cannot be mixed up.
Model whole_model() {
  Model model = read_model("tiny").value();
  model.hidden = 12, model.layers = 1, model.heads = 8, model.kv_heads = 2, model.head = 2;
  model.inner = 24, model.vocabulary = 16;
  return model;
}

// Each number is its place.
HostModel numbered(const Model& model) {
  const auto count = [](std::uint64_t size) {
    Numbers all(size);
    for (std::uint64_t i = 0; i < size; ++i) all[i] = static_cast<double>(i);
    return all;
  };
  HostModel host;
  host.head = count(model.vocabulary * model.hidden);
  auto& layer = host.layers.emplace_back();
  layer.qkv = count(model.qkv_width() * model.hidden);
  layer.qkv_bias = count(model.qkv_width());
  layer.out = count(model.hidden * model.q_width());
  layer.gate_up = count(2 * model.inner * model.hidden);
  layer.down = count(model.hidden * model.inner);
  return host;
}

TEST(TransformerDivision, ARankHasItsHeadsColumnsAndWords) {
  const Model model = whole_model();
  const auto part = part_of(model, 4);
  ASSERT_TRUE(part) << part.error().context;
  EXPECT_EQ(part->heads, 2U);
  EXPECT_EQ(part->kv_heads, 1U);
  EXPECT_EQ(part->inner, 6U);
  EXPECT_EQ(part->head_rows(), 4U);
  const auto mine = weights_of(numbered(model), model, *part, 3);
  // Rows of queries from 3 * 4 on; then the second head of keys and of values: ranks 2 and 3 share
  // it.
  const auto& layer = mine.layers.front();
  EXPECT_THAT(layer.qkv_bias, testing::ElementsAre(12, 13, 14, 15, 18, 19, 22, 23));
  EXPECT_EQ(layer.qkv[4 * 12], 18 * 12);
  EXPECT_EQ(layer.qkv.size(), 8 * 12U);
  // Columns 12 to 15 of 16, and 18 to 23 of 24.
  EXPECT_EQ(layer.out[0], 12);
  EXPECT_EQ(layer.out[4], 16 + 12);
  EXPECT_EQ(layer.down[6], 24 + 18);
  EXPECT_EQ(layer.down.size(), 12 * 6U);
  // Rows 18 to 23 of the gate, then those of what it is multiplied with.
  EXPECT_EQ(layer.gate_up[0], 18 * 12);
  EXPECT_EQ(layer.gate_up[6 * 12], (24 + 18) * 12);
  EXPECT_EQ(layer.gate_up.size(), 2 * 6 * 12U);
  EXPECT_EQ(mine.head.front(), 12 * 12);
}

// 4 experts over 2 x 2 cards: each has two, and half of their columns.
TEST(TransformerDivision, ARankHasWholeExpertsOrColumnsOfThem) {
  Model model = whole_model();
  auto& experts = model.experts;
  experts.count = 4, experts.chosen = 2, experts.inner = 6, experts.shared_inner = 8;
  const auto part = part_of(model, 4, 2);
  ASSERT_TRUE(part) << part.error().context;
  EXPECT_EQ(part->experts.own(), 2U);
  EXPECT_EQ(part->experts.inner, 3U);
  HostModel host = numbered(model);
  const auto count = [](std::uint64_t size) {
    Numbers all(size);
    for (std::uint64_t i = 0; i < size; ++i) all[i] = static_cast<double>(i);
    return all;
  };
  host.layers[0].expert_gate_up = count(4 * 2 * 6 * 12);
  host.layers[0].expert_down = count(4 * 12 * 6);
  host.layers[0].gate_up = count(2 * 8 * 12), host.layers[0].down = count(12 * 8);
  const auto mine = weights_of(host, model, *part, 3);
  // The third expert is the first of this rank: rows 3 to 5 of its gate, then of the other half.
  const auto& layer = mine.layers.front();
  EXPECT_EQ(layer.expert_gate_up.size(), 2 * 2 * 3 * 12U);
  EXPECT_EQ(layer.expert_gate_up[0], (2 * 12 + 3) * 12);
  EXPECT_EQ(layer.expert_gate_up[3 * 12], (2 * 12 + 6 + 3) * 12);
  EXPECT_EQ(layer.expert_gate_up[6 * 12], (3 * 12 + 3) * 12);
  EXPECT_EQ(layer.expert_down.size(), 2 * 12 * 3U);
  EXPECT_EQ(layer.expert_down[0], 2 * 12 * 6 + 3);
  EXPECT_EQ(layer.expert_down[3], 2 * 12 * 6 + 6 + 3);
  // Columns of the shared one are divided over all ranks.
  EXPECT_EQ(layer.gate_up[0], 6 * 12);
  EXPECT_EQ(layer.down[0], 6);
}

TEST(TransformerDivision, ARankHasRowsOfItsOwnWhereTokensAreSent) {
  Model model = whole_model();
  model.hidden = 64;
  auto& experts = model.experts;
  experts.count = 8, experts.chosen = 2, experts.inner = 6, experts.shared_inner = 5;
  const auto part = part_of(model, 4, 4, true);
  ASSERT_TRUE(part) << part.error().context;
  EXPECT_EQ(part->experts.own(), 2U);
  EXPECT_EQ(part->experts.inner, 6U);
  EXPECT_EQ(part->experts.shared_inner, 5U);
  std::uint64_t next = 0;
  for (const std::uint64_t count : {3U, 3U, 3U, 1U}) {
    const auto rows = rows_of_rank(*part, 10, next / 3);
    EXPECT_EQ(rows.first, next);
    EXPECT_EQ(rows.count, count);
    next += 3;
  }
  EXPECT_EQ(rows_of_rank(*part, 2, 3).count, 0U);
  EXPECT_EQ(exchange_of(*part, 2, 10).most_tokens, 3U);
  EXPECT_EQ(exchange_of(*part, 2, 1).most_tokens, 1U);
  EXPECT_EQ(exchange_of(*part, 2, 1'000'000).most_tokens, 512U);
}

TEST(TransformerDivision, ARankHasItsHeadsOfALatentCache) {
  Model model = whole_model();
  model.latent = {3, 5, 4, 2, 6};
  model.kv_heads = model.heads, model.head = model.latent.query();
  const auto part = part_of(model, 4);
  ASSERT_TRUE(part) << part.error().context;
  HostModel host = numbered(model);
  auto& whole = host.layers[0];
  for (auto* matrix : {&whole.q_rows, &whole.keys, &whole.values, &whole.out}) {
    matrix->resize(1000);
    for (std::uint64_t i = 0; i < matrix->size(); ++i) (*matrix)[i] = static_cast<double>(i);
  }
  whole.out.resize(model.hidden * model.mixed_width());
  const auto mine = weights_of(host, model, *part, 1);
  const auto& layer = mine.layers.front();
  // Its heads are the third and the fourth.
  EXPECT_EQ(layer.q_rows.front(), 2 * (4 + 2) * 3);
  EXPECT_EQ(layer.keys.front(), 2 * 4 * 5);
  EXPECT_EQ(layer.values.front(), 2 * 6 * 5);
  EXPECT_EQ(layer.values.size(), 2 * 6 * 5U);
  EXPECT_EQ(layer.out[0], 2 * 6);
  EXPECT_EQ(layer.out.size(), model.hidden * 2 * 6U);
}

TEST(TransformerDivision, WhatCannotBeDividedIsToldInALine) {
  const auto told = [](const Model& model, std::uint64_t ranks) {
    const auto part = part_of(model, ranks);
    return part ? "" : part.error().context;
  };
  Model model = whole_model();
  EXPECT_EQ(told(model, 8), "");
  const auto experts_told = [&](std::uint64_t ranks, std::uint64_t expert_ranks) {
    const auto part = part_of(model, ranks, expert_ranks);
    return part ? "" : part.error().context;
  };
  EXPECT_EQ(experts_told(2, 2), "expert_parallel=2: tiny has no experts");
  model.experts.count = 6, model.experts.chosen = 2, model.experts.inner = 8;
  EXPECT_EQ(experts_told(2, 2), "");
  EXPECT_EQ(experts_told(4, 4), "expert_parallel=4: tiny has 6 experts, which it does not divide");
  EXPECT_EQ(experts_told(1, 2),
            "expert_parallel=2: it does not divide the 1 cards of tensor_parallel");
  const auto sent_told = [&](std::uint64_t ranks, std::uint64_t expert_ranks) {
    const auto part = part_of(model, ranks, expert_ranks, true);
    return part ? "" : part.error().context;
  };
  EXPECT_EQ(sent_told(2, 1),
            "moe_comm=dispatch: expert_parallel=1 and tensor_parallel=2 are to be equal");
  EXPECT_EQ(sent_told(2, 2),
            "moe_comm=dispatch: tiny has a hidden size of 12: multiples of 32 up to 8192");
  model.hidden = 64, model.experts.chosen = 17;
  EXPECT_EQ(sent_told(2, 2),
            "moe_comm=dispatch: tiny has 6 experts, 17 of a token: up to 1024 and 16");
  model = whole_model();
  EXPECT_EQ(sent_told(2, 2), "moe_comm=dispatch: tiny has no experts");
  EXPECT_EQ(told(model, 3), "tensor_parallel=3: tiny has 8 heads, which it does not divide");
  model.vocabulary = 17;
  EXPECT_EQ(told(model, 2), "tensor_parallel=2: tiny has 17 words, which it does not divide");
  model.inner = 25;
  EXPECT_EQ(
      told(model, 2),
      "tensor_parallel=2: tiny has 25 columns of the feed-forward part, which it does not divide");
  model.heads = 12, model.kv_heads = 3;
  EXPECT_EQ(told(model, 4),
            "tensor_parallel=4: tiny has 3 heads of keys and values, which it does not divide");
}

Spans spans(const std::vector<std::pair<int, int>>& all) {
  Spans made;
  for (const auto& [begin, end] : all) {
    made.add({Instant(Picoseconds(begin)), Instant(Picoseconds(end))});
  }
  return made;
}

TEST(TransformerStepTimes, CommunicationIsExposedWhereNoKernelRuns) {
  StepTimes times;
  times.set_spans(spans({{0, 50}}).all().front(), spans({{0, 10}, {20, 30}, {28, 32}}),
                  spans({{5, 25}, {40, 44}}));
  EXPECT_EQ(times.duration.time(), Picoseconds(50));
  EXPECT_EQ(times.card.time(), Picoseconds(24));
  EXPECT_EQ(times.busy.time(), Picoseconds(22));
  EXPECT_EQ(times.communication.time(), Picoseconds(24));
  EXPECT_EQ(times.exposed.time(), Picoseconds(10 + 4));
  EXPECT_EQ(times.hidden.time(), Picoseconds(10));
  EXPECT_EQ(times.gap.time(), Picoseconds(50 - 22 - 14));
}

}  // namespace
}  // namespace npu::workloads::transformer
