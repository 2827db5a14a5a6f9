// SPDX-License-Identifier: Apache-2.0
// A card behind `npusim serve` keeps the platform contract: the simulator once more, but through
// the vfio-user protocol and in wall time.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <random>

#include "npu/abi/pci.hpp"
#include "npu/abi/registers.hpp"
#include "npu/driver/device.hpp"
#include "npu/driver/process.hpp"
#include "npu/driver/queue_entries.hpp"
#include "tests/contract/contract_suite.hpp"
#include "tests/contract/served_card.hpp"
#include "tests/contract/vfio_user_platform.hpp"
#include "tests/support/folders.hpp"
#include "tests/support/matchers.hpp"

namespace npu::test {
namespace {

vfio_user::Client connect(const ServedCard& server) {
  auto client = vfio_user::Client::connect(server.socket());
  EXPECT_TRUE(client && client->negotiate()) << "cannot connect to " << server.socket();
  return client ? std::move(*client) : vfio_user::Client(-1);
}

class VfioUserEnvironment : public ContractEnvironment {
 public:
  platform::Platform& platform() override { return platform_; }
  std::optional<platform::Bdf> card() override { return VfioUserPlatform::kCard; }
  platform::Bdf absent() override { return {9, 3, 1}; }
  void run(const std::function<void()>& body) override { body(); }
  bool is_exact() const override { return false; }
  ServedCard& server() { return server_; }

 private:
  ServedCard server_{{"--config", source_dir() + "/configs/910b.yaml"}};
  VfioUserPlatform platform_{connect(server_)};
};

[[maybe_unused]] const bool kRegistered =
    register_contract_suite("VfioUser", [] { return std::make_unique<VfioUserEnvironment>(); });

class Served : public testing::Test {
 protected:
  void SetUp() override {
    auto device = must(driver::Device::open(environment_.platform(), VfioUserPlatform::kCard));
    device_ = std::move(device);
    auto stream = must(device_->create_stream());
    stream_ = stream;
  }
  Status copy(const driver::DmaCommand& command,
              driver::WaitPolicy policy = driver::WaitPolicy::kPolling) {
    return device_->copy(stream_, command, policy, environment_.platform().clock().now() + 10_s);
  }
  std::unique_ptr<platform::DmaMemory> host_memory(
      Bytes size, platform::DmaDirection direction = platform::DmaDirection::kBidirectional) {
    auto memory = device_->allocate_host(size, direction);
    EXPECT_THAT(memory, IsOk());
    return memory ? std::move(*memory) : nullptr;
  }

  VfioUserEnvironment environment_;
  std::unique_ptr<driver::Device> device_;
  driver::StreamId stream_{};
};

using driver::DmaCommand;
using driver::WaitPolicy;

TEST_F(Served, TheDriverCopiesThroughTheClientsMemory) {
  constexpr Bytes kSize = 300'000;
  const auto there = host_memory(kSize);
  const auto back = host_memory(kSize);
  const auto memory = must(device_->allocate(kSize));
  for (std::size_t i = 0; i < kSize; ++i) there->cpu().data[i] = std::byte(i * 7 + i / 251);
  ASSERT_THAT(
      copy(DmaCommand::host_to_device(there->bus(), memory.address, kSize), WaitPolicy::kInterrupt),
      IsOk());
  ASSERT_THAT(
      copy(DmaCommand::device_to_host(memory.address, back->bus(), kSize), WaitPolicy::kAdaptive),
      IsOk());
  EXPECT_EQ(std::memcmp(there->cpu().data, back->cpu().data, kSize), 0);
}

// A client's IOMMU tells no processes apart, and the card sends no PASIDs then.
TEST_F(Served, AComputeQueueCopiesThroughTheClientsMemory) {
  const auto deadline = environment_.platform().clock().now() + 10_s;
  const auto process = must(driver::ProcessContext::open(*device_));
  const auto there = process->allocate_host(64_KiB);
  const auto back = process->allocate_host(64_KiB);
  const auto memory = process->space().allocate(2_MiB);
  const auto queue = must(process->create_queue());
  std::memset((*there)->cpu().data, 0x77, 64_KiB);
  using namespace driver::entries;
  for (const auto& entry : {copy_to_device((*there)->bus(), memory->address, 64_KiB),
                            copy_to_host(memory->address, (*back)->bus(), 64_KiB)}) {
    const auto ticket = must(queue->submit(entry, deadline));
    ASSERT_THAT(queue->wait(ticket, WaitPolicy::kInterrupt, deadline), IsOk());
  }
  EXPECT_EQ(std::memcmp((*there)->cpu().data, (*back)->cpu().data, 64_KiB), 0);
}

TEST_F(Served, MemoryThatTheCardMayOnlyReadStaysAsItIs) {
  const auto memory = device_->allocate(64_KiB);
  const auto source = host_memory(64_KiB, platform::DmaDirection::kDeviceReads);
  std::memset(source->cpu().data, 0x5A, 64_KiB);
  const auto status = copy(DmaCommand::device_to_host(memory->address, source->bus(), 64_KiB));
  EXPECT_THAT(status, FailsWith(ErrorCode::kDeviceFault));
  EXPECT_EQ(source->cpu().data[0], std::byte{0x5A});
  EXPECT_EQ(source->cpu().data[64_KiB - 1], std::byte{0x5A});
  const auto fault = must(must(device_->take_fault()));
  EXPECT_EQ(fault.code, abi::FaultCode::kHostPermission);
}

TEST_F(Served, MemoryThatIsNotMappedAnyMoreStaysAsItIs) {
  const auto memory = device_->allocate(64_KiB);
  vfio_user::SharedMemory kept(64_KiB);
  auto& platform = static_cast<VfioUserPlatform&>(environment_.platform());
  platform.map(0x7000'0000, kept);
  ASSERT_THAT(copy(DmaCommand::device_to_host(memory->address, {0x7000'0000}, 64_KiB)), IsOk());
  std::memset(kept.data(), 0x5A, 64_KiB);
  platform.unmap(0x7000'0000, 64_KiB);
  const auto status = copy(DmaCommand::device_to_host(memory->address, {0x7000'0000}, 64_KiB));
  EXPECT_THAT(status, FailsWith(ErrorCode::kDeviceFault));
  EXPECT_EQ(kept.data()[0], std::byte{0x5A});
  EXPECT_EQ(kept.data()[64_KiB - 1], std::byte{0x5A});
}

TEST_F(Served, ACardWhoseServerHasEndedIsLost) {
  const auto memory = device_->allocate(64_KiB);
  const auto host = host_memory(64_KiB);
  EXPECT_EQ(environment_.server().stop(), 0);
  const auto status = copy(DmaCommand::host_to_device(host->bus(), memory->address, 64_KiB));
  EXPECT_THAT(status, FailsWith(ErrorCode::kDeviceLost));
}

TEST(ServedAgain, TheNextClientFindsAFunctionAsAfterAReset) {
  const ServedCard server({"--config", source_dir() + "/configs/910b.yaml"});
  {
    VfioUserPlatform first(connect(server));
    first.pci().write16(VfioUserPlatform::kCard, abi::pci::kCommand, abi::pci::kCommandBusMaster);
  }
  auto second = connect(server);
  EXPECT_EQ(second.read32(7, abi::pci::kCommand) & 0xFFFF, 0U);
  for (std::uint32_t bar = 0; bar < 4; ++bar) {
    const std::uint32_t flags = bar % 2 == 0 ? 0xFU : 0U;  // of the lower halves
    EXPECT_EQ(second.read32(7, abi::pci::kBar0 + 4 * bar) & ~flags, 0U) << bar;
  }
}

TEST(ServedAgain, OnlyTheMsixTableItselfIsOutOfReach) {
  const ServedCard server({"--config", source_dir() + "/configs/910b.yaml"});
  auto client = connect(server);
  client.write32(7, abi::pci::kCommand, abi::pci::kCommandMemory);
  const auto reply = client.read(0, abi::kMsixTableOffset - 8, 16);
  ASSERT_TRUE(reply.ok());
  EXPECT_NE(reply.u64(16), UINT64_MAX);
  EXPECT_EQ(reply.u64(24), UINT64_MAX);
}

// What no driver would do, in every region, with the real card behind it: the server lives, ends as
// it should, and serves the next client.
class ServedChaos : public testing::TestWithParam<unsigned> {};

TEST_P(ServedChaos, TheServerOutlivesItsClient) {
  ServedCard server({"--config", source_dir() + "/configs/910b.yaml"});
  std::mt19937_64 random(GetParam());
  const auto below = [&](std::uint64_t end) { return random() % end; };
  {
    auto client = connect(server);
    const vfio_user::SharedMemory memory(1_MiB);
    const vfio_user::EventFd event;
    client.map(0x10000, memory.size(), memory.fd());
    client.write32(7, abi::pci::kCommand, abi::pci::kCommandMemory | abi::pci::kCommandBusMaster);
    for (unsigned i = 0; i < 3000; ++i) {
      const auto region = static_cast<std::uint32_t>(below(10));
      const std::uint64_t offset = below(8) == 0 ? below(0x40'0000) : below(0x8000);
      const auto count = static_cast<std::uint32_t>(1 + below(24));
      vfio_user::Blob bytes(count);
      for (auto& byte : bytes) byte = std::byte(below(4) == 0 ? 0xFF : random());
      const auto vector = static_cast<std::uint32_t>(below(300));
      switch (below(40)) {
        case 0:
          client.reset();
          break;
        case 1:
          client.set_irqs(vfio_user::kEventfd | vfio_user::kTrigger, 2, vector, 1, {event.fd()});
          break;
        case 2:
          client.set_irqs(vfio_user::kNone | vfio_user::kTrigger, 2, 0, 0);
          break;
        case 3:
          client.unmap(0x10000, memory.size());
          client.map(0x10000, memory.size(), memory.fd());
          break;
        default:
          if (below(3) == 0) {
            client.read(region, offset, count);
          } else {
            client.write(region, offset, bytes);
          }
      }
    }
  }
  auto next = connect(server);
  EXPECT_EQ(next.read32(7, 0), 0xD11019E5U);
  EXPECT_EQ(server.stop(), 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ServedChaos, testing::Range(1U, 9U));

TEST(ServedAgain, SeveralCardsHaveASocketEach) {
  ServedCard servers({"--config", source_dir() + "/configs/system-8x910b.yaml", "--socket",
                      testing::TempDir() + "second.sock"});
  VfioUserPlatform first(connect(servers));
  auto client = vfio_user::Client::connect(testing::TempDir() + "second.sock");
  ASSERT_TRUE(client && client->negotiate());
  VfioUserPlatform second(std::move(*client));
  auto one = driver::Device::open(first, VfioUserPlatform::kCard);
  auto two = driver::Device::open(second, VfioUserPlatform::kCard);
  ASSERT_THAT(one, IsOk());
  ASSERT_THAT(two, IsOk());
  EXPECT_NE((*one)->info().device_index, (*two)->info().device_index);
}

// DEVICE_TIME before and after a pause of 50 ms, in which nobody asks for anything.
std::uint64_t device_time_of_a_pause(const std::string& pace) {
  ServedCard server({"--config", source_dir() + "/configs/910b.yaml", "--pace", pace});
  VfioUserPlatform platform(connect(server));
  const auto device_time = [&] { return platform.load(0, abi::DeviceTime::kOffset, 8); };
  const std::uint64_t before = device_time();
  platform.clock().sleep_until(platform.clock().now() + 50_ms);
  return device_time() - before;
}

TEST(ServedTime, StandsStillWithoutWorkOrFollowsTheWallClock) {
  EXPECT_LT(device_time_of_a_pause("fast"), 100'000U);
  // While there is work it catches up in steps, so that it may lag by some.
  EXPECT_GE(device_time_of_a_pause("wall"), 45'000'000U);
}

// Registers of the window, see model/host/ecam_window.hpp.
class ServedWindow : public testing::Test {
 protected:
  static constexpr unsigned kConfig = 7;
  std::uint64_t at(platform::Bdf bdf, std::uint32_t offset) const {
    return std::uint64_t{bdf.packed()} << 12 | offset;
  }

  std::string path_ = testing::TempDir() + "window" + std::to_string(::getpid()) + ".sock";
  ServedCard server_{ServedCard::Window{path_}, {"--config", source_dir() + "/configs/910b.yaml"}};
  vfio_user::Client client_ = [this] {
    auto client = vfio_user::Client::connect(path_);
    EXPECT_TRUE(client && client->negotiate());
    return client ? std::move(*client) : vfio_user::Client(-1);
  }();
};

TEST_F(ServedWindow, ShowsTheHierarchyThroughEcam) {
  EXPECT_EQ(client_.read32(0, at({0, 0, 0}, 8)) >> 16, 0x0604U);  // a bridge
  EXPECT_EQ(client_.read32(0, at({1, 0, 0}, 0)), 0xD11019E5U);
  EXPECT_EQ(client_.read32(0, at({1, 1, 0}, 0)), 0xFFFFFFFFU);
  const std::uint32_t capability = client_.read32(kConfig, 0x34) & 0xFF;
  EXPECT_EQ(client_.read32(kConfig, capability), 0x01100009U);  // 16 bytes, last bus 1
}

TEST_F(ServedWindow, VirtualFunctionsComeAndGo) {
  constexpr std::uint32_t kSriov = 0x15C;
  ASSERT_EQ(client_.read32(0, at({1, 0, 0}, kSriov)) & 0xFFFF, abi::pci::kExtSriov);
  client_.write32(0, at({1, 0, 0}, kSriov + abi::pci::kSriovNumVfs), 2);
  client_.write32(0, at({1, 0, 0}, kSriov + abi::pci::kSriovControl), 1);
  EXPECT_NE(client_.read32(0, at({1, 2, 1}, 4)), 0xFFFFFFFFU);
  EXPECT_EQ(client_.read32(0, at({1, 2, 2}, 4)), 0xFFFFFFFFU);
  client_.write32(0, at({1, 0, 0}, kSriov + abi::pci::kSriovControl), 0);
  EXPECT_EQ(client_.read32(0, at({1, 2, 1}, 4)), 0xFFFFFFFFU);
}

TEST_F(ServedWindow, ReachesDeviceMemoryWhereTheFunctionsBarsAre) {
  const std::uint32_t low = client_.read32(0, at({1, 0, 0}, abi::pci::kBar0 + 8)) & ~0xFU;
  const std::uint32_t high = client_.read32(0, at({1, 0, 0}, abi::pci::kBar0 + 12));
  const std::uint64_t bar2 = (std::uint64_t{high} << 32 | low) - 0x40'0000'0000;
  client_.write32(0, at({1, 0, 0}, abi::pci::kCommand), abi::pci::kCommandMemory);
  client_.write64(4, bar2 + 64, 0x0123456789ABCDEF);
  EXPECT_EQ(client_.read64(4, bar2 + 64), 0x0123456789ABCDEFU);
}

}  // namespace
}  // namespace npu::test
