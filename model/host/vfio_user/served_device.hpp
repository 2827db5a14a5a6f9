// SPDX-License-Identifier: Apache-2.0
// What one vfio-user socket serves: one PCI function. The server calls, the function answers.
// All calls come from the thread that runs Server::serve(), one at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "npu/base/units.hpp"

namespace npu::model::vfio_user {

// Memory of the client that the function may reach by DMA, as IOVA (I/O virtual address).
// `data` is a shared mapping of the client's file. Should the client take the file away from under
// it (ftruncate), accesses meet zeroes instead (fault_guard.hpp) and the client is disconnected at
// the next serve().
struct DmaMapping {
  std::uint64_t iova;  // a multiple of 4 KiB; iova + size may be 2^64 but does not pass it
  Bytes size;          // a multiple of 4 KiB, not 0
  std::byte* data;     // size bytes, never null
  bool readable;
  bool writable;  // false: `data` must not be written, it may even be mapped read-only
};

class ServedDevice {
 public:
  virtual ~ServedDevice() = default;

  // Regions as VFIO numbers them: 0..5 BARs, 6 ROM, 7 configuration space, 8 VGA. 0: no such
  // region. Constant while a client is there.
  virtual Bytes region_size(unsigned region) const = 0;
  // VFIO indices: 0 INTx, 1 MSI, 2 MSI-X, 3 error, 4 request. Constant while a client is there.
  virtual unsigned irq_count(unsigned index) const = 0;

  // 0 or an errno, which the client gets to see. [offset, offset + count) lies inside the region;
  // count is 1 to 1 MiB; any alignment.
  virtual int read(unsigned region, Bytes offset, std::byte* data, Bytes count) = 0;
  virtual int write(unsigned region, Bytes offset, const std::byte* data, Bytes count) = 0;

  // The eventfd to signal (eventfd.hpp) for a vector; -1: none from now on. The function does not
  // own the descriptor: it stays open until the next call for that vector or client_gone().
  virtual void set_trigger(unsigned index, unsigned vector, int eventfd) = 0;
  // The client masks or unmasks a vector by message, beside what it writes into the MSI-X table.
  virtual void mask(unsigned index, unsigned vector, bool masked) = 0;

  // 0 or an errno: then the mapping does not exist. Mappings do not overlap. What the client maps
  // without giving a file is not announced: it cannot be reached.
  virtual int map(const DmaMapping& mapping) = 0;
  // Exactly a mapping that was mapped; `data` is valid until the call returns.
  virtual void unmap(std::uint64_t iova, Bytes size) = 0;

  virtual void reset() = 0;  // DEVICE_RESET; mappings and triggers stay
  // A client that had negotiated is gone; its mappings and triggers have been taken back before by
  // unmap() and set_trigger(-1). The state of the function stays as it is.
  virtual void client_gone() = 0;
};

}  // namespace npu::model::vfio_user
