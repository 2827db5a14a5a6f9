// SPDX-License-Identifier: Apache-2.0
#include "apps/dsmi/client/socket_machine.hpp"

#include <fmt/format.h>

#include "apps/dsmi/client/socket_channel.hpp"
#include "apps/dsmi/client/socket_devices.hpp"
#include "apps/dsmi/client/wall_host.hpp"
#include "npu/abi/layout.hpp"
#include "npu/abi/pci.hpp"
#include "npu/abi/registers.hpp"
#include "npu/base/shortened.hpp"

namespace npu::dsmi {
namespace {

using Channel = std::shared_ptr<SocketChannel>;

// A server that is gone reads as all ones, as a card does.
class SocketRegion : public platform::MmioRegion {
 public:
  SocketRegion(Channel channel, std::uint32_t card, Bytes size, bool is_memory)
      : channel_(std::move(channel)), card_(card), size_(size), is_memory_(is_memory) {}
  Bytes size() const override { return size_; }
  std::uint32_t read32(Bytes offset) override {
    return static_cast<std::uint32_t>(
        channel_->ask(Request::kRead4, card_, offset).value_or(~std::uint64_t{0}));
  }
  std::uint64_t read64(Bytes offset) override {
    const auto request = is_memory_ ? Request::kReadMemory : Request::kRead8;
    return channel_->ask(request, card_, offset).value_or(~std::uint64_t{0});
  }
  void write32(Bytes offset, std::uint32_t value) override {
    static_cast<void>(channel_->ask(Request::kWrite4, card_, offset, value));
  }
  void write64(Bytes offset, std::uint64_t value) override {
    static_cast<void>(channel_->ask(Request::kWrite8, card_, offset, value));
  }

 private:
  Channel channel_;
  const std::uint32_t card_;
  const Bytes size_;
  const bool is_memory_;
};

class SocketCard : public driver::ManagementAccess {
 public:
  SocketCard(const Channel& channel, std::uint32_t card, platform::Bdf bdf)
      : channel_(channel),
        card_(card),
        bdf_(bdf),
        registers_(channel, card, abi::kBar0Size, false) {}

  platform::Bdf bdf() const override { return bdf_; }
  platform::MmioRegion& registers() override { return registers_; }
  std::uint32_t read_config(std::uint32_t offset) override {
    return static_cast<std::uint32_t>(
        channel_->ask(Request::kReadConfig, card_, offset).value_or(abi::pci::kAllOnes));
  }
  // Who drives the card is outside this program, perhaps in a guest: its page tables say.
  Result<driver::MemoryUse> memory_use() override {
    const auto total = platform::read_register<abi::HbmSize>(registers_).raw;
    if (total == ~std::uint64_t{0}) return fail(ErrorCode::kDeviceLost, "the server is gone");
    SocketRegion memory(channel_, card_,
                        total + abi::kReservedTableOffset + abi::kReservedTableSize, true);
    const auto used = driver::mapped_bytes(registers_, memory);
    if (!used) return forward_error(used);
    return driver::MemoryUse{total, *used};
  }
  Result<std::vector<driver::CardProcess>> processes() override {
    return fail(ErrorCode::kUnsupported, "only its driver knows the card's processes");
  }

 private:
  Channel channel_;
  const std::uint32_t card_;
  const platform::Bdf bdf_;
  SocketRegion registers_;
};

}  // namespace

Result<Machine> socket_machine(const std::string& path) {
  auto channel = SocketChannel::open(path);
  if (!channel) return forward_error(channel);
  const auto cards = (*channel)->ask(Request::kHello, 0, 0, kProtocolVersion);
  if (!cards || *cards > MAX_DEVICE_COUNT) {
    return fail(ErrorCode::kIo,
                fmt::format("'{}': no management socket of this npusim", shortened(path)));
  }
  Machine machine;
  for (std::uint32_t i = 0; i < *cards; ++i) {
    const auto bdf = (*channel)->ask(Request::kFunction, i);
    if (!bdf) return fail(ErrorCode::kIo, "the server has gone");
    machine.cards.push_back(std::make_unique<SocketCard>(
        *channel, i, platform::Bdf::unpack(static_cast<std::uint32_t>(*bdf))));
  }
  machine.virtual_devices = std::make_shared<SocketDevices>(*channel);
  machine.clock = &wall_clock();
  machine.tasks = &wall_tasks();
  return machine;
}

}  // namespace npu::dsmi
