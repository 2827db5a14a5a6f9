# SPDX-License-Identifier: Apache-2.0
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

option(NPU_TESTS "Build the tests and npusim-bench" ON)
option(NPU_UNITY_TESTS "Compile the tests a dozen files at a time" ON)
option(NPU_UNITY_PROGRAMS "Compile the card's programs a dozen files at a time" OFF)
option(NPU_PCH "Use precompiled headers" ON)
option(NPU_COUNT "Count the instructions of driver and card programs, where the compiler can" ON)
option(NPU_FULL "With sanitizers: every check, and build and run every test" OFF)
set(NPU_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined")

add_library(npu_flags INTERFACE)
target_compile_options(npu_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Werror
  -fno-semantic-interposition)  # else -fPIC keeps functions from being inlined
if(NPU_SANITIZE)
  target_compile_options(npu_flags INTERFACE -fsanitize=${NPU_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer -Wno-maybe-uninitialized)  # GCC warns falsely in instrumented <regex>
  target_link_options(npu_flags INTERFACE -fsanitize=${NPU_SANITIZE})
  # Four checks of UBSan's that nearly double what compiling costs: of addresses, which ASan looks at
  # as well, and of their alignment and dynamic type.
  if(NPU_SANITIZE MATCHES "undefined" AND NOT NPU_FULL)
    target_compile_options(npu_flags INTERFACE -fno-sanitize=null,object-size,alignment,vptr)
  endif()
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # The settings make precompiled headers cacheable.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
  add_compile_options(-fpch-preprocess)
endif()
