// SPDX-License-Identifier: Apache-2.0
// Where the numbers of a transformer lie on the card.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "workloads/transformer/memory.hpp"

namespace npu::workloads::transformer {
namespace {

// No side is a multiple of a fractal's.
Model odd_model() {
  Model model = read_model("tiny-moe").value();
  model.hidden = 36, model.heads = 6, model.kv_heads = 2, model.head = 6, model.vocabulary = 20;
  model.experts.count = 3, model.experts.chosen = 2, model.experts.inner = 10;
  model.experts.shared_inner = 14, model.experts.shared_gated = true;
  return model;
}

// Memory of a card, by address.
class Card {
 public:
  Card(const Model& model, bool fractals, unsigned rank = 0) {
    const auto take = [this](Bytes bytes) -> Result<std::uint64_t> {
      next_ += bytes;
      return next_ - bytes;
    };
    memory = allocate_model(model, DataType::kBf16, {1, 1, 8, 8, fractals, rank}, take).value();
  }
  void write(const HostModel& host, const Model& model) {
    const auto put = [this](std::uint64_t to, DataType, const Numbers& from) -> Status {
      written[to] = from;
      return {};
    };
    ASSERT_TRUE(write_model(host, model, DataType::kBf16, memory, put));
  }

  ModelMemory memory;
  std::map<std::uint64_t, Numbers> written;

 private:
  std::uint64_t next_ = 64;
};

// In fractals of 16 x 16, which follow one another down the outputs, then to the next inputs.
void expect_fractals(const Numbers& found, const Numbers& rows, std::uint64_t matrices,
                     std::uint64_t outputs, std::uint64_t inputs) {
  const std::uint64_t down = (outputs + 15) / 16 * 16, across = (inputs + 15) / 16 * 16;
  ASSERT_EQ(found.size(), matrices * down * across);
  Numbers wanted(found.size());
  for (std::uint64_t at = 0; at < wanted.size(); ++at) {
    const std::uint64_t matrix = at / (down * across), place = at % (down * across);
    const std::uint64_t output = place / 16 % down, input = place / 16 / down * 16 + place % 16;
    if (output >= outputs || input >= inputs) continue;
    wanted[at] = rows[(matrix * outputs + output) * inputs + input];
  }
  EXPECT_EQ(found, wanted);
}

Numbers turned(const Numbers& rows, std::uint64_t matrices, std::uint64_t outputs,
               std::uint64_t inputs) {
  Numbers all;
  for (std::uint64_t matrix = 0; matrix < matrices; ++matrix) {
    for (std::uint64_t input = 0; input < inputs; ++input) {
      for (std::uint64_t output = 0; output < outputs; ++output) {
        all.push_back(rows[(matrix * outputs + output) * inputs + input]);
      }
    }
  }
  return all;
}

TEST(TransformerWeights, OfLinearLayersLieInFractals) {
  const Model model = odd_model();
  const auto host = random_model(model, DataType::kBf16, 1, 8, 1);
  Card card(model, true);
  card.write(host, model);
  const auto& at = card.memory.layers[0];
  const auto& from = host.layers[0];
  expect_fractals(card.written[at.qkv], from.qkv, 1, 60, 36);
  expect_fractals(card.written[at.out], from.out, 1, 36, 36);
  expect_fractals(card.written[at.gate_up], from.gate_up, 1, 28, 36);
  expect_fractals(card.written[at.router], from.router, 1, 3, 36);
  expect_fractals(card.written[at.shared_gate], from.shared_gate, 1, 1, 36);
  // Those of experts are turned.
  expect_fractals(card.written[at.expert_gate_up], turned(from.expert_gate_up, 3, 20, 36), 3, 36,
                  20);
  expect_fractals(card.written[at.expert_down], turned(from.expert_down, 3, 36, 10), 3, 10, 36);
  // What is gathered, normed or multiplied at the end does not.
  EXPECT_EQ(card.written[card.memory.embedding], host.embedding);
  EXPECT_EQ(card.written[card.memory.head], host.head);
  EXPECT_EQ(card.written[at.norm], from.norm);
}

TEST(TransformerWeights, DoNotOverlap) {
  for (const char* name : {"tiny", "tiny-moe", "tiny-mla"}) {
    for (const bool fractals : {false, true}) {
      const Model model = read_model(name).value();
      Card card(model, fractals);
      card.write(random_model(model, DataType::kBf16, 1, 8, 1), model);
      std::uint64_t end = 0;
      for (const auto& [to, numbers] : card.written) {
        EXPECT_GE(to, end) << name;
        end = to + 2 * numbers.size();
      }
    }
  }
}

TEST(TransformerWeights, MayLieInRows) {
  const Model model = odd_model();
  const auto host = random_model(model, DataType::kBf16, 1, 8, 1);
  Card card(model, false);
  card.write(host, model);
  EXPECT_EQ(card.written[card.memory.layers[0].expert_down], host.layers[0].expert_down);
  EXPECT_EQ(card.written[card.memory.layers[0].qkv], host.layers[0].qkv);
}

TEST(TransformerWeights, OfTheHeadMayBeTheEmbedding) {
  Model model = odd_model();
  const auto numbers = model.weights(1);
  model.tied = true, model.ranks = 2;
  EXPECT_EQ(model.weights(1), numbers - 20 * 36);
  const auto host = random_model(model, DataType::kBf16, 1, 8, 1);
  EXPECT_EQ(host.head, host.embedding);
  Card card(model, true, 1);
  card.write(host, model);
  // The second card has the second half of the words.
  EXPECT_EQ(card.memory.head, card.memory.embedding + 10 * 36 * 2);
  EXPECT_EQ(card.written.count(card.memory.head), 0U);
  EXPECT_EQ(card.written[card.memory.embedding], host.embedding);
}

}  // namespace
}  // namespace npu::workloads::transformer
