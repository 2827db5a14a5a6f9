// SPDX-License-Identifier: Apache-2.0
// Right use of memory and address spaces: every call must do what the headers say.
#pragma once

#include "tests/attack/process.hpp"
#include "tests/attack/transfers.hpp"

namespace npu::attack {

class Mappings {
 public:
  Mappings(Process& process, Transfers& transfers) : process_(process), transfers_(transfers) {}

  void allocate();
  void free();
  void create();
  void release_memory();
  void import_memory();
  void reserve();
  void release();
  void map();
  void set_access();
  void unmap();
  void open_space();
  void close_space();
  void compact();
  void look();  // range_of() anywhere

  // Everything that is mapped, through every mapping, and what is only held.
  void verify_all();
  void give_back_all();

 private:
  struct Range {
    std::uint64_t at = 0;
    Bytes pages = 0;
  };

  void clear(SpaceModel& space);
  void verify_held(SpaceModel& space);
  Range mapped_range(SpaceModel& space);
  Range hole(SpaceModel& space);
  // What is free for a block on the card now.
  Bytes room(unsigned card) const;
  // Whether the card may say that it has no room for `pages`, of which `room` had room before.
  bool may_be_full(unsigned card, Bytes room, Bytes pages) const;
  void refused(const char* call, const Error& error, bool full);
  void require(const std::string& call, const Status& status);

  Process& process_;
  Transfers& transfers_;
};

}  // namespace npu::attack
