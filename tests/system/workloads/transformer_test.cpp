// SPDX-License-Identifier: Apache-2.0
// Transformers on the card: logits of every step are compared by the workload itself.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/system/workloads/simulated_run.hpp"

namespace npu::workloads {
namespace {

class Transformers : public WorkloadOnSimulator {
 protected:
  Transformers() {
    folder_ = std::filesystem::temp_directory_path() / "npumodel_XXXXXX";
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  // A small model of a kind, in a file.
  std::string model(const std::string& kind, const std::string& more = "") const {
    const std::string file = folder_ + "/config.json";
    std::ofstream(file) << R"({"model_type": ")" << kind << R"(", "hidden_size": 128,
      "num_hidden_layers": 3, "num_attention_heads": 8, "num_key_value_heads": 2, )"
                        << more << R"("intermediate_size": 352, "vocab_size": 504})";
    return "model=" + file;
  }

  std::string folder_;
};

TEST_F(Transformers, APromptAndTokensBehindItGiveTheLogitsOfPlainArithmetic) {
  run("transformer", {"tokens=130", "steps=3"}, {}, "910b2.yaml");
  EXPECT_EQ(digits("transformer.layers"), 2);
  EXPECT_GT(digits("transformer.ttft_us"), 0);
  EXPECT_GT(digits("transformer.tpot_us"), 0);
}

TEST_F(Transformers, HeadsMayHaveNormsAndSequencesMayBeSeveral) {
  run("transformer", {model("qwen3", R"("head_dim": 32, )"), "batch=3", "tokens=9", "steps=2"}, {},
      "910b2.yaml");
}

TEST_F(Transformers, ProductsMayHaveABias) {
  run("transformer", {model("qwen2"), "batch=2", "tokens=5", "steps=2", "dtype=float16"}, {},
      "910b2.yaml");
}

TEST_F(Transformers, TheNextGenerationGivesTheSame) {
  run("transformer", {"tokens=17", "steps=2"}, {}, "950pr.yaml");
}

// Sides of a card that are no multiples of a fractal's 16: 36 columns of out, 88 of down.
class TransformerWeights : public Transformers, public testing::WithParamInterface<const char*> {};

TEST_P(TransformerWeights, MayLieInRowsOrInFractals) {
  run("transformer",
      {model("qwen2", R"("head_dim": 18, )"), "tokens=5", "steps=2", "batch=2", "tensor_parallel=4",
       "overlap=2", std::string("weights=") + GetParam()},
      {}, "system-8x910b.yaml");
}
INSTANTIATE_TEST_SUITE_P(Layouts, TransformerWeights, testing::Values("nz", "rows"));

// Rows of 1600 columns are no whole lines of 256 bytes. Converted in front of the product, `down`
// takes longer than `gate_up`, which has twice as many weights.
TEST_F(Transformers, FractalsAreReadAsTheyLie) {
  const std::string file = folder_ + "/wide.json";
  std::ofstream(file) << R"({"hidden_size": 5120, "num_hidden_layers": 1, "num_attention_heads": 8,
      "head_dim": 64, "intermediate_size": 1600, "vocab_size": 504})";
  run("transformer",
      {"model=" + file, "phase=decode", "tokens=64", "steps=1", "batch=16", "weights=nz"},
      {"core.functional=false"}, "910c.yaml");
  EXPECT_LT(value("transformer.decode.down.card_us"),
            0.8 * value("transformer.decode.gate_up.card_us"));
}

// The head's matrix is the embedding, of which each card takes its part.
TEST_F(Transformers, EmbeddingsMayBeTied) {
  run("transformer",
      {model("llama", R"("tie_word_embeddings": true, )"), "tokens=5", "steps=2", "batch=2",
       "tensor_parallel=2"},
      {}, "system-2x910b2.yaml");
  // Of the embedding, of norms, and of half of a layer's matrices.
  const int layer = 2 * 128 + (4 + 2) * 16 * 128 + 128 * 64 + 352 * 128 + 128 * 176;
  EXPECT_EQ(digits("transformer.weight_bytes"), 2 * (504 * 128 + 128 + 3 * layer));
}

class TransformerRotation : public Transformers, public testing::WithParamInterface<const char*> {};

TEST_P(TransformerRotation, MayBeScaled) {
  run("transformer",
      {model("llama", std::string(R"("rope_scaling": {)") + GetParam() + "}, "), "tokens=130",
       "steps=2"},
      {}, "910b2.yaml");
}
INSTANTIATE_TEST_SUITE_P(
    Kinds, TransformerRotation,
    testing::Values(R"("rope_type": "linear", "factor": 2)",
                    R"("rope_type": "llama3", "factor": 8, "low_freq_factor": 1,
                       "high_freq_factor": 4, "original_max_position_embeddings": 64)",
                    R"("rope_type": "yarn", "factor": 4, "beta_fast": 8,
                       "original_max_position_embeddings": 64)"));

TEST_F(Transformers, AWindowMayHoldAllTokens) {
  run("transformer", {model("mistral", R"("sliding_window": 8, )"), "tokens=6", "steps=2"}, {},
      "910b2.yaml");
}

// With layers=sampled the second layer's time stands for that of all behind it.
TEST_F(Transformers, LayersBehindTheFirstTakeTheSameTime) {
  run("transformer", {model("qwen3", R"("head_dim": 64, )"), "tokens=64", "steps=4"},
      {"core.functional=false"}, "910b2.yaml");
  int seen = 0;
  for (const auto& table : report_.tables()) {
    if (table.title != "decode by layer" && table.title != "prefill by layer") continue;
    ASSERT_EQ(table.rows.size(), 3U);
    const double second = std::stod(table.rows[1][1]), third = std::stod(table.rows[2][1]);
    EXPECT_NEAR(third, second, 0.02 * second) << table.title;
    ++seen;
  }
  EXPECT_EQ(seen, 2);
}

TEST_F(Transformers, ASampleSaysHowManyLayersItHas) {
  run("transformer", {model("qwen2"), "tokens=8", "steps=1", "layers=sampled"},
      {"core.functional=false"}, "910b2.yaml");
  EXPECT_EQ(digits("transformer.layers"), 3);
  EXPECT_EQ(digits("transformer.simulated_layers"), 2);
}

TEST_F(Transformers, AModelThatTheHostCannotComputeIsRefused) {
  const auto status = attempt("transformer", {"model=llama-2-7b", "tokens=8"}, {}, "910b2.yaml");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().context, testing::HasSubstr("functional=off has the times"));
}

// The sums of all cards, and the logits that come together, are compared on each of them.
TEST_F(Transformers, TwoCardsGiveTheLogitsOfTheWholeModel) {
  run("transformer", {"tokens=33", "steps=2", "tensor_parallel=2"}, {}, "system-2x910b2.yaml");
  for (const std::string card : {"transformer.decode.card0.", "transformer.decode.card1."}) {
    // Two sums in each of two layers, and the logits.
    EXPECT_EQ(digits(card + "collectives"), 2 * 2 + 1);
    EXPECT_GT(value(card + "communication_us"), 0);
    // On one stream nothing is computed meanwhile.
    EXPECT_EQ(value(card + "hidden_us"), 0);
    EXPECT_EQ(digits(card + "exposed_us"), digits(card + "communication_us"));
    // A step is kernels, communication and what is neither; means of two steps are rounded.
    EXPECT_NEAR(value(card + "busy_us") + value(card + "exposed_us") + value(card + "gap_us"),
                value("transformer.decode.duration_us"), 3e-6);
  }
  EXPECT_NEAR(
      value("transformer.decode.allreduce.card_us") + value("transformer.decode.allgather.card_us"),
      value("transformer.decode.card0.communication_us"), 2e-6);
}

// Heads of keys and values are fewer than the cards; logits of several sequences are put in order.
TEST_F(Transformers, CardsMayShareHeadsOfKeysAndValues) {
  run("transformer", {model("qwen2"), "batch=3", "tokens=5", "steps=2", "tensor_parallel=4"}, {},
      "system-8x910b.yaml");
  EXPECT_EQ(digits("transformer.prefill.allreduce.launches"), 2 * 3);
  EXPECT_EQ(digits("transformer.prefill.allgather.launches"), 2);
}

// Heads of keys and values are half as many as the cards. Each algorithm gives the same sums.
class TransformersOfEightCards : public WorkloadOnSimulator,
                                 public testing::WithParamInterface<const char*> {};

TEST_P(TransformersOfEightCards, GiveTheLogitsOfTheWholeModel) {
  run("transformer",
      {"tokens=1", "steps=1", "positions=2", "tensor_parallel=8", "dtype=float16",
       std::string("algorithm=") + GetParam()},
      {}, "system-8x910b.yaml");
  EXPECT_EQ(digits("transformer.decode.card7.collectives"), 2 * 2 + 1);
}
INSTANTIATE_TEST_SUITE_P(Algorithms, TransformersOfEightCards, testing::Values("one_shot", "nhr"));

TEST_F(Transformers, SumsMayBeMadeBesideProducts) {
  run("transformer", {"tokens=130", "steps=1", "tensor_parallel=2", "overlap=3"}, {},
      "system-2x910b2.yaml");
  const std::string card = "transformer.prefill.card1.";
  EXPECT_EQ(digits(card + "collectives"), 2 * 2 * 3 + 1);
  EXPECT_GT(value(card + "hidden_us"), 0);
  EXPECT_NEAR(value(card + "hidden_us") + value(card + "exposed_us"),
              value(card + "communication_us"), 2e-6);
}

// Every step after the first has other arguments of attention; behind 128 tokens there is one page
// more.
TEST_F(Transformers, AGraphGivesTheSameLogitsWithLessOfTheHost) {
  run("transformer", {"tokens=126", "steps=4", "launch=graph"}, {}, "910b2.yaml");
  EXPECT_GT(value("transformer.decode.launches"), 30);
  // The prompt is launched operator by operator.
  EXPECT_LT(value("transformer.decode.host_us") / value("transformer.decode.launches"),
            value("transformer.prefill.host_us") / value("transformer.prefill.launches"));
}

TEST_F(Transformers, AGraphHasGapsForWhatAllCardsDo) {
  run("transformer", {"tokens=5", "steps=3", "tensor_parallel=2", "launch=graph"}, {},
      "system-2x910b2.yaml");
  EXPECT_EQ(digits("transformer.decode.card1.collectives"), 2 * 2 + 1);
  EXPECT_EQ(value("transformer.decode.card1.hidden_us"), 0);
}

TEST_F(Transformers, MoreCardsThanThereAreAreRefused) {
  const auto status = attempt("transformer", {"tensor_parallel=4"}, {}, "system-2x910b2.yaml");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(status.error().context, testing::HasSubstr("tensor_parallel=4: the machine has 2"));
}

}  // namespace
}  // namespace npu::workloads
