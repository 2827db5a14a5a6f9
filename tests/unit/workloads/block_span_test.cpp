// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/block_span.hpp"

#include <gtest/gtest.h>

namespace npu::workloads {
namespace {

using platform::Activity;
using platform::Pipe;

void tell(BlockSpan& span, Activity activity, std::int64_t begin, std::int64_t end,
          Pipe pipe = Pipe::kScalar) {
  platform::TraceEvent event;
  event.activity = activity;
  event.begin = Instant(Picoseconds(begin));
  event.end = Instant(Picoseconds(end));
  event.detail = activity == Activity::kPipe ? static_cast<std::uint64_t>(pipe) : 0;
  span.on_event(event);
}

TEST(BlockSpan, StartsWithTheFirstCopyIntoACoreWhateverIsToldFirst) {
  BlockSpan span;
  tell(span, Activity::kPipe, 700, 900, Pipe::kMte2);
  tell(span, Activity::kPipe, 450, 500, Pipe::kMte2);
  tell(span, Activity::kPipe, 300, 310, Pipe::kVector);  // no copy
  tell(span, Activity::kPipe, 310, 320, Pipe::kMte3);    // out of the core
  tell(span, Activity::kKernelBlock, 150, 1000);
  tell(span, Activity::kKernelBlock, 100, 900);
  EXPECT_EQ(span.start(), Picoseconds(350));
  EXPECT_EQ(span.duration(), Picoseconds(900));
  EXPECT_EQ(span.blocks(), 2U);
}

TEST(BlockSpan, OfNothingIsNothing) {
  BlockSpan span;
  EXPECT_EQ(span.start(), Picoseconds{});
  EXPECT_EQ(span.duration(), Picoseconds{});
  tell(span, Activity::kKernelBlock, 100, 900);
  EXPECT_EQ(span.start(), Picoseconds{}) << "nothing was copied";
}

}  // namespace
}  // namespace npu::workloads
