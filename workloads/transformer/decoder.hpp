// SPDX-License-Identifier: Apache-2.0
// A model on one card or several, step by step. Each card has a task of the host, as it would have
// a process. Logits are compared with those of the whole model.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "workloads/framework/context.hpp"
#include "workloads/transformer/division.hpp"
#include "workloads/transformer/rank.hpp"
#include "workloads/transformer/reference.hpp"

namespace npu::workloads::transformer {

class Decoder {
 public:
  // All must outlive it. `part`: of the model, what each of the cards has (division.hpp); they are
  // in the order of their ranks.
  struct Shapes {
    const Model& model;
    const Model& part;
  };
  Decoder(Context& context, const Shapes& shapes, const DecoderOptions& options,
          const std::vector<RankCard>& cards);

  // Memory, and weights where they are computed with. kOutOfMemory; kInvalidArgument: more weights
  // than the host should compute with.
  Status prepare();
  // `tokens` more tokens of each sequence, behind those of the steps before: at first those of the
  // seed, then those that came out. The times of each card. kWrongData: logits that are off by more
  // than roundings.
  Result<std::vector<StepTimes>> step(std::uint64_t tokens);
  // As if so many tokens had been computed.
  void pretend_cached(std::uint64_t tokens) { cached_ = tokens; }

  const Model& model() const { return model_; }  // of which all layers are simulated
  std::uint32_t card(std::size_t rank) const { return ranks_[rank]->card(); }
  Bytes weight_bytes() const { return ranks_.front()->weight_bytes(); }  // of a card
  Bytes cache_bytes() const { return ranks_.front()->cache_bytes(); }

 private:
  Status on_all_ranks(const std::function<Status(std::size_t rank)>& work);
  // `given`: of all sequences.
  Result<std::vector<StepTimes>> timed(const StepShape& shape,
                                       const std::vector<std::uint32_t>& given);
  std::uint64_t sequences() const { return options_.batch * part_.replicas; }
  // The first of those that a rank has.
  std::uint64_t first_sequence(std::size_t rank) const {
    return part_.replicas == 1 ? 0 : rank * options_.batch;
  }
  std::vector<std::uint32_t> next_tokens(std::uint64_t tokens) const;
  Result<std::vector<Choices>> common_choices(std::uint64_t rows);
  void take_rows(const std::vector<Choices>& from, const RowRange& rows,
                 std::vector<Choices>& to) const;
  // `all`: logits of all sequences.
  Status check(std::size_t rank, const Numbers& all) const;

  Context& context_;
  const Model& model_;
  const Model& part_;
  const DecoderOptions options_;
  std::vector<std::unique_ptr<DecoderRank>> ranks_;
  HostModel host_;  // of functional runs
  std::unique_ptr<ReferenceDecoder> reference_;
  std::uint64_t cached_ = 0;
  std::vector<std::uint32_t> chosen_;  // by the last step, of each sequence of all cards
};

}  // namespace npu::workloads::transformer
