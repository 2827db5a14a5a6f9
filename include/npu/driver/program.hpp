// SPDX-License-Identifier: Apache-2.0
// Programs of the card's cores on the host: shared objects built against include/npu/platform
// (abi/kernel_image.hpp). KernelModule and DeviceContext upload them.
#pragma once

#include <vector>

#include "npu/abi/kernel_image.hpp"
#include "npu/base/byte_span.hpp"
#include "npu/base/result.hpp"
#include "npu/base/units.hpp"
#include "npu/driver/export.hpp"

namespace npu::driver {

// Makes the image to upload: a header and the loaded part of the ELF object, without section
// headers, linker symbols and debug information. `declared`: bytes of the object in device memory,
// padded with zeros; 0: its own size.
// kInvalidArgument: the object is empty; it or `declared` is larger than kMaxImageSize; or its
// loaded part is larger than `declared`.
// kIo: SHA-256 failed.
NPU_API Result<std::vector<std::byte>> make_image(abi::ImageKind kind, ConstByteSpan object,
                                                  Bytes declared = 0);

}  // namespace npu::driver
