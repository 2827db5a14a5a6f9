// SPDX-License-Identifier: Apache-2.0
// What cards tell whoever looks for races (machine/races) of their queues: which bytes an entry has
// accessed, and that it has ended. It knows no driver.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "machine/extents.hpp"
#include "machine/races/detector.hpp"
#include "model/core/work_watch.hpp"
#include "model/system.hpp"

namespace npu::sim {

class CardWork : public model::WorkWatch {
 public:
  explicit CardWork(races::Detector& detector) : detector_(detector) {}
  ~CardWork() override;
  CardWork(const CardWork&) = delete;
  CardWork& operator=(const CardWork&) = delete;

  // From now on it hears of the machine. One at a time.
  void attach(model::System& system);

  void accessed(const Access& access) override;
  void created(std::uint64_t cause) override;
  void ended(const Entry& entry) override;

 protected:
  static Instant now();
  races::Detector& detector() { return detector_; }
  // The bytes that a DMA operation accesses.
  void add_copy(races::Work& work, const abi::DmaOperation& operation, std::uint64_t source,
                std::uint64_t destination, Bytes size) const;
  // An entry of a queue has ended. `work` has no label yet.
  virtual void tell(races::Work work) { detector_.ended(std::move(work), now()); }

 private:
  struct Kernel {
    Extents reads, writes;
  };

  void add(races::Work& work, abi::DmaSide side, std::uint64_t address, Bytes size,
           bool write) const;
  void add_entry(const Entry& entry, races::Work& work) const;
  void add_kernel(std::uint64_t cause, races::Work& work);
  void translate(std::uint32_t device, model::SpaceId space, std::uint64_t begin, std::uint64_t end,
                 bool write, std::vector<races::Piece>& pieces) const;

  races::Detector& detector_;
  model::System* system_ = nullptr;
  std::map<std::uint64_t, Kernel> kernels_;  // by cause
};

}  // namespace npu::sim
