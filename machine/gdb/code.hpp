// SPDX-License-Identifier: Apache-2.0
// Code of programs in this process, with breakpoints in it; and this process' memory, by whatever
// address.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "npu/base/file_descriptor.hpp"

namespace npu::gdb {

// False: not all of it is there.
class OwnMemory {
 public:
  OwnMemory();
  bool read(std::uint64_t address, void* to, std::size_t bytes) const;
  // Also where the process itself may not write: code.
  bool write(std::uint64_t address, const void* from, std::size_t bytes) const;

 private:
  FileDescriptor file_;
};

// Where backtraces end, and programs return to: npusim.
inline constexpr std::uint64_t kOutside = 0;

// Instructions that trap. Each place has one byte, whoever wants it.
class Code {
 public:
  explicit Code(const OwnMemory& memory) : memory_(memory) {}
  // Of an object: [begin, end).
  void add(std::uint64_t begin, std::uint64_t end) { objects_.push_back({begin, end}); }
  bool contains(std::uint64_t address) const;

  // gdb's own. False: it is no program's code, nor kOutside, where nothing can trap.
  bool insert(std::uint64_t address);
  void remove(std::uint64_t address);
  bool wanted(std::uint64_t address) const { return wanted_.count(address) != 0; }
  // Also those of the last stop that lift_back() has brought back.
  bool asked_for(std::uint64_t address) const {
    return wanted(address) || shadows_.count(address) != 0;
  }
  // Those that were removed since the last stop are wanted until the next one.
  void lift_back();
  void stopped();
  void go_on() { lifted_.clear(); }
  // One more, of the server's own; 0: none.
  void set_own(std::uint64_t address);
  std::uint64_t own() const { return own_; }
  // All go.
  void clear();

  bool patched(std::uint64_t address) const { return patched_.count(address) != 0; }
  // For the time of one instruction.
  void open(std::uint64_t address);
  void close(std::uint64_t address);
  // Where breakpoints lie, `bytes` read from `address` on are as they were without them.
  void hide(std::uint64_t address, unsigned char* data, std::size_t bytes) const;

 private:
  struct Range {
    std::uint64_t begin, end;
  };
  void update();
  bool put(std::uint64_t address, unsigned char byte);

  const OwnMemory& memory_;
  std::vector<Range> objects_;
  std::set<std::uint64_t> wanted_, lifted_, shadows_;
  std::uint64_t own_ = 0;
  std::map<std::uint64_t, unsigned char> patched_;  // with what was there
};

}  // namespace npu::gdb
