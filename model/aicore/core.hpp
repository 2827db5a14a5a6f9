// SPDX-License-Identifier: Apache-2.0
// One core: executes one block of a kernel at a time. Three pipes work side by side, each in
// order: loads into a tile's buffers, vector instructions, stores from them. A tile's buffers are
// free when its store is done.
#pragma once

#include <memory>
#include <vector>

#include "model/config/command_config.hpp"
#include "model/core/kernel_port.hpp"
#include "model/core/simulation.hpp"
#include "npu/abi/kernel_functions.hpp"

namespace npu::model {

class Core {
 public:
  struct Access {
    tlm::tlm_command command;
    std::uint8_t vmid;
    std::uint64_t address;
    unsigned char* data;  // valid until the answer
    Bytes length;
    std::uint64_t cause;
    std::uint32_t slot;  // comes back with the answer
  };
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void send(unsigned core, const Access& access) = 0;
    virtual void core_done(unsigned core, const KernelBlock& block, const CommandFault& fault) = 0;
  };

  Core(Simulation& sim, const CoreConfig& config, std::uint32_t track, unsigned number,
       Owner& owner);

  bool busy() const { return busy_; }
  std::uint64_t context() const { return block_.context; }
  SpaceId space() const { return block_.vmid; }  // of the last block
  void start(const KernelBlock& block);
  // No access is sent any more; the block ends when those under way are answered.
  void stop();
  void answered(std::uint32_t slot, tlm::tlm_generic_payload& trans);
  void reset();

 private:
  enum Part : std::uint32_t { kArguments, kLoad, kStore };
  struct Tile {
    std::vector<unsigned char> a, b;  // the result replaces a
    std::uint64_t number = 0;
    unsigned accesses = 0;  // of the present load or store
    bool in_use = false, loaded = false;
  };

  void initialised(std::uint64_t generation);
  void arguments_known(std::uint64_t generation);
  abi::FaultCode check_arguments() const;
  void split_work();
  void pump();
  void begin_load();
  void load(std::uint64_t tile);
  void begin_compute();
  void computed(std::uint64_t tile);
  void store(std::uint64_t tile);
  void spun(std::uint64_t generation);
  void compute(Tile& tile) const;
  void access(Tile& tile, Part part, std::uint64_t address, unsigned char* data);
  Bytes bytes_of(const Tile& tile) const;
  SimTime vector_time(Bytes bytes) const;
  SimTime clocks(std::uint64_t count) const;
  void fail(const CommandFault& fault);
  void settle();
  void report(std::uint64_t generation);
  bool stale(std::uint64_t argument) const { return argument >> 32 != generation_ || stopped_; }
  Tile& tile_at(std::uint64_t number) { return tiles_[number % tiles_.size()]; }
  std::uint64_t packed(std::uint64_t tile) const {
    return std::uint64_t{generation_} << 32 | tile % tiles_.size();
  }
  abi::KernelFunction function() const { return static_cast<abi::KernelFunction>(block_.function); }
  unsigned sources() const;

  Simulation& sim_;
  const CoreConfig& config_;
  const std::uint32_t track_;
  const unsigned number_;
  const std::uint64_t mhz_;
  Owner& owner_;
  std::vector<Tile> tiles_;

  bool busy_ = false, running_ = false, stopped_ = false, reporting_ = false;
  std::uint32_t generation_ = 0;
  KernelBlock block_;
  abi::KernelArguments arguments_;
  CommandFault fault_;
  SimTime began_ = 0;
  std::uint64_t first_ = 0, count_ = 0;  // elements of this block
  std::uint64_t tile_count_ = 0;
  std::uint64_t next_load_ = 0, next_compute_ = 0, stored_ = 0;  // tiles
  SimTime load_free_ = 0, vector_free_ = 0, store_free_ = 0;     // pipes
  unsigned accesses_ = 0;                                        // under way
};

}  // namespace npu::model
