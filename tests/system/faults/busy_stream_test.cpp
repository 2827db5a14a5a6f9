// SPDX-License-Identifier: Apache-2.0
// Streams are destroyed while their commands run: at every instant of a command.
#include "tests/system/faults/fault_bench.hpp"

namespace npu::test {
namespace {

// The status of the stream comes over the link behind the event record, so who sees it idle sees
// the record, too. Every size ends at another instant between two looks at the status.
void destroy_at_every_instant(const std::vector<std::string>& overrides, bool to_host) {
  constexpr Bytes kStep = 64;
  constexpr unsigned kSizes = 400;
  Machine(overrides).on<FaultyCard>([&](FaultyCard& bench) {
    const auto bytes = bench.buffer(kStep * kSizes, 1);
    for (Bytes size = kStep; size <= kStep * kSizes; size += kStep) {
      const auto stream = must(bench.device->create_stream());
      const auto command =
          to_host ? DmaCommand::device_to_host(bench.memory.address, bytes->bus(), size)
                  : DmaCommand::host_to_device(bytes->bus(), bench.memory.address, size);
      ASSERT_TRUE(bench.device->submit(stream, command));
      const Status end = bench.device->destroy_stream(stream, bench.host.clock().now() + 1_ms);
      ASSERT_TRUE(end) << size << ": " << end.error().message();
    }
    bench.expect_works();
  });
}

TEST(BusyStream, IsDestroyedWhenItsCopyToTheDeviceIsDone) {
  destroy_at_every_instant({}, false);
}
TEST(BusyStream, IsDestroyedWhenItsCopyToTheHostIsDone) {
  destroy_at_every_instant({}, true);
}
TEST(BusyStream, IsDestroyedBehindALongEgress) {
  destroy_at_every_instant({"endpoint.egress_ns=2000"}, false);
}

TEST(BusyStream, WhoseEventOthersStillCountIsDestroyedLater) {
  Machine().on<FaultyCard>([&](FaultyCard& bench) {
    const auto bytes = bench.buffer(4_MiB, 1);
    const auto stream = must(bench.device->create_stream());
    driver::SubmitOptions options;
    options.event = must(bench.device->stream_event(stream));
    const auto ticket =
        must(bench.device->submit(bench.stream, bench.long_copy(false, *bytes), options));
    expect_code(bench.device->destroy_stream(stream, bench.host.clock().now() + 1_ms),
                ErrorCode::kInvalidArgument);
    ASSERT_TRUE(bench.device->wait(ticket, WaitPolicy::kPolling, bench.host.clock().now() + 1_s));
    EXPECT_TRUE(bench.device->destroy_stream(stream, bench.host.clock().now() + 1_ms));
    EXPECT_FALSE(bench.device->stream_event(stream));
  });
}

}  // namespace
}  // namespace npu::test
