# SPDX-License-Identifier: Apache-2.0
# Programs of the card's own cores: shared objects against include/npu/platform alone, uploaded to
# device memory at run time. They are found in programs/ of the build folder; the firmware is
# installed beside the configurations. In unity batches only where nothing runs (tidy): an image's
# size is simulated time.
set(NPU_PROGRAM_DIR ${CMAKE_BINARY_DIR}/programs)

# npu_program_library(target name folder files...): folder/name.npu
function(npu_program_library target name folder)
  add_library(${target} MODULE ${ARGN})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE npu_platform npu_abi npu_base npu_flags)
  target_compile_definitions(${target} PRIVATE NPU_PROGRAM_NAME="${name}")
  set_target_properties(${target} PROPERTIES PREFIX "" SUFFIX ".npu" OUTPUT_NAME ${name}
    LIBRARY_OUTPUT_DIRECTORY ${folder} CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON UNITY_BUILD ${NPU_UNITY_PROGRAMS})
endfunction()

# npu_program(name SOURCES files...): programs/name.npu, and its twin that counts
function(npu_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES" ${ARGN})
  npu_program_library(${name} ${name} ${NPU_PROGRAM_DIR} ${ARG_SOURCES})
  npu_count_program(${name} SOURCES ${ARG_SOURCES})
endfunction()

# npu_embed_programs(target names...): the programs' bytes become part of `target`, which calls them
# npu::workloads::embedded_programs() (workloads/framework/program_images.hpp).
function(npu_embed_programs target)
  set(assembly "")
  set(declarations "")
  set(table "")
  set(files "")
  foreach(name IN LISTS ARGN)
    set(file ${NPU_PROGRAM_DIR}/${name}.npu)
    list(APPEND files ${file})
    string(APPEND assembly
      "asm(\".section .rodata\\n.balign 64\\nnpu_program_${name}:\\n.incbin \\\"${file}\\\"\\n\"\n"
      "    \"npu_program_${name}_end:\\n.previous\\n\");\n")
    string(APPEND declarations
      "extern \"C\" const std::byte npu_program_${name}[], npu_program_${name}_end[];\n")
    string(APPEND table "      {\"${name}\", npu_program_${name}, npu_program_${name}_end},\n")
  endforeach()
  set(source ${CMAKE_BINARY_DIR}/programs/embedded.cpp)
  set(NPU_EMBED_ASSEMBLY "${assembly}")
  set(NPU_EMBED_DECLARATIONS "${declarations}")
  set(NPU_EMBED_TABLE "${table}")
  configure_file(${CMAKE_SOURCE_DIR}/cmake/embedded_programs.cpp.in ${source} @ONLY)
  target_sources(${target} PRIVATE ${source})
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${files}"
    SKIP_UNITY_BUILD_INCLUSION ON)
  add_dependencies(${target} ${ARGN})
endfunction()

# npu_operator(name TEMPLATE file PARAMETERS KEY=VALUE...): programs/name.npu, the operator of
# kernels/device/operators/file.cpp with NPU_JIT_KEY as given; compiled as it is on demand.
function(npu_operator name)
  cmake_parse_arguments(ARG "" "TEMPLATE" "PARAMETERS" ${ARGN})
  add_library(${name} MODULE ${CMAKE_SOURCE_DIR}/kernels/device/operators/${ARG_TEMPLATE}.cpp)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE npu_platform npu_abi npu_base npu_flags)
  list(TRANSFORM ARG_PARAMETERS PREPEND NPU_JIT_)
  target_compile_definitions(${name} PRIVATE NPU_JIT_KERNEL_NAME=${ARG_TEMPLATE} ${ARG_PARAMETERS})
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX ".npu"
    LIBRARY_OUTPUT_DIRECTORY ${NPU_PROGRAM_DIR} CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON UNITY_BUILD OFF)
  # Of one source with many parameters, tools look at the first.
  get_property(seen GLOBAL PROPERTY NPU_OPERATOR_${ARG_TEMPLATE})
  if(seen)
    set_target_properties(${name} PROPERTIES EXPORT_COMPILE_COMMANDS OFF)
  endif()
  set_property(GLOBAL PROPERTY NPU_OPERATOR_${ARG_TEMPLATE} ON)
endfunction()
