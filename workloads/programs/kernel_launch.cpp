// SPDX-License-Identifier: Apache-2.0
// An empty kernel, launched by itself as libraries launch theirs: what a launch costs by what the
// kernel makes ready, with nothing of it in any cache and once more with all of it.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "kernels/device/shipped/ready.hpp"
#include "workloads/framework/figures.hpp"
#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/kernel_launch.hpp"

namespace npu::workloads {
namespace programs::kernel_launch {
namespace {

struct Launched {
  MeasuredTime cold, warm;
  unsigned blocks;
};
constexpr Figure<Launched> kFigures[] = {{"cold_us", "us", from<&Launched::cold>},
                                         {"warm_us", "us", from<&Launched::warm>},
                                         {"blocks", "", from<&Launched::blocks>}};

class EmptyLaunch {
 public:
  EmptyLaunch(Context& context, QueueSession& session, const CoresOfKind& cores)
      : context_(context), session_(session), cores_(cores), launch_(context, session) {
    work_.set_up.tiling = tiling_of(context.parameters);
    work_.set_up.pipe = context.parameters.flag("pipe");
    work_.set_up.mixed = context.parameters.flag("mixed");
    work_.bytes = context.parameters.integer("structure");
    const auto blocks = static_cast<std::uint32_t>(context.parameters.integer("blocks"));
    blocks_ = blocks == 0 ? cores.count : std::min(blocks, cores.count);
  }

  Status prepare() {
    if (auto ok = launch_.load("ready"); !ok) return ok;
    if (work_.set_up.tiling == platform::Tiling::kRunTime && work_.bytes != 0) {
      const std::vector<std::byte> structure(work_.bytes);
      auto at = session_.allocate(structure.size());
      if (!at) return forward_error(at);
      if (auto ok = session_.write(*at, {structure.data(), structure.size()}); !ok) return ok;
      work_.structure = at->value;
    }
    const auto words = to_words(work_);
    launch_.set_arguments({reinterpret_cast<const std::byte*>(words.data()), sizeof words});
    return {};
  }

  Status launch() {
    if (auto ok = run(cold_); !ok) return ok;
    return run(warm_);
  }
  Status check() { return {}; }

  void report() {
    report_figures(context_, "launch.", kFigures, {cold_, warm_, launch_.span().blocks()});
    launch_.report_limits({"launch", "launch.warm_us", ""});
    context_.report.add_note(
        "from the dispatch of the first block to the report of the last; cold: the first launch of "
        "the kernel; warm: the next one, limits are its");
  }

 private:
  Status run(MeasuredTime& time) {
    if (auto ok = launch_.run(cores_.mask, blocks_, Picoseconds{}); !ok) return ok;
    time = launch_.span().measured();
    return {};
  }

  Context& context_;
  QueueSession& session_;
  const CoresOfKind cores_;
  kernels::ready::Work work_;
  std::uint32_t blocks_ = 0;
  KernelLaunch launch_;
  MeasuredTime cold_, warm_;
};

Status run(Context& context) {
  const bool vector = context.parameters.choice("cores") == "vector";
  const auto cores =
      cores_of(context, vector ? driver::LaunchCores::kVector : driver::LaunchCores::kCube);
  if (!cores) return forward_error(cores);
  return run_launched<EmptyLaunch>(context, *cores);
}

}  // namespace
}  // namespace programs::kernel_launch

Workload kernel_launch() {
  return {
      "kernel_launch",
      "An empty kernel launched by itself: what a launch costs by what the kernel makes ready",
      {tiling_parameter(
           "where it has its sizes from: arguments, for which it makes nothing ready (none) or "
           "what generated kernels do; constants; or a structure in device memory"),
       {"structure", ParameterType::kInteger, "", "384", "bytes of it beside the arguments", 0,
        kernels::ready::kMostBytes},
       {"pipe", ParameterType::kFlag, "", "off", "queues and buffers as objects"},
       {"mixed", ParameterType::kFlag, "", "off", "a kernel of cube and vector cores"},
       {"cores", ParameterType::kChoice, "", "vector", "which run it", 0, 0, {"vector", "cube"}},
       {"blocks", ParameterType::kInteger, "", "0", "0: one on each core of the kind", 0, 256},
       card_parameter()},
      programs::kernel_launch::run,
      figure_rows(programs::kernel_launch::kFigures)};
}

}  // namespace npu::workloads
