# SPDX-License-Identifier: Apache-2.0
# Code that counts its own instructions (counting/): GCC on x86-64 without sanitizers and with
# optimisation; elsewhere there is none, and what it executes is not known.
set(NPU_COUNTING OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64"
    AND CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT NPU_SANITIZE)
  set(NPU_COUNTING ON)
endif()

# The assembler's folder is named by its sources: code that another one counted is compiled anew.
set(digests "")
foreach(name assembler.cpp rewriter.cpp rewriter.hpp library_calls.hpp)
  set(file ${CMAKE_SOURCE_DIR}/counting/${name})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(SHA256 ${file} digest)
  string(APPEND digests ${digest})
endforeach()
string(SHA256 digest "${digests}")
string(SUBSTRING ${digest} 0 16 digest)
set(NPU_COUNTING_DIR ${CMAKE_BINARY_DIR}/counting/${digest})

# npu_count_instructions(target): its objects count.
function(npu_count_instructions target)
  target_compile_options(${target} PRIVATE -fsanitize-coverage=trace-pc -B${NPU_COUNTING_DIR}/)
  add_dependencies(${target} npu_counting_assembler)
endfunction()
