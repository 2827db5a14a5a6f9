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
#include "workloads/programs/support/runtime_session.hpp"

namespace npu::workloads {
namespace programs::kernel_launch {
namespace {

constexpr const char* kTilings[] = {"none", "arguments", "constant",
                                    "runtime"};  // as platform::Tiling
static_assert(std::size(kTilings) == platform::kTilings);

struct Cores {
  driver::CoreMask mask{};
  std::uint32_t count = 0;
};

// All of one kind; a coupled core is of both.
Result<Cores> cores_of(Context& context) {
  auto runtime = RuntimeSession::open(context, {});
  if (!runtime) return forward_error(runtime);
  const unsigned clusters = (*runtime)->device().clusters();
  const unsigned each = (*runtime)->device().vector_cores();
  const bool vector = each != 0 && context.parameters.choice("cores") == "vector";
  Cores cores;
  cores.count = vector ? clusters * each : clusters;
  const unsigned first = vector ? clusters : 0;
  for (unsigned core = first; core < first + cores.count; ++core) {
    cores.mask[core / 64] |= std::uint64_t{1} << core % 64;
  }
  if (auto ok = (*runtime)->close(); !ok) return forward_error(ok);
  return cores;
}

struct Launched {
  MeasuredTime cold, warm;
  unsigned blocks;
};
constexpr Figure<Launched> kFigures[] = {{"cold_us", "us", from<&Launched::cold>},
                                         {"warm_us", "us", from<&Launched::warm>},
                                         {"blocks", "", from<&Launched::blocks>}};

class EmptyLaunch {
 public:
  EmptyLaunch(Context& context, QueueSession& session, const Cores& cores)
      : context_(context), session_(session), cores_(cores), launch_(context, session) {
    const auto& tiling = context.parameters.choice("tiling");
    const auto* const kind = std::find(std::begin(kTilings), std::end(kTilings), tiling);
    work_.set_up.tiling = static_cast<platform::Tiling>(kind - std::begin(kTilings));
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
    launch_.report_limits("launch");
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
  const Cores cores_;
  kernels::ready::Work work_;
  std::uint32_t blocks_ = 0;
  KernelLaunch launch_;
  MeasuredTime cold_, warm_;
};

Status run(Context& context) {
  auto cores = cores_of(context);
  if (!cores) return forward_error(cores);
  return run_launched<EmptyLaunch>(context, *cores);
}

}  // namespace
}  // namespace programs::kernel_launch

Workload kernel_launch() {
  return {
      "kernel_launch",
      "An empty kernel launched by itself: what a launch costs by what the kernel makes ready",
      {{"tiling",
        ParameterType::kChoice,
        "",
        "arguments",
        "where it has its sizes from: arguments, for which it makes nothing ready (none) or "
        "what generated kernels do; constants; or a structure in device memory",
        0,
        0,
        {std::begin(programs::kernel_launch::kTilings),
         std::end(programs::kernel_launch::kTilings)}},
       {"structure", ParameterType::kInteger, "", "512", "bytes of it beside the arguments", 0,
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
