// SPDX-License-Identifier: Apache-2.0
// A card without a simulator: scheduler threads as fibres of one thread, taking turns by their own
// clocks, and cores that take, run and report tasks as the executor does (firmware/aicore).
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "npu/abi/task_graph.hpp"
#include "npu/platform/aicpu_port.hpp"

namespace npu::test {

class FakeMachine;

inline constexpr std::uint32_t kHang = 0xFFFF'FFFF;

// One block, as a core ran it. Times in ns.
struct CoreRun {
  std::uint32_t task, block, role, worker;
  std::uint64_t begin, end;
};

struct FakeCore {
  abi::CoreType type = abi::CoreType::kAic;
  bool missing = false;
  bool exited = false, open = false;
  std::uint32_t cond = 0, data_main = 0, last = 0, exception = 0;
  std::uint32_t sequence = 0;  // memory handshake
  bool introduced = false, running = false, hung = false;
  std::uint32_t id = 0;
  std::uint64_t payload = 0;
  std::uint64_t next = ~std::uint64_t{0};  // ns: when it looks, or its task ends
};

// One scheduler thread's port; every access costs a few ns and may let another thread go first.
class FakePort : public platform::AicpuPort {
 public:
  FakePort(FakeMachine& machine, unsigned thread) : machine_(machine), thread_(thread) {}

  unsigned thread() const override { return thread_; }
  unsigned threads() const override;
  std::uint64_t arguments() const override;
  std::uint64_t load(std::uint64_t address, unsigned bytes) override;
  void store(std::uint64_t address, unsigned bytes, std::uint64_t value) override;
  std::uint64_t fetch_add(std::uint64_t address, unsigned bytes, std::uint64_t value) override;
  std::uint64_t compare_exchange(std::uint64_t address, unsigned bytes, std::uint64_t expected,
                                 std::uint64_t desired) override;
  void read(std::uint64_t address, void* data, Bytes length) override;
  void write(std::uint64_t address, const void* data, Bytes length) override;
  void invalidate(std::uint64_t, Bytes) override {}
  void barrier() override;
  unsigned core_windows() const override;
  std::uint32_t load_register(unsigned core, std::uint32_t offset) override;
  void store_register(unsigned core, std::uint32_t offset, std::uint32_t value) override;
  std::uint64_t system_counter() override { return now_; }
  std::uint64_t counter_hz() const override { return 1'000'000'000; }
  void compute(unsigned instructions) override { now_ += instructions; }
  bool poll_again(std::uint64_t deadline) override;
  void phase(platform::AicpuPhase, std::uint32_t) override {}

  std::uint64_t now() const { return now_; }
  bool finished = false;
  int result = -1;

 private:
  friend class FakeMachine;
  void take_turn(std::uint64_t cost);

  FakeMachine& machine_;
  const unsigned thread_;
  std::uint64_t now_ = 0;
};

class FakeMachine {
 public:
  static constexpr std::uint64_t kBase = 0x10'0000;

  // `cores` in the order of their windows; worker i is core i.
  FakeMachine(std::vector<abi::CoreType> cores, unsigned threads);
  ~FakeMachine();

  // Device memory of `size` bytes, zeroed, line aligned.
  std::uint64_t allocate(std::uint64_t size);
  void* at(std::uint64_t address, std::uint64_t size);
  template <class T>
  T get(std::uint64_t address) {
    T value;
    std::memcpy(&value, at(address, sizeof value), sizeof value);
    return value;
  }
  template <class T>
  void put(std::uint64_t address, const T& value) {
    std::memcpy(at(address, sizeof value), &value, sizeof value);
  }

  // Runs the scheduler on the header at `address` until all threads are through.
  void run(std::uint64_t address);

  std::vector<FakeCore> cores;
  std::vector<CoreRun> log;
  std::vector<unsigned> absent_threads;  // that never start
  std::uint64_t reaction = 180;          // ns from a store until the core sees it
  // ns a block takes; kHang: for ever. And what its kernel returns.
  std::function<std::uint32_t(std::uint32_t task, std::uint32_t block)> duration;
  std::function<std::uint32_t(std::uint32_t task)> result;
  std::function<std::uint32_t(std::uint32_t task)> exception;
  std::uint64_t register_loads = 0;

 private:
  friend class FakePort;
  struct Fibre;

  void advance(std::uint64_t now);
  void act(std::uint32_t core, std::uint64_t now);
  void finish(std::uint32_t core, std::uint64_t now);
  void look_at_register(std::uint32_t core, std::uint64_t now);
  void look_at_line(std::uint32_t core, std::uint64_t now);
  void start(std::uint32_t core, std::uint64_t payload, std::uint64_t now);
  void written(std::uint64_t address, std::uint64_t now);
  void wake(std::uint32_t core, std::uint64_t when);
  unsigned next_thread() const;
  bool memory_handshake() const;

  std::vector<unsigned char> memory_;
  std::uint64_t used_ = 0;
  std::uint64_t header_ = 0;
  abi::RunHeader run_;
  std::vector<std::unique_ptr<FakePort>> ports_;
  std::vector<std::unique_ptr<Fibre>> fibres_;
  std::vector<std::uint32_t> running_;  // index in log, by core
  std::uint64_t next_event_ = ~std::uint64_t{0};
};

}  // namespace npu::test
