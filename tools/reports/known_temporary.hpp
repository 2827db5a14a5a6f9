// SPDX-License-Identifier: Apache-2.0
// Half-written files that have names: what ends the program in a signal handler finds them here.
#pragma once

#include <cstddef>
#include <string>

namespace npu::reports {

// The file of that name is one, for as long as this lives. Of more than 16 at a time the others are
// not known.
class KnownTemporary {
 public:
  explicit KnownTemporary(const std::string& path);
  ~KnownTemporary();
  KnownTemporary(const KnownTemporary&) = delete;
  KnownTemporary& operator=(const KnownTemporary&) = delete;

 private:
  std::size_t place_;
};

// All that are known are gone. May be called by a signal handler, behind which the program ends.
void unlink_temporaries();

}  // namespace npu::reports
