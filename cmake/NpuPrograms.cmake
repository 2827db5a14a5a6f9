# SPDX-License-Identifier: Apache-2.0
# Programs of the card's own cores: shared objects against include/npu/platform alone, uploaded to
# device memory at run time. They are found in programs/ of the build folder and installed beside
# the configurations.
set(NPU_PROGRAM_DIR ${CMAKE_BINARY_DIR}/programs)

# npu_program(name SOURCES files...): programs/name.npu
function(npu_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES" ${ARGN})
  add_library(${name} MODULE ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE npu_platform npu_abi npu_base npu_flags)
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX ".npu"
    LIBRARY_OUTPUT_DIRECTORY ${NPU_PROGRAM_DIR} CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
endfunction()
