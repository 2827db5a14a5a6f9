// SPDX-License-Identifier: Apache-2.0
// What a program has of the device's memory, and how much it may have.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace npu::share {

enum class Mode : std::uint8_t {
  kNative,       // memory is what the program asks for
  kCooperative,  // it is managed; before a launch the card is given all of it
  kTransparent,  // it is managed, and comes by the card's faults
};

// Of whole pages (docs/sharing.md): small allocations share them.
class Allocations {
 public:
  static Allocations& all();

  Mode mode() const { return mode_; }
  bool is_managed() const { return mode_ != Mode::kNative; }
  std::size_t quota() const { return quota_; }  // bytes; SIZE_MAX: none

  // Whether the library below has yet to be told of the quota: once in a process, and anew in a
  // child of fork(), which has nothing of its parent's.
  bool is_untold();
  // Whether it keeps to the quota, for all interfaces, from now on.
  void told(bool keeps) { kept_below_ = keeps; }

  // Room for so much more, from now on. False: the quota has not so much left, and counts it.
  bool take(std::size_t bytes);
  // Which was not used: `refused`, for want of memory.
  void give_back(std::size_t bytes, bool refused);
  // The room that was taken is this allocation's; `device_memory`: an address, else a handle.
  void add(const void* key, std::size_t bytes, bool device_memory);
  // Its room is given back.
  void remove(const void* key);
  // The device was reset.
  void clear();
  // What the program is to see of the device's free and total memory.
  void show(std::size_t* free, std::size_t* total) const;

  struct Range {
    const void* address;
    std::size_t bytes;
  };
  // Addresses that came since the last call.
  std::vector<Range> take_fresh();

 private:
  Allocations();
  // Tells what was counted, on the error output, if NPUSHARE_REPORT is set.
  static void report();

  struct Allocation {
    std::size_t bytes = 0;
    bool fresh = false;
  };
  Mode mode_ = Mode::kNative;
  std::size_t quota_ = SIZE_MAX;  // bytes
  bool kept_below_ = false;
  mutable std::mutex lock_;
  pid_t told_in_ = 0;
  std::map<const void*, Allocation> allocations_;
  std::size_t used_ = 0, most_ = 0;
  std::uint64_t allocated_ = 0, refused_ = 0;
};

}  // namespace npu::share
