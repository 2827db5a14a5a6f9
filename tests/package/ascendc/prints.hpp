// SPDX-License-Identifier: Apache-2.0
// What prints.cpp launches; each returns an aclError.
#pragma once

#include <cstdint>

int say_it(std::uint32_t blocks, void* stream, std::int32_t* to, std::int32_t value);
int say_often(void* stream, std::uint32_t count);
int say_nothing(void* stream, std::int32_t* to, std::int32_t value);
int fail(void* stream, std::int32_t* to);
