// SPDX-License-Identifier: Apache-2.0
// A file of kernels, as `npusim cc` makes it and aclrtBinaryLoadFromFile takes it: a header, an
// entry for each kernel, and their shared objects.
#pragma once

#include <cstdint>

namespace npu::abi {

// The cores of a kernel's block.
enum class KernelCores : std::uint32_t {
  kCube = 0,
  kVector = 1,
  kMixed = 2,  // a cube core with its vector cores
};

struct KernelFileHeader {
  char magic[8] = {};         // kKernelFileMagic
  std::uint32_t version = 1;  // 8
  std::uint32_t kernels = 0;  // 12  at most kMostKernels
};
static_assert(sizeof(KernelFileHeader) == 16);
inline constexpr char kKernelFileMagic[8] = {'n', 'p', 'u', 's', 'i', 'm', 'c', 'c'};
inline constexpr std::uint32_t kMostKernels = 256;

struct KernelFileEntry {
  char name[60] = {};                        // ends with a zero
  KernelCores cores = KernelCores::kVector;  // 60
  std::uint64_t offset = 0;                  // 64  of its object from the file's beginning
  std::uint64_t size = 0;                    // 72
};
static_assert(sizeof(KernelFileEntry) == 80);

}  // namespace npu::abi
