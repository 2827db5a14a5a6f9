// SPDX-License-Identifier: Apache-2.0
// The operators of a step of a card, in their order: what an inference engine launches one by one
// (docs/transformer.md). Between them stand the operations of all cards that a model is divided
// over.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/operators/call.hpp"
#include "npu/driver/collectives.hpp"
#include "workloads/transformer/memory.hpp"

namespace npu::workloads::transformer {

inline constexpr std::uint64_t kNoLayer = UINT64_MAX;  // before the first one, or behind the last

// Tokens to the cards of their experts, or what these make of them back.
struct TokenExchange {
  driver::ExpertShape shape;
  driver::DispatchTensors sent;
  std::optional<driver::CombineTensors> back;  // in place of `sent`
};

// Of all cards: an all-reduce (a sum), an all-gather of `count` elements of each, or an exchange of
// tokens.
struct Collective {
  driver::CollectiveOperation operation = driver::CollectiveOperation::kAllReduce;
  std::uint64_t from = 0, to = 0, count = 0;
  bool beside = false;  // what follows on the card does not wait for it
  bool last = true;     // but for this one and those before
  std::optional<TokenExchange> exchange = {};
};

struct Operation {
  const char* part;  // "qkv", "attention": what it is in the model
  std::uint64_t layer = kNoLayer;
  operators::OperatorCall call;          // of the card alone
  std::optional<Collective> collective;  // in place of it
  std::uint64_t operations = 0;          // multiplications and additions of products
};

// `model`: a card's part; `rank`: which one.
std::vector<Operation> operations_of(const Model& model, unsigned rank, DataType type,
                                     const StepShape& shape, const ModelMemory& memory,
                                     const StepMemory& step);

}  // namespace npu::workloads::transformer
