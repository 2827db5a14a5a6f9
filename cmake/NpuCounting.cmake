# SPDX-License-Identifier: Apache-2.0
# Code that counts its own instructions (kernels/counting/): GCC on x86-64 without sanitizers and with
# optimisation; elsewhere there is none, and what it executes is not known.
set(NPU_COUNTING OFF)
if(NPU_COUNT AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64"
    AND CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT NPU_SANITIZE)
  set(NPU_COUNTING ON)
endif()

# The assembler's folder is named by its sources: code that another one counted is compiled anew. Of
# the copies CMake knows when they are out of date.
set(digests "")
foreach(name assembler.cpp flags.cpp flags.hpp rewriter.cpp rewriter.hpp library_calls.hpp)
  set(file ${CMAKE_BINARY_DIR}/counting/sources/${name})
  configure_file(${CMAKE_SOURCE_DIR}/kernels/counting/${name} ${file} COPYONLY)
  file(SHA256 ${file} digest)
  string(APPEND digests ${digest})
endforeach()
string(SHA256 digest "${digests}")
string(SUBSTRING ${digest} 0 16 digest)
set(NPU_COUNTING_DIR ${CMAKE_BINARY_DIR}/counting/${digest})
# Of the assembler that operators compiled on demand use; empty: they do not count.
set(NPU_COUNTING_DIGEST "")
if(NPU_COUNTING)
  set(NPU_COUNTING_DIGEST ${digest})
endif()

# npu_count_instructions(target): its objects count.
function(npu_count_instructions target)
  target_compile_options(${target} PRIVATE -ffixed-r11 -B${NPU_COUNTING_DIR}/)
  target_compile_definitions(${target} PRIVATE NPU_COUNTED)
  add_dependencies(${target} npu_counting_assembler)
endfunction()

# Lines of sources for reports, by the names of files in the source tree, which ccache makes relative
# to the folder of the build.
file(RELATIVE_PATH tree ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
if(NOT tree MATCHES "/$")
  string(APPEND tree "/")
endif()
set(NPU_LINES -g -gdwarf-5 -gz -fdebug-prefix-map=${CMAKE_SOURCE_DIR}/= -fdebug-prefix-map=${tree}=
  -fdebug-prefix-map=${CMAKE_BINARY_DIR}=.)

# npu_count_program(name SOURCES files...): the twin of npu_program(name), programs/counted/name.npu.
function(npu_count_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES" ${ARGN})
  if(NOT NPU_COUNTING)
    return()
  endif()
  npu_program_library(${name}_counted ${name} ${NPU_PROGRAM_DIR}/counted ${ARG_SOURCES})
  set_target_properties(${name}_counted PROPERTIES EXPORT_COMPILE_COMMANDS OFF)
  npu_count_instructions(${name}_counted)
  target_compile_options(${name}_counted PRIVATE ${NPU_LINES})  # images are those of the programs
  target_link_options(${name}_counted PRIVATE -gz)
  set_property(GLOBAL APPEND PROPERTY NPU_COUNTED_PROGRAMS ${name})
endfunction()

# npu_embed_counted_programs(target): the programs that have twins become part of `target`, with
# these, which calls them npu::workloads::counted_programs(). After all npu_program().
function(npu_embed_counted_programs target)
  set(assembly "")
  set(declarations "")
  set(table "")
  set(files "")
  set(targets "")
  get_property(names GLOBAL PROPERTY NPU_COUNTED_PROGRAMS)
  foreach(name IN LISTS names)
    foreach(folder "" counted)
      set(file ${NPU_PROGRAM_DIR}/${folder}/${name}.npu)
      set(label npu_${folder}program_${name})
      list(APPEND files ${file})
      string(APPEND assembly
        "asm(\".section .rodata\\n.balign 64\\n${label}:\\n.incbin \\\"${file}\\\"\\n\"\n"
        "    \"${label}_end:\\n.previous\\n\");\n")
      string(APPEND declarations "extern \"C\" const std::byte ${label}[], ${label}_end[];\n")
    endforeach()
    string(APPEND table "      {npu_program_${name}, npu_program_${name}_end,\n"
      "       npu_countedprogram_${name}, npu_countedprogram_${name}_end},\n")
    list(APPEND targets ${name} ${name}_counted)
  endforeach()
  set(source ${NPU_PROGRAM_DIR}/counted_programs.cpp)
  set(NPU_EMBED_ASSEMBLY "${assembly}")
  set(NPU_EMBED_DECLARATIONS "${declarations}")
  set(NPU_EMBED_TABLE "${table}")
  configure_file(${CMAKE_SOURCE_DIR}/cmake/counted_programs.cpp.in ${source} @ONLY)
  target_sources(${target} PRIVATE ${source})
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${files}"
    SKIP_UNITY_BUILD_INCLUSION ON)
  if(targets)
    add_dependencies(${target} ${targets})
  endif()
endfunction()
