// SPDX-License-Identifier: Apache-2.0
// What the host's part of an operator's shared object has of who launches it. The object is
// compiled on demand; its entry says whether it can do what is asked for, how much workspace that
// takes, and which launches it is made of. It knows neither driver nor simulator.
#pragma once

#include <cstdint>

#include "npu/base/units.hpp"

namespace npu::operators {

enum class CoreKind : std::uint8_t {
  kCube,
  kVector,
  kMixed,  // of an operator: it launches on both, one kind after the other
};

// The size with which every operator's kernel is uploaded, whatever a compiler made of it: loading
// an image is simulated time, which depends on no compiler. A larger object is an error.
inline constexpr Bytes kImageBytes = 128_KiB;

// Local buffers of the cores that a launch may get, each the smallest of them, and the card's
// cache; 0: there is none. In bytes.
struct CoreLimits {
  Bytes l1 = 0, l0a = 0, l0b = 0, l0c = 0;  // of what runs kCube
  Bytes ub = 0;                             // of what runs kVector
  Bytes l2 = 0;                             // of the whole card
};

// Addresses are those of the process' device memory. Implemented by the launcher; an operator calls
// it from within run() only. Nothing of it throws.
class OperatorStream {
 public:
  virtual ~OperatorStream() = default;

  // How many blocks of `kind` can run at one time, at least 1; not asked with kMixed. A coupled
  // core counts as both kinds.
  virtual std::uint32_t cores(CoreKind kind) const = 0;
  virtual CoreLimits limits() const = 0;

  // The operator cannot do what the parameters say: a text for users, with what is possible
  // instead, that is kept or copied at once. Nothing was or will be launched by this run.
  virtual void refuse(const char* reason) = 0;

  // Device memory, 512 B aligned, that is the operator's until the last launch of the run has
  // ended; its bytes are anything. At most once per run. 0: there is not so much memory, and the
  // launcher knows that; nothing may be launched then.
  virtual std::uint64_t workspace(std::uint64_t bytes) = 0;

  // The object's own kernel on `blocks` cores of `kind` (kCube or kVector), 1 to cores(kind). The
  // kernel's arguments are `count` words, which are copied before this returns; the first one says
  // which part of the operator it is. Launches of one run follow one another: what one wrote, the
  // next one reads. An error of a launch is the launcher's to tell; later ones need not happen.
  virtual void launch(CoreKind kind, std::uint32_t blocks, const std::uint64_t* words,
                      std::uint32_t count) = 0;
};

// The entry of an operator's shared object. `block_num`: on how many cores of the operator's own
// kind, 0 for all; work for less takes less. `stream` is an OperatorStream*, `params` the
// operator's structure of params.hpp.
using RunEntry = void (*)(std::uint32_t block_num, void* stream, const void* params);
inline constexpr char kRunEntryName[] = "run";

}  // namespace npu::operators
