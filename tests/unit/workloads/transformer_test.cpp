// SPDX-License-Identifier: Apache-2.0
// Shapes of transformers from files, and the decoder that the card's is compared with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "workloads/programs/support/elements.hpp"
#include "workloads/transformer/model.hpp"
#include "workloads/transformer/reference.hpp"

namespace npu::workloads::transformer {
namespace {

using testing::HasSubstr;

class TransformerConfig : public testing::Test {
 protected:
  TransformerConfig() {
    folder_ = std::filesystem::temp_directory_path() / "npumodel_XXXXXX";
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Result<Model> read(const std::string& text) const {
    std::ofstream(folder_ + "/config.json") << text;
    return read_model(folder_ + "/config.json");
  }

  std::string folder_;
};

constexpr const char* kSides =
    R"("hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4,
       "intermediate_size": 96, "vocab_size": 100)";

TEST_F(TransformerConfig, SaysWhatAModelIs) {
  const auto model = read(std::string(R"({"model_type": "qwen3", "num_key_value_heads": 2,
      "head_dim": 32, "rms_norm_eps": 1e-5, "rope_theta": 1000000, )") +
                          kSides + "}");
  ASSERT_TRUE(model) << model.error().context;
  EXPECT_EQ(model->qkv_width(), 4 * 32 + 2 * 2 * 32U);
  EXPECT_EQ(model->layers, 3U);
  EXPECT_DOUBLE_EQ(model->epsilon, 1e-5);
  EXPECT_DOUBLE_EQ(model->theta, 1e6);
  EXPECT_TRUE(model->qk_norm);
  EXPECT_FALSE(model->qkv_bias);
}

TEST_F(TransformerConfig, HasUsualValuesForWhatItLeavesOut) {
  const auto model = read(std::string("{") + kSides + "}");
  ASSERT_TRUE(model) << model.error().context;
  EXPECT_EQ(model->kv_heads, 4U);
  EXPECT_EQ(model->head, 16U);
  EXPECT_TRUE(read(std::string(R"({"model_type": "qwen2", )") + kSides + "}")->qkv_bias);
}

TEST_F(TransformerConfig, SaysWhichExpertsAndWhichCacheAModelHas) {
  const auto model = read(std::string(R"({"n_routed_experts": 64, "num_experts_per_tok": 3,
      "moe_intermediate_size": 40, "n_shared_experts": 2, "n_group": 8, "topk_group": 2,
      "first_k_dense_replace": 1, "scoring_func": "sigmoid", "topk_method": "noaux_tc",
      "norm_topk_prob": true, "routed_scaling_factor": 2.5, "kv_lora_rank": 48, "q_lora_rank": 32,
      "qk_nope_head_dim": 24, "qk_rope_head_dim": 8, "v_head_dim": 16, "head_dim": 7, )") +
                          kSides + "}");
  ASSERT_TRUE(model) << model.error().context;
  const auto& experts = model->experts;
  EXPECT_EQ(experts.count, 64U);
  EXPECT_EQ(experts.chosen, 3U);
  EXPECT_EQ(experts.inner, 40U);
  EXPECT_EQ(experts.shared_inner, 80U);
  EXPECT_EQ(experts.groups, 8U);
  EXPECT_EQ(experts.kept, 2U);
  EXPECT_TRUE(experts.sigmoid && experts.biased && experts.normalised);
  EXPECT_DOUBLE_EQ(experts.scale, 2.5);
  EXPECT_FALSE(model->has_experts(0));
  EXPECT_TRUE(model->has_experts(1));
  EXPECT_EQ(model->latent.q, 32U);
  EXPECT_EQ(model->cache_width(), 48 + 8U);
  EXPECT_EQ(model->mixed_width(), 4 * 16U);
  const auto mixtral = read(std::string(R"({"model_type": "mixtral", "num_local_experts": 8,
      "num_experts_per_tok": 2, )") +
                            kSides + "}");
  ASSERT_TRUE(mixtral) << mixtral.error().context;
  EXPECT_EQ(mixtral->experts.inner, 96U);
  EXPECT_TRUE(mixtral->experts.normalised);
}

TEST_F(TransformerConfig, WhatIsWrongIsToldInALine) {
  const auto with = [&](const std::string& first) { return "{" + first + ", " + kSides + "}"; };
  const std::pair<std::string, const char*> cases[] = {
      {"[1]", "found no object"},
      {"{", "config.json: "},
      {R"({"hidden_size": 64})", "num_hidden_layers: it is missing"},
      {R"({"hidden_size": 0})", "hidden_size: found 0; allowed: 1 to 16777216"},
      {R"({"hidden_size": "64"})", "hidden_size: found "},
      {R"({"hidden_size": 64.5})", "hidden_size: found 64.5"},
      {with(R"("num_key_value_heads": 3)"), "num_key_value_heads: it does not divide"},
      {with(R"("head_dim": 7)"), "head_dim: rotary embedding needs an even one"},
      {with(R"("hidden_act": "gelu")"), "hidden_act: found 'gelu'; allowed: silu"},
      {with(R"("num_experts": 8)"), "num_experts_per_tok: it is missing"},
      {with(R"("num_experts": 8, "num_experts_per_tok": 9)"), "num_experts_per_tok: there are"},
      {with(R"("num_experts": 8, "num_experts_per_tok": 2, "mlp_only_layers": [1])"),
       "mlp_only_layers: "},
      {with(R"("n_routed_experts": 64, "num_experts_per_tok": 2, "n_group": 4, "topk_group": 2)"),
       "n_group: groups and the experts of each must be multiples of 8"},
      {with(R"("n_routed_experts": 64, "num_experts_per_tok": 9, "n_group": 8, "topk_group": 1)"),
       "topk_group: its groups have fewer experts"},
      {with(R"("num_experts": 8, "num_experts_per_tok": 2, "scoring_func": "tanh")"),
       "scoring_func: allowed: softmax, sigmoid"},
      {with(R"("kv_lora_rank": 32)"), "q_lora_rank: it is missing"},
      {with(R"("model_type": "gemma")"), "model_type: found 'gemma'; allowed: llama, mistral"},
      {with(R"("attention_bias": true)"), "attention_bias: "},
      {with(R"("mlp_bias": true)"), "mlp_bias: "},
      {with(R"("partial_rotary_factor": 0.5)"), "partial_rotary_factor: all elements"},
      {with(R"("use_sliding_window": true)"), "sliding_window: it is missing"},
      {with(R"("num_experts": 8, "num_experts_per_tok": 2, "n_shared_experts": 1,
               "shared_expert_intermediate_size": 64)"),
       "shared_expert_intermediate_size: n_shared_experts is there, too"},
      {with(R"("rms_norm_eps": -1)"), "rms_norm_eps: found -1; allowed: a number above 0"},
  };
  for (const auto& [text, told] : cases) {
    const auto model = read(text);
    ASSERT_FALSE(model) << text;
    EXPECT_THAT(model.error().context, HasSubstr(told));
    EXPECT_THAT(model.error().context, testing::Not(HasSubstr("\n")));
  }
  EXPECT_THAT(read_model("llama-2-7").error().context, HasSubstr("did you mean llama-2-7b?"));
}

double weights_of(const char* name) {
  const auto model = read_model(name);
  return static_cast<double>(model->weights(model->layers));
}

TEST_F(TransformerConfig, WeightsOfPublishedModelsAreTheirNumbers) {
  // Parameters as the models' authors count them: 6.74, 8.03, 7.62 and 8.19 billion, and with
  // experts 30.5, 46.7 and 671 billion.
  EXPECT_NEAR(weights_of("llama-2-7b"), 6.74e9, 0.01e9);
  EXPECT_NEAR(weights_of("llama-3-8b"), 8.03e9, 0.01e9);
  EXPECT_NEAR(weights_of("qwen2.5-7b"), 7.62e9, 0.01e9);
  EXPECT_NEAR(weights_of("qwen3-8b"), 8.19e9, 0.01e9);
  EXPECT_NEAR(weights_of("qwen3-30b-a3b"), 30.5e9, 0.05e9);
  EXPECT_NEAR(weights_of("mixtral-8x7b"), 46.7e9, 0.05e9);
  EXPECT_NEAR(weights_of("deepseek-v3"), 671e9, 0.5e9);
}

// What the authors' config.json files say of shape and arithmetic, and how many billions of numbers
// they say their models have.
struct Published {
  const char* config;
  double billions;
};
constexpr Published kPublished[] = {
    // Llama 3.1 8B, 3.2 1B, 3.2 3B
    {R"("model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
        "vocab_size": 128256, "rope_theta": 500000.0, "attention_bias": false, "mlp_bias": false,
        "tie_word_embeddings": false, "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0,
        "high_freq_factor": 4.0, "original_max_position_embeddings": 8192,
        "rope_type": "llama3"})",
     8.03},
    {R"("model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 16,
        "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64,
        "intermediate_size": 8192, "vocab_size": 128256, "tie_word_embeddings": true,
        "rope_scaling": {"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
        "original_max_position_embeddings": 8192, "rope_type": "llama3"})",
     1.24},
    {R"("model_type": "llama", "hidden_size": 3072, "num_hidden_layers": 28,
        "num_attention_heads": 24, "num_key_value_heads": 8, "head_dim": 128,
        "intermediate_size": 8192, "vocab_size": 128256, "tie_word_embeddings": true)",
     3.21},
    // Qwen2.5 0.5B, 1.5B; Qwen3 0.6B, 4B
    {R"("model_type": "qwen2", "hidden_size": 896, "num_hidden_layers": 24,
        "num_attention_heads": 14, "num_key_value_heads": 2, "intermediate_size": 4864,
        "vocab_size": 151936, "tie_word_embeddings": true, "sliding_window": 32768,
        "use_sliding_window": false, "max_window_layers": 21)",
     0.49},
    {R"("model_type": "qwen2", "hidden_size": 1536, "num_hidden_layers": 28,
        "num_attention_heads": 12, "num_key_value_heads": 2, "intermediate_size": 8960,
        "vocab_size": 151936, "tie_word_embeddings": true)",
     1.54},
    {R"("model_type": "qwen3", "hidden_size": 1024, "num_hidden_layers": 28,
        "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128,
        "intermediate_size": 3072, "vocab_size": 151936, "tie_word_embeddings": true,
        "rope_scaling": null, "sliding_window": null, "use_sliding_window": false)",
     0.6},
    {R"("model_type": "qwen3", "hidden_size": 2560, "num_hidden_layers": 36,
        "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
        "intermediate_size": 9728, "vocab_size": 151936, "tie_word_embeddings": true)",
     4.02},
    // Mistral 7B v0.1, Qwen1.5-MoE-A2.7B, DeepSeek-V2-Lite
    {R"("model_type": "mistral", "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
        "vocab_size": 32000, "sliding_window": 4096)",
     7.24},
    {R"("model_type": "qwen2_moe", "hidden_size": 2048, "num_hidden_layers": 24,
        "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 5632,
        "vocab_size": 151936, "num_experts": 60, "num_experts_per_tok": 4,
        "moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632,
        "norm_topk_prob": false, "decoder_sparse_step": 1, "sliding_window": 32768,
        "use_sliding_window": false)",
     14.3},
    {R"("model_type": "deepseek_v2", "hidden_size": 2048, "num_hidden_layers": 27,
        "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 10944,
        "vocab_size": 102400, "n_routed_experts": 64, "num_experts_per_tok": 6,
        "moe_intermediate_size": 1408, "n_shared_experts": 2, "first_k_dense_replace": 1,
        "moe_layer_freq": 1, "n_group": 1, "topk_group": 1, "topk_method": "greedy",
        "scoring_func": "softmax", "norm_topk_prob": false, "routed_scaling_factor": 1.0,
        "kv_lora_rank": 512, "q_lora_rank": null, "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64, "v_head_dim": 128, "max_position_embeddings": 163840,
        "rope_scaling": {"beta_fast": 32, "beta_slow": 1, "factor": 40, "mscale": 0.707,
        "mscale_all_dim": 0.707, "original_max_position_embeddings": 4096, "type": "yarn"})",
     15.7}};

TEST_F(TransformerConfig, FilesOfPublishedModelsAreRead) {
  for (const auto& published : kPublished) {
    const auto model = read(std::string(R"({"hidden_act": "silu", )") + published.config + "}");
    ASSERT_TRUE(model) << model.error().context;
    EXPECT_NEAR(static_cast<double>(model->weights(model->layers)) / 1e9, published.billions,
                0.01 * published.billions)
        << published.config;
  }
}

constexpr auto kType = DataType::kBf16;
const std::vector<std::uint32_t> kPrompt{3, 17, 5, 90, 17};

Model small() {
  Model model = read_model("tiny").value();
  model.hidden = 64, model.heads = 4, model.kv_heads = 2, model.head = 16, model.inner = 96;
  model.vocabulary = 100;
  return model;
}

Model small_with_experts() {
  Model model = small();
  model.experts.count = 8, model.experts.chosen = 2, model.experts.inner = 48;
  return model;
}

double largest_difference(const Numbers& a, const Numbers& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

// What a check of the card allows (decoder.cpp).
double allowed(const Numbers& logits) {
  double largest = 0;
  for (const double each : logits) largest = std::max(largest, std::abs(each));
  return 32 * rounding_error(kType) * largest;
}

TEST(TransformerReference, TokensOneByOneGiveWhatAPromptGives) {
  const Model model = small();
  const auto weights = random_model(model, kType, 2, 8, 1);
  const Numbers whole = ReferenceDecoder(model, weights, kType, 1).step(kPrompt).value();
  ReferenceDecoder step_by_step(model, weights, kType, 1);
  Numbers last;
  for (const auto token : kPrompt) last = step_by_step.step({token}).value();
  EXPECT_EQ(last, whole);
  // Sequences of a batch do not see each other.
  auto both = kPrompt;
  both.insert(both.end(), {1, 2, 3, 4, 5});
  auto of_batch = ReferenceDecoder(model, weights, kType, 2).step(both).value();
  of_batch.resize(model.vocabulary);
  EXPECT_EQ(of_batch, whole);
}

TEST(TransformerReference, AnyMistakeOfTheCardWouldBeMoreThanItsRoundings) {
  Model model = small();
  model.qk_norm = true;
  const auto weights = random_model(model, kType, 2, 8, 1);
  const Numbers right = ReferenceDecoder(model, weights, kType, 1).step(kPrompt).value();
  const auto off_by = [&](const std::function<void(Model&, HostModel&)>& change) {
    Model other = model;
    HostModel changed = weights;
    change(other, changed);
    return largest_difference(ReferenceDecoder(other, changed, kType, 1).step(kPrompt).value(),
                              right);
  };
  EXPECT_EQ(off_by([](Model&, HostModel&) {}), 0);
  // The other direction, no norm of heads, another epsilon, halves changed.
  EXPECT_GT(off_by([](Model&, HostModel& host) {
              for (auto& each : host.sin) each = -each;
            }),
            allowed(right));
  EXPECT_GT(off_by([](Model& other, HostModel&) { other.qk_norm = false; }), allowed(right));
  EXPECT_GT(off_by([](Model& other, HostModel&) { other.epsilon = 0.1; }), allowed(right));
  EXPECT_GT(off_by([](Model&, HostModel& host) {
              auto& gate = host.layers[1].gate_up;
              std::rotate(gate.begin(), gate.begin() + static_cast<std::ptrdiff_t>(gate.size() / 2),
                          gate.end());
            }),
            allowed(right));
}

// One expert of weight 1 is a dense layer.
TEST(TransformerReference, ASingleExpertIsADenseLayer) {
  const Model dense = small();
  Model model = dense;
  model.experts.count = model.experts.chosen = 1, model.experts.inner = dense.inner;
  const auto weights = random_model(dense, kType, 2, 8, 1);
  auto routed = weights;
  for (auto& layer : routed.layers) {
    layer.router.assign(model.hidden, 0.5);
    layer.expert_gate_up = layer.gate_up, layer.expert_down = layer.down;
  }
  EXPECT_EQ(ReferenceDecoder(model, routed, kType, 1).step(kPrompt).value(),
            ReferenceDecoder(dense, weights, kType, 1).step(kPrompt).value());
}

TEST(TransformerReference, ChoicesOfTheCardAreTakenUnlessOthersAreClearlyBetter) {
  const Model model = small_with_experts();
  auto weights = random_model(model, kType, 1, 8, 1);
  // Logits of expert i are i times that of the first row.
  auto& router = weights.layers[0].router;
  for (std::uint64_t i = 0; i < router.size(); ++i) {
    const std::uint64_t expert = i / model.hidden;
    router[i] = static_cast<double>(expert);
  }
  Numbers x(model.hidden, 0);
  x[0] = 0.5;
  const auto outcome = [&](const Choices& choices) {
    const auto sum = routed(Arithmetic(kType), model, weights.layers[0], x, 0, choices);
    return sum ? std::string() : sum.error().context;
  };
  EXPECT_EQ(outcome({}), "");
  EXPECT_EQ(outcome({7, 6}), "");
  EXPECT_EQ(outcome({6, 7}), "");
  EXPECT_THAT(outcome({7, 5}), HasSubstr("expert 6 is better than others"));
  EXPECT_THAT(outcome({7, 7}), HasSubstr("expert 7 is there twice"));
  EXPECT_THAT(outcome({7, 8}), HasSubstr("expert 8 is none"));
  // 6 and 5 differ by less than a logit's roundings.
  for (std::uint64_t i = 5 * model.hidden; i < 6 * model.hidden; ++i) router[i] = 5.999;
  EXPECT_EQ(outcome({7, 5}), "");
}

}  // namespace
}  // namespace npu::workloads::transformer
