// SPDX-License-Identifier: Apache-2.0
// Each cause that may limit a bandwidth, made to bind by configuration or parameters: its name must
// come first.
#include "tests/system/workloads/simulated_run.hpp"

namespace npu::workloads {
namespace {

using Words = std::vector<std::string>;

class LimitCause : public WorkloadOnSimulator {
 protected:
  void expect(const std::string& name, const std::string& directions, const Words& shape,
              const Words& overrides = {}) {
    Words parameters{"directions=" + directions};
    parameters.insert(parameters.end(), shape.begin(), shape.end());
    run("dma_bandwidth", parameters, overrides);
    std::string subject;
    for (const auto& limit : report_.limits()) {
      EXPECT_GT(limit.percent.value(), 0) << limit.text;
      if (limit.subject != subject) {
        EXPECT_EQ(limit.name, name) << limit.subject << limit.text;
      }
      subject = limit.subject;
    }
    EXPECT_FALSE(subject.empty());
  }
};

const std::string kAll = "h2d,d2h,d2d";
const Words kMany{"sizes=4KiB", "streams=8", "depths=16", "bytes=1MiB"};
const Words kLargeCopies{"sizes=4MiB", "streams=8", "depths=4", "bytes=16MiB"};

TEST_F(LimitCause, Engines) {
  expect("engines", kAll, kMany, {"dma.engines=1"});
}
TEST_F(LimitCause, HostThatSubmitsSlowly) {
  expect("host", kAll, kMany, {"cpu.mmio_store_ns=5000"});
}
TEST_F(LimitCause, TooFewInFlight) {
  expect("in_flight", kAll, {"sizes=4KiB", "streams=1", "depths=1", "bytes=256KiB"});
}
TEST_F(LimitCause, OrderOfAStream) {
  expect("stream_order", "h2d,d2d", {"sizes=64KiB", "streams=1", "depths=16"});
}
TEST_F(LimitCause, FetchOfEntries) {
  expect("fetch", kAll, {"sizes=64", "streams=64", "depths=16", "bytes=64KiB"},
         {"dma.descriptor_decode_ns=2000", "dma.fetch_batch=1"});
}
TEST_F(LimitCause, Credits) {
  expect("credits", "h2d,d2h", kLargeCopies, {"link.header_credits=1"});
}
TEST_F(LimitCause, OutstandingReads) {
  expect("outstanding_reads", "h2d", kLargeCopies,
         {"dma.max_outstanding_reads=1", "dma.engines=2"});
}
TEST_F(LimitCause, DeviceMemoryBehindTheLink) {
  expect("hbm", "h2d,d2h", kLargeCopies, {"hbm.channels=1", "link.generation=5"});
}
TEST_F(LimitCause, Link) {
  expect("link", "h2d,d2h", kLargeCopies);
}
TEST_F(LimitCause, DeviceMemory) {
  expect("hbm", "d2d", {"sizes=64MiB", "bytes=64MiB", "streams=8", "depths=2"});
}

}  // namespace
}  // namespace npu::workloads
