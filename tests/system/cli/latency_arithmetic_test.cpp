// SPDX-License-Identifier: Apache-2.0
// dma_latency moves as arithmetic says when the link changes, by less than the distance between two
// polls and wherever these fall: how long the waiter then takes to look is told apart.
#include <nlohmann/json.hpp>

#include "tests/system/cli/program.hpp"

namespace npu::cli {
namespace {

class LatencyArithmetic : public Program {
 protected:
  static constexpr double kHbmClock = 0.834;  // ns; the phase at which the HBM is met may differ

  // Latency in ns of a copy to the host.
  double latency(const std::string& size, const std::string& ring, const std::string& override) {
    good(npusim({"--config", "910b.yaml", "run", "dma_latency", "--set", "sizes=" + size, "--set",
                 "directions=d2h", "--set", "ring=" + ring, "--set", override, "--report",
                 "r.json"}));
    const auto report = nlohmann::json::parse(text("r.json"));
    for (const auto& metric : report["metrics"]) {
      if (metric["name"] == "dma.d2h." + size + ".latency_ns") return metric["value"];
    }
    ADD_FAILURE() << "no latency";
    return 0;
  }
};

// Entry over, event record back.
TEST_F(LatencyArithmetic, PropagationCountsTwiceWithTheRingInDeviceMemory) {
  const double base = latency("64B", "device", "link.propagation_ns=80");
  for (const double more : {1.0, 5.0, 13.0}) {
    const auto key = "link.propagation_ns=" + std::to_string(80 + more);
    EXPECT_NEAR(latency("64B", "device", key) - base, 2 * more, kHbmClock) << more;
  }
}

// Doorbell, fetch and its completion, event record.
TEST_F(LatencyArithmetic, PropagationCountsFourTimesWithTheRingInHostMemory) {
  const double base = latency("64B", "host", "link.propagation_ns=80");
  for (const double more : {1.0, 5.0, 13.0}) {
    const auto key = "link.propagation_ns=" + std::to_string(80 + more);
    EXPECT_NEAR(latency("64B", "host", key) - base, 4 * more, kHbmClock) << more;
  }
}

// 4 KiB are 32, 16 or 8 TLPs of 28 bytes beside the data; a byte takes 65000 / 2048 ps.
TEST_F(LatencyArithmetic, LargerPayloadsSaveTheirHeaders) {
  const double large = latency("4KiB", "device", "link.max_payload_bytes=512");
  for (const int payload : {128, 256}) {
    const auto key = "link.max_payload_bytes=" + std::to_string(payload);
    const double headers = (4096.0 / payload - 8) * 28;
    EXPECT_NEAR(latency("4KiB", "device", key) - large, headers * 65 / 2048, kHbmClock) << payload;
  }
}

// The list is gone through in order, so that the copies of the second run have another past.
TEST_F(LatencyArithmetic, OfASizeDoesNotDependOnOtherSizes) {
  std::vector<double> found;
  for (const std::string sizes : {"4KiB,1KiB", "1KiB,2KiB,64KiB,4KiB"}) {
    good(npusim({"--config", "910b2", "run", "dma_latency", "--set", "sizes=" + sizes, "--set",
                 "directions=d2d", "--report", "r.json"}));
    const auto report = nlohmann::json::parse(text("r.json"));
    for (const auto& metric : report["metrics"]) {
      if (metric["name"] == "dma.d2d.4KiB.breakdown.data_ns") found.push_back(metric["value"]);
    }
  }
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NEAR(found[0], found[1], 2.5) << "four clocks of the memory";
}

}  // namespace
}  // namespace npu::cli
