// SPDX-License-Identifier: Apache-2.0
// Memory on two cards and a way to copy from the one to the other over HCCS: the block of the card
// that does not execute the copy is mapped into the address space of the one that does.
#pragma once

#include <memory>
#include <string>

#include "npu/driver/device.hpp"
#include "workloads/framework/context.hpp"

namespace npu::workloads {

// An opened card with a stream for preparing and looking at data.
struct PeerCard {
  std::unique_ptr<driver::Device> device;
  driver::StreamId stream;
};

class PeerPath {
 public:
  // `size` bytes at each end. `pull`: `to` reads what `from` has, else `from` writes into `to`.
  // `window` bytes of host memory to look through.
  static Result<std::unique_ptr<PeerPath>> create(Context& context, PeerCard& from, PeerCard& to,
                                                  bool pull, Bytes size, Bytes window);
  ~PeerPath();
  PeerPath(const PeerPath&) = delete;
  PeerPath& operator=(const PeerPath&) = delete;

  // The card that executes command(), and a stream of its own for that.
  driver::Device& executor() { return *(pull_ ? to_ : from_).device; }
  driver::StreamId stream() const { return stream_; }
  driver::DmaCommand command(Bytes offset, Bytes size) const;
  Status prepare(Bytes offset, Bytes size, std::uint64_t seed);
  // Compares the destination there with what prepare() has put into the source, byte for byte.
  Status verify(Bytes offset, Bytes size, std::uint64_t seed, const std::string& what);

 private:
  struct Mapping {
    driver::AddressSpace* space = nullptr;
    driver::MemoryHandle memory;
    driver::DeviceAddress at;
  };

  PeerPath(Context& context, PeerCard& from, PeerCard& to, bool pull, Bytes size)
      : context_(context), from_(from), to_(to), pull_(pull), size_(size) {}
  static Status map(Mapping& mapping, Bytes size);
  void unmap(const Mapping& mapping) const;
  Status make_memory();

  Context& context_;
  PeerCard& from_;
  PeerCard& to_;
  const bool pull_;
  const Bytes size_;
  driver::StreamId stream_;
  bool has_stream_ = false;
  Mapping source_, destination_;  // on their own cards
  Mapping borrowed_;              // the far end as the executor sees it
  std::unique_ptr<platform::DmaMemory> source_window_, destination_window_;
};

}  // namespace npu::workloads
