// SPDX-License-Identifier: Apache-2.0
// By what programs are known that lie in device memory without the sections of their files.
#pragma once

#include "npu/base/byte_span.hpp"

namespace npu::model {

// What is loaded of an ELF object but its header, which tells of sections that an image need not
// have. Empty: it is none.
ConstByteSpan loaded_code(ConstByteSpan object);
bool same_code(ConstByteSpan code, ConstByteSpan other);

}  // namespace npu::model
