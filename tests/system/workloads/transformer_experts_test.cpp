// SPDX-License-Identifier: Apache-2.0
// Transformers with experts and with latent caches: logits, and the experts that the card chose,
// are compared by the workload itself.
#include <gmock/gmock.h>

#include "tests/system/workloads/simulated_run.hpp"

namespace npu::workloads {
namespace {

class TransformerExperts : public WorkloadOnSimulator {
 protected:
  std::string told(const std::vector<std::string>& parameters, const std::string& config) {
    const auto status = attempt("transformer", parameters, {}, config);
    return status ? "" : status.error().context;
  }
};

TEST_F(TransformerExperts, GiveTheLogitsOfPlainArithmetic) {
  run("transformer", {"model=tiny-moe", "tokens=33", "steps=2", "batch=2"}, {}, "910b2.yaml");
  // In each of two layers: rows to experts, and back.
  EXPECT_EQ(digits("transformer.decode.routing.launches"), 2 * 2);
  EXPECT_EQ(digits("transformer.decode.expert_down.launches"), 2);
}

TEST_F(TransformerExperts, MayFollowADenseLayerBehindALatentCache) {
  run("transformer", {"model=tiny-mla", "tokens=5", "steps=2", "dtype=float16"}, {}, "910b2.yaml");
  EXPECT_EQ(digits("transformer.decode.down.launches"), 1);
  EXPECT_EQ(digits("transformer.decode.expert_down.launches"), 2);
  // A page of 128 rows of 64 + 16 numbers of two bytes in each of three layers.
  EXPECT_EQ(digits("transformer.cache_bytes"), 3 * 128 * (64 + 16) * 2);
}

TEST_F(TransformerExperts, NeedNoHostInTheMiddleOfAGraph) {
  run("transformer", {"model=tiny-mla", "tokens=126", "steps=4", "launch=graph"}, {}, "910b2.yaml");
  EXPECT_LT(value("transformer.decode.host_us") / value("transformer.decode.launches"),
            value("transformer.prefill.host_us") / value("transformer.prefill.launches"));
}

TEST_F(TransformerExperts, TheNextGenerationGivesTheSame) {
  run("transformer", {"model=tiny-mla", "tokens=3", "steps=1"}, {}, "950pr.yaml");
}

// Of 16 experts a card has two, or a half of four, or an eighth of all.
TEST_F(TransformerExperts, EightCardsGiveTheLogitsOfTheWholeModel) {
  std::vector<double> times;
  for (const char* experts : {"expert_parallel=8", "expert_parallel=4", "expert_parallel=1"}) {
    run("transformer",
        {"model=tiny-moe", "tokens=7", "steps=1", "batch=2", "tensor_parallel=8", experts}, {},
        "system-8x910b.yaml");
    // Two sums in each of two layers, and the logits.
    EXPECT_EQ(digits("transformer.decode.card7.collectives"), 2 * 2 + 1) << experts;
    times.push_back(value("transformer.decode.expert_gate_up.card_us"));
  }
  EXPECT_NE(times[0], times[2]);
}

TEST_F(TransformerExperts, CardsShareALatentCacheByHeads) {
  run("transformer",
      {"model=tiny-mla", "tokens=3", "steps=2", "tensor_parallel=2", "expert_parallel=2",
       "launch=graph"},
      {}, "system-2x910b2.yaml");
  // Each has all rows of the cache.
  EXPECT_EQ(digits("transformer.cache_bytes"), 3 * 128 * (64 + 16) * 2);
}

// Without arithmetic the seed says which experts rows go to.
TEST_F(TransformerExperts, ASampleHasADenseLayerAndTwoWithExperts) {
  run("transformer", {"model=tiny-mla", "tokens=64", "steps=2", "layers=sampled"},
      {"core.functional=false"}, "910b2.yaml");
  EXPECT_EQ(digits("transformer.simulated_layers"), 3);
  const double sample = value("transformer.tpot_us");
  run("transformer", {"model=tiny-mla", "tokens=64", "steps=2"}, {"core.functional=false"},
      "910b2.yaml");
  EXPECT_NEAR(value("transformer.tpot_us"), sample, 0.02 * sample);
}

TEST_F(TransformerExperts, WhatCannotBeDividedIsToldInALine) {
  EXPECT_THAT(told({"expert_parallel=2", "tensor_parallel=2"}, "system-2x910b2.yaml"),
              testing::HasSubstr("expert_parallel=2: tiny has no experts"));
  EXPECT_THAT(told({"model=tiny-moe", "expert_parallel=2"}, "system-2x910b2.yaml"),
              testing::HasSubstr("it does not divide the 1 cards of tensor_parallel"));
  EXPECT_THAT(
      told({"model=tiny-moe", "tensor_parallel=4", "algorithm=one_shot"}, "system-8x910b.yaml"),
      testing::HasSubstr("algorithm=one_shot: cards with experts need the same sums"));
}

}  // namespace
}  // namespace npu::workloads
