// SPDX-License-Identifier: Apache-2.0
#pragma once

// Of libnpusim.
#define NPU_TESTING_API __attribute__((visibility("default")))
