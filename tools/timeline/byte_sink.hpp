// SPDX-License-Identifier: Apache-2.0
// Where a timeline's bytes go.
#pragma once

#include "npu/base/byte_span.hpp"
#include "npu/base/result.hpp"

namespace npu::timeline {

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  // kIo and others: what has been written is of no use.
  virtual Status append(ConstByteSpan bytes) = 0;
  // Nothing more comes.
  virtual Status finish() { return {}; }
};

}  // namespace npu::timeline
