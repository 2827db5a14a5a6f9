// SPDX-License-Identifier: Apache-2.0
#include "model/core/memory_watch.hpp"

#include <gmock/gmock.h>

namespace npu::model {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Watched : public MemoryWatch::Watcher {
 public:
  void line_written(Writer, std::uint64_t address) override { lines.push_back(address); }
  std::vector<std::uint64_t> lines;
};

TEST(MemoryWatchTest, TellsOfEveryWatchedLineThatAWriteTouches) {
  MemoryWatch watch;
  Watched watched;
  for (const std::uint64_t line : {0x1000, 0x1040, 0x1080}) watch.watch(3, line, watched);
  watch.written(Writer::kAicpu, 3, 0x103F, 2);
  EXPECT_THAT(watched.lines, ElementsAre(0x1000, 0x1040));
}

TEST(MemoryWatchTest, AddressSpacesAreApart) {
  MemoryWatch watch;
  Watched watched;
  watch.watch(3, 0x1000, watched);
  watch.written(Writer::kDma, 4, 0x1000, 64);
  watch.written(Writer::kDma, 3, 0xFC0, 64);
  EXPECT_THAT(watched.lines, IsEmpty());
}

TEST(MemoryWatchTest, WatchesAreCounted) {
  MemoryWatch watch;
  Watched watched;
  watch.watch(1, 0x40, watched);
  watch.watch(1, 0x78, watched);
  watch.unwatch(1, 0x40, watched);
  watch.written(Writer::kAiCore, 1, 0x40, 4);
  EXPECT_THAT(watched.lines, ElementsAre(0x40));
  watch.unwatch(1, 0x40, watched);
  watch.written(Writer::kAiCore, 1, 0x40, 4);
  EXPECT_THAT(watched.lines, ElementsAre(0x40));
}

}  // namespace
}  // namespace npu::model
