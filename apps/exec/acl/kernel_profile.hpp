// SPDX-License-Identifier: Apache-2.0
// When kernels of a program have run, while it profiles (aclprofStart()): the card writes its time
// in front of each kernel and behind it, which the stream waits for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/exec/acl/streams.hpp"

namespace npu::exec::acl {

class ProcessCard;

struct KernelProfile {
  struct Run {
    std::string name;
    std::uint32_t device = 0;
    std::uint64_t stream = 0;
    std::shared_ptr<const TimePlace> begin, end;
    driver::StreamMark done;
  };
  std::uint64_t devices = 0;  // a bit for each that is profiled
  std::vector<Run> runs;
};

// A kernel is launched while this lives. Captured streams are not profiled.
class ProfiledLaunch {
 public:
  ProfiledLaunch(KernelProfile& profile, ProcessCard& card, ProgramStream& stream,
                 std::string name);
  ~ProfiledLaunch();
  ProfiledLaunch(const ProfiledLaunch&) = delete;
  ProfiledLaunch& operator=(const ProfiledLaunch&) = delete;

 private:
  // Null: there is none, and the kernel is not profiled.
  std::shared_ptr<const TimePlace> take();

  KernelProfile& profile_;
  ProcessCard& card_;
  ProgramStream& stream_;
  KernelProfile::Run run_;
};

}  // namespace npu::exec::acl
