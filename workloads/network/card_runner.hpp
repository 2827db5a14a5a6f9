// SPDX-License-Identifier: Apache-2.0
// Steps on a card: kernels, AICPU programs, copies and fills go to one execution stream, one behind
// the other. The host waits where it reads a tensor, where it is kMostAhead steps ahead, and where
// memory is short.
#pragma once

#include <array>
#include <functional>
#include <memory>

#include "kernels/operators/runner.hpp"
#include "workloads/network/memory_pool.hpp"
#include "workloads/network/staging.hpp"
#include "workloads/network/steps.hpp"

namespace npu::network {

// What it runs on, which outlives it.
struct Card {
  platform::Platform& platform;
  driver::ProcessContext& process;
  operators::OperatorRunner& runner;
  operators::Launcher& launcher;
};
struct CardOptions {
  // The program firmware/tensors, for the first step that needs it.
  std::function<Result<ConstByteSpan>()> aicpu_program;
  // The kernel of a call; empty: OperatorRunner::find().
  std::function<Result<jit::Loaded>(const operators::OperatorCall&)> find = {};
  jit::Interrupted interrupted = {};
};

class CardRunner final : public StepRunner {
 public:
  static constexpr std::size_t kMostAhead = 64;

  // Errors are those of Staging::open().
  static Result<std::unique_ptr<CardRunner>> open(const Card& card, CardOptions options);
  // Waits: the card may be reading memory that is given back here.
  ~CardRunner() override;
  CardRunner(const CardRunner&) = delete;
  CardRunner& operator=(const CardRunner&) = delete;

  Result<std::shared_ptr<CardMemory>> allocate(Bytes size) override;
  Status write(driver::DeviceAddress to, ConstByteSpan from) override;
  Status fill_zeros(driver::DeviceAddress at, Bytes size) override;
  Status read(driver::DeviceAddress from, ByteSpan to) override;
  Status run(const operators::OperatorCall& call) override;
  Status run(const abi::TensorWork& work) override;
  void compute(std::uint64_t instructions) override;
  std::uint64_t ended() const override { return ended_; }

  // Until all steps have ended. Errors: Launcher::wait().
  Status wait();
  // Whenever the host has waited for the card since begin_waits().
  const std::vector<operators::KernelSpan>& waits() const { return waits_.all(); }
  void begin_waits() { waits_ = {}; }
  // Multiplications and additions of products and attention, so far, by platform::DataType.
  const std::array<std::uint64_t, 6>& operations() const { return operations_; }
  // Instructions of nodes on the host, so far.
  std::uint64_t computed() const { return computed_; }
  MemoryPool& memory() { return memory_; }

 private:
  CardRunner(const Card& card, CardOptions options)
      : card_(card), options_(std::move(options)), memory_(card.process.space()) {}

  Status load_aicpu_image();
  Status submit(const abi::QueueEntry& entry);
  Status follow();
  void count_ended();
  // An error of the stream, with what the card says of it.
  Status explained(Status status);

  const Card card_;
  const CardOptions options_;
  std::unique_ptr<Staging> staging_;
  MemoryPool memory_;
  std::shared_ptr<CardMemory> aicpu_image_;
  std::array<driver::StreamMark, kMostAhead> marks_;  // of the last steps, in a ring
  std::size_t steps_ = 0, ended_ = 0;
  std::uint64_t computed_ = 0;
  std::array<std::uint64_t, 6> operations_{};
  operators::Spans waits_;
};

}  // namespace npu::network
