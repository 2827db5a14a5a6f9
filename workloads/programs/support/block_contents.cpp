// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/block_contents.hpp"

#include <algorithm>

namespace npu::workloads {
namespace {

constexpr Bytes kStaging = 4_MiB;

std::uint64_t window_seed(std::uint64_t tag, Bytes page) {
  return tag * 0x9E3779B97F4A7C15U + page;
}

}  // namespace

ParameterSpec window_parameter() {
  return {"window",
          ParameterType::kSize,
          "B",
          "4KiB",
          "bytes of every 2 MiB page that are written and compared; 2MiB: all of them",
          64,
          driver::kPageSize};
}

Result<BlockContents> BlockContents::make(Context& context, driver::Device& device,
                                          driver::StreamId stream, Bytes window) {
  auto staging = device.allocate_host(2 * std::max(kStaging / 2, window));
  if (!staging) return forward_error(staging);
  return BlockContents(context, device, stream, window, std::move(*staging));
}

// The windows of pages [first, end) of the block, between it and the first half of the staging.
Status BlockContents::copy_windows(driver::DeviceAddress address, Bytes first, Bytes end,
                                   bool to_device) {
  driver::Ticket last;
  for (Bytes page = first; page < end; ++page) {
    const auto here = address + page * driver::kPageSize;
    const auto there = staging_->bus() + (page - first) * window_;
    const auto command = to_device ? driver::DmaCommand::host_to_device(there, here, window_)
                                   : driver::DmaCommand::device_to_host(here, there, window_);
    const auto ticket = device_->submit(stream_, command);
    if (!ticket) return forward_error(ticket);
    last = *ticket;
  }
  return device_->wait(last, driver::WaitPolicy::kAdaptive, deadline_of(*context_));
}

Status BlockContents::write(driver::DeviceAddress address, Bytes size, std::uint64_t tag) {
  const Bytes pages = size / driver::kPageSize;
  for (Bytes first = 0; first < pages; first += batch()) {
    const Bytes end = std::min(pages, first + batch());
    for (Bytes page = first; page < end; ++page) {
      fill_pattern(staging_->cpu().subspan((page - first) * window_, window_),
                   window_seed(tag, page));
    }
    if (auto ok = copy_windows(address, first, end, true); !ok) return ok;
  }
  return {};
}

Status BlockContents::check(driver::DeviceAddress address, Bytes size, std::uint64_t tag) {
  const Bytes pages = size / driver::kPageSize;
  const auto expected = staging_->cpu().subspan(staging_->size() / 2, window_);
  for (Bytes first = 0; first < pages; first += batch()) {
    const Bytes end = std::min(pages, first + batch());
    if (auto ok = copy_windows(address, first, end, false); !ok) return ok;
    for (Bytes page = first; page < end; ++page) {
      fill_pattern(expected, window_seed(tag, page));
      auto same = check_equal(expected, staging_->cpu().subspan((page - first) * window_, window_),
                              "page " + std::to_string(page) + " of block " + std::to_string(tag));
      if (!same) return same;
    }
  }
  return {};
}

}  // namespace npu::workloads
