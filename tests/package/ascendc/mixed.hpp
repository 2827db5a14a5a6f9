// SPDX-License-Identifier: Apache-2.0
// What mixed.cpp launches.
#pragma once

#include <cstdint>

int multiply(std::uint32_t blocks, void* stream, void* a, void* b, void* c, std::uint16_t side);
// `first`, and on by 7, or if it is not below 0 by -3.
int number(void* stream, std::int32_t* to, int first, std::int32_t count);
