// SPDX-License-Identifier: Apache-2.0
// Matrices in L0 in the hardware's order: fractals of 16 rows of 32 B (platform::LoadL0,
// platform::Mmad, platform::Fixpipe).
#pragma once

#include <vector>

#include "npu/platform/aicore_port.hpp"

namespace npu::model::arithmetic {

void copy_fractals(const platform::LoadL0& load, const unsigned char* from, unsigned char* to);

// C (+)= A x B, the same bits as multiply() has.
void multiply_fractals(const platform::Mmad& mmad, const unsigned char* a, const unsigned char* b,
                       unsigned char* c);

// Bytes from one row of C in L0C to the next.
Bytes row_pitch(const platform::Fixpipe& fixpipe);
// A row of C in columns of fractals, of which `from` is the first byte. It lies in `row` then.
const unsigned char* row_of(const platform::Fixpipe& fixpipe, const unsigned char* from,
                            std::vector<unsigned char>& row);

}  // namespace npu::model::arithmetic
