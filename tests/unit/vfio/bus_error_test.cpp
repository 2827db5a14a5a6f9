// SPDX-License-Identifier: Apache-2.0
// SIGBUS of mapped pages. A file cut short behaves as a BAR whose pages the kernel has taken away.
#include "driver/vfio/bus_error.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>

namespace npu::test {
namespace {

using driver::vfio::BusErrorGuard;

constexpr std::size_t kPage = 4096;

// Three pages of a file, of which those from `kept` on are gone.
struct Torn {
  explicit Torn(std::size_t kept) {
    EXPECT_EQ(::ftruncate(file, 3 * kPage), 0);
    bytes = static_cast<volatile std::uint8_t*>(
        ::mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    bytes[0] = 7;
    EXPECT_EQ(::ftruncate(file, static_cast<off_t>(kept * kPage)), 0);
  }
  ~Torn() {
    ::munmap(const_cast<std::uint8_t*>(bytes), 3 * kPage);
    ::close(file);
  }
  void* begin() const { return const_cast<std::uint8_t*>(bytes); }

  int file = ::memfd_create("torn", MFD_CLOEXEC);
  volatile std::uint8_t* bytes = nullptr;
};

TEST(BusError, ReadsGiveAllOnesAndTheGuardKnows) {
  const Torn torn(1);
  const BusErrorGuard guard(torn.begin(), 3 * kPage);
  EXPECT_EQ(torn.bytes[0], 7);
  EXPECT_FALSE(guard.tripped());
  EXPECT_EQ(torn.bytes[kPage], 0xFF);
  EXPECT_TRUE(guard.tripped());
  EXPECT_EQ(torn.bytes[3 * kPage - 1], 0xFF);
  EXPECT_EQ(torn.bytes[0], 7) << "the page that is still there";
}

TEST(BusError, WritesDoNotKillEither) {
  const Torn torn(0);
  const BusErrorGuard guard(torn.begin(), 3 * kPage);
  torn.bytes[5] = 1;
  EXPECT_TRUE(guard.tripped());
}

TEST(BusError, EachGuardKnowsOfItsOwn) {
  const Torn one(0), other(1);
  const BusErrorGuard first(one.begin(), 3 * kPage), second(other.begin(), kPage);
  EXPECT_EQ(one.bytes[0], 0xFF);
  EXPECT_TRUE(first.tripped());
  EXPECT_FALSE(second.tripped());
}

TEST(BusErrorDeathTest, SomebodyElsesIsAsFatalAsEver) {
  const Torn torn(0);
  { const BusErrorGuard gone(torn.begin(), 3 * kPage); }
  EXPECT_EXIT(static_cast<void>(torn.bytes[0]), testing::KilledBySignal(SIGBUS), "");
}

TEST(BusErrorDeathTest, TheHandlerThatWasThereBeforeIsAsked) {
  const Torn torn(0);
  const auto run = [&torn] {
    struct sigaction action {};
    action.sa_sigaction = [](int, siginfo_t*, void*) { ::_exit(42); };
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGBUS, &action, nullptr);
    int other = 0;
    const BusErrorGuard guard(&other, sizeof other);
    static_cast<void>(torn.bytes[0]);
  };
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(run(), testing::ExitedWithCode(42), "");
}

}  // namespace
}  // namespace npu::test
