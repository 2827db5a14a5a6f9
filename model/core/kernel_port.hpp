// SPDX-License-Identifier: Apache-2.0
// Cores as the command processor uses them: blocks of kernels, one at a time per core.
#pragma once

#include <cstdint>

#include "model/core/ports.hpp"
#include "model/core/space_id.hpp"

namespace npu::model {

struct KernelBlock {
  std::uint64_t image = 0;  // device address of the program (abi/kernel_image.hpp)
  std::uint32_t block = 0, blocks = 0;
  std::uint64_t arguments = 0;  // device address
  std::uint32_t argument_bytes = 0;
  SpaceId vmid = 0;
  std::uint64_t cause = 0;
  std::uint64_t context = 0;  // the launcher's own; blocks of one kernel share it
  // Of a mixed launch each block is on all cores of a cluster, in its roles: 0 cube or coupled
  // core, 1 and 2 vector cores.
  bool mixed = false;
  unsigned lanes = 1;  // cores that the block is on
  unsigned role = 0;
};

class KernelPort {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // The block's last access has ended and the core is free. Also for blocks that were stopped.
    virtual void block_done(unsigned core, const KernelBlock& block, const CommandFault& fault) = 0;
  };
  virtual ~KernelPort() = default;
  virtual void connect(Listener& listener) = 0;
  virtual unsigned cores() const = 0;
  // `core` is free.
  virtual void start(unsigned core, const KernelBlock& block) = 0;
  // All blocks of `context` end at the next border of an access.
  virtual void stop(std::uint64_t context) = 0;
};

}  // namespace npu::model
