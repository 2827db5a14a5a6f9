// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/kernel_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace npu::workloads {

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
