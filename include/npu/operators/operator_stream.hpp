// SPDX-License-Identifier: Apache-2.0
// The interface of the launcher for the host part of an operator. An operator is a shared object,
// compiled on demand. Its entry checks the parameters, asks for workspace and makes the launches.
// It knows neither driver nor simulator.
#pragma once

#include <cstdint>

#include "npu/base/units.hpp"

namespace npu::operators {

enum class CoreKind : std::uint8_t {
  kCube,
  kVector,
  kMixed,  // each block on a whole cluster: a cube core and its vector cores, or a coupled core
};

// The size of every operator's kernel in device memory, so that the simulated time of its upload
// does not depend on the compiler. Launches do not depend on it. A larger object is an error.
inline constexpr Bytes kImageBytes = 128_KiB;

// What cores can: bytes of local buffers, the smallest of the cores that a launch may get, and of
// the card's cache. 0: none.
struct CoreLimits {
  Bytes l1 = 0, l0a = 0, l0b = 0, l0c = 0;  // of cores for kCube
  Bytes ub = 0;                             // of cores for kVector
  Bytes l2 = 0;                             // of the whole card
  bool fixpipe_to_l1 = false;               // FixPipe has a way from L0C to L1
  bool fixpipe_bf16 = false;                // FixPipe makes bf16 of int32 that it scales
  // A cluster's cores reach each other's buffers: L0C to UB, UB to L1.
  bool local_ways = false;
  bool vector_functions = false;  // vector cores compute in registers
};

// The launcher implements it, and an operator calls it only in run(). Addresses are those of the
// process' device memory. No member throws.
class OperatorStream {
 public:
  virtual ~OperatorStream() = default;

  // The number of blocks of `kind` that can run at the same time, at least 1. A coupled core counts
  // as every kind.
  virtual std::uint32_t cores(CoreKind kind) const = 0;
  virtual CoreLimits limits() const = 0;

  // The operator does not support the parameters. `reason`: a text for users with the supported
  // values; the call copies it. The run launches nothing.
  virtual void refuse(const char* reason) = 0;

  // Device memory for the run, aligned to 512 B, with undefined content, until the last launch has
  // ended. At most one call in a run. 0: not enough memory, which the launcher reports; the run
  // must launch nothing.
  virtual std::uint64_t workspace(std::uint64_t bytes) = 0;

  // Launches the object's kernel on `blocks` cores, or clusters, of `kind`, 1 .. cores(kind).
  // The call copies the `count` words of arguments. The first one is the part of the operator.
  // Launches of a run are in order: each sees the results of the one before. The launcher reports
  // an error of a launch, and may then drop later ones.
  virtual void launch(CoreKind kind, std::uint32_t blocks, const std::uint64_t* words,
                      std::uint32_t count) = 0;
};

// The entry of an operator's shared object. `block_num`: the most cores of the operator's kind; 0:
// all. `stream` is an OperatorStream*, `params` the operator's structure of params.hpp.
using RunEntry = void (*)(std::uint32_t block_num, void* stream, const void* params);
inline constexpr char kRunEntryName[] = "run";

}  // namespace npu::operators
