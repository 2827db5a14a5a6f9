// SPDX-License-Identifier: Apache-2.0
// A file of kernels, as `npusim cc` makes it and aclrtBinaryLoadFromFile takes it: a header, tables
// of kernels, variables and parameters, the kernels' shared objects, and what the variables contain
// at first.
#pragma once

#include <cstdint>

namespace npu::abi {

// The cores of a kernel's block.
enum class KernelCores : std::uint32_t {
  kCube = 0,
  kVector = 1,
  kMixed = 2,  // a cube core with its vector cores
};

inline constexpr std::uint32_t kKernelFileVersion = 3;

struct KernelFileHeader {
  char magic[8] = {};                          // kKernelFileMagic
  std::uint32_t version = kKernelFileVersion;  // 8
  std::uint32_t kernels = 0;                   // 12  at most kMostKernels
  std::uint32_t variables = 0;                 // 16  at most kMostVariables
  std::uint32_t parameters = 0;                // 20  of all kernels together
  std::uint64_t contents = 0;                  // 24  of the variables, from the file's beginning
  std::uint64_t content_size = 0;              // 32  bytes
};
static_assert(sizeof(KernelFileHeader) == 40);
inline constexpr char kKernelFileMagic[8] = {'n', 'p', 'u', 's', 'i', 'm', 'c', 'c'};
inline constexpr std::uint32_t kMostKernels = 256;
inline constexpr std::uint32_t kMostVariables = 1024;

struct KernelFileEntry {
  char name[60] = {};                        // ends with a zero
  KernelCores cores = KernelCores::kVector;  // 60
  std::uint64_t offset = 0;                  // 64  of its object from the file's beginning
  std::uint64_t size = 0;                    // 72
  std::uint64_t layout = 0;                  // 80  of its KernelLayout in the object
  std::uint32_t first_parameter = 0;         // 88  in the table
  std::uint32_t parameters = 0;              // 92  or kUnknownParameters
  std::uint32_t prints = 0;                  // 96  1: it calls printf()
  std::uint32_t reserved = 0;                // 100 0
};
static_assert(sizeof(KernelFileEntry) == 104);

// In global memory. All kernels of the file share it.
struct KernelFileVariable {
  char name[112] = {};       // ends with a zero
  std::uint64_t offset = 0;  // 112  in the contents
  std::uint64_t size = 0;    // 120
};
static_assert(sizeof(KernelFileVariable) == 128);

// In the arguments of a launch.
struct KernelFileParameter {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
};
static_assert(sizeof(KernelFileParameter) == 8);
inline constexpr std::uint32_t kMostParameters = 128;  // of a kernel
inline constexpr std::uint32_t kUnknownParameters = 0xFFFF'FFFF;

// In a kernel's object.
struct KernelLayout {
  std::uint64_t variables =
      0;  // their address in device memory, written before the object is loaded
  std::uint32_t parameters = 0;
  std::uint32_t reserved = 0;
  KernelFileParameter parameter[kMostParameters] = {};
};
static_assert(sizeof(KernelLayout) == 16 + 8 * kMostParameters);

}  // namespace npu::abi
