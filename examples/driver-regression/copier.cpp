// SPDX-License-Identifier: Apache-2.0
#include "copier.hpp"

#include <utility>

using npu::Status;
using npu::driver::DmaCommand;

npu::Result<Copier> Copier::open(npu::platform::Platform& platform, npu::Bytes size) {
  Copier copier(platform, size);
  if (auto opened = copier.open_card(); !opened) return npu::forward_error(opened);
  return copier;
}

Status Copier::open_card() {
  auto device = npu::driver::Device::open_index(*platform_, 0);
  if (!device) return npu::forward_error(device);
  const auto stream = (*device)->create_stream();
  if (!stream) return npu::forward_error(stream);
  const auto memory = (*device)->allocate(size_);
  if (!memory) return npu::forward_error(memory);
  auto buffer = (*device)->allocate_host(size_);
  if (!buffer) return npu::forward_error(buffer);
  device_ = std::move(*device);
  buffer_ = std::move(*buffer);
  stream_ = *stream;
  memory_ = memory->address;
  return {};
}

void Copier::give_back() {
  buffer_.reset();
  if (device_) static_cast<void>(device_->free(memory_));  // one that is lost has nothing any more
  device_.reset();
}

Status Copier::begin(const DmaCommand& command) {
  const auto ticket = device_->submit(stream_, command);
  if (!ticket) return npu::forward_error(ticket);
  ticket_ = *ticket;
  return {};
}

Status Copier::begin_upload() {
  return begin(DmaCommand::host_to_device(buffer_->bus(), memory_, size_));
}

Status Copier::begin_download() {
  return begin(DmaCommand::device_to_host(memory_, buffer_->bus(), size_));
}

Status Copier::wait(npu::Picoseconds timeout) {
  return device_->wait(ticket_, npu::driver::WaitPolicy::kInterrupt,
                       platform_->clock().now() + timeout);
}

Status Copier::recover() {
  give_back();
  return open_card();
}
