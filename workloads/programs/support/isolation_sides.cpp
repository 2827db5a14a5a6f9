// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/isolation_sides.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "npu/abi/layout.hpp"
#include "workloads/programs/support/card_session.hpp"

namespace npu::workloads {

namespace {

constexpr Bytes kCopy = IsolationSide::kBytes;

}  // namespace

Result<std::unique_ptr<IsolationSide>> IsolationSide::open(Context& context,
                                                           const driver::VirtualDevice& made,
                                                           std::uint64_t seed) {
  std::unique_ptr<IsolationSide> side(new IsolationSide(context, made));
  auto device = driver::Device::open(context.platform, *made.bdf);
  if (!device) return forward_error(device);
  side->device_ = std::move(*device);
  auto process = driver::ProcessContext::open(*side->device_);
  if (!process) return forward_error(process);
  side->process_ = std::move(*process);
  auto host = side->process_->allocate_host(kBytes);
  if (!host) return forward_error(host);
  side->host_ = std::move(*host);
  auto back = side->process_->allocate_host(kBytes);
  if (!back) return forward_error(back);
  side->back_ = std::move(*back);
  auto registers = context.platform.map_bar(*made.bdf, abi::kRegisterBar, 0, abi::kMsixPbaOffset,
                                            platform::Caching::kUncached);
  if (!registers) return forward_error(registers);
  side->registers_ = std::move(*registers);
  if (auto filled = side->fill(seed); !filled) return forward_error(filled);
  return side;
}

Status IsolationSide::fill(std::uint64_t seed) {
  for (auto* memory : {&memory_, &scratch_}) {
    const auto allocated = device_->allocate(kBytes);
    if (!allocated) return forward_error(allocated);
    *memory = *allocated;
  }
  const auto stream = device_->create_stream();
  if (!stream) return forward_error(stream);
  stream_ = *stream;
  fill_pattern(host_->cpu(), seed);
  return device_->copy(stream_,
                       driver::DmaCommand::host_to_device(host_->bus(), memory_.address, kBytes),
                       driver::WaitPolicy::kPolling, deadline_of(context_));
}

Result<std::unique_ptr<platform::MmioRegion>> IsolationSide::window(Bytes offset) {
  return context_.platform.map_bar(*made_.bdf, abi::kMemoryBar, offset, 4_KiB,
                                   platform::Caching::kUncached);
}

Status IsolationSide::must_fault(const abi::QueueEntry& entry, abi::FaultCode expected) {
  auto queue = process_->create_queue();
  if (!queue) return forward_error(queue);
  const auto ticket = (*queue)->submit(entry, deadline_of(context_));
  if (!ticket) return forward_error(ticket);
  const auto waited = (*queue)->wait(*ticket, driver::WaitPolicy::kPolling, deadline_of(context_));
  if (waited) return fail(ErrorCode::kWrongData, "it went through");
  if (waited.error().code != ErrorCode::kDeviceFault) return waited;
  if (auto told = process_->wait_fault(deadline_of(context_)); !told) return told;
  for (const auto& fault : process_->take_faults()) {
    if (fault.code == expected) continue;
    return fail(ErrorCode::kWrongData,
                fmt::format("fault {}, expected {}", to_string(fault.code), to_string(expected)));
  }
  const auto ended = process_->destroy(**queue, deadline_of(context_));
  return ended ? Status{} : forward_error(ended);
}

Status IsolationSide::must_fault(const driver::DmaCommand& command) {
  const auto stream = device_->create_stream();
  if (!stream) return forward_error(stream);
  const auto copied =
      device_->copy(*stream, command, driver::WaitPolicy::kPolling, deadline_of(context_));
  if (copied) return fail(ErrorCode::kWrongData, "it went through");
  if (copied.error().code != ErrorCode::kDeviceFault) return copied;
  const auto fault = device_->take_fault();
  if (!fault) return forward_error(fault);
  if (!*fault) return fail(ErrorCode::kWrongData, "no fault was told");
  return device_->destroy_stream(*stream, deadline_of(context_));
}

Result<Picoseconds> IsolationSide::median_copy(unsigned copies) {
  auto& clock = context_.platform.clock();
  std::vector<Picoseconds> times;
  for (unsigned i = 0; i < copies; ++i) {
    const Instant called = clock.now();
    const auto copied = device_->copy(
        stream_, driver::DmaCommand::host_to_device(host_->bus(), scratch_.address, kCopy),
        driver::WaitPolicy::kPolling, deadline_of(context_));
    if (!copied) return forward_error(copied);
    times.push_back(clock.now() - called);
    // Not in step with whatever repeats.
    clock.sleep_until(clock.now() + 1_us + 137_ns * (i % 7));
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

Status IsolationSide::check_untouched() {
  const auto fault = device_->take_fault();
  if (!fault) return forward_error(fault);
  if (*fault || !process_->take_faults().empty()) {
    return fail(ErrorCode::kWrongData, "the victim was told of a fault");
  }
  const auto read = driver::DmaCommand::device_to_host(memory_.address, back_->bus(), kBytes);
  if (auto ok = device_->copy(stream_, read, driver::WaitPolicy::kPolling, deadline_of(context_));
      !ok) {
    return ok;
  }
  return check_equal(host_->cpu(), back_->cpu(), "the victim's memory");
}

Status IsolationSide::close() {
  registers_.reset();
  host_.reset();
  back_.reset();
  if (auto closed = process_->close(); !closed) return closed;
  process_.reset();
  return device_->shutdown();
}

}  // namespace npu::workloads
