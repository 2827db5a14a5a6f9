// SPDX-License-Identifier: Apache-2.0
// A model divided over cards: what each of them, a rank, has of it. With tensor parallelism a rank
// has a part of the heads, of the feed-forward part and of the vocabulary's logits, so that
// products `out` and `down` give sums of which it has one part. Of experts it has whole ones
// (expert parallelism), of which it may have columns. Embedding, norms, routers and what latent
// rows are made by are on all cards.
#pragma once

#include <cstdint>

#include "npu/base/result.hpp"
#include "npu/driver/expert_exchange.hpp"
#include "workloads/transformer/model.hpp"
#include "workloads/transformer/weights.hpp"

namespace npu::workloads::transformer {

// The shape of one rank's part. Ranks that are more than the heads of keys and values share those:
// each has one. Whole experts are divided over `expert_ranks`, columns of each over the ranks that
// have the same ones. `dispatched`: Experts::dispatched.
// kInvalidArgument: one line that says what cannot be divided.
Result<Model> part_of(const Model& model, std::uint64_t ranks, std::uint64_t expert_ranks = 1,
                      bool dispatched = false);
// The same where each of `replicas` cards has sequences of its own, and everything but experts,
// which are divided over them (data parallelism). Tokens are dispatched.
Result<Model> replica_of(const Model& model, std::uint64_t replicas);

// Of the rows of a rank's step, those that it sends to experts, if tokens are dispatched.
struct RowRange {
  std::uint64_t first = 0, count = 0;
};
RowRange rows_of_rank(const Model& part, std::uint64_t rows, std::uint64_t rank);
// The most that any rank sends of them.
std::uint64_t rows_of_any_rank(const Model& part, std::uint64_t rows);
// What is sent at once; `tokens` is not set. `element`: bytes.
driver::ExpertShape exchange_of(const Model& part, Bytes element, std::uint64_t rows);

// A rank's weights of those of the whole model. `part` is its shape.
HostModel weights_of(const HostModel& whole, const Model& model, const Model& part,
                     std::uint64_t rank);

}  // namespace npu::workloads::transformer
