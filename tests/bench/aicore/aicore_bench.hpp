// SPDX-License-Identifier: Apache-2.0
// AI Cores that run programs, at their socket and ports only: behind them a memory that answers
// every request after the same time, before them a launcher and an AICPU's accesses to their
// register windows. A clock of the cores is 1 ns.
#pragma once

#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/aicore/programs.hpp"
#include "model/core/sparse_memory.hpp"
#include "tests/bench/aicore/test_program.hpp"
#include "tests/support/on_bench.hpp"

namespace npu::test {

using abi::FaultCode;
using model::SimTime;
using platform::AicorePort;
using platform::CopyIn;
using platform::CopyOut;
using platform::DataType;
using platform::Fixpipe;
using platform::LoadL0;
using platform::LocalBuffer;
using platform::Mmad;
using platform::Pipe;
using platform::Vector;
using platform::VectorOp;

inline constexpr SimTime kClock = 1000;  // ps
// In clocks: an instruction's way to its pipe, a look at the time.
inline constexpr std::uint64_t kHandOver = 1, kRegister = 5;
inline constexpr SimTime kLatency = 100 * kClock;  // of the memory
inline constexpr std::uint64_t kImage = 0x10'0000, kOtherImage = 0x20'0000;
inline constexpr std::uint64_t kData = 0x40'0000;

// Two clusters. Times are round, so that sums can be told apart.
model::ChipConfig aicore_config(model::ProgramCoreKind kind = model::ProgramCoreKind::kCoupled);

// Of all address spaces; addresses from `end` on are not mapped.
class PlainMemory : public model::DeviceMemoryPort {
 public:
  static constexpr Bytes kSize = 1_GiB;
  explicit PlainMemory(model::MemoryWatch& watch) : watch_(watch) {}
  model::Completion read(model::SpaceId vmid, std::uint64_t address, void* data,
                         Bytes length) override;
  model::Completion write(model::Writer writer, model::SpaceId vmid, std::uint64_t address,
                          const void* data, Bytes length) override;
  std::optional<std::uint64_t> local(model::SpaceId, std::uint64_t address) override {
    return address;
  }
  // Nobody is told.
  void put(std::uint64_t address, const void* data, Bytes length) {
    bytes_.write(address, data, length);
  }
  Hold hold(model::SpaceId) override { return ++held, 1; }
  void release(Hold) override { --held; }
  template <class T>
  T load(std::uint64_t address) {
    T value{};
    read(0, address, &value, sizeof value);
    return value;
  }
  template <class T>
  void store(std::uint64_t address, const T& value) {
    write(model::Writer::kDma, 0, address, &value, sizeof value);
  }
  std::uint64_t end = kSize;
  int held = 0;  // accesses whose bytes have not moved

 private:
  model::MemoryWatch& watch_;
  model::SparseMemory bytes_{kSize};
};

struct SeenRequest {
  SimTime when;
  bool write;
  std::uint64_t address;
  Bytes length;
  unsigned rows;
  std::uint32_t pitch;
};

class AicoreBench : public sc_core::sc_module,
                    private model::KernelPort::Listener,
                    private model::CoreWindows::Listener {
 public:
  struct Ended {
    SimTime when = 0;
    FaultCode fault = FaultCode::kNone;
    std::uint64_t address = 0;
    std::uint32_t instruction = 0;  // abi::InstructionPlace
  };

  explicit AicoreBench(const model::ChipConfig& config = aicore_config(), bool run_ahead = true,
                       const sc_core::sc_module_name& name = "bench");

  // A block whose body is `body`, on `core`, now.
  void launch(unsigned core, Body body, std::uint64_t context = 1, unsigned block = 0,
              unsigned blocks = 1);
  void launch_image(unsigned core, std::uint64_t image, std::uint64_t arguments,
                    std::uint64_t context = 1, unsigned block = 0, unsigned blocks = 1);
  // The lane `role` of `lanes` of a mixed block.
  void launch_lane(unsigned core, std::uint64_t image, std::uint64_t arguments, unsigned role,
                   unsigned lanes, std::uint64_t context = 1, unsigned block = 0,
                   unsigned blocks = 1);
  // Puts the program build/.../programs/name.npu at `address`.
  void upload(const std::string& name, std::uint64_t address);
  // `body` in the arguments of a kernel.
  std::uint64_t keep(Body body);
  // What happens at a time of the simulation.
  void at(SimTime when, std::function<void()> action);
  void run();  // until nothing happens any more
  // Runs `body` alone on core 0; how it ended.
  Ended run_one(Body body);

  const Ended& ended(unsigned core) const { return ended_.at(core); }
  bool has_ended(unsigned core) const { return ended_.count(core) != 0; }
  // The requests of copies and data, without images.
  std::vector<SeenRequest> data_requests() const;

  model::ChipConfig config;
  model::Simulation sim;
  model::MemoryWatch watch;
  PlainMemory memory{watch};
  tlm_utils::simple_target_socket<AicoreBench> target_socket{"target_socket"};
  model::AiCorePrograms cores;
  std::vector<SeenRequest> requests;
  std::vector<SimTime> cond_changes;
  SimTime latency = kLatency;
  // How long the translation of an address takes, before its latency; 0: it is known at once.
  std::function<SimTime(std::uint64_t)> walk = [](std::uint64_t) { return SimTime{0}; };
  model::SpaceId vmid = 0;  // of what is launched
  // From here on it is another card's memory, which has its turn after half the latency.
  std::uint64_t peer = ~std::uint64_t{0};

 private:
  void block_done(unsigned core, const model::KernelBlock& block,
                  const model::CommandFault& fault) override;
  void register_changed(unsigned core, std::uint32_t offset) override;
  tlm::tlm_sync_enum request(tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  void translated(std::uint64_t trans);
  void move_at_peer(std::uint64_t trans);
  void answer(std::uint64_t trans);
  void act(std::uint64_t index);

  std::map<unsigned, Ended> ended_;
  std::vector<std::unique_ptr<Body>> bodies_;
  std::deque<std::function<void()>> actions_;  // an action may add others
};

// Local time of a program in clocks: the system counter of the bench counts them.
inline std::uint64_t clocks(AicorePort& port) {
  return port.system_counter();
}

using Clocks = std::vector<std::uint64_t>;

// Of each group of instructions, from the first one's issue until the pipes are done.
template <class Instruction>
Clocks clocks_of_groups(const std::vector<std::vector<Instruction>>& groups) {
  AicoreBench bench;
  Clocks result;
  const auto end = bench.run_one([&](AicorePort& port) {
    for (const auto& group : groups) {
      const auto begin = clocks(port);
      for (const auto& instruction : group) port.issue(instruction);
      port.pipe_barrier(Pipe::kAll);
      result.push_back(clocks(port) - begin - kRegister - kHandOver);
    }
    return 0;
  });
  EXPECT_EQ(end.fault, FaultCode::kNone);
  return result;
}

}  // namespace npu::test
