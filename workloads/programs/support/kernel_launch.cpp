// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/kernel_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "workloads/programs/programs.hpp"
#include "workloads/programs/support/runtime_session.hpp"

namespace npu::workloads {
namespace {

const std::vector<std::string> kTilings{"none", "arguments", "constant", "runtime"};

}  // namespace

Result<CoresOfKind> cores_of(Context& context, driver::LaunchCores kind) {
  auto runtime = RuntimeSession::open(context, {});
  if (!runtime) return forward_error(runtime);
  const unsigned clusters = (*runtime)->device().clusters();
  const unsigned each = (*runtime)->device().vector_cores();
  if (auto ok = (*runtime)->close(); !ok) return forward_error(ok);
  const bool vector = each != 0 && kind == driver::LaunchCores::kVector;
  const unsigned first = vector ? clusters : 0;
  CoresOfKind cores;
  cores.count = std::min(vector ? clusters * each : clusters, driver::kMostCores - first);
  for (unsigned core = first; core < first + cores.count; ++core) {
    cores.mask[core / 64] |= std::uint64_t{1} << core % 64;
  }
  return cores;
}

ParameterSpec tiling_parameter(const std::string& doc) {
  return choice_parameter("tiling", "arguments", doc, kTilings);
}

platform::Tiling tiling_of(const ParameterSet& parameters) {
  const auto at = std::find(kTilings.begin(), kTilings.end(), parameters.choice("tiling"));
  return static_cast<platform::Tiling>(at - kTilings.begin());
}

Status KernelLaunch::load(const std::string& program) {
  program_ = program;
  const auto loaded = session_.module(program);
  return loaded ? Status{} : forward_error(loaded);
}

void KernelLaunch::set_arguments(ConstByteSpan words) {
  launch_.bytes = static_cast<std::uint32_t>(words.size);
  launch_.write = [kept = std::vector<std::byte>(words.data, words.data + words.size)](
                      ByteSpan host, driver::DeviceAddress) -> Status {
    std::copy(kept.begin(), kept.end(), host.data);
    return {};
  };
}

void KernelLaunch::report_limits(const MeasuredLaunches& launches) {
  for (const auto& span : span_.blocks_span()) {
    limits_->report(launches, span.begin, span.end, context_);
  }
}

Status KernelLaunch::run(const driver::CoreMask& cores, std::uint32_t blocks, Picoseconds work,
                         std::uint64_t launches) {
  driver::ExecutionStreamOptions options;
  options.cores[static_cast<std::size_t>(launch_.cores)] = cores;
  options.preemptible = false;
  options.wait = driver::WaitPolicy::kPolling;
  options.on_error = driver::StreamErrorMode::kStop;
  driver::ArgumentPool arguments(session_.process());
  auto stream = driver::ExecutionStream::open(session_.process(), arguments, options);
  if (!stream) return forward_error(stream);
  const auto loaded = session_.module(program_);
  if (!loaded) return forward_error(loaded);
  auto launch = launch_;  // its module must not outlive the session
  launch.module = *loaded;
  launch.blocks = blocks;
  for (std::uint64_t i = 0; i < launches; ++i) {
    span_ = {};
    limits_.emplace(context_);
    const TraceSession listening(context_.trace, span_);
    const TraceSession watching(context_.trace, *limits_);
    const auto begin = context_.platform.clock().now();
    const auto launched = (*stream)->launch(launch);
    if (!launched) return forward_error(launched);
    const auto ended = (*stream)->wait(deadline_of(context_, work));
    if (!ended) {
      return fail(ended.error().code,
                  fmt::format("kernel {}: {}", program_, ended.error().context));
    }
    const auto end = context_.platform.clock().now();
    wall_ = {end - begin, {{begin, end}}};
    limits_->ended(context_);
  }
  (*stream)->close(deadline_of(context_));
  return {};
}

}  // namespace npu::workloads
