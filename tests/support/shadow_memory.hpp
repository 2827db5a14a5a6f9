// SPDX-License-Identifier: Apache-2.0
// Whether a sanitizer's shadow memory takes up memory and addresses of this process.
#pragma once

namespace npu::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kShadowMemory = true;
#else
inline constexpr bool kShadowMemory = false;
#endif

}  // namespace npu::test
