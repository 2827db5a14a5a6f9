// SPDX-License-Identifier: Apache-2.0
#include "apps/demo/session.hpp"

#include <fmt/format.h>

#include "apps/demo/pattern.hpp"
#include "npu/abi/event.hpp"
#include "npu/abi/registers.hpp"
#include "npu/driver/scan.hpp"

namespace npu::demo {

using driver::DmaCommand;

Result<platform::Bdf> Session::choose() {
  if (options_.bdf) return *options_.bdf;
  const auto found = driver::scan(platform_);
  if (!found) return forward_error(found);
  if (!found->cards.empty()) return found->cards.front().bdf();
  std::string refused;
  for (const auto& refusal : found->refused) {
    refused += fmt::format("; {} refused: {}", to_string(refusal.bdf), refusal.error.message());
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("no card among {} functions{}", found->functions.size(), refused));
}

Status Session::open() {
  if (device_) return {};
  const auto bdf = choose();
  if (!bdf) return forward_error(bdf);
  driver::DeviceOptions options;
  options.ring = options_.ring;
  options.ready_timeout = options_.timeout;
  options.submit_timeout = options_.timeout;
  auto device = driver::Device::open(platform_, *bdf, options);
  if (!device) return forward_error(device);
  const auto stream = (*device)->create_stream();
  if (!stream) return forward_error(stream);
  auto registers = platform_.map_bar(*bdf, abi::kRegisterBar, 0, abi::kMsixTableOffset,
                                     platform::Caching::kUncached);
  if (!registers) return forward_error(registers);
  device_ = std::move(*device);
  stream_ = *stream;
  registers_ = std::move(*registers);
  options_.bdf = *bdf;  // the same card when it is opened again
  return {};
}

void Session::close() {
  registers_.reset();
  device_.reset();
}

Status Session::copy(const DmaCommand& command, driver::WaitPolicy policy) {
  return device_->copy(stream_, command, policy, deadline());
}

Result<std::uint64_t> Session::timed_copy(const DmaCommand& command, driver::WaitPolicy policy) {
  const auto begin = device_time();
  if (!begin) return forward_error(begin);
  if (auto ok = copy(command, policy); !ok) return forward_error(ok);
  const auto end = device_time();
  if (!end) return forward_error(end);
  if (*end <= *begin) {
    return fail(ErrorCode::kBadDevice,
                fmt::format("DEVICE_TIME was {} ns before a copy and {} after it", *begin, *end));
  }
  return *end - *begin;
}

Result<std::uint64_t> Session::device_time() {
  const auto time = read<abi::DeviceTime>().raw;
  if (time == ~std::uint64_t{0}) return fail(ErrorCode::kDeviceLost, "DEVICE_TIME is all ones");
  return time;
}

std::uint32_t Session::event_count(driver::EventId event) {
  return abi::EventRecord{registers_->read64(abi::event_register_offset(event.value))}.count();
}

Status Session::round_trip(std::uint64_t seed) {
  constexpr Bytes kSize = 8_KiB;
  const auto memory = device_->allocate(kSize);
  if (!memory) return forward_error(memory);
  const auto host = device_->allocate_host(2 * kSize);
  if (!host) return forward_error(host);
  fill_pattern((*host)->cpu().subspan(0, kSize), seed);
  fill_pattern((*host)->cpu().subspan(kSize, kSize), ~seed);
  const auto bus = (*host)->bus();
  if (auto ok = copy(DmaCommand::host_to_device(bus, memory->address, kSize)); !ok) return ok;
  if (auto ok = copy(DmaCommand::device_to_host(memory->address, bus + kSize, kSize)); !ok) {
    return ok;
  }
  if (auto ok = check_pattern((*host)->cpu().subspan(kSize, kSize), seed, "round trip"); !ok) {
    return ok;
  }
  return device_->free(memory->address);
}

}  // namespace npu::demo
