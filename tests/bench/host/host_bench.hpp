// SPDX-License-Identifier: Apache-2.0
// The host models alone: the far end of the CPU socket is a register file that answers after a
// fixed round trip and records what reached it.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <functional>
#include <vector>

#include "model/host/platform.hpp"
#include "tests/support/on_bench.hpp"

namespace npu::test {

inline model::HostCpuConfig cpu_config() {
  model::HostCpuConfig config{};
  config.cores = 8;
  config.clock_hz = 2'000'000'000;
  config.ipc_percent = 250;  // 200 ps each
  config.mmio_store = 30_ns;
  config.wc_store = 2_ns;
  config.mmio_load = 10_ns;
  config.barrier = 20_ns;
  config.poll_round = 37_ns;
  config.lock = 20_ns;
  config.call = 300_ns;
  config.block = 500_ns;
  config.wake = 4500_ns;
  config.time_slice = 3_ms;
  config.copy_rate = 10'000'000'000;
  return config;
}

inline model::HostMemoryConfig memory_config() {
  model::HostMemoryConfig config{};
  config.numa_nodes = 2;
  config.size_per_node = 1_GiB;
  config.read_latency = 90_ns;
  config.write_latency = 60_ns;
  config.remote_penalty = 70_ns;
  config.bandwidth = 100'000'000'000;
  config.huge_page = 2_MiB;
  config.clear_rate = 5'000'000'000;
  config.pin_page = 140_ns;
  config.unpin_page = 60_ns;
  config.iommu_lookup = 15_ns;
  config.iotlb_entries = 4;
  config.iommu_walkers = 2;
  config.iommu_map = 190_ns;
  config.iommu_unmap = 150_ns;
  config.iommu_invalidation = 700_ns;
  return config;
}

// What a store looked like when it left the core.
struct SeenWrite {
  std::uint64_t when;
  std::uint64_t address;
  std::vector<unsigned char> bytes;
};

class FarEnd : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<FarEnd> socket;
  std::vector<SeenWrite> writes;
  model::Completion completion = model::Completion::kSuccess;  // of what waits for an answer
  static constexpr std::uint64_t kRoundTrip = 400'000;

  explicit FarEnd(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
    socket.register_b_transport(this, &FarEnd::b_transport);
  }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    auto& info = model::Transaction::of(payload);
    if (info.posted) {
      const auto* data = payload.get_data_ptr();
      writes.push_back(
          {model::sim_now(), payload.get_address(), {data, data + payload.get_data_length()}});
      payload.release();
      return;
    }
    sc_core::wait(sc_core::sc_time::from_value(kRoundTrip));
    std::memset(payload.get_data_ptr(), 0xA5, payload.get_data_length());
    info.completion = completion;
  }
};

inline constexpr std::uint16_t kRequester = 0x0100;  // 01:00.0

struct HostBench {
  model::Simulation simulation;
  model::HostCpus cpus;
  model::HostMemory memory{simulation, memory_config(), [](std::uint32_t) { return 0; }};
  model::Interrupts interrupts{simulation, cpus};
  model::HostPlatform platform{
      "platform",
      simulation,
      cpus,
      memory,
      interrupts,
      {{0, 255, 0}},
      [](platform::Bdf, unsigned bar) {
        return bar == 0 ? model::BarResource{0x8000'0000, 32_KiB} : model::BarResource{};
      },
      [](platform::Bdf bdf) { return bdf.packed() == kRequester; }};
  FarEnd far_end{"far_end"};

  explicit HostBench(const model::HostCpuConfig& cpu = cpu_config()) : cpus(simulation, cpu) {
    platform.cpu_socket.bind(far_end.socket);
  }

  platform::Tasks& tasks() { return static_cast<platform::Platform&>(platform).tasks(); }
  platform::Clock& clock() { return static_cast<platform::Platform&>(platform).clock(); }

  // Runs `body` as a host task to its end.
  void run(std::function<void()> body) {
    cpus.spawn("main", [body = std::move(body)] {
      body();
      sc_core::sc_pause();
    });
    sc_core::sc_start();
  }
  // Calls `action` from the models' side at `when`.
  void at(std::uint64_t when, std::function<void()> action) {
    actions_.push_back(std::move(action));
    simulation.agenda.at<&HostBench::act>(when, *this, actions_.size() - 1);
  }

 private:
  void act(std::uint64_t index) { actions_[index](); }
  std::vector<std::function<void()>> actions_;
};

}  // namespace npu::test
