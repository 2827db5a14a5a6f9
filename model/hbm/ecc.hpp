// SPDX-License-Identifier: Apache-2.0
// Errors of the memory that tests inject, and how ECC meets them: per burst, SECDED. A read
// corrects one flipped bit and writes the burst back, so that it is found once; two flipped bits
// cannot be corrected, are told of once, and spoil every read of the burst until all of it is
// written. The bytes themselves never change: nobody may use those of a spoilt read.
#pragma once

#include <cstdint>
#include <map>

#include "npu/base/units.hpp"

namespace npu::model {

// Hears of errors that reads have found, by device-local address of the burst.
class MemoryErrorListener {
 public:
  virtual ~MemoryErrorListener() = default;
  virtual void memory_error(std::uint64_t address, unsigned bits) = 0;
};

namespace hbm {

// Pieces of memory of one request, `pitch` apart; what lies between them is not touched.
struct Extents {
  std::uint64_t address = 0;
  Bytes piece = 0;
  unsigned rows = 1;
  Bytes pitch = 0;
};

class Ecc {
 public:
  static constexpr unsigned kCorrectable = 1, kUncorrectable = 2;  // flipped bits of a burst

  // `burst` is a power of two.
  Ecc(Bytes burst, Bytes installed) : burst_(burst), installed_(installed) {}

  void connect(MemoryErrorListener& listener) { listener_ = &listener; }
  // Flips 1 or 2 bits of the burst at `address`; flips add up to 2. False: no such memory, or
  // another number of bits.
  bool inject(std::uint64_t address, unsigned bits);
  bool any() const { return !flipped_.empty(); }
  // Of [address, address + length), one byte or more. True: it holds an error that cannot be
  // corrected.
  bool read(std::uint64_t address, Bytes length);
  void written(std::uint64_t address, Bytes length);
  // Of each piece the one or the other; as read().
  bool meets(bool write, const Extents& request);

 private:
  struct Flip {
    unsigned bits = 0;
    bool told = false;
  };
  std::uint64_t burst_of(std::uint64_t address) const { return address & ~(burst_ - 1); }

  const Bytes burst_;
  const Bytes installed_;
  MemoryErrorListener* listener_ = nullptr;
  std::map<std::uint64_t, Flip> flipped_;  // by address of the burst
};

}  // namespace hbm
}  // namespace npu::model
