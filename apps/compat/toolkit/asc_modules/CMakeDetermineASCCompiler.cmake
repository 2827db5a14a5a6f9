# SPDX-License-Identifier: Apache-2.0
get_filename_component(NPUSIM_TOOLKIT "${CMAKE_CURRENT_LIST_DIR}/../../.." REALPATH)
find_program(CMAKE_ASC_COMPILER npusim HINTS "${NPUSIM_TOOLKIT}/../../../bin" REQUIRED)
find_program(CMAKE_ASC_LINKER NAMES c++ g++ REQUIRED)
mark_as_advanced(CMAKE_ASC_COMPILER CMAKE_ASC_LINKER)
set(CMAKE_ASC_COMPILER_ENV_VAR "ASC")
configure_file("${CMAKE_CURRENT_LIST_DIR}/CMakeASCCompiler.cmake.in"
  "${CMAKE_PLATFORM_INFO_DIR}/CMakeASCCompiler.cmake" @ONLY)
