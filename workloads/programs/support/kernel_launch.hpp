// SPDX-License-Identifier: Apache-2.0
// A kernel launched by itself on a stream, as those of kernel libraries are.
#pragma once

#include <optional>
#include <string>

#include "npu/driver/execution_stream.hpp"
#include "workloads/framework/launch_limits.hpp"
#include "workloads/programs/support/block_span.hpp"
#include "workloads/programs/support/queue_session.hpp"

namespace npu::workloads {

class KernelLaunch {
 public:
  KernelLaunch(Context& context, QueueSession& session) : context_(context), session_(session) {}

  // Both once and before run(): an embedded program (framework/program_images.hpp), which is
  // brought to the card, and the kernel's argument words, which go with each launch.
  Status load(const std::string& program);
  void set_arguments(ConstByteSpan words);
  // `blocks` blocks on the cores of the mask, `launches` times one after another: the next begins
  // when the last has been reported. Each is waited for as long as `work` takes at the worst and
  // the workload's timeout on top.
  Status run(const driver::CoreMask& cores, std::uint32_t blocks, Picoseconds work,
             std::uint64_t launches = 1);
  // Of the last launch: from the dispatch of its first block to the report of its last.
  const BlockSpan& span() const { return span_; }
  // Of the last launch: from the driver's submission until the waiter has seen its completion.
  const MeasuredTime& wall() const { return wall_; }
  // What bounded it, what it used, how far its duration may be from silicon; once.
  void report_limits(const MeasuredLaunches& launches);

 private:
  Context& context_;
  QueueSession& session_;
  driver::KernelLaunch launch_;
  std::string program_;
  BlockSpan span_;
  MeasuredTime wall_;
  std::optional<LaunchLimits> limits_;
};

// The AI Cores of a kind; coupled cores are of both.
struct CoresOfKind {
  driver::CoreMask mask{};
  std::uint32_t count = 0;
};
Result<CoresOfKind> cores_of(Context& context, driver::LaunchCores kind);

// "tiling": what a kernel makes ready. `doc`: of the parameter.
ParameterSpec tiling_parameter(const std::string& doc);
platform::Tiling tiling_of(const ParameterSet& parameters);

// A workload around one such kernel: `Work(context, session, cores)` with prepare(), launch(),
// check() and report().
template <class Work, class Cores>
Status run_launched(Context& context, const Cores& cores) {
  auto device = open_card(context);
  if (!device) return forward_error(device);
  auto session = QueueSession::open(context, **device);
  if (!session) return forward_error(session);
  Work work(context, **session, cores);
  if (auto ok = work.prepare(); !ok) return ok;
  if (auto ok = work.launch(); !ok) return ok;
  if (auto ok = work.check(); !ok) return ok;
  work.report();
  return (*session)->close();
}

}  // namespace npu::workloads
