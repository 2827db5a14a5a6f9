// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/served_load.hpp"

#include "npu/driver/queue_entries.hpp"

namespace npu::test {
namespace {

std::uint32_t word(std::uint32_t pattern, Bytes at) {
  return pattern ^ static_cast<std::uint32_t>(at) * 2654435761U;
}

}  // namespace

Result<std::unique_ptr<ServedLoad>> ServedLoad::open(vfio_user::Client client) {
  std::unique_ptr<ServedLoad> load(new ServedLoad(std::move(client)));
  if (auto done = load->set_up(); !done) return forward_error(done);
  return load;
}

Status ServedLoad::set_up() {
  auto device = driver::Device::open(platform_, VfioUserPlatform::kCard);
  if (!device) return forward_error(device);
  device_ = std::move(*device);
  auto process = driver::ProcessContext::open(*device_);
  if (!process) return forward_error(process);
  process_ = std::move(*process);
  auto queue = process_->create_queue();
  if (!queue) return forward_error(queue);
  queue_ = std::move(*queue);
  for (auto* memory : {&there_, &back_}) {
    auto made = process_->allocate_host(kBytes);
    if (!made) return forward_error(made);
    *memory = std::move(*made);
  }
  const auto memory = process_->space().allocate(kBytes);
  if (!memory) return forward_error(memory);
  memory_ = memory->address;
  return {};
}

Status ServedLoad::run(const abi::QueueEntry& entry) {
  const auto deadline = platform_.clock().now() + 60_s;
  const auto ticket = queue_->submit(entry, deadline);
  if (!ticket) return forward_error(ticket);
  return queue_->wait(*ticket, driver::WaitPolicy::kInterrupt, deadline);
}

Result<bool> ServedLoad::still_has(std::uint32_t pattern) {
  for (Bytes at = 0; at < kBytes; at += 4) back_->store<std::uint32_t>(at, 0);
  if (auto done = run(driver::entries::copy_to_host(memory_, back_->bus(), kBytes)); !done) {
    return forward_error(done);
  }
  for (Bytes at = 0; at < kBytes; at += 4) {
    if (back_->load<std::uint32_t>(at) != word(pattern, at)) return false;
  }
  return true;
}

Status ServedLoad::round(std::uint32_t pattern) {
  for (Bytes at = 0; at < kBytes; at += 4) there_->store<std::uint32_t>(at, word(pattern, at));
  if (auto done = run(driver::entries::copy_to_device(there_->bus(), memory_, kBytes)); !done) {
    return done;
  }
  const auto same = still_has(pattern);
  if (!same) return forward_error(same);
  return *same ? Status() : fail(ErrorCode::kIo, "other bytes came back");
}

}  // namespace npu::test
