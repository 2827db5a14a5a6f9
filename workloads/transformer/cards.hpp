// SPDX-License-Identifier: Apache-2.0
// The cards that a model is divided over: on each a process, a launcher of operators and its place
// among the ranks. Card number CARD, of the parameter, is rank 0, and those behind it follow.
#pragma once

#include <memory>
#include <vector>

#include "workloads/transformer/rank.hpp"

namespace npu::workloads::transformer {

class DecoderCards {
 public:
  // Both must outlive it. kInvalidArgument: the machine has fewer cards; kUnsupported: no machine
  // of a configuration. Errors of Device, ProcessContext, Launcher and Communicator.
  static Result<std::unique_ptr<DecoderCards>> open(Context& context, jit::KernelCache& cache,
                                                    unsigned ranks,
                                                    const driver::CommunicatorOptions& options);
  ~DecoderCards();
  DecoderCards(const DecoderCards&) = delete;
  DecoderCards& operator=(const DecoderCards&) = delete;

  std::vector<RankCard> ranks();
  Status close();

 private:
  struct Rank {
    std::uint32_t card = 0;
    std::unique_ptr<driver::Device> device;
    std::unique_ptr<QueueSession> session;
    std::unique_ptr<operators::Launcher> launcher;
    std::unique_ptr<operators::OperatorRunner> runner;
    // Of several.
    std::unique_ptr<driver::ArgumentPool> arguments;
    std::unique_ptr<driver::ExecutionStream> side;
    platform::DmaMemory* time = nullptr;
  };

  explicit DecoderCards(Context& context) : context_(context) {}
  // `found`: null for a rank alone.
  Status open(Rank& rank, jit::KernelCache& cache, const driver::ScanResult* found);
  Status open_side(Rank& rank);

  Context& context_;
  std::vector<Rank> ranks_;
  std::unique_ptr<driver::Communicator> communicator_;  // of several
};

}  // namespace npu::workloads::transformer
