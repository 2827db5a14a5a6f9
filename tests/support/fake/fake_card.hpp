// SPDX-License-Identifier: Apache-2.0
// A card good enough for driver tests: registers from the ABI's table, ring, streams, events and
// MSI-X, with every step under the test's control. Commands of one stream run one after another.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "npu/abi/dma.hpp"
#include "npu/abi/event.hpp"
#include "npu/abi/fault.hpp"
#include "npu/abi/layout.hpp"
#include "npu/abi/registers.hpp"
#include "npu/platform/pci.hpp"
#include "tests/support/fake/fake_memory.hpp"
#include "tests/support/fake/fake_mmu.hpp"
#include "tests/support/fake/fake_pci.hpp"
#include "tests/support/fake/fake_queues.hpp"
#include "tests/support/fake/fake_scheduler.hpp"

namespace npu::test {

struct FakeCardConfig {
  platform::Bdf bdf{1, 0, 0};
  std::uint16_t device_id = 0xD110;
  std::uint32_t index = 0;
  std::uint32_t ai_cores = 64;
  Bytes hbm_size = 56_GiB;
  Bytes bar2_size = 64_GiB;
  std::uint32_t streams = 256;
  std::uint32_t events = 2048;
  unsigned vectors = 128;
  std::uint32_t queue_slots = 16;  // of the command processor; 0: none
  std::uint32_t doorbell_pages = 64;
  std::bitset<abi::kMaxHccsCards> hccs_links;  // of cards that it has a link to, by index
};

// What the test wants the card to do.
struct FakeCardBehaviour {
  Picoseconds fetch_latency = 500_ns;
  Picoseconds interrupt_latency = 300_ns;
  std::function<Picoseconds(const abi::DmaEntry&)> command_latency = [](const abi::DmaEntry&) {
    return 2_us;
  };
  Picoseconds invalidate_latency = 400_ns;
  bool invalidate_stuck = false;  // MMU_INVALIDATE.Start never clears
  // Lets the n-th D2D command from now on, counted from 1, fail half way; 0: none does.
  unsigned failing_copy = 0;
  bool fetch_paused = false;       // the consumer index stands still
  bool completion_paused = false;  // commands run until complete_next()
  bool interrupts_lost = false;
  bool records_lost = false;  // event records never reach host memory
  int vector_offset = 0;      // interrupts arrive on the wrong vector
};

class FakeCard {
 public:
  FakeCard(const FakeCardConfig& config, FakePci& pci, FakeHostMemory& host,
           FakeScheduler& scheduler);

  std::uint64_t read(unsigned bar, Bytes offset, unsigned width);
  void write(unsigned bar, Bytes offset, unsigned width, std::uint64_t value);
  // All state as after power-on; COMMAND and MSI-X off.
  void reset();
  std::uint64_t resets() const { return reset_generation_; }
  void remove();  // surprise removal
  bool present() const { return present_; }

  // --- under the test's control
  FakeCardBehaviour behaviour;
  void resume_fetch();
  void complete_next(std::uint16_t stream, abi::FaultCode fault = abi::FaultCode::kNone);
  void raise(unsigned vector);  // as if the card had sent MSI-X
  void mask(unsigned vector);
  void unmask(unsigned vector);  // delivers what is pending, once
  void set_register(Bytes offset, unsigned width, std::uint64_t value);
  void report_fault(abi::FaultCode code, std::uint64_t address, const abi::DmaEntry& entry,
                    unsigned vmid = 0, bool write = false);
  void halt();
  // The card of an index, null if there is none; by default there are no others.
  std::function<FakeCard*(unsigned)> find_card = [](unsigned) { return nullptr; };
  SparseBytes& memory() { return memory_; }
  FakeMmu& mmu() { return mmu_; }
  FakeQueues& queues() { return queues_; }
  const std::vector<abi::DmaEntry>& executed() const { return executed_; }
  const FakeCardConfig& config() const { return config_; }
  std::uint32_t msix_capability() const { return msix_; }

  struct Vector {
    bool open = false;
    bool masked = false;
    bool pending = false;
    std::uint64_t count = 0;
    int sleepers = 0;
  };
  Vector& vector(unsigned number) { return vectors_[number]; }

 private:
  struct StreamState {
    bool enabled = false;
    std::uint32_t vector = 0;
    std::uint32_t vmid = 0;          // as written
    std::uint32_t latched_vmid = 0;  // in use
    std::uint32_t fault = 0;
    std::uint64_t completed = 0;
    bool running = false;
    std::deque<abi::DmaEntry> queue;
  };

  FakeQueueHost queue_host();
  void set_up_config_space();
  void set_identity();
  std::uint64_t read_memory_bar(Bytes offset, unsigned width);
  void write_memory_bar(Bytes offset, unsigned width, std::uint64_t value);
  void write_register(Bytes offset, unsigned width, std::uint64_t value);
  void doorbell(std::uint32_t value);
  void queue_control(std::uint32_t value);
  void fetch();
  bool read_ring(std::uint32_t slot, abi::DmaEntry& entry);
  void start(std::uint16_t stream);
  void finish(std::uint16_t stream, abi::FaultCode fault);
  // Where and how an access failed, if it did.
  struct Fault {
    abi::FaultCode code = abi::FaultCode::kNone;
    std::uint64_t address = 0;
    bool write = false;
  };
  Fault execute(const abi::DmaEntry& entry, unsigned vmid);
  Fault move(const abi::DmaEntry& entry, unsigned vmid, std::uint64_t done, std::size_t& part);
  // The memory `place` is in, or why it cannot be reached.
  Fault reach(const FakeMmu::Translation& place, SparseBytes*& found);
  void invalidate(std::uint32_t value);
  void count_event(const abi::DmaEntry& entry, abi::FaultCode fault);
  void update_status();
  std::uint64_t get_register(Bytes offset, unsigned width) const;
  bool is_bus_master() const;
  bool is_msix_enabled() const;

  const FakeCardConfig config_;
  FakePci& pci_;
  FakeHostMemory& host_;
  FakeScheduler& scheduler_;
  SparseBytes memory_;
  FakeMmu mmu_{memory_, config_.bar2_size};
  FakeQueues queues_{queue_host()};
  std::array<std::byte, abi::kBar0Size> registers_{};
  std::map<std::uint16_t, StreamState> streams_;
  std::vector<Vector> vectors_;
  std::vector<abi::DmaEntry> executed_;
  std::uint32_t msix_ = 0;
  std::uint32_t producer_ = 0, consumer_ = 0;
  std::uint64_t reset_generation_ = 0;
  std::uint64_t generation_ = 0;  // of the queue; late handlers of an older one do nothing
  bool present_ = true, enabled_ = false, halted_ = false, fetching_ = false;
};

}  // namespace npu::test
