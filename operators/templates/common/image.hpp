// SPDX-License-Identifier: Apache-2.0
// The size with which an operator's kernel is uploaded, in bytes, whatever a compiler made of it:
// loading an image is simulated time, which depends on no compiler. A larger object is an error.
#pragma once

#define NPU_JIT_IMAGE_BYTES 131072
