// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/kernel_launch.hpp"

#include <fmt/format.h>

namespace npu::workloads {

Status KernelLaunch::load(const std::string& program) {
  program_ = program;
  const auto image = session_.upload(program);
  if (!image) return forward_error(image);
  image_ = *image;
  return {};
}

Status KernelLaunch::set_arguments(ConstByteSpan words) {
  argument_bytes_ = static_cast<std::uint32_t>(words.size);
  const auto memory = session_.allocate(words.size);
  if (!memory) return forward_error(memory);
  arguments_ = *memory;
  return session_.write(arguments_, words);
}

void KernelLaunch::report_limits(const std::string& subject) {
  for (const auto& span : span_.blocks_span()) {
    limits_->report(subject, span.begin, span.end, context_);
  }
}

Status KernelLaunch::run(const driver::CoreMask& cores, std::uint32_t blocks, Picoseconds work,
                         std::uint64_t launches) {
  driver::QueueOptions options;
  options.core_mask = cores;
  options.preemptible = false;
  auto queue = session_.create_queue(options);
  if (!queue) return forward_error(queue);
  for (std::uint64_t i = 0; i < launches; ++i) {
    span_ = {};
    limits_.emplace();
    const TraceSession listening(context_.trace, span_);
    const TraceSession watching(context_.trace, *limits_);
    const auto entry = driver::entries::launch_image(abi::QueueOpcode::kLaunchAiCore, image_,
                                                     blocks, arguments_, argument_bytes_);
    auto ticket = (*queue)->submit(entry, deadline_of(context_));
    if (!ticket) return forward_error(ticket);
    auto end = (*queue)->wait(*ticket, driver::WaitPolicy::kPolling, deadline_of(context_, work));
    if (!end) {
      return fail(end.error().code, fmt::format("kernel {}: {}", program_, end.error().context));
    }
  }
  auto gone = session_.process().destroy(**queue, deadline_of(context_));
  return gone ? Status{} : forward_error(gone);
}

}  // namespace npu::workloads
