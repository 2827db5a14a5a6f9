// SPDX-License-Identifier: Apache-2.0
// A card's part of a model, step by step: inputs written, operators launched one behind the other,
// the tokens that come out read. What all cards do together is in the order of the card's stream.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/operators/launcher/launch_times.hpp"
#include "kernels/operators/runner.hpp"
#include "npu/driver/collectives.hpp"
#include "workloads/framework/context.hpp"
#include "workloads/programs/support/queue_session.hpp"
#include "workloads/transformer/memory.hpp"
#include "workloads/transformer/reference.hpp"
#include "workloads/transformer/step.hpp"
#include "workloads/transformer/step_graph.hpp"
#include "workloads/transformer/step_times.hpp"

namespace npu::workloads::transformer {

struct DecoderOptions {
  DataType type = DataType::kBf16;
  std::uint64_t batch = 1;
  std::uint64_t layers = 0;          // that are simulated
  std::uint64_t positions = 1;       // tokens of a sequence at most
  std::uint64_t largest_tokens = 1;  // new ones of a sequence in a step
  std::uint64_t pieces = 1;          // StepShape::pieces
  bool graph = false;                // steps of one token run from a graph; then `pieces` is 1
  bool fractals = true;              // ModelMemory::fractals
};

// What a rank works with.
struct RankCard {
  std::uint32_t card = 0;  // its index
  QueueSession& session;
  operators::OperatorRunner& runner;
  operators::Launcher& launcher;
  unsigned rank = 0;
  driver::Communicator* communicator = nullptr;  // null: one card alone
  // For operations of all cards beside those of the card, and where its records go.
  driver::ExecutionStream* side = nullptr;
  platform::BusAddress time;
};

class DecoderRank {
 public:
  // All must outlive it. `model`: its part.
  DecoderRank(Context& context, const Model& model, const DecoderOptions& options,
              const RankCard& card);

  // Memory for weights, caches and steps. Errors: those of memory and copies.
  Status prepare();
  // Its part of the weights.
  Status write(const HostModel& weights);
  // The experts of each row where nothing is computed: by the seed.
  Status write_choices();

  // The operators of the next step, their kernels on the card: an engine has warmed up.
  Status plan(const StepShape& shape);
  // The step. `given`: tokens of sequence after sequence. Errors: what the host's calls and the
  // card say.
  Status run(const StepShape& shape, const std::vector<std::uint32_t>& given,
             operators::LaunchTimes& times);
  // Of the step that has run, within `step`.
  StepTimes times_of(const operators::KernelSpan& step, const operators::LaunchTimes& times) const;
  // The tokens that it has read, one of each sequence; and from the card the logits, batch x
  // vocabulary.
  const std::vector<std::uint32_t>& chosen() const { return chosen_; }
  Result<std::vector<std::byte>> logits();
  // And the experts that `rows` rows have chosen, of each layer; of models without none.
  Result<std::vector<Choices>> choices(std::uint64_t rows);

  std::uint32_t card() const { return card_.card; }
  Bytes weight_bytes() const { return memory_.weight_bytes; }
  Bytes cache_bytes() const { return memory_.cache_bytes; }

 private:
  // An operation's entries in the host's submissions.
  struct Launched {
    std::size_t first = 0, end = 0;  // of LaunchTimes: entries of the card
    unsigned launches = 0;
    std::uint64_t wait = 0;  // of an operation of all cards: the cause of the entry that waits
    std::vector<std::uint64_t> causes = {};  // of launches from a graph
  };
  Result<std::uint64_t> allocate(Bytes bytes);
  Status write_words(std::uint64_t to, const std::vector<std::uint32_t>& words);
  Status write_inputs(const StepShape& shape, const std::vector<std::uint32_t>& tokens);
  bool from_graph(const StepShape& shape) const { return options_.graph && shape.tokens == 1; }
  Status launch(const operators::LaunchTimes& times);
  Status launch_graph(const operators::LaunchTimes& times);
  Result<Launched> launch(const Operation& operation);
  Result<Launched> collect(const Collective& collective, const operators::LaunchTimes& times);
  Result<driver::StreamMark> call(const Collective& collective, driver::ExecutionStream& stream);
  std::uint64_t cause_of(const driver::QueueTicket& ticket) const;
  Status follow(driver::ExecutionStream& later, driver::ExecutionStream& earlier);

  Context& context_;
  const Model& model_;
  const DecoderOptions options_;
  const RankCard card_;
  ModelMemory memory_;
  StepMemory step_;
  std::vector<Operation> operations_;
  std::vector<Launched> launched_;  // of each operation
  std::unique_ptr<StepGraph> graph_;
  operators::KernelSpan host_;  // from the first call of the last step to its last doorbell
  std::vector<std::uint32_t> chosen_;
};

}  // namespace npu::workloads::transformer
