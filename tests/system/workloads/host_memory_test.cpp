// SPDX-License-Identifier: Apache-2.0
// Runs that need more memory than this machine gives are refused, with what they need, before they
// take it; those that need little run under a limit smaller than the device memory.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include "tests/system/workloads/simulated_run.hpp"

namespace npu::workloads {
namespace {

using testing::HasSubstr;

class HostMemoryOfRuns : public WorkloadOnSimulator {
 protected:
  // Every test has a process of its own.
  static void limit_data(Bytes bytes) {
    const rlimit limit{bytes, bytes};
    ASSERT_EQ(setrlimit(RLIMIT_DATA, &limit), 0);
  }
  void expect_refusal(const std::string& name, const std::vector<std::string>& parameters,
                      Bytes limit = 4_GiB) {
    limit_data(limit);
    const auto status = attempt(name, parameters);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument) << status.error().message();
    EXPECT_THAT(status.error().context, HasSubstr(parameters.front() + " "));
    EXPECT_THAT(status.error().context, HasSubstr("of this machine's memory"));
    EXPECT_THAT(status.error().context, HasSubstr("ulimit -d"));
  }
};

TEST_F(HostMemoryOfRuns, VectorAdd) {
  expect_refusal("vector_add", {"elements=1073741824"});
}
TEST_F(HostMemoryOfRuns, VectorOperator) {
  expect_refusal("vector_operator", {"elements=1073741824", "op=maximum", "type=fp32"});
}
TEST_F(HostMemoryOfRuns, Matmul) {
  expect_refusal("matmul", {"m=32768", "n=32768", "k=32768"});
}
TEST_F(HostMemoryOfRuns, FirstTensor) {
  expect_refusal("first_tensor", {"rows=65536", "columns=16384"});
}
TEST_F(HostMemoryOfRuns, DmaLatency) {
  expect_refusal("dma_latency", {"sizes=1GiB"});
}
TEST_F(HostMemoryOfRuns, DmaBandwidth) {
  expect_refusal("dma_bandwidth", {"sizes=4GiB", "directions=d2h"});
}
TEST_F(HostMemoryOfRuns, StreamOverlap) {
  expect_refusal("stream_overlap", {"size=1GiB"});
}
TEST_F(HostMemoryOfRuns, Compaction) {
  expect_refusal("compaction", {"window=2MiB"});
}

TEST_F(HostMemoryOfRuns, RingPressure) {
  expect_refusal("ring_pressure", {"commands=100000000", "cell=64"});
}
TEST_F(HostMemoryOfRuns, AllocChurn) {
  expect_refusal("alloc_churn", {"memory=on", "steps=10000000"});
}
TEST_F(HostMemoryOfRuns, QueueScaling) {
  expect_refusal("queue_scaling", {"queues=1024", "entries=4096"}, 1400_MiB);
}
TEST_F(HostMemoryOfRuns, QueueOversubscription) {
  expect_refusal("queue_oversubscription", {"queues=1024", "processes=8", "entries=4096"},
                 1400_MiB);
}
// 2744 tasks with tiles of 64 KiB, in and out.
TEST_F(HostMemoryOfRuns, DumpOfAGraph) {
  expect_refusal("graph",
                 {"dump_tensors=unused.json", "graph=tiled_gemm", "parameters=m=14,n=14,k=14"});
}

TEST_F(HostMemoryOfRuns, FewBytesOfALargeCardNeedLittle) {
  limit_data(4_GiB);  // of 64 GiB
  run("vector_add", {"elements=4096"});
  EXPECT_GT(digits("vector_add.duration_us"), 0);
}

}  // namespace
}  // namespace npu::workloads
