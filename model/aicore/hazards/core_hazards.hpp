// SPDX-License-Identifier: Apache-2.0
// Finds hazards of what one core runs: for each byte of its local buffers and of global memory
// which instruction wrote it, and which read or overwrote it without an order between them.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "model/aicore/core_parts.hpp"
#include "model/aicore/hazards/core_order.hpp"
#include "model/aicore/hazards/hazards.hpp"
#include "model/aicore/pipe_watch.hpp"

namespace npu::model {

class CoreHazards final : public PipeWatch, private AccessMap::Listener {
 public:
  class Program {
   public:
    virtual ~Program() = default;
    // Where in the running program its call of the port is; its name.
    virtual const void* call_site() const = 0;
    virtual const std::array<char, 17>& program_name() const = 0;
    // Another core of the cluster; nullptr: it runs something else.
    virtual CoreHazards* hazards_of(Whose whose) = 0;
  };

  CoreHazards(CoreParts& core, Hazards& hazards, Program& program);

  // A launch or another program's call begins or ends. At an end the program has returned, and
  // nobody has waited for its instructions yet.
  void enter_call();
  void end_call();
  // A block begins, when all of the core's earlier ones are over.
  void begin_block() {
    order_.begin_block();
    awaited_.reset();
  }
  // The program is stopped before its end. stuck() says which pipes wait for flags.
  void stopped();

  void issued(Pipe pipe, const PipeEntry& entry) override;
  void reached(Pipe pipe, const PipeEntry& entry) override;
  void raised(Pipe to, unsigned id) override;
  void awaits(Pipe from, unsigned id) override;
  void lowered(Pipe from, unsigned id) override;
  void cross_raised(platform::CrossScope scope, unsigned flag) override;
  void cross_awaits(platform::CrossScope scope, unsigned flag) override;
  void cross_lowered(platform::CrossScope scope, unsigned flag) override;
  void drained() override { order_.drained(); }
  void accessed_ub(std::uint32_t offset, bool write) override;
  void accessed_memory() override;
  void stuck(Pipe pipe) override { never_raised(order_.next(pipe)); }

 private:
  void unordered(const Access& other, bool other_writes, std::uint64_t first,
                 std::uint64_t bytes) override;
  HazardPlace here(Pipe pipe) const;
  // Who watches accesses to memory learns where the instruction is.
  void tell(Pipe pipe, std::uint32_t number, PlaceNumber place) const;
  PlaceNumber place_of(Pipe pipe, const PipeEntry& entry);
  PlaceNumber place_of_flag(Pipe from, Pipe to, unsigned id);
  PlaceNumber place_of_cross_flag(Pipe to, unsigned flag);
  void never_raised(PlaceNumber place);
  void access(Pipe pipe, PlaceNumber place, std::uint32_t turn, abi::ReduceOperation reduction);
  AccessMap& map(const Extent& extent);
  CallOrder& call() { return hazards_.call(calls_.block().context, calls_.call()); }
  void raise_cross(Pipe pipe, platform::CrossScope scope, unsigned flag);
  void lower_cross(Pipe pipe, platform::CrossScope scope, unsigned flag);

  const unsigned number_;
  const bool cube_, coupled_;
  const CallStack& calls_;
  const CrossFlagPort& cross_flags_;
  Hazards& hazards_;
  Program& program_;
  CoreOrder order_;
  std::array<AccessMap, platform::kLocalBuffers> local_;
  std::optional<PlaceNumber> awaited_;  // by the scalar unit
  AccessMap nowhere_;                   // of a core that runs something else
  // Of the access that is looked at.
  std::vector<Extent> extents_;
  Extent extent_;
  Access access_;
};

}  // namespace npu::model
