// SPDX-License-Identifier: Apache-2.0
// Sockets of virtual functions: what their clients see, that they do not disturb each other, and
// what becomes of them with the function.
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <random>
#include <thread>

#include "npu/abi/pci.hpp"
#include "npu/abi/registers.hpp"
#include "tests/contract/served_card.hpp"
#include "tests/contract/served_load.hpp"
#include "tests/support/folders.hpp"
#include "tests/support/matchers.hpp"

extern char** environ;

namespace npu::test {
namespace {

namespace pci = abi::pci;

constexpr std::uint32_t kConfig = 7;  // the region
const std::string kCard = source_dir() + "/configs/910b2.yaml";

vfio_user::Client connect(const std::string& path) {
  auto client = vfio_user::Client::connect(path);
  EXPECT_TRUE(client && client->negotiate()) << "nobody serves on " << path;
  return client ? std::move(*client) : vfio_user::Client(-1);
}

bool is_there(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0;
}

// Against hanging only.
template <class Condition>
bool becomes(Condition condition) {
  for (int i = 0; i < 3000 && !condition(); ++i) ::usleep(10'000);
  return condition();
}

std::uint32_t extended_capability(vfio_user::Client& client, std::uint16_t id) {
  std::uint32_t at = pci::kExtendedStart;
  while (at != 0) {
    const auto header = client.read32(kConfig, at);
    if ((header & 0xFFFF) == id) return at;
    at = header >> 20;
  }
  return 0;
}

std::unique_ptr<ServedLoad> load_on(const std::string& path) {
  auto load = ServedLoad::open(connect(path));
  EXPECT_THAT(load, IsOk());
  return load ? std::move(*load) : nullptr;
}

// A card with two virtual functions of 6 cores each, and a socket for each of the three.
class VirtualSockets : public testing::Test {
 protected:
  static constexpr std::uint32_t kSecond = 0x5EC0'0000;  // patterns

  void SetUp() override {
    ASSERT_TRUE(becomes([&] { return is_there(second_); }));
  }
  void set_count(vfio_user::Client& physical, std::uint32_t count) {
    const auto at = extended_capability(physical, pci::kExtSriov);
    ASSERT_NE(at, 0U);
    if (count != 0) physical.write32(kConfig, at + pci::kSriovNumVfs, count);
    const std::uint32_t on = pci::kSriovControlEnable | pci::kSriovControlMemory;
    physical.write32(kConfig, at + pci::kSriovControl, count != 0 ? on : 0);
  }

  const std::string base_ = testing::TempDir() + "vf" + std::to_string(::getpid());
  const std::string first_ = base_ + ".0", second_ = base_ + ".1";
  ServedCard server_{{"--config", kCard, "--virtual-functions", "vir06_1c_16g,vir06_1c_16g",
                      "--socket", first_ + "=01:02.0", "--socket", second_ + "=01:02.1"}};
};

TEST_F(VirtualSockets, AClientSeesAFunctionAsAnOperatingSystemLendsIt) {
  auto client = connect(first_);
  EXPECT_EQ(client.read32(kConfig, 0), 0xD805'19E5U);
  EXPECT_EQ(client.read32(kConfig, pci::kRevision) >> 8, 0x12'0000U);
  EXPECT_EQ(client.read32(kConfig, 0x3C) & 0xFF00, 0U) << "no INTx";
  EXPECT_EQ(client.region_info(0).u64(16), 32_KiB);
  EXPECT_EQ(client.region_info(2).u64(16), 32_GiB);
  EXPECT_EQ(client.irq_info(2).u32(12), 256U);
  EXPECT_EQ(client.irq_info(0).u32(12), 0U);
  EXPECT_EQ(extended_capability(client, pci::kExtSriov), 0U);
  client.write32(kConfig, pci::kBar0 + 8, 0xFFFF'FFFF);
  client.write32(kConfig, pci::kBar0 + 12, 0xFFFF'FFFF);
  EXPECT_EQ(client.read32(kConfig, pci::kBar0 + 8) & ~0xFU, 0U);
  EXPECT_EQ(client.read32(kConfig, pci::kBar0 + 12), 0xFFFF'FFF8U);
  client.write32(kConfig, pci::kCommand, pci::kCommandMemory | pci::kCommandBusMaster);
  EXPECT_EQ(client.read32(kConfig, pci::kCommand) & 0xFFFF,
            std::uint32_t{pci::kCommandMemory | pci::kCommandBusMaster});
}

TEST_F(VirtualSockets, TheNextClientFindsNothingOfTheLast) {
  {
    auto client = connect(first_);
    client.write32(kConfig, pci::kCommand, pci::kCommandMemory | pci::kCommandBusMaster);
    client.write32(kConfig, pci::kBar0 + 8, 0x4000'0000);
    client.write64(2, 4096, 0x0123'4567'89AB'CDEF);
    EXPECT_EQ(client.read64(2, 4096), 0x0123'4567'89AB'CDEFU);
  }
  auto next = connect(first_);
  EXPECT_EQ(next.read32(kConfig, pci::kCommand) & 0xFFFF, 0U);
  EXPECT_EQ(next.read32(kConfig, pci::kBar0 + 8) & ~0xFU, 0U);
  next.write32(kConfig, pci::kCommand, pci::kCommandMemory);
  EXPECT_EQ(next.read64(2, 4096), 0U);
}

TEST_F(VirtualSockets, TwoDriversAtOnceHaveEachTheirOwn) {
  std::atomic<bool> failed = false;
  const auto work = [&](const std::string& path, std::uint32_t pattern) {
    const auto load = load_on(path);
    for (std::uint32_t i = 0; i < 30 && load; ++i) {
      const auto done = load->round(pattern + i);
      if (!done) ADD_FAILURE() << done.error().message();
      if (!done) failed = true;
    }
  };
  std::thread other([&] { work(second_, kSecond); });
  work(first_, 1);
  other.join();
  EXPECT_FALSE(failed);
}

TEST_F(VirtualSockets, AResetUnderLoadTouchesThatFunctionAlone) {
  const auto second = load_on(second_);
  ASSERT_TRUE(second);
  ASSERT_THAT(second->round(kSecond), IsOk());
  std::atomic<bool> ended = false;
  std::thread other([&] {
    std::uint32_t round = 1;
    while (!ended) {
      const auto done = second->round(kSecond + round);
      if (!done) ADD_FAILURE() << done.error().message();
      if (!done) return;
      ++round;
    }
  });
  auto first = connect(first_);
  for (int i = 0; i < 20; ++i) {
    first.write32(kConfig, pci::kCommand, pci::kCommandMemory);
    first.write64(2, 0, 0x1111);
    ASSERT_TRUE(first.reset().ok());
    first.write32(kConfig, pci::kCommand, pci::kCommandMemory);
    EXPECT_EQ(first.read64(2, 0), 0U);
  }
  ended = true;
  other.join();
}

TEST_F(VirtualSockets, EndWithTheirFunctionsAndComeBackWithThem) {
  auto physical = connect(server_.socket());
  auto first = connect(first_);
  set_count(physical, 0);
  EXPECT_TRUE(becomes([&] { return first.is_closed(); }));
  EXPECT_TRUE(becomes([&] { return !is_there(first_) && !is_there(second_); }));
  set_count(physical, 2);
  EXPECT_TRUE(becomes([&] { return is_there(first_) && is_there(second_); }));
  const auto again = load_on(second_);  // clearing VF Enable leaves shares as they are
  ASSERT_TRUE(again);
  EXPECT_THAT(again->round(kSecond), IsOk());
  auto next = connect(first_);
  set_count(physical, 0);
  set_count(physical, 1);
  EXPECT_TRUE(becomes([&] { return is_there(first_) && !is_there(second_); }));
  EXPECT_TRUE(becomes([&] { return next.is_closed(); })) << "however soon it is back";
  EXPECT_EQ(server_.stop(), 0);
  EXPECT_FALSE(is_there(first_));
}

TEST_F(VirtualSockets, EndWhenThePhysicalFunctionIsReset) {
  auto physical = connect(server_.socket());
  auto first = connect(first_);
  ASSERT_TRUE(physical.reset().ok());
  EXPECT_TRUE(becomes([&] { return first.is_closed() && !is_there(first_); }));
  EXPECT_EQ(server_.stop(), 0);
}

TEST_F(VirtualSockets, EndUnderTheLoadOfTheirClients) {
  auto physical = connect(server_.socket());
  for (int i = 0; i < 5; ++i) {
    std::vector<std::thread> clients;
    std::atomic<unsigned> at_work = 0, lost = 0;
    for (const auto& path : {first_, second_}) {
      clients.emplace_back([&, path] {
        const auto load = load_on(path);
        Status done;
        for (std::uint32_t round = 0; load && done; ++round) {
          done = load->round(round);
          if (round == 0) ++at_work;
        }
        if (!done && done.error().code != ErrorCode::kIo) ++lost;
      });
    }
    EXPECT_TRUE(becomes([&] { return at_work == 2; }));
    ::usleep(static_cast<useconds_t>(i) * 1'700);  // another instant
    set_count(physical, 0);
    for (auto& client : clients) client.join();
    EXPECT_EQ(lost, 2U) << "both find their function lost";
    set_count(physical, 2);
    EXPECT_TRUE(becomes([&] { return is_there(first_) && is_there(second_); }));
  }
  EXPECT_EQ(server_.stop(), 0);
}

// Their driver is the physical function's client, or the server while there is none.
TEST_F(VirtualSockets, AreDividedByTheServerOnlyWhileNobodyHasTheCard) {
  const std::string management = base_ + ".m";
  ServedCard server({"--config", kCard, "--management", management});
  ASSERT_TRUE(becomes([&] { return is_there(management); }));
  const auto smi = [&](const std::string& words) {
    const std::string command = binary_dir() + "/bin/npusim smi " + words + " --socket " +
                                management + " >/dev/null 2>" + base_ + ".err";
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  {
    auto physical = connect(server.socket());
    EXPECT_EQ(smi("create-vnpu -f vir06_1c_16g"), 1);
    EXPECT_EQ(smi("info -t info-vnpu"), 0);
  }
  EXPECT_TRUE(becomes([&] { return smi("create-vnpu -f vir06_1c_16g") == 0; }));
  EXPECT_EQ(smi("destroy-vnpu --vnpu 100"), 0);
  EXPECT_EQ(server.stop(), 0);
}

// The client moves the BARs of virtual functions about: in its own picture.
TEST_F(VirtualSockets, StayWhereTheyAreWhenThePhysicalFunctionsClientMovesTheirBars) {
  auto physical = connect(server_.socket());
  const auto at = extended_capability(physical, pci::kExtSriov);
  for (std::uint32_t bar = 0; bar < 4; ++bar) {
    physical.write32(kConfig, at + pci::kSriovBar0 + 4 * bar, 0xFFFF'FFFF);
  }
  EXPECT_EQ(physical.read32(kConfig, at + pci::kSriovBar0) & ~0xFU, 0xFFFF'8000U);
  EXPECT_EQ(physical.read32(kConfig, at + pci::kSriovBar0 + 12), 0xFFFF'FFF8U);
  physical.write32(kConfig, at + pci::kSriovPageSize, 0x400);
  EXPECT_EQ(physical.read32(kConfig, at + pci::kSriovPageSize), 1U);
  const auto second = load_on(second_);
  ASSERT_TRUE(second);
  EXPECT_THAT(second->round(kSecond), IsOk());
}

// A client that is killed at whatever instant: the next one finds the function as after a reset,
// and the neighbour nothing at all.
TEST_F(VirtualSockets, OutliveClientsThatAreKilled) {
  const auto second = load_on(second_);
  ASSERT_TRUE(second);
  ASSERT_THAT(second->round(kSecond), IsOk());
  std::mt19937 random(20);
  for (int i = 0; i < 20; ++i) {
    std::string program = binary_dir() + "/bin/npu_served_load", socket = first_;
    char* arguments[] = {program.data(), socket.data(), nullptr};
    pid_t client = -1;
    ASSERT_EQ(::posix_spawn(&client, program.c_str(), nullptr, nullptr, arguments, environ), 0);
    ::usleep(static_cast<useconds_t>(random() % 60'000));
    ::kill(client, SIGKILL);
    ::waitpid(client, nullptr, 0);
    EXPECT_THAT(second->still_has(kSecond), IsOk());
    EXPECT_TRUE(*second->still_has(kSecond));
  }
  auto next = connect(first_);
  EXPECT_EQ(next.read32(kConfig, pci::kCommand) & 0xFFFF, 0U);
  next.close();
  const auto first = load_on(first_);
  ASSERT_TRUE(first);
  EXPECT_THAT(first->round(7), IsOk());
  EXPECT_EQ(server_.stop(), 0);
}

}  // namespace
}  // namespace npu::test
