// SPDX-License-Identifier: Apache-2.0
// The launcher: operators' kernels on an execution stream of a process. Launches of one run follow
// one another, whatever cores they are for.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "npu/driver/staged_copies.hpp"
#include "npu/jit/kernel.hpp"
#include "npu/operators/operator_stream.hpp"
#include "npu/platform/time.hpp"

namespace npu::operators {

struct CardCores {
  // `vectors_per_cluster`: 0 on cards of coupled cores, which are both kinds.
  static CardCores of(unsigned clusters, unsigned vectors_per_cluster, const CoreLimits& limits);

  std::array<driver::CoreMask, 3> mask{};  // by CoreKind
  std::array<std::uint32_t, 3> count{};
  CoreLimits limits;
};

struct LauncherOptions {
  CardCores cores;
  Picoseconds timeout = 60'000'000_us;  // simulated, for one run
};

class Launcher final : public OperatorStream {
 public:
  // All must outlive it. Errors are those of queues and memory of the process.
  static Result<std::unique_ptr<Launcher>> open(driver::ProcessContext& process,
                                                platform::Clock& clock,
                                                const LauncherOptions& options);
  ~Launcher() override;
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  // The kernel's image into device memory, once. kInvalidArgument: it needs more than kImageBytes.
  Status upload(const jit::Kernel& kernel);
  // The kernel's host entry. Returns when the last doorbell has rung. kUnsupported: the operator
  // refused, the context is its reason; kOutOfMemory: no workspace; what a submission says.
  // It follows the runs before it, whether they have been waited for or not; behind one that a
  // wait() has given up the stream is made anew.
  Status run(const jit::Kernel& kernel, std::uint32_t block_num, const void* params);
  // Until the last launch of all runs has ended. kDeviceFault, kTimeout.
  Status wait();
  // Stream and memory are given back; nothing may be running.
  Status close();

  // Where its launches are, for entries of others between them; made anew by upload() behind a
  // wait() that has given up.
  driver::ExecutionStream& stream() { return *stream_; }
  // From now on launches go to `take` instead; empty: to the stream again. Its errors are the
  // run's.
  using Capture = std::function<Status(const driver::KernelLaunch& launch)>;
  void capture(Capture take) { capture_ = std::move(take); }
  // Where the memory is that operators work in; another place once they need more.
  driver::DeviceAddress workspace_at() const { return workspace_; }
  // The cores of its stream, by driver::LaunchCores.
  std::array<driver::CoreMask, driver::kLaunchCores> masks() const;

  // Of the last run.
  // When workspace() and launch() began and ended, in order.
  const std::vector<std::pair<Instant, Instant>>& calls() const { return calls_; }
  Bytes workspace_bytes() const { return workspace_asked_; }
  unsigned launches() const { return launches_; }

  // OperatorStream
  std::uint32_t cores(CoreKind kind) const override;
  CoreLimits limits() const override { return options_.cores.limits; }
  void refuse(const char* reason) override;
  std::uint64_t workspace(std::uint64_t bytes) override;
  void launch(CoreKind kind, std::uint32_t blocks, const std::uint64_t* words,
              std::uint32_t count) override;

 private:
  Launcher(driver::ProcessContext& process, platform::Clock& clock, const LauncherOptions& options)
      : process_(process), clock_(clock), options_(options) {}

  Status open_resources();
  Status open_stream();
  Status submit(CoreKind kind, std::uint32_t blocks, const std::uint64_t* words,
                std::uint32_t count);
  Status give_workspace(Bytes bytes);
  Status free_workspace();
  Instant deadline() const { return clock_.now() + options_.timeout; }

  driver::ProcessContext& process_;
  platform::Clock& clock_;
  const LauncherOptions options_;
  std::optional<driver::ArgumentPool> arguments_;
  std::unique_ptr<driver::ExecutionStream> stream_;
  Capture capture_;                               // empty: launches go to the stream
  bool failed_ = false;                           // something in the stream does not end
  std::unique_ptr<driver::StagedCopies> copies_;  // of images
  driver::DeviceAddress workspace_;
  Bytes workspace_size_ = 0;
  std::map<std::string, std::shared_ptr<const driver::KernelModule>> modules_;  // by key

  // Of the run.
  std::shared_ptr<const driver::KernelModule> module_;
  std::optional<Error> error_;
  unsigned launches_ = 0;
  Bytes workspace_asked_ = 0;
  std::vector<std::pair<Instant, Instant>> calls_;
};

}  // namespace npu::operators
