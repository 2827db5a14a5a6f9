// SPDX-License-Identifier: Apache-2.0
// Rotary embedding that is scaled: its keys in a config.json, and angles beside the authors'
// formulas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "workloads/programs/support/elements.hpp"
#include "workloads/transformer/model_config.hpp"
#include "workloads/transformer/weights.hpp"

namespace npu::workloads::transformer {
namespace {

using testing::HasSubstr;

Result<Model> read(const std::string& more) {
  const auto json = reports::parse_json(R"({"hidden_size": 64, "num_hidden_layers": 3,
      "num_attention_heads": 4, "intermediate_size": 96, "vocab_size": 100, )" +
                                        more + "}");
  EXPECT_TRUE(json) << more;
  return model_of("config.json", *json);
}

constexpr const char* kLlama = R"("rope_theta": 500000.0, "head_dim": 128, "rope_scaling":
    {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
     "original_max_position_embeddings": 8192, "rope_type": "llama3"})";

// Three cases by the length of a turn, as Llama 3.1's own code has them.
double llama_turn(double turn, double factor, double low, double high, double positions) {
  const double length = 2 * M_PI / turn;
  if (length < positions / high) return turn;
  if (length > positions / low) return turn / factor;
  const double smooth = (positions / length - low) / (high - low);
  return (1 - smooth) * turn / factor + smooth * turn;
}

TEST(TransformerRope, LlamasLongTurnsAreSlower) {
  const auto model = read(kLlama);
  ASSERT_TRUE(model) << model.error().context;
  const auto turns = turns_by_token(model->rope, model->theta, model->turned());
  ASSERT_EQ(turns.size(), 64U);
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const double plain = std::pow(500'000.0, -static_cast<double>(2 * i) / 128);
    EXPECT_NEAR(turns[i], llama_turn(plain, 8, 1, 4, 8192), 1e-12 * plain) << i;
  }
  // All three cases are there.
  EXPECT_EQ(turns[0], 1);
  EXPECT_NEAR(turns[63] * 8, std::pow(500'000.0, -126.0 / 128), 1e-18);
  EXPECT_EQ(amplitude(model->rope), 1);
  EXPECT_DOUBLE_EQ(model->score_scale(), 1 / std::sqrt(128.0));
}

// The ramp begins at the last pair that turns at least `fast` times, and ends at the first one that
// turns at most `slow` times.
std::vector<double> yarn_turns(std::uint64_t turned, double theta, double factor, double positions,
                               double fast, double slow) {
  const auto times = [&](std::uint64_t pair) {
    return positions * std::pow(theta, -2.0 * static_cast<double>(pair) / double(turned)) / 2 /
           M_PI;
  };
  std::uint64_t begin = 0, end = 0;
  while (begin + 1 < turned && times(begin + 1) >= fast) ++begin;
  while (end < turned - 1 && times(end) > slow) ++end;
  std::vector<double> turns;
  for (std::uint64_t i = 0; i < turned / 2; ++i) {
    const double plain = std::pow(theta, -2.0 * static_cast<double>(i) / double(turned));
    double slower = i <= begin ? 0 : 1;
    if (end > begin) slower = (double(i) - double(begin)) / double(end - begin);
    slower = std::min(1.0, std::max(0.0, slower));
    turns.push_back(plain / factor * slower + plain * (1 - slower));
  }
  return turns;
}

TEST(TransformerRope, YarnsRampIsThatOfItsAuthors) {
  const auto model =
      read(R"("rope_theta": 1000000, "head_dim": 128, "max_position_embeddings": 32768,
      "rope_scaling": {"type": "yarn", "factor": 4.0})");
  ASSERT_TRUE(model) << model.error().context;
  EXPECT_EQ(model->rope.positions, 32768U);
  const auto turns = turns_by_token(model->rope, model->theta, 128);
  const auto wanted = yarn_turns(128, 1e6, 4, 32768, 32, 1);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_NEAR(turns[i], wanted[i], 1e-12 * wanted[i]) << i;
  EXPECT_EQ(turns[0], 1);
  EXPECT_NEAR(turns[63] * 4, std::pow(1e6, -126.0 / 128), 1e-18);
  // Cosines and sines grow, scores of heads do not by themselves.
  EXPECT_DOUBLE_EQ(amplitude(model->rope), 0.1 * std::log(4.0) + 1);
  EXPECT_DOUBLE_EQ(model->score_scale(), 1 / std::sqrt(128.0));
}

TEST(TransformerRope, AnyRampIsThatOfItsAuthors) {
  std::mt19937_64 random(48);
  const auto from = [&](double least, double most) {
    return std::uniform_real_distribution<>(least, most)(random);
  };
  for (int i = 0; i < 2000; ++i) {
    RopeScaling scaling;
    scaling.kind = RopeKind::kYarn;
    scaling.factor = from(1, 64);
    scaling.positions = 1U << static_cast<unsigned>(from(8, 18));
    scaling.fast = from(2, 40), scaling.slow = from(0.5, 2);
    const std::uint64_t turned = 2 * static_cast<std::uint64_t>(from(8, 129));
    const double theta = from(5e3, 2e6);
    const auto turns = turns_by_token(scaling, theta, turned);
    const auto wanted =
        yarn_turns(turned, theta, scaling.factor, static_cast<double>(scaling.positions),
                   scaling.fast, scaling.slow);
    ASSERT_EQ(turns.size(), turned / 2);
    for (std::size_t pair = 0; pair < turns.size(); ++pair) {
      ASSERT_NEAR(turns[pair], wanted[pair], 1e-9 * wanted[pair])
          << "pair " << pair << " of " << turned << ", theta " << theta << ", positions "
          << scaling.positions << ", fast " << scaling.fast << ", slow " << scaling.slow;
    }
  }
}

// DeepSeek-V3's code has the scale 0.1352337788608801 of scores, and sizes that cancel out.
TEST(TransformerRope, ScoresOfALatentCacheHaveASizeOfTheirOwn) {
  const auto model = read(R"("q_lora_rank": 32, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
      "qk_rope_head_dim": 64, "v_head_dim": 128, "rope_scaling": {"beta_fast": 32, "beta_slow": 1,
      "factor": 40, "mscale": 1.0, "mscale_all_dim": 1.0,
      "original_max_position_embeddings": 4096, "type": "yarn"})");
  ASSERT_TRUE(model) << model.error().context;
  EXPECT_NEAR(model->score_scale(), 0.1352337788608801, 1e-15);
  EXPECT_EQ(amplitude(model->rope), 1);
  const auto wanted = yarn_turns(64, 1e4, 40, 4096, 32, 1);
  const auto turns = turns_by_token(model->rope, model->theta, model->turned());
  ASSERT_EQ(turns.size(), 32U);
  for (std::size_t i = 0; i < 32; ++i) EXPECT_NEAR(turns[i], wanted[i], 1e-12 * wanted[i]);
  EXPECT_DOUBLE_EQ(read_model("deepseek-v3")->score_scale(), model->score_scale());
}

TEST(TransformerRope, TablesHaveTheAnglesAndTheSize) {
  const auto model = read(R"("rope_parameters": {"rope_type": "linear", "factor": 4,
      "rope_theta": 1000})");
  ASSERT_TRUE(model) << model.error().context;
  Model yarn = *model;
  yarn.rope.kind = RopeKind::kYarn, yarn.rope.positions = 8, yarn.rope.given_size = 1.5;
  yarn.rope.fast = 0.75, yarn.rope.slow = 0.5;
  const auto table = [](const Model& of) { return random_model(of, DataType::kFp32, 0, 8, 1); };
  const auto linear = table(*model), sized = table(yarn);
  for (std::uint64_t position = 0; position < 8; ++position) {
    for (std::uint64_t i = 0; i < 16; ++i) {
      const double angle = double(position) / 4 * std::pow(1000.0, -2.0 * double(i % 8) / 16);
      EXPECT_NEAR(linear.cos[position * 16 + i], std::cos(angle), 1e-6);
      EXPECT_NEAR(linear.sin[position * 16 + i], std::sin(angle), 1e-6);
    }
  }
  EXPECT_EQ(sized.cos[0], 1.5);
}

TEST(TransformerRope, WhatIsNotKnownIsRefusedByName) {
  const std::pair<std::string, const char*> cases[] = {
      {R"("rope_scaling": 8)", "config.json: rope_scaling: found 8; an object is wanted"},
      {R"("rope_scaling": {"factor": 8})", "rope_scaling.rope_type: it is missing"},
      {R"("rope_scaling": {"type": "dynamic", "factor": 8})",
       "rope_scaling.type: found 'dynamic'; allowed: default, linear, llama3, yarn"},
      {R"("rope_scaling": {"type": "linear"})", "rope_scaling.factor: it is missing"},
      {R"("rope_scaling": {"type": "linear", "factor": 0.5})", "rope_scaling.factor: it is less"},
      {R"("rope_scaling": {"type": "linear", "factor": "8"})", "rope_scaling.factor: found "},
      {R"("rope_scaling": {"type": "linear", "factor": 8, "attn_factor": 1})",
       "rope_scaling.attn_factor: rope_type linear has no such key"},
      {R"("rope_scaling": {"type": "default", "mrope_section": [16, 24, 24]})",
       "rope_scaling.mrope_section: rope_type default has no such key"},
      {R"("rope_scaling": {"rope_type": "llama3", "factor": 8})",
       "rope_scaling.original_max_position_embeddings: it is missing"},
      {R"("rope_scaling": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 4,
          "high_freq_factor": 4, "original_max_position_embeddings": 8192})",
       "rope_scaling.high_freq_factor: it is not more than low_freq_factor"},
      {R"("rope_scaling": {"rope_type": "yarn", "factor": 8})",
       "config.json: max_position_embeddings: it is missing"},
      {R"("rope_scaling": {"rope_type": "yarn", "factor": 8, "beta_fast": 0.5,
          "original_max_position_embeddings": 8192})",
       "rope_scaling.beta_fast: it is less than beta_slow"},
      {R"("rope_parameters": {"rope_type": "default", "rope_theta": 1})",
       "rope_parameters.rope_theta: it is not more than 1"},
      {R"("rope_parameters": {"rope_type": "default"}, "rope_scaling": {"type": "default"})",
       "rope_scaling: rope_parameters is there, too"},
  };
  for (const auto& [text, told] : cases) {
    const auto model = read(text);
    ASSERT_FALSE(model) << text;
    EXPECT_THAT(model.error().context, HasSubstr(told));
  }
  EXPECT_TRUE(read(R"("rope_scaling": null)"));
  EXPECT_TRUE(read(R"("rope_parameters": {"rope_type": "default", "rope_theta": 10000.0})"));
}

}  // namespace
}  // namespace npu::workloads::transformer
