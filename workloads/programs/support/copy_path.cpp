// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/copy_path.hpp"

#include <vector>

#include "workloads/programs/support/card_session.hpp"

namespace npu::workloads {

Result<std::unique_ptr<CopyPath>> CopyPath::create(Context& context, driver::Device& device,
                                                   driver::StreamId stream,
                                                   abi::DmaOpcode direction, Bytes size,
                                                   Bytes window) {
  std::unique_ptr<CopyPath> path(new CopyPath(context, device, stream, direction));
  if (!path->from_host()) {
    auto memory = device.allocate(size);
    if (!memory) return forward_error(memory);
    path->source_ = *memory;
  }
  if (!path->to_host()) {
    auto memory = device.allocate(size);
    if (!memory) return forward_error(memory);
    path->destination_ = *memory;
  }
  if (path->from_host() || path->to_host()) {
    auto memory = device.allocate_host(size);
    if (!memory) return forward_error(memory);
    path->host_ = std::move(*memory);
  }
  auto memory = device.allocate_host(window);
  if (!memory) return forward_error(memory);
  path->window_ = std::move(*memory);
  return path;
}

CopyPath::~CopyPath() {
  // Nothing is in flight any more or the card is lost: an error here would tell nothing new.
  if (source_.size != 0) static_cast<void>(device_.free(source_.address));
  if (destination_.size != 0) static_cast<void>(device_.free(destination_.address));
}

driver::DmaCommand CopyPath::command(Bytes offset, Bytes size) const {
  if (from_host()) {
    return driver::DmaCommand::host_to_device(host_->bus() + offset, destination_.address + offset,
                                              size);
  }
  if (to_host()) {
    return driver::DmaCommand::device_to_host(source_.address + offset, host_->bus() + offset,
                                              size);
  }
  return driver::DmaCommand::device_to_device(source_.address + offset,
                                              destination_.address + offset, size);
}

Status CopyPath::move(const driver::DmaCommand& command) {
  return device_.copy(stream_, command, driver::WaitPolicy::kPolling, deadline_of(context_));
}

Status CopyPath::prepare(Bytes offset, Bytes size, std::uint64_t seed) {
  if (from_host()) {
    fill_pattern(host_->cpu().subspan(offset, size), seed);
    return {};
  }
  fill_pattern(window_->cpu().subspan(0, size), seed);
  return move(driver::DmaCommand::host_to_device(window_->bus(), source_.address + offset, size));
}

Status CopyPath::verify(Bytes offset, Bytes size, std::uint64_t seed, const std::string& what) {
  std::vector<std::byte> expected(size);
  fill_pattern({expected.data(), size}, seed);
  if (to_host()) {
    return check_equal({expected.data(), size}, host_->cpu().subspan(offset, size), what);
  }
  fill_pattern(window_->cpu().subspan(0, size), ~seed);  // so that old data cannot pass
  auto read_back =
      move(driver::DmaCommand::device_to_host(destination_.address + offset, window_->bus(), size));
  if (!read_back) return read_back;
  return check_equal({expected.data(), size}, window_->cpu().subspan(0, size), what);
}

}  // namespace npu::workloads
