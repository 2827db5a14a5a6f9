// SPDX-License-Identifier: Apache-2.0
// Marks and ranges of a profile (acl/acl_prof.h).
#pragma once

#include <cstdint>
#include <string>

namespace npu::compat {

// Times in ns of the host's.
struct ProfileMark {
  const char* kind = "";
  std::string domain, text;
  std::uint64_t begin = 0, end = 0;
};

// Whether the program takes any now.
bool takes_marks();
void add_mark(ProfileMark mark);
std::uint64_t host_nanoseconds();

}  // namespace npu::compat
