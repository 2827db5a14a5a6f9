// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/cause.hpp"

#include <gtest/gtest.h>

#include <random>

#include "npu/platform/trace.hpp"

namespace npu::timeline {
namespace {

TEST(Cause, IsWrittenAsItsParts) {
  EXPECT_EQ(cause_text(0), "-");
  EXPECT_EQ(cause_text(platform::dma_cause(3, 17)), "dma3:17");
  EXPECT_EQ(cause_text(platform::queue_cause(1, 300, 5)), "queue1.300:5");
  EXPECT_EQ(cause_text(platform::task_cause(0, 2, 9)), "task0.2:9");
  EXPECT_EQ(cause_text(platform::dma_cause(383, 17)), "dma383:17");
  EXPECT_EQ(cause_text(platform::queue_cause(383, 4095, 5)), "queue383.4095:5");
  EXPECT_EQ(cause_text(platform::task_cause(383, 2, 9)), "task383.2:9");
}

TEST(Cause, ReadsBackWhatItWrites) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 3000; ++i) {
    const auto card = static_cast<std::uint32_t>(random() % 512);
    const std::uint64_t causes[] = {
        platform::dma_cause(card, random() >> random() % 64),
        platform::queue_cause(card, random() & 0xFFFF, random() >> random() % 64),
        platform::task_cause(card, random(), static_cast<std::uint32_t>(random()))};
    for (const auto cause : causes) {
      const auto read = parse_cause(cause_text(cause));
      ASSERT_TRUE(read) << cause_text(cause);
      EXPECT_EQ(*read, cause) << cause_text(cause);
    }
  }
}

TEST(Cause, RefusesWhatIsNone) {
  for (const char* text : {"",
                           "-",
                           "dma",
                           "dma0",
                           "dma:1",
                           "dma0:",
                           "dma0:1 ",
                           " dma0:1",
                           "dma0:-1",
                           "dma0:+1",
                           "dma0.1:2",
                           "dma16383:0",
                           "dma0:281474976710656",
                           "queue0:1",
                           "queue512.0:0",
                           "queue0.16384:0",
                           "queue0.0:1099511627776",
                           "task512.0:0",
                           "task0.2097152:0",
                           "task0.0:4294967296",
                           "Dma0:1",
                           "dma0:18446744073709551616"}) {
    EXPECT_FALSE(parse_cause(text)) << text;
  }
}

TEST(Cause, TellsTheNumberOfARequest) {
  EXPECT_EQ(cause_index(platform::dma_cause(1, 4097)), 4097U);
  EXPECT_EQ(cause_index(platform::page_copy_cause(1, 4097)), 4097U);
  EXPECT_EQ(cause_index(platform::queue_cause(1, 2, 77)), 77U);
  EXPECT_EQ(cause_index(platform::task_cause(1, 2, 3)), 0U);
  EXPECT_TRUE(is_dma_cause(platform::dma_cause(0, 0)));
  EXPECT_FALSE(is_dma_cause(platform::queue_cause(0, 0, 0)));
  EXPECT_FALSE(is_dma_cause(0));
  EXPECT_TRUE(is_page_copy_cause(platform::page_copy_cause(0, 1)));
  EXPECT_FALSE(is_page_copy_cause(platform::dma_cause(0, 1)));
  EXPECT_FALSE(is_page_copy_cause(platform::queue_cause(0, 0, std::uint64_t{1} << 47)));
}

}  // namespace
}  // namespace npu::timeline
