// SPDX-License-Identifier: Apache-2.0
// Places of programs: which function of the C API was called, and from where.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "apps/compat/protocol/calls.hpp"
#include "machine/races/site.hpp"

namespace npu::exec::races {

// Return addresses, from the innermost one outwards.
using Frames = std::vector<std::uint64_t>;

// The same function called from the same place by the same program.
struct CallPlace {
  std::string program;                       // "p0"
  compat::Call call = compat::Call::kCount;  // kCount: a load or store of the program's own
  Frames frames;
  std::shared_ptr<const std::string> maps;  // of the process then, as /proc has it
};

// `place`, `thread`: in CallSites; `number`: of the call among those of its program, from 1 on.
using CallSite = npu::races::Site;

class CallSites {
 public:
  std::uint32_t place(const std::string& program, pid_t process, compat::Call call, Frames frames);
  // "p0.t1".
  std::uint32_t thread(const std::string& name);
  const std::string& thread_name(std::uint32_t thread) const { return threads_[thread]; }
  const CallPlace& at(std::uint32_t place) const { return places_[place]; }

  // "main (FILE.c:12), called from ...": where in its program; empty: nobody knows. Functions of
  // npusim's libraries are left out. Files without debug information give function and module.
  std::string stack_of(std::uint32_t place) const;

 private:
  using Key = std::tuple<std::string, compat::Call, Frames>;

  std::vector<CallPlace> places_{1};
  std::map<Key, std::uint32_t> known_;
  std::vector<std::string> threads_{1};
  std::map<std::string, std::uint32_t> known_threads_;
};

}  // namespace npu::exec::races
