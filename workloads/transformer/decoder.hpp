// SPDX-License-Identifier: Apache-2.0
// A model on a card, step by step: the host writes what a step needs, launches its operators one
// behind the other, and reads the tokens that come out.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/operators/launcher/launch_times.hpp"
#include "kernels/operators/runner.hpp"
#include "workloads/framework/context.hpp"
#include "workloads/framework/measurement.hpp"
#include "workloads/programs/support/queue_session.hpp"
#include "workloads/transformer/memory.hpp"
#include "workloads/transformer/reference.hpp"
#include "workloads/transformer/step.hpp"

namespace npu::workloads::transformer {

struct PartTimes {
  std::uint64_t launches = 0;
  Picoseconds card{};
};

// Of a step; or sums of several.
struct StepTimes {
  std::uint64_t launches = 0, operations = 0;
  Picoseconds duration{};  // from the first input that is written to the last token that is read
  Picoseconds host{};      // of it, from the first operator's call to the last one's doorbell
  Picoseconds card{};      // of kernels: from the first block's begin to the last one's end each
  Picoseconds busy{};      // of the card: kernels that overlap count once
  std::map<std::string, PartTimes> parts;
  std::vector<Picoseconds> layers;  // from the end of what came before to the end of its kernels

  void add(const StepTimes& other);
  Picoseconds last_layer() const { return layers.empty() ? Picoseconds{} : layers.back(); }
};

struct DecoderOptions {
  DataType type = DataType::kBf16;
  std::uint64_t batch = 1;
  std::uint64_t layers = 0;          // that are simulated
  std::uint64_t positions = 1;       // tokens of a sequence at most
  std::uint64_t largest_tokens = 1;  // new ones of a sequence in a step
};

class Decoder {
 public:
  struct Card {
    QueueSession& session;
    operators::OperatorRunner& runner;
    operators::Launcher& launcher;
  };
  // All must outlive it.
  Decoder(Context& context, const Model& model, const DecoderOptions& options, const Card& card);

  // Memory, and weights where they are computed with. kOutOfMemory; kInvalidArgument: more weights
  // than the host should compute with.
  Status prepare();
  // `tokens` more tokens of each sequence, behind those of the steps before: at first those of the
  // seed, then those that came out. kWrongData: logits that are off by more than roundings.
  Result<StepTimes> step(std::uint64_t tokens);
  // As if so many tokens had been computed.
  void pretend_cached(std::uint64_t tokens) { cached_ = tokens; }

  std::uint64_t layers() const { return options_.layers; }
  Bytes weight_bytes() const { return memory_.weight_bytes; }
  Bytes cache_bytes() const { return memory_.cache_bytes; }

 private:
  // An operator's entries in the host's submissions.
  struct Launched {
    std::size_t first = 0, end = 0;  // of LaunchTimes
    unsigned launches = 0;
  };
  Result<std::uint64_t> allocate(Bytes bytes);
  Status write_inputs(const StepShape& shape, const std::vector<std::uint32_t>& tokens);
  Status write_words(std::uint64_t to, const std::vector<std::uint32_t>& words);
  Result<StepTimes> timed(const StepShape& shape, const std::vector<std::uint32_t>& given,
                          std::vector<std::uint32_t>& chosen);
  Status upload(const std::vector<Operation>& operations);
  Status launch(const std::vector<Operation>& operations, const operators::LaunchTimes& times,
                std::vector<Launched>& launched);
  StepTimes times_of(const std::vector<Operation>& operations, const operators::LaunchTimes& times,
                     const std::vector<Launched>& launched) const;
  std::vector<std::uint32_t> next_tokens(std::uint64_t tokens) const;
  Status check(const std::vector<std::uint32_t>& tokens);

  Context& context_;
  const Model& model_;
  const DecoderOptions options_;
  const Card card_;
  ModelMemory memory_;
  StepMemory step_;
  HostModel host_;  // of functional runs
  std::unique_ptr<ReferenceDecoder> reference_;
  std::uint64_t cached_ = 0;
  std::vector<std::uint32_t> chosen_;  // by the last step, of each sequence
};

}  // namespace npu::workloads::transformer
