// SPDX-License-Identifier: Apache-2.0
// AICPUs between a stand-in memory and stand-in register windows. Programs are functions of the
// test, run by a real program image that calls them.
#pragma once

#include <gtest/gtest.h>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/aicpu/aicpu_programs.hpp"
#include "tests/bench/core/kernel_block.hpp"
#include "tests/bench/core/program_file.hpp"
#include "tests/bench/dma/stand_in_memory.hpp"
#include "tests/support/folders.hpp"
#include "tests/support/on_bench.hpp"

namespace npu::test {

using abi::FaultCode;
using model::SimTime;
using platform::AicpuPort;
using Program = std::function<int(AicpuPort&)>;

inline constexpr SimTime kNs = 1000;
inline constexpr std::uint64_t kImageAt = 0x10'0000;
inline constexpr std::uint64_t kDataAt = 0x1'0000;
inline constexpr SimTime kMemoryLatency = 110 * kNs;

// One instruction takes 1 ns and the counter counts nanoseconds, so that closed forms are whole.
inline model::CoreConfig aicpu_launch() {
  model::CoreConfig launch{};
  launch.clock_hz = 1'000'000'000;
  launch.dispatch = 150_ns;
  launch.init = 50_ns;
  launch.software_init = 1000_ns;
  launch.report = 500_ns;
  return launch;
}
inline model::AicpuProgramConfig aicpu_config() {
  model::AicpuProgramConfig config{};
  config.counter_hz = 1'000'000'000;
  config.ipc_percent = 100;
  config.l1 = 4096;
  config.l1_ways = 4;
  config.l1_hit = 3_ns;
  config.l1_other_line = 41_ns;
  config.invalidate = 2_ns;
  config.snoops_dma = false;
  config.snoop = 0_ps;
  config.store = 1_ns;
  config.store_done = 40_ns;
  config.store_buffer = 24;
  config.atomic = 35_ns;
  config.register_store = 5_ns;
  config.register_store_done = 95_ns;
  config.register_stores = 19;
  config.register_visible = 140_ns;
  config.register_load = 100_ns;
  config.fetch = 4096;
  return config;
}

class StandInWindows : public model::CoreWindows {
 public:
  struct Write {
    SimTime when;
    unsigned core;
    std::uint32_t offset, value;
  };

  explicit StandInWindows(unsigned count) : count_(count) {}
  void connect(Listener& listener) override { listener_ = &listener; }
  unsigned windows() const override { return count_; }
  std::uint32_t read(unsigned core, std::uint32_t offset) const override {
    const auto found = values_.find({core, offset});
    return found == values_.end() ? 0 : found->second;
  }
  void write(unsigned core, std::uint32_t offset, std::uint32_t value) override {
    writes.push_back({model::sim_now(), core, offset, value});
    if (on_write) on_write(core, offset, value);
  }
  // By the core itself.
  void change(unsigned core, std::uint32_t offset, std::uint32_t value) {
    values_[{core, offset}] = value;
    listener_->register_changed(core, offset);
  }

  std::vector<Write> writes;
  std::function<void(unsigned, std::uint32_t, std::uint32_t)> on_write;

 private:
  unsigned count_;
  Listener* listener_ = nullptr;
  std::map<std::pair<unsigned, std::uint32_t>, std::uint32_t> values_;
};

class AicpuBench : public sc_core::sc_module,
                   public model::DeviceMemoryPort,
                   private model::KernelPort::Listener {
 public:
  struct Done {
    unsigned core;
    SimTime when;
    model::CommandFault fault;
  };

  explicit AicpuBench(const model::AicpuProgramConfig& program = aicpu_config(),
                      unsigned windows_count = 24, unsigned cores = 4,
                      const sc_core::sc_module_name& name = "bench", Bytes size = 8_MiB)
      : sc_module(name),
        launch(aicpu_launch()),
        config(program),
        memory("memory", sim, size),
        windows(windows_count),
        unmapped_from(size),
        programs("programs", sim, launch, config, cores, "aicpu", *this) {
    programs.memory_socket.bind(memory.socket);
    memory.latency = kMemoryLatency;
    programs.connect_windows(windows);
    programs.connect(static_cast<model::KernelPort::Listener&>(*this));
    watch.add_snooper(programs);
    upload(binary_dir() + "/tests/bench/aicpu/aicpu_call.npu", kImageAt);
  }

  model::Completion read(model::SpaceId, std::uint64_t address, void* data, Bytes length) override {
    if (!reaches(address, length)) return model::Completion::kNotMapped;
    std::memcpy(data, memory.bytes.data() + address, length);
    return model::Completion::kSuccess;
  }
  model::Completion write(model::Writer writer, model::SpaceId vmid, std::uint64_t address,
                          const void* data, Bytes length) override {
    if (!reaches(address, length)) return model::Completion::kNotMapped;
    std::memcpy(memory.bytes.data() + address, data, length);
    watch.written(writer, vmid, address, length);
    return model::Completion::kSuccess;
  }
  bool knows(model::SpaceId, std::uint64_t address, bool) const override {
    return unknown.count(address / kPage) == 0;
  }
  Hold hold(model::SpaceId) override { return ++held, 1; }
  void release(Hold) override { --held; }
  void poke(model::Writer writer, std::uint64_t address, std::uint32_t value) {
    write(writer, 0, address, &value, sizeof value);
  }
  std::uint32_t peek(std::uint64_t address) const {
    std::uint32_t value = 0;
    std::memcpy(&value, memory.bytes.data() + address, sizeof value);
    return value;
  }

  // The file's bytes as a program image.
  void upload(const std::string& file, std::uint64_t address) {
    const auto image = image_of(file, abi::ImageKind::kAicpu);
    std::memcpy(memory.bytes.data() + address, image.data(), image.size());
  }

  // Begins a block on `core`; the program lives until the end of the test.
  void start(unsigned core, Program program, std::uint64_t context = 1, unsigned block = 0,
             unsigned blocks = 1) {
    kept_.push_back(std::make_unique<Program>(std::move(program)));
    start_image(core, kImageAt, reinterpret_cast<std::uint64_t>(kept_.back().get()), context, block,
                blocks);
  }
  void start_image(unsigned core, std::uint64_t image, std::uint64_t arguments,
                   std::uint64_t context = 1, unsigned block = 0, unsigned blocks = 1) {
    const auto kernel = program_block(image, arguments, context, block, blocks);
    // Processes can only be woken when there are any.
    const bool running =
        (sc_core::sc_get_status() & (sc_core::SC_RUNNING | sc_core::SC_PAUSED)) != 0;
    if (running) return programs.start(core, kernel);
    at(model::sim_now(), [this, core, kernel] { programs.start(core, kernel); });
  }
  // Does it at `when`.
  void at(SimTime when, std::function<void()> action) {
    actions_.push_back(std::move(action));
    sim.agenda.at<&AicpuBench::act>(when, *this, actions_.size() - 1);
  }
  void run(Picoseconds time = 1_ms) {
    sc_core::sc_start(sc_core::sc_time::from_value(static_cast<std::uint64_t>(time.count())));
  }
  // A block on core 0 from beginning to end.
  Done run_program(Program program) {
    const auto before = done.size();
    start(0, std::move(program));
    run();
    if (done.size() != before + 1) {
      ADD_FAILURE() << "the block has not ended";
      return {};
    }
    return done.back();
  }

  model::Simulation sim;
  const model::CoreConfig launch;
  const model::AicpuProgramConfig config;
  model::MemoryWatch watch;
  StandInMemory memory;
  StandInWindows windows;
  std::uint64_t unmapped_from;
  static constexpr Bytes kPage = 2_MiB;
  std::set<std::uint64_t> unknown;  // pages that no TLB has
  int held = 0;                     // accesses that invalidations would wait for
  model::AicpuPrograms programs;
  std::vector<Done> done;
  std::function<void(const Done&)> on_done;

 private:
  bool reaches(std::uint64_t address, Bytes length) const {
    return address < unmapped_from && length <= unmapped_from - address;
  }
  void act(std::uint64_t index) { actions_[index](); }
  void block_done(unsigned core, const model::KernelBlock&,
                  const model::CommandFault& fault) override {
    done.push_back({core, model::sim_now(), fault});
    if (on_done) on_done(done.back());
  }

  std::vector<std::unique_ptr<Program>> kept_;
  std::vector<std::function<void()>> actions_;
};

// What `body` takes, in ns; the counter's own instruction excepted.
template <class Body>
std::uint64_t elapsed(AicpuPort& port, Body body) {
  const std::uint64_t begin = port.system_counter();
  body();
  return port.system_counter() - begin - 1;
}

}  // namespace npu::test
