// SPDX-License-Identifier: Apache-2.0
// Transformers with experts and with latent caches: logits, and the experts that the card chose,
// are compared by the workload itself.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/system/workloads/simulated_run.hpp"

namespace npu::workloads {
namespace {

class TransformerExperts : public WorkloadOnSimulator {
 protected:
  TransformerExperts() {
    folder_ = std::filesystem::temp_directory_path() / "npumodel_XXXXXX";
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
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

// As Qwen1.5-MoE and DeepSeek-V2-Lite have them, in small.
TEST_F(TransformerExperts, OfAllTokensMayHaveAGate) {
  const std::string file = folder_ + "/config.json";
  std::ofstream(file) << R"({"model_type": "qwen2_moe", "hidden_size": 128, "num_hidden_layers": 2,
      "num_attention_heads": 4, "intermediate_size": 352, "vocab_size": 504, "num_experts": 60,
      "num_experts_per_tok": 4, "moe_intermediate_size": 72,
      "shared_expert_intermediate_size": 136, "norm_topk_prob": false})";
  run("transformer", {"model=" + file, "tokens=9", "steps=2", "batch=2", "tensor_parallel=2"}, {},
      "system-2x910b2.yaml");
  EXPECT_EQ(digits("transformer.decode.shared_gate.launches"), 3 * 2);
}

TEST_F(TransformerExperts, QueriesMayBeMadeOfTheHiddenState) {
  const std::string file = folder_ + "/config.json";
  std::ofstream(file) << R"({"model_type": "deepseek_v2", "hidden_size": 128,
      "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 352,
      "vocab_size": 504, "n_routed_experts": 8, "num_experts_per_tok": 3,
      "moe_intermediate_size": 64, "n_shared_experts": 2, "first_k_dense_replace": 1,
      "topk_method": "greedy", "kv_lora_rank": 64, "q_lora_rank": null, "qk_nope_head_dim": 32,
      "qk_rope_head_dim": 16, "v_head_dim": 32, "rope_scaling": {"beta_fast": 32, "beta_slow": 1,
      "factor": 40, "mscale": 0.707, "mscale_all_dim": 0.6, "type": "yarn",
      "original_max_position_embeddings": 64}})";
  run("transformer", {"model=" + file, "tokens=130", "steps=2", "tensor_parallel=2"}, {},
      "system-2x910b2.yaml");
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
class TransformerExpertsOfCards : public WorkloadOnSimulator,
                                  public testing::WithParamInterface<const char*> {};

TEST_P(TransformerExpertsOfCards, GiveTheLogitsOfTheWholeModel) {
  run("transformer",
      {"model=tiny-moe", "tokens=7", "steps=1", "batch=2", "tensor_parallel=8",
       std::string("expert_parallel=") + GetParam()},
      {}, "system-8x910b.yaml");
  // Two sums in each of two layers, and the logits.
  EXPECT_EQ(digits("transformer.decode.card7.collectives"), 2 * 2 + 1);
}
INSTANTIATE_TEST_SUITE_P(Cards, TransformerExpertsOfCards, testing::Values("8", "4", "1"));

// Seven rows of four cards, the last of which has one; and one row, so that three have none.
TEST_F(TransformerExperts, TokensMayBeSentToTheCardsOfTheirExperts) {
  run("transformer",
      {"model=tiny-moe", "tokens=7", "steps=2", "tensor_parallel=4", "expert_parallel=4",
       "moe_comm=dispatch", "launch=graph"},
      {}, "system-8x910b.yaml");
  EXPECT_EQ(digits("transformer.decode.dispatch.launches"), 2);
  EXPECT_EQ(digits("transformer.decode.combine.launches"), 2);
  // A sum, both ways and what is gathered in each of two layers, and the logits.
  EXPECT_EQ(digits("transformer.decode.card3.collectives"), 2 * 4 + 1);
}

// Each card has the whole part that all tokens go through, and 512 tokens at most at once.
TEST_F(TransformerExperts, ManyTokensAreSentInTurns) {
  run("transformer",
      {"model=tiny-mla", "tokens=1030", "phase=prefill", "tensor_parallel=2", "expert_parallel=2",
       "moe_comm=dispatch"},
      {}, "system-2x910b2.yaml");
  EXPECT_EQ(digits("transformer.prefill.dispatch.launches"), 2 * 2);
}

// Each card has two of the eight sequences, all heads, and a quarter of the experts.
TEST_F(TransformerExperts, CardsMayHaveSequencesOfTheirOwn) {
  run("transformer",
      {"model=tiny-mla", "tokens=7", "steps=2", "batch=8", "data_parallel=4", "expert_parallel=4",
       "moe_comm=dispatch"},
      {}, "system-8x910b.yaml");
  EXPECT_EQ(digits("transformer.decode.dispatch.launches"), 2);
  // Both ways in each of two layers, and no sum.
  EXPECT_EQ(digits("transformer.decode.card3.collectives"), 2 * 2);
  EXPECT_EQ(digits("transformer.cache_bytes"), 3 * 2 * 128 * (64 + 16) * 2);
}

TEST_F(TransformerExperts, TokensAreSentWhereWholeExpertsAreOnEachCard) {
  const auto status =
      attempt("transformer",
              {"model=tiny-moe", "tensor_parallel=4", "expert_parallel=2", "moe_comm=dispatch"}, {},
              "system-8x910b.yaml");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().context,
              testing::HasSubstr("moe_comm=dispatch: expert_parallel=2 and tensor_parallel=4"));
}

TEST_F(TransformerExperts, CardsShareALatentCacheByHeads) {
  run("transformer",
      {"model=tiny-mla", "tokens=3", "steps=2", "tensor_parallel=2", "expert_parallel=2",
       "launch=graph"},
      {}, "system-2x910b2.yaml");
  // Each has all rows of the cache.
  EXPECT_EQ(digits("transformer.cache_bytes"), 3 * 128 * (64 + 16) * 2);
}

// The dense layer stands for both, the last one for all with experts that are not simulated.
// Without arithmetic the seed says which experts rows go to.
TEST_F(TransformerExperts, ASampleHasADenseLayerAndTwoWithExperts) {
  const std::string file = folder_ + "/config.json";
  std::ofstream(file) << R"({"hidden_size": 128, "num_hidden_layers": 7, "num_attention_heads": 4,
      "intermediate_size": 352, "vocab_size": 504, "n_routed_experts": 8, "num_experts_per_tok": 2,
      "moe_intermediate_size": 64, "first_k_dense_replace": 2})";
  run("transformer", {"model=" + file, "tokens=64", "steps=1", "layers=sampled"},
      {"core.functional=false"}, "910b2.yaml");
  EXPECT_EQ(digits("transformer.layers"), 7);
  EXPECT_EQ(digits("transformer.simulated_layers"), 3);
  for (const auto& table : report_.tables()) {
    if (table.title != "decode by layer") continue;
    ASSERT_EQ(table.rows.size(), 3U);
    const double dense = std::stod(table.rows[0][1]), last = std::stod(table.rows[2][1]);
    EXPECT_NEAR(value("transformer.tpot_us"),
                value("transformer.decode.duration_us") + dense + 3 * last, 0.01);
  }
}

TEST_F(TransformerExperts, CardsWithExpertsNeedTheSameSums) {
  const auto status =
      attempt("transformer", {"model=tiny-moe", "tensor_parallel=4", "algorithm=one_shot"}, {},
              "system-8x910b.yaml");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().context, testing::HasSubstr("algorithm=one_shot: cards with experts"));
}

}  // namespace
}  // namespace npu::workloads
