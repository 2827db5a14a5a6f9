// SPDX-License-Identifier: Apache-2.0
// Managed memory through pointers of the process, while a card uses the same pages.
#include "npu/driver/process_view.hpp"

#include <random>

#include "tests/system/managed/managed_card.hpp"

namespace npu::test {
namespace {

using driver::ProcessView;

// AddressSanitizer has the addresses for itself.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHasAddresses = false;
#else
constexpr bool kHasAddresses = true;
#endif

struct SeenCard {
  SeenCard(platform::Platform& host, driver::ManagedOptions options)
      : view(must(ProcessView::make([this](DeviceAddress at, bool write) {
          ++touches;
          return card->managed->touch(at, write);
        }))) {
    options.view = view.get();
    card = std::make_unique<ManagedCard>(host, options);
  }
  ~SeenCard() { card.reset(); }

  std::uint32_t* words_at(DeviceAddress at) const {
    return static_cast<std::uint32_t*>(ProcessView::pointer(at));
  }
  bool holds(DeviceAddress at, Bytes size, std::uint32_t pattern) const {
    return std::memcmp(ProcessView::pointer(at), words(size, pattern).data(), size) == 0;
  }
  void fill(DeviceAddress at, Bytes size, std::uint32_t pattern) const {
    std::memcpy(ProcessView::pointer(at), words(size, pattern).data(), size);
  }

  unsigned touches = 0;
  std::unique_ptr<ProcessView> view;
  std::unique_ptr<ManagedCard> card;
};

class ManagedViewTest : public ManagedTest {
 protected:
  void SetUp() override {
    if (!kHasAddresses) GTEST_SKIP() << "a sanitizer has the addresses";
  }
  template <class Body>
  void with_card(Body body) {
    Machine(settings()).run([&](platform::Platform& host) {
      SeenCard seen(host, options());
      body(seen);
    });
  }
};
NPU_ALL_POLICIES(ManagedViewTest);

TEST_P(ManagedViewTest, APageComesWhenItIsTouchedAndGoesWhenTheCardUsesIt) {
  with_card([](SeenCard& seen) {
    auto& card = *seen.card;
    const auto at = must(card.managed->allocate(2 * kPageSize));
    seen.fill(at, kPageSize, 1);
    EXPECT_EQ(seen.touches, 1U);
    EXPECT_THAT(card.copy(at, at + kPageSize, kPageSize), IsOk());
    EXPECT_TRUE(seen.holds(at + kPageSize, kPageSize, 1));
    seen.fill(at, kPageSize, 2);
    EXPECT_TRUE(seen.holds(at + kPageSize, kPageSize, 1));
    EXPECT_THAT(card.copy(at, at + kPageSize, kPageSize), IsOk());
    EXPECT_TRUE(seen.holds(at + kPageSize, kPageSize, 2));
  });
}

TEST_P(ManagedViewTest, AllPagesAreOnTheHostAtOneTimeThoughTheCardWantsThem) {
  with_card([](SeenCard& seen) {
    auto& card = *seen.card;
    constexpr std::uint32_t kPages = 6;
    const auto at = must(card.managed->allocate(kPages * kPageSize));
    for (std::uint32_t i = 0; i < kPages - 1; ++i) seen.fill(at + i * kPageSize, kPageSize, i);
    const auto deadline = card.host.clock().now() + 1_s;
    driver::QueueTicket ticket;
    for (std::uint32_t i = 0; i < kPages - 1; ++i) {
      const auto copy = driver::entries::copy_on_device(at + i * kPageSize, card.plain, kPageSize);
      ticket = must(card.queue->submit(copy, deadline));
    }
    card.host.clock().sleep_until(card.host.clock().now() + 300_us);
    const auto pages = must(card.managed->touch_all());
    EXPECT_EQ(pages.size(), kPages - 1) << "one has never been touched";
    for (std::uint32_t i = 0; i < pages.size(); ++i) {
      EXPECT_EQ(pages[i].at.value, (at + i * kPageSize).value);
      EXPECT_NE(pages[i].rights, driver::Access::kNone);
    }
    EXPECT_THAT(card.queue->wait(ticket, driver::WaitPolicy::kInterrupt, deadline), IsOk());
  });
}

TEST_P(ManagedViewTest, ReadAndWriteMeanTheSameBytes) {
  with_card([](SeenCard& seen) {
    auto& card = *seen.card;
    const auto at = must(card.managed->allocate(kPageSize));
    seen.fill(at, kPageSize, 3);
    card.expect(at, kPageSize, 3);
    card.write(at, kPageSize, 4);
    EXPECT_TRUE(seen.holds(at, kPageSize, 4));
    EXPECT_THAT(card.managed->free(at), IsOk());
    EXPECT_EQ(must(card.managed->allocate(kPageSize)).value, at.value);
    EXPECT_EQ(seen.words_at(at)[7], 0U) << "what was freed is nobody's";
  });
}

TEST_P(ManagedViewTest, AWriteEndsReadMostly) {
  with_card([](SeenCard& seen) {
    auto& card = *seen.card;
    const auto at = must(card.managed->allocate(kPageSize));
    seen.fill(at, kPageSize, 5);
    ASSERT_THAT(card.managed->advise(at, kPageSize, MemoryAdvice::kReadMostly, true), IsOk());
    EXPECT_THAT(card.copy(at, card.plain, kPageSize), IsOk());
    const auto touches = seen.touches;
    EXPECT_TRUE(seen.holds(at, kPageSize, 5)) << "the host has its copy";
    EXPECT_EQ(seen.touches, touches);
    seen.words_at(at)[0] = 77;
    EXPECT_EQ(seen.touches, touches + 1);
    EXPECT_FALSE(must(card.managed->attributes(at, kPageSize)).read_mostly);
    EXPECT_THAT(card.copy(at, at + 64_KiB, 64_KiB), IsOk());
    EXPECT_EQ(seen.words_at(at + 64_KiB)[0], 77U);
  });
}

TEST_P(ManagedViewTest, RandomStoresOfBothSidesMeetTheirOrder) {
  with_card([](SeenCard& seen) {
    auto& card = *seen.card;
    constexpr std::uint32_t kPages = 6;
    const auto at = must(card.managed->allocate(kPages * kPageSize));
    std::mt19937 random(GetParam() == driver::FaultPolicy::kBatch ? 1 : 2);
    std::vector<std::uint32_t> model(kPages * kPageSize / 4);
    std::memset(ProcessView::pointer(at), 0, kPages * kPageSize);
    for (unsigned step = 0; step < 150; ++step) {
      const auto from = random() % (kPages * 32) * 64_KiB, to = random() % (kPages * 32) * 64_KiB;
      if (step % 3 == 0 && from != to) {
        ASSERT_THAT(card.copy(at + from, at + to, 64_KiB), IsOk());
        std::copy_n(model.begin() + static_cast<std::ptrdiff_t>(from / 4), 16384,
                    model.begin() + static_cast<std::ptrdiff_t>(to / 4));
      }
      const auto word = random() % model.size();
      ASSERT_EQ(seen.words_at(at)[word], model[word]) << "step " << step;
      seen.words_at(at)[word] = model[word] = step * 65537 + 1;
    }
    EXPECT_EQ(std::memcmp(ProcessView::pointer(at), model.data(), kPages * kPageSize), 0);
  });
}

TEST(ProcessViewTest, AProcessHasOneAtATime) {
  if (!kHasAddresses) GTEST_SKIP() << "a sanitizer has the addresses";
  const auto touch = [](DeviceAddress, bool) -> Result<driver::Access> {
    return fail(ErrorCode::kOutOfRange, "nothing is there");
  };
  auto first = must(ProcessView::make(touch));
  EXPECT_THAT(ProcessView::make(touch), FailsWith(ErrorCode::kAlreadyExists));
  first.reset();
  EXPECT_THAT(ProcessView::make(touch), IsOk());
}

TEST(ProcessViewDeathTest, ASignalThatIsSentEndsTheProcess) {
  if (!kHasAddresses) GTEST_SKIP() << "a sanitizer has the addresses";
  EXPECT_EXIT(
      {
        const auto view = must(ProcessView::make({}));
        raise(SIGSEGV);
      },
      testing::KilledBySignal(SIGSEGV), "");
}

TEST(ProcessViewDeathTest, AnAddressThatIsNobodysEndsTheProcess) {
  if (!kHasAddresses) GTEST_SKIP() << "a sanitizer has the addresses";
  const auto touch = [](DeviceAddress, bool) -> Result<driver::Access> {
    return fail(ErrorCode::kOutOfRange, "nothing is there");
  };
  EXPECT_EXIT(
      {
        const auto view = must(ProcessView::make(touch));
        *static_cast<volatile char*>(ProcessView::pointer({0x900'0000'0000})) = 1;
      },
      testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace
}  // namespace npu::test
