# SPDX-License-Identifier: Apache-2.0
# `npusim cc` is not tried: it says by itself what is missing.
set(CMAKE_ASC_COMPILER_WORKS 1)
